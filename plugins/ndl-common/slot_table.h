// SPDX-License-Identifier: Apache-2.0
//
// Table behind opaque u64 handles. A handle carries tag, salt, generation and
// index, so one that is stale, of another kind or of another context is
// recognised before anything is dereferenced. Looking up takes no lock; slots
// stay allocated until the table goes, so a pointer never dangles.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <new>

namespace opennrt::ndl {

// T: default constructible; its members are atomics, or are written only while
// no other thread can hold a valid handle of the slot.
template <typename T, uint32_t kSlotsPerChunk, uint32_t kChunks>
class SlotTable {
  static_assert(uint64_t{kSlotsPerChunk} * kChunks <= 1u << 24);

 public:
  // tag: 1..15, the kind of handle; salt: tells contexts apart.
  SlotTable(uint32_t tag, uint32_t salt) noexcept
      : prefix_(uint64_t{tag & 0xF} << 60 | uint64_t{salt & 0xFF} << 52) {}
  SlotTable(const SlotTable&) = delete;
  SlotTable& operator=(const SlotTable&) = delete;
  ~SlotTable() {
    for (std::atomic<Chunk*>& chunk : chunks_) delete chunk.load(std::memory_order_relaxed);
  }

  // Live value of the handle, or nullptr. Lock-free.
  T* find(uint64_t handle) noexcept {
    Slot* slot = slot_of(handle);
    return slot && matches(*slot, handle) ? &slot->value : nullptr;
  }

  // Whether what was read from find()'s value belonged to this handle: the
  // value's atomics must have been loaded with acquire order.
  bool still(uint64_t handle) noexcept {
    Slot* slot = slot_of(handle);
    return slot && matches(*slot, handle);
  }

  // A dead slot to be filled and then published; nullptr when out of memory or
  // full. Slots are reused oldest first, which keeps generations apart.
  T* reserve(uint32_t* out_index) noexcept {
    const std::lock_guard guard(lock_);
    if (free_head_ == kNone && !grow()) return nullptr;
    const uint32_t index = free_head_;
    Slot& slot = at(index);
    free_head_ = slot.next_free;
    if (free_head_ == kNone) free_tail_ = kNone;
    *out_index = index;
    return &slot.value;
  }

  uint64_t publish(uint32_t index) noexcept {
    Slot& slot = at(index);
    const uint32_t generation = slot.generation.load(std::memory_order_relaxed) + 1;
    slot.generation.store(generation, std::memory_order_release);
    return prefix_ | uint64_t{generation & kGenerationMask} << 24 | index;
  }

  // Makes the handle stale; exactly one caller gets the value, and then owes
  // release(). nullptr: already stale.
  T* claim(uint64_t handle) noexcept {
    Slot* slot = slot_of(handle);
    if (!slot) return nullptr;
    uint32_t generation = slot->generation.load(std::memory_order_acquire);
    if ((generation & kGenerationMask) != generation_of(handle)) return nullptr;
    if (!slot->generation.compare_exchange_strong(generation, generation + 1,
                                                  std::memory_order_acq_rel))
      return nullptr;
    return &slot->value;
  }

  // Gives a reserved or claimed slot back.
  void release(uint32_t index) noexcept {
    const std::lock_guard guard(lock_);
    append_free(index);
  }

  // Calls f(handle, value) for every live slot.
  template <typename F>
  void for_each(F&& f) noexcept {
    const uint32_t slots = slots_.load(std::memory_order_acquire);
    for (uint32_t index = 0; index < slots; ++index) {
      Slot& slot = at(index);
      const uint32_t generation = slot.generation.load(std::memory_order_acquire);
      if (generation & 1)
        f(prefix_ | uint64_t{generation & kGenerationMask} << 24 | index, slot.value);
    }
  }

  static uint32_t index_of(uint64_t handle) noexcept {
    return static_cast<uint32_t>(handle & kIndexMask);
  }

 private:
  static constexpr uint64_t kIndexMask = (1u << 24) - 1;
  static constexpr uint32_t kGenerationMask = (1u << 28) - 1;
  static constexpr uint32_t kNone = ~uint32_t{0};

  struct Slot {
    std::atomic<uint32_t> generation{0};  // odd = live
    uint32_t next_free = kNone;           // guarded by lock_
    T value;
  };
  using Chunk = std::array<Slot, kSlotsPerChunk>;

  static uint32_t generation_of(uint64_t handle) noexcept {
    return static_cast<uint32_t>(handle >> 24) & kGenerationMask;
  }
  static bool matches(const Slot& slot, uint64_t handle) noexcept {
    const uint32_t generation = slot.generation.load(std::memory_order_acquire);
    return (generation & 1) && (generation & kGenerationMask) == generation_of(handle);
  }
  Slot& at(uint32_t index) noexcept {
    return (
        *chunks_[index / kSlotsPerChunk].load(std::memory_order_acquire))[index % kSlotsPerChunk];
  }
  Slot* slot_of(uint64_t handle) noexcept {
    if (handle >> 52 != prefix_ >> 52) return nullptr;
    const uint32_t index = index_of(handle);
    if (index >= slots_.load(std::memory_order_acquire)) return nullptr;
    return &at(index);
  }
  void append_free(uint32_t index) noexcept {
    at(index).next_free = kNone;
    if (free_tail_ == kNone)
      free_head_ = index;
    else
      at(free_tail_).next_free = index;
    free_tail_ = index;
  }
  bool grow() noexcept {
    const uint32_t slots = slots_.load(std::memory_order_relaxed);
    if (slots == kSlotsPerChunk * kChunks) return false;
    auto* chunk = new (std::nothrow) Chunk;
    if (!chunk) return false;
    chunks_[slots / kSlotsPerChunk].store(chunk, std::memory_order_release);
    slots_.store(slots + kSlotsPerChunk, std::memory_order_release);
    for (uint32_t i = 0; i < kSlotsPerChunk; ++i) append_free(slots + i);
    return true;
  }

  const uint64_t prefix_;
  std::atomic<uint32_t> slots_{0};
  std::array<std::atomic<Chunk*>, kChunks> chunks_{};
  std::mutex lock_;  // guards the free list and growth
  uint32_t free_head_ = kNone, free_tail_ = kNone;
};

}  // namespace opennrt::ndl
