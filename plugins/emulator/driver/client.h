// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace opennrt::emu {

// Lane of a descriptor: the device lane attaches the process, the misc lane
// (write-only open) answers only requests that need no device.
enum class Lane : std::uint8_t { kDevice, kMisc };

// Who makes a request. Filled by whoever transports it, never looked up here.
struct Client {
  std::uint32_t pid = 0;         // thread group id
  std::uint64_t start_time = 0;  // of the process, tells a reused pid apart
  std::uint32_t uid = 0;
};

}  // namespace opennrt::emu
