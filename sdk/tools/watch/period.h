// SPDX-License-Identifier: Apache-2.0
//
// How far apart samples may be, in seconds.
#pragma once

namespace opennrt::tools {

inline constexpr double kShortestPeriod = 0.05, kLongestPeriod = 86400;

}  // namespace opennrt::tools
