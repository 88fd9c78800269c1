// SPDX-License-Identifier: Apache-2.0
//
// What the rest of the library calls to tell an event. While nobody records the
// type, that costs one relaxed load.
//
//   const trace::Span span(trace::EventType::kTensorRead, core, {handle, bytes});
//   if (trace::wanted(type)) trace::emit({.type = type, ...});
//
// Threading: everything may be called from any thread, also while a recording
// starts or stops. Nothing here allocates, takes a lock or formats.
#pragma once

#include <atomic>
#include <cstdint>

#include "trace/event.h"

namespace opennrt::trace {

// Types that some recording wants.
extern constinit std::atomic<std::uint64_t> g_wanted_types;

inline bool wanted(EventType type) noexcept {
  return (g_wanted_types.load(std::memory_order_relaxed) & bit_of(type)) != 0;
}

// Number that joins the START and the STOP of one span.
std::uint64_t next_tracking(std::uint32_t core) noexcept;

void emit(const Event& event) noexcept;

// Wall clock, the one of the records.
std::uint64_t now_ns() noexcept;

// START now, STOP at the end of its life or at stop().
class Span {
 public:
  Span(EventType type, std::uint32_t core, const Payload& start = {},
       std::uint64_t sequence = 0) noexcept
      : type_(type) {
    if (wanted(type)) open(core, start, sequence);
  }
  ~Span() {
    if (tracking_ != 0) close({});
  }
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;

  void stop(const Payload& data = {}) noexcept {
    if (tracking_ != 0) close(data);
  }

 private:
  void open(std::uint32_t core, const Payload& start, std::uint64_t sequence) noexcept;
  void close(const Payload& data) noexcept;

  EventType type_;
  std::uint32_t core_ = 0;
  std::uint64_t tracking_ = 0;  // 0: not recorded
  std::uint64_t sequence_ = 0;
};

// Core of an event that a tensor causes: host memory belongs to none.
inline std::uint32_t core_or_first(std::int32_t core) {
  return core < 0 ? 0 : static_cast<std::uint32_t>(core);
}

}  // namespace opennrt::trace
