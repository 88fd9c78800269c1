// SPDX-License-Identifier: Apache-2.0
//
// Notification queues of one core: the register block and the producer side of
// its rings of 16-byte records.
//
// Record: bytes 0-3 line, hint, tag and phase; 4-5 sub-id; 6-7 kind; 8-15 device
// time. The consumer polls the phase bit (bit 31 of the first word), which is 1
// in the first lap and flips at each wrap; the first word is written last.
//
// Threading: any thread; records of one queue are written one at a time.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>

#include "device/address_map.h"

namespace opennrt::emu {

class NotificationBlock {
 public:
  static constexpr std::uint32_t kMaxQueues = 16;

  enum class Result { kWritten, kNoRing, kBadRing, kOverflow };

  // Offset in the block. False: not a queue register (the caller stores it).
  bool register_write(std::uint64_t offset, std::uint32_t value);
  bool register_read(std::uint64_t offset, std::uint32_t* out) const;

  // time_ps: device time in 1/1000 ns. A full ring keeps its records: the new
  // one is dropped and the overflow cause set.
  Result push(const AddressMap& map, std::uint32_t queue, std::uint32_t word0, std::uint32_t word1,
              std::uint64_t time_ps);

  // Offset of the overflow cause in the block, and its bit.
  static constexpr std::uint64_t kOverflowCause = 0x1C;
  static constexpr std::uint32_t kOverflowBit = 1u << 29;
  // As push() to a full ring.
  void lose_record() { overflow_.store(true, std::memory_order_release); }
  bool overflow() const { return overflow_.load(std::memory_order_acquire); }

  // As after power-on, ring set-up included.
  void reset();

 private:
  struct Queue {
    std::atomic<std::uint32_t> base_lo{0}, base_hi{0}, size{0}, head{0}, tail{0};
    std::mutex mutex;       // one producer at a time
    std::uint32_t lap = 0;  // guarded by mutex
  };
  // Register order inside a queue's part of the block.
  std::atomic<std::uint32_t>* find(std::uint64_t offset, std::uint32_t* queue,
                                   std::uint32_t* reg) const;

  mutable std::array<Queue, kMaxQueues> queues_;
  std::atomic<bool> overflow_{false};
};

}  // namespace opennrt::emu
