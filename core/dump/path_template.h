// SPDX-License-Identifier: Apache-2.0
//
// Names of files and directories with variables in them:
//   %p process  %t kernel thread  %l number of the dump  %c cluster  %d time
//   %i instance; any other %x stays as it is
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace opennrt::dump {

inline constexpr std::size_t kMostPathBytes = 4096;
inline constexpr std::size_t kMostNameBytes = 255;

struct Values {
  std::int64_t pid = 0, tid = 0;
  std::uint64_t number = 0;
  std::string cluster_id = "0000000000000000";  // 16 hex digits
  std::string date_time;                        // YYYYMMDD-HHMMSS
  std::string instance_id = "unknown";
};

// At most `most` bytes; what does not fit is left out, a variable as a whole.
std::string expand(std::string_view pattern, const Values& values, std::size_t most);

// Local time as %d shows it.
std::string date_time_of(std::int64_t seconds_since_epoch);
// A text that is one component of a path, whatever it was: at most 64 bytes,
// and not empty.
std::string component(std::string_view text, std::string_view fallback);

}  // namespace opennrt::dump
