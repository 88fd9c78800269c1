// SPDX-License-Identifier: Apache-2.0
//
// Handles given to callers: opaque pointer-sized values that are never
// dereferenced. A value carries the kind of object, an index and a generation,
// so that a stale, foreign or invented handle is found out instead of crashing.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace opennrt {

enum class HandleKind : std::uint32_t {
  kModel = 1,
  kTensor = 2,
  kTensorSet = 3,
  kCommunicator = 4,
  kTransfer = 5,
  kOptions = 6,
  kCollective = 7
};

// Threading: find() and pin() take no lock. Removal waits until no pin is left,
// so an object that is pinned stays alive although its handle is dead already.
// What find() returned is not protected.
template <typename T, HandleKind kKind>
class HandleTable {
  struct Slot;

 public:
  // Keeps an object alive. Empty: not a handle of this table, or removed.
  class Pin {
   public:
    Pin() = default;
    Pin(Pin&& other) noexcept
        : slot_(std::exchange(other.slot_, nullptr)), object_(other.object_) {}
    Pin& operator=(Pin&& other) noexcept {
      std::swap(slot_, other.slot_);
      std::swap(object_, other.object_);
      return *this;
    }
    ~Pin() {
      if (slot_ != nullptr) slot_->pins.fetch_sub(1, std::memory_order_release);
    }
    T* get() const { return slot_ != nullptr ? object_ : nullptr; }
    T* operator->() const { return object_; }
    T& operator*() const { return *object_; }
    explicit operator bool() const { return slot_ != nullptr; }

   private:
    friend class HandleTable;
    Pin(Slot* slot, T* object) : slot_(slot), object_(object) {}
    Slot* slot_ = nullptr;
    T* object_ = nullptr;
  };

  using Handle = std::uintptr_t;

  HandleTable() = default;
  HandleTable(const HandleTable&) = delete;
  HandleTable& operator=(const HandleTable&) = delete;
  ~HandleTable() {
    remove_all();
    for (auto& chunk : chunks_) delete[] chunk.load(std::memory_order_relaxed);
  }

  // 0 when the table is full. The object then still belongs to the caller.
  Handle insert(std::unique_ptr<T>& object) {
    const std::lock_guard lock(mutex_);
    std::uint32_t index = 0;
    if (free_.empty()) {
      if (used_ == kMaxObjects) return 0;
      index = used_;
      auto& chunk = chunks_[index / kChunk];
      if (chunk.load(std::memory_order_relaxed) == nullptr)
        chunk.store(new Slot[kChunk], std::memory_order_release);
      ++used_;
      // So that remove() cannot fail.
      if (free_.capacity() < used_) free_.reserve(2 * std::size_t{used_});
    } else {
      index = free_.back();
      free_.pop_back();
    }
    Slot& slot = at(index);
    slot.object.store(object.release(), std::memory_order_release);
    ++live_;
    return encode(index, slot.generation.load(std::memory_order_relaxed));
  }

  // nullptr: not a handle of this table, or removed.
  T* find(Handle handle) const noexcept {
    const Slot* slot = slot_of(handle);
    return slot == nullptr ? nullptr : slot->object.load(std::memory_order_acquire);
  }

  // Either the remover sees the pin, or the pinning thread the new generation.
  Pin pin(Handle handle) const noexcept {
    Slot* slot = place_of(handle);
    if (slot == nullptr) return {};
    slot->pins.fetch_add(1, std::memory_order_seq_cst);
    T* object = slot->object.load(std::memory_order_seq_cst);
    if (object != nullptr &&
        encode(index_of(handle), slot->generation.load(std::memory_order_seq_cst)) == handle)
      return Pin(slot, object);
    slot->pins.fetch_sub(1, std::memory_order_release);
    return {};
  }

