// SPDX-License-Identifier: Apache-2.0
//
// A sample as lines of text, and as JSON. No control character of what processes
// say about themselves gets through.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "watch/figures.h"

namespace opennrt::tools {

enum class Sort { kExecutions, kPid, kMemory, kUtilization };
inline constexpr const char* kSortNames[] = {"executions", "pid", "memory", "utilization"};
Sort next(Sort sort);

struct Look {
  std::size_t columns = 80, rows = 24;
  Sort sort = Sort::kExecutions;
  bool paused = false;
  double interval_s = 1;
};

struct ScreenLine {
  std::string text;  // at most as wide as the screen
  bool heading = false;
};

// At most `rows` lines. What does not fit is counted where it is left out.
std::vector<ScreenLine> screen_of(const Sample& sample, const PeriodFigures& figures,
                                  const Look& look);

// Everything, for a pipe: no limit of rows, and nothing that is a key.
std::string text_of(const Sample& sample, const PeriodFigures& figures, Sort sort);

// One line without its end.
std::string json_of(const Sample& sample, const PeriodFigures& figures);

// Bytes for people: "1.5 GiB".
std::string short_bytes(std::optional<std::uint64_t> bytes);

}  // namespace opennrt::tools
