// SPDX-License-Identifier: Apache-2.0
#include "device/notification.h"

#include <cstring>

namespace opennrt::emu {

namespace {

// Notification block, the same on all silicon families (aws-neuron-driver
// 2.24.7.0): queue q at kFirst + q * kStride.
constexpr std::uint64_t kFirst = 0x100;
constexpr std::uint64_t kStride = 0x28;
constexpr std::uint32_t kRegBaseLo = 0, kRegBaseHi = 1, kRegSize = 2, kRegHead = 3, kRegTail = 4;
constexpr std::uint32_t kRegisters = 5;
constexpr std::uint32_t kRecordBytes = 16;

}  // namespace

std::atomic<std::uint32_t>* NotificationBlock::find(std::uint64_t offset, std::uint32_t* queue,
                                                    std::uint32_t* reg) const {
  if (offset < kFirst || offset % 4 != 0) return nullptr;
  const std::uint64_t q = (offset - kFirst) / kStride;
  const std::uint64_t r = (offset - kFirst) % kStride / 4;
  if (q >= kMaxQueues || r >= kRegisters) return nullptr;
  *queue = static_cast<std::uint32_t>(q);
  *reg = static_cast<std::uint32_t>(r);
  Queue& item = queues_[q];
  std::atomic<std::uint32_t>* const registers[kRegisters] = {&item.base_lo, &item.base_hi,
                                                             &item.size, &item.head, &item.tail};
  static_assert(kRegBaseLo == 0 && kRegBaseHi == 1 && kRegHead == 3 && kRegTail == 4);
  return registers[r];
}

bool NotificationBlock::register_write(std::uint64_t offset, std::uint32_t value) {
  if (offset == kOverflowCause) {
    if ((value & kOverflowBit) != 0) overflow_.store(false, std::memory_order_release);
    return true;
  }
  std::uint32_t queue = 0, reg = 0;
  std::atomic<std::uint32_t>* target = find(offset, &queue, &reg);
  if (!target) return false;
  Queue& q = queues_[queue];
  if (reg != kRegSize) {
    target->store(value, std::memory_order_release);
    return true;
  }
  // The size completes a set-up (base high, base low, size): an empty ring
  // begins. The driver leaves the head register alone.
  std::lock_guard lock(q.mutex);
  q.size.store(value, std::memory_order_release);
  q.head.store(0, std::memory_order_release);
  q.tail.store(0, std::memory_order_release);
  q.lap = 0;
  return true;
}

bool NotificationBlock::register_read(std::uint64_t offset, std::uint32_t* out) const {
  if (offset == kOverflowCause) {
    *out = overflow() ? kOverflowBit : 0;
    return true;
  }
  std::uint32_t queue = 0, reg = 0;
  const std::atomic<std::uint32_t>* source = find(offset, &queue, &reg);
  if (!source) return false;
  *out = source->load(std::memory_order_acquire);
  return true;
}

void NotificationBlock::reset() {
  for (Queue& q : queues_) {
    std::lock_guard lock(q.mutex);
    for (auto* r : {&q.base_lo, &q.base_hi, &q.size, &q.head, &q.tail})
      r->store(0, std::memory_order_release);
    q.lap = 0;
  }
  overflow_.store(false, std::memory_order_release);
}

NotificationBlock::Result NotificationBlock::push(const AddressMap& map, std::uint32_t queue,
                                                  std::uint32_t word0, std::uint32_t word1,
                                                  std::uint64_t time_ps) {
  if (queue >= kMaxQueues) return Result::kNoRing;
  Queue& q = queues_[queue];
  std::lock_guard lock(q.mutex);
  const std::uint32_t size = q.size.load(std::memory_order_acquire);
  const std::uint64_t base = std::uint64_t{q.base_hi.load(std::memory_order_acquire)} << 32 |
                             q.base_lo.load(std::memory_order_acquire);
  if (size == 0 || base == 0) return Result::kNoRing;
  std::uint8_t* ring = map.memory(base, size);
  if (!ring || base % kRecordBytes != 0 || size % kRecordBytes != 0) return Result::kBadRing;

  const std::uint32_t tail = q.tail.load(std::memory_order_relaxed);
  const std::uint32_t next = tail + kRecordBytes >= size ? 0 : tail + kRecordBytes;
  if (next == q.head.load(std::memory_order_acquire) % size) {
    overflow_.store(true, std::memory_order_release);
    return Result::kOverflow;
  }
  std::uint8_t* record = ring + tail;
  std::memcpy(record + 4, &word1, 4);
  std::memcpy(record + 8, &time_ps, 8);
  const std::uint32_t phase = q.lap & 1 ? 0 : 0x80000000u;
  std::atomic_ref<std::uint32_t>(*reinterpret_cast<std::uint32_t*>(record))
      .store((word0 & 0x7FFFFFFFu) | phase, std::memory_order_release);
  q.tail.store(next, std::memory_order_release);
  if (next == 0) ++q.lap;
  return Result::kWritten;
}

}  // namespace opennrt::emu
