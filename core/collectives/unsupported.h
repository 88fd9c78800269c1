// SPDX-License-Identifier: Apache-2.0
//
// What this runtime lacks, by name.
#pragma once

#include <string_view>

#include "base/status.h"

namespace opennrt::collectives {

inline constexpr std::string_view kSeveralRanks = "communicators of several ranks";
inline constexpr std::string_view kOtherProcesses = "transfers between processes";
inline constexpr std::string_view kUltraServer = "links between the servers of a pod";
inline constexpr std::string_view kPorts = "the wiring of device ports";

inline Status unsupported(std::string_view feature, NRT_STATUS code = NRT_FAILURE) {
  return Status::make(code, "{} are not supported by this runtime", feature);
}

}  // namespace opennrt::collectives
