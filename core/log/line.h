// SPDX-License-Identifier: Apache-2.0
//
// The text of a log line.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string_view>

#include "log/log.h"

namespace opennrt::log {

// What a line begins with, up to the microseconds.
inline constexpr std::size_t kTimeBytes = 27;

struct LineHead {
  std::int64_t seconds = 0;  // since the epoch, already shifted to local time
  std::uint32_t microseconds = 0;
  std::int64_t pid = 0, tid = 0;
  Level level = Level::kError;
  std::string_view module, function;
};

// Appends "YYYY-Mon-DD HH:MM:SS.uuuuuu pid:tid LEVEL MODULE:function text"
// without a newline. Control characters of the text become blanks, so that one
// call is one line whatever the text came from.
void append_line(fmt::memory_buffer& out, const LineHead& head, std::string_view text);

}  // namespace opennrt::log
