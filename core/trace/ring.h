// SPDX-License-Identifier: Apache-2.0
//
// Ring of the events of one core. Any number of threads write, without waiting
// for each other; the oldest events are overwritten when it is full. One thread
// at a time reads.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/status.h"
#include "trace/event.h"

namespace opennrt::trace {

class Ring {
 public:
  // NRT_RESOURCE: no address space. Memory is used as events come.
  static Result<std::unique_ptr<Ring>> create(std::uint64_t capacity);
  ~Ring();
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  // record.core_id is set here. Never blocks, never allocates.
  void push(const Record& record) noexcept;

  // Appends up to `most` events, oldest first, and forgets them. An event that
  // is being written, and those after it, are left for the next call, unless its
  // writer has not come back for a second.
  void drain(std::uint64_t most, std::vector<Record>& out);
  // No push() runs any more or will.
  void close() { closed_ = true; }

  std::uint64_t capacity() const { return capacity_; }
  // Events that were overwritten before they were read or never completed, as
  // far as drain() has seen.
  std::uint64_t lost() const { return lost_; }
  std::uint64_t pushed() const { return head_.load(std::memory_order_relaxed); }

 private:
  // Of a ticket t the state is 2t+1 while it is written and 2t+2 afterwards.
  static constexpr std::size_t kWords = 7 + kPayloadWords;
  struct Slot {
    std::atomic<std::uint64_t> state;
    std::atomic<std::uint64_t> word[kWords];
  };
  static_assert(sizeof(Slot) == 8 * (1 + kWords));

  Ring(Slot* slots, std::uint64_t capacity) : slots_(slots), capacity_(capacity) {}
  enum class Read { kTaken, kNotYet, kGone };
  Read read(std::uint64_t ticket, Record& out) const;

  Slot* slots_;
  std::uint64_t capacity_;
  alignas(64) std::atomic<std::uint64_t> head_{0};  // next ticket
  // Of the reader.
  alignas(64) std::uint64_t tail_ = 0;
  std::uint64_t lost_ = 0;
  bool closed_ = false;
  std::uint64_t waiting_for_ = ~0ull;  // ticket that was not there at the last drain
  std::chrono::steady_clock::time_point waiting_since_{};
};

}  // namespace opennrt::trace
