// SPDX-License-Identifier: Apache-2.0
//
// Lines of one public call that wait until it is known how the call ends.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace opennrt::log {

class Collector {
 public:
  static constexpr std::size_t kBytes = 16 << 10;

  // A line that only differs in its time from the last one is counted. The
  // oldest lines give way to new ones.
  void add(std::string_view line);
  bool empty() const { return block_.empty(); }
  // All lines, joined by a newline and a tab.
  std::string block() const;
  // All lines, joined by newlines.
  std::string lines() const;
  void clear();

 private:
  std::string joined(std::string_view by) const;

  std::string block_;                      // lines joined by newlines
  std::size_t last_ = 0, last_bytes_ = 0;  // the last line, without its count
  std::size_t times_ = 0;                  // that it came
  std::size_t left_out_ = 0;               // lines that gave way
};

}  // namespace opennrt::log
