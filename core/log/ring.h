// SPDX-License-Identifier: Apache-2.0
//
// The latest lines in memory, for what is written after a failure: a ring per
// logical core and one for lines of no core.
//
// Threading: every function may be called from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace opennrt::log {

// Bytes of a line that syslog, the kernel and the rings take.
inline constexpr std::size_t kBodyBytes = 1023;

class LineRing {
 public:
  static constexpr std::size_t kBytes = 128 << 10;

  void append(std::string_view body);

  struct Text {
    std::string lines;      // each with its newline
    std::uint64_t end = 0;  // where the next text begins
    bool gap = false;       // lines before these were overwritten
  };
  // What was appended from `begin`, the `end` of an earlier text, on.
  Text since(std::uint64_t begin = 0) const;

 private:
  void put(std::string_view bytes);

  mutable std::mutex mutex_;
  std::unique_ptr<char[]> buffer_;  // made with the first line
  std::uint64_t end_ = 0;           // bytes ever appended
};

// Core of lines that belong to none.
inline constexpr std::int32_t kNoCore = -1;
inline constexpr std::int32_t kRingCores = 128;  // lines of cores above have no ring of their own

void keep_line(std::int32_t core, std::string_view body) noexcept;
// nullptr: no line was kept.
const LineRing* ring_of(std::int32_t core) noexcept;

}  // namespace opennrt::log