  // The handle is dead at once; returns when the last pin is gone.
  std::unique_ptr<T> remove(Handle handle) noexcept {
    std::unique_ptr<T> object;
    const std::uint32_t index = index_of(handle);
    {
      const std::lock_guard lock(mutex_);
      if (slot_of(handle) == nullptr) return nullptr;
      object = take(index);
    }
    wait_for_pins(index);
    const std::lock_guard lock(mutex_);
    free_.push_back(index);
    return object;
  }

  // All handles are dead; returns when the last pin is gone.
  void remove_all() noexcept {
    std::uint32_t used = 0;
    {
      const std::lock_guard lock(mutex_);
      used = used_;
    }
    for (std::uint32_t i = 0; i < used; ++i) {
      std::unique_ptr<T> object;
      {
        const std::lock_guard lock(mutex_);
        if (at(i).object.load(std::memory_order_relaxed) == nullptr) continue;
        object = take(i);
      }
      wait_for_pins(i);
      object.reset();
      const std::lock_guard lock(mutex_);
      free_.push_back(i);
    }
  }

  std::size_t size() const noexcept { return live_.load(std::memory_order_relaxed); }

 private:
  void wait_for_pins(std::uint32_t index) noexcept {
    for (int polls = 0; at(index).pins.load(std::memory_order_seq_cst) != 0; ++polls)
      polls < 100 ? std::this_thread::yield()
                  : std::this_thread::sleep_for(std::chrono::microseconds(50));
  }

  // 47 bits, the user part of an address: kind 3, generation 18, index 22, 4 zero.
  static constexpr unsigned kIndexShift = 4, kGenerationShift = 26, kKindShift = 44;
  static constexpr std::uint32_t kMaxObjects = 1u << 22;
  static constexpr std::uint32_t kGenerationMask = (1u << 18) - 1;
  static constexpr std::uint32_t kChunk = 1024;

  struct Slot {
    std::atomic<T*> object{nullptr};
    std::atomic<std::uint32_t> generation{0};
    std::atomic<std::uint32_t> pins{0};
  };

  static Handle encode(std::uint32_t index, std::uint32_t generation) {
    return static_cast<Handle>(kKind) << kKindShift |
           static_cast<Handle>(generation) << kGenerationShift |
           static_cast<Handle>(index) << kIndexShift;
  }
  static std::uint32_t index_of(Handle handle) {
    return static_cast<std::uint32_t>(handle >> kIndexShift) & (kMaxObjects - 1);
  }
  Slot& at(std::uint32_t index) const {
    return chunks_[index / kChunk].load(std::memory_order_acquire)[index % kChunk];
  }
  // Where the object of such a handle would be.
  Slot* place_of(Handle handle) const noexcept {
    if (handle >> kKindShift != static_cast<Handle>(kKind)) return nullptr;
    const std::uint32_t index = index_of(handle);
    Slot* chunk = chunks_[index / kChunk].load(std::memory_order_acquire);
    return chunk == nullptr ? nullptr : &chunk[index % kChunk];
  }
  const Slot* slot_of(Handle handle) const noexcept {
    const Slot* place = place_of(handle);
    if (place == nullptr) return nullptr;
    const Slot& slot = *place;
    if (encode(index_of(handle), slot.generation.load(std::memory_order_acquire)) != handle)
      return nullptr;
    return slot.object.load(std::memory_order_acquire) == nullptr ? nullptr : &slot;
  }
  std::unique_ptr<T> take(std::uint32_t index) noexcept {
    Slot& slot = at(index);
    slot.generation.store((slot.generation.load(std::memory_order_relaxed) + 1) & kGenerationMask,
                          std::memory_order_seq_cst);
    --live_;
    return std::unique_ptr<T>(slot.object.exchange(nullptr, std::memory_order_seq_cst));
  }

  std::mutex mutex_;  // guards free_ and used_, and every change of a slot
  std::vector<std::uint32_t> free_;
  std::uint32_t used_ = 0;
  std::atomic<std::size_t> live_{0};
  std::array<std::atomic<Slot*>, kMaxObjects / kChunk> chunks_{};
};

}  // namespace opennrt
