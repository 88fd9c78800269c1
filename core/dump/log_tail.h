// SPDX-License-Identifier: Apache-2.0
//
// The file that the latest lines of the log go to after a failure.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"
#include "log/ring.h"

namespace opennrt::dump {

// Lines that were not written yet, of all rings. Not for several threads.
class LogTail {
 public:
  // Text of all lines since the last call, under a title.
  std::string take(std::string_view title);

 private:
  std::array<std::uint64_t, log::kRingCores + 1> taken_{};
};

inline constexpr std::size_t kMostLogBytes = 1 << 20;

// Adds the text to the file: the file with the addition takes the place of the
// old one. Above kMostLogBytes its oldest lines are dropped. Another process
// that adds to a file of the directory is waited for. NRT_FAILURE: the reason,
// with the path; the old file stays.
Status append_to_log(const std::string& directory, const std::string& name, std::string_view text);

}  // namespace opennrt::dump
