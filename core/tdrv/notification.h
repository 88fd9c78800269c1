// SPDX-License-Identifier: Apache-2.0
//
// Consumer side of a notification queue in host memory. The device writes
// 16-byte records; the top bit of byte 3 is the lap's phase (1 on the first
// lap), so a record is new exactly when its phase is the expected one.
#pragma once

#include <atomic>
#include <cstdint>

namespace opennrt::tdrv {

enum class NotificationKind : std::uint16_t {
  kStart = 2,
  kEnd = 3,
  kCustom = 6,
  kSwitchStart = 7,
  kSwitchEnd = 8,
};

struct Notification {
  std::uint32_t location = 0;  // bits 19:0: address of the record / 64
  std::uint8_t debug_hint = 0;
  std::uint8_t tag = 0;
  std::uint16_t sub_id = 0;  // error queue: raw type and engine
  std::uint16_t kind = 0;    // error queue: detail
  std::uint64_t timestamp = 0;
};

class NotificationQueue {
 public:
  static constexpr std::uint32_t kRecordBytes = 16;

  NotificationQueue() = default;
  NotificationQueue(void* memory, std::uint32_t bytes)
      : memory_(static_cast<std::uint8_t*>(memory)), capacity_(bytes / kRecordBytes) {}

  // Takes the oldest unread record. Never blocks, makes no system call.
  bool pop(Notification& out) {
    if (capacity_ == 0) return false;
    std::uint8_t* record = memory_ + static_cast<std::size_t>(next_) * kRecordBytes;
    // The device writes the word with the phase last.
    const std::uint32_t word0 = std::atomic_ref<std::uint32_t>(*aligned<std::uint32_t>(record))
                                    .load(std::memory_order_acquire);
    if ((word0 >> 31) != phase_) return false;
    const std::uint32_t word1 = *aligned<std::uint32_t>(record + 4);
    out.location = word0 & 0xFFFFF;
    out.debug_hint = static_cast<std::uint8_t>((word0 >> 20) & 0xF);
    out.tag = static_cast<std::uint8_t>((word0 >> 24) & 0x1F);
    out.sub_id = static_cast<std::uint16_t>(word1 & 0xFFFF);
    out.kind = static_cast<std::uint16_t>(word1 >> 16);
    out.timestamp = *aligned<std::uint64_t>(record + 8);
    ++unpublished_;
    if (++next_ == capacity_) {
      next_ = 0;
      phase_ ^= 1;
    }
    return true;
  }

  // Byte offset of the next record to read: the value of the head register.
  std::uint32_t head() const { return next_ * kRecordBytes; }
  // The head register is written every half ring, not per record: a register
  // write is a system call.
  bool should_publish() const { return unpublished_ >= capacity_ / 2 && capacity_ != 0; }
  void published() { unpublished_ = 0; }

 private:
  template <typename T>
  static T* aligned(std::uint8_t* p) {
    return static_cast<T*>(static_cast<void*>(p));
  }

  std::uint8_t* memory_ = nullptr;
  std::uint32_t capacity_ = 0;  // records
  std::uint32_t next_ = 0;
  std::uint32_t phase_ = 1;
  std::uint32_t unpublished_ = 0;
};

}  // namespace opennrt::tdrv
