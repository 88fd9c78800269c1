// SPDX-License-Identifier: Apache-2.0
#include "log/collector.h"

#include <fmt/format.h>

#include "log/line.h"

namespace opennrt::log {

namespace {

std::string_view without_time(std::string_view line) {
  return line.substr(std::min(line.size(), kTimeBytes));
}

}  // namespace

void Collector::add(std::string_view line) {
  line = line.substr(0, kBytes);
  const std::string_view last(block_.data() + last_, last_bytes_);
  if (times_ != 0 && without_time(last) == without_time(line)) {
    block_.resize(last_ + last_bytes_);
    block_ += fmt::format(" ({} times)", ++times_);
    return;
  }
  if (!block_.empty()) block_ += '\n';
  last_ = block_.size();
  last_bytes_ = line.size();
  times_ = 1;
  block_ += line;
  while (block_.size() > kBytes) {
    const std::size_t end = block_.find('\n') + 1;
    if (end == 0) break;
    block_.erase(0, end);
    last_ -= end;
    ++left_out_;
  }
}

std::string Collector::joined(std::string_view by) const {
  std::string out;
  if (left_out_ != 0) out = fmt::format("({} earlier lines left out){}", left_out_, by);
  for (const char c : block_)
    if (c == '\n')
      out += by;
    else
      out += c;
  return out;
}

std::string Collector::block() const { return joined("\n\t"); }
std::string Collector::lines() const { return joined("\n"); }

void Collector::clear() {
  block_.clear();
  last_ = last_bytes_ = times_ = left_out_ = 0;
}

}  // namespace opennrt::log
