// SPDX-License-Identifier: Apache-2.0
//
// Standard output of a tool that goes on, and the options that such tools share.
#pragma once

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>

namespace opennrt::tools {

enum class Written { kYes, kReaderGone, kFailed };

// All of the text, now. A failure other than a closed pipe is told.
inline Written write_out(const char* tool, const std::string& text) {
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0)
    return Written::kYes;
  if (errno == EPIPE) return Written::kReaderGone;
  std::fprintf(stderr, "opennrt %s: standard output: cannot write: %s\n", tool,
               std::strerror(errno));
  return Written::kFailed;
}

inline constexpr double kShortestPeriod = 0.05, kLongestPeriod = 86400;

inline bool parse_seconds(const std::string& text, double* out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *out);
  return error == std::errc() && end == text.data() + text.size() && std::isfinite(*out) &&
         *out >= kShortestPeriod && *out <= kLongestPeriod;
}

// 1 or more.
inline bool parse_count(const std::string& text, unsigned long* out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *out);
  return error == std::errc() && end == text.data() + text.size() && *out > 0;
}

}  // namespace opennrt::tools
