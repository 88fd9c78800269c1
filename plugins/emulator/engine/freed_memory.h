// SPDX-License-Identifier: Apache-2.0
//
// Device memory given back since the engines of a core last looked, for what they
// keep about its content.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

namespace opennrt::emu {

class FreedMemory {
 public:
  // From any thread.
  void add(std::uint64_t address, std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    if (ranges_.size() < kMostRanges) {
      ranges_.push_back({address, address + bytes});
    } else {  // nobody looks: the last one grows over all that follow
      ranges_.back().begin = std::min(ranges_.back().begin, address);
      ranges_.back().end = std::max(ranges_.back().end, address + bytes);
    }
    any_.store(true, std::memory_order_release);
  }
  // Calls f(address, bytes) for each, once. What it covers may be more than was
  // freed.
  template <typename F>
  void take(F f) {
    if (!any_.load(std::memory_order_acquire)) return;
    const std::lock_guard lock(mutex_);
    for (const Range& r : ranges_) f(r.begin, r.end - r.begin);
    ranges_.clear();
    any_.store(false, std::memory_order_relaxed);
  }

 private:
  struct Range {
    std::uint64_t begin, end;
  };
  static constexpr std::size_t kMostRanges = 256;
  std::mutex mutex_;
  std::vector<Range> ranges_;
  std::atomic<bool> any_{false};
};

}  // namespace opennrt::emu
