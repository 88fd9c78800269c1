// SPDX-License-Identifier: Apache-2.0
//
// The place where device profiles become files. Their format (NTFF) is not part
// of this release: what asks for one is refused, and no file is made.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "trace/event.h"

namespace opennrt::trace {

// What was recorded on one logical core between two moments.
struct Harvest {
  std::uint32_t core = 0;
  std::uint64_t start_ns = 0, end_ns = 0;  // wall clock
  std::vector<Record> events{};
  std::uint64_t lost_events = 0;
};

// NRT_INVALID, with `what` and the missing feature in the message.
Status device_profiles_missing(std::string_view what);

Status write_device_profile(const Harvest& harvest, const std::string& path);

}  // namespace opennrt::trace
