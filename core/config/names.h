// SPDX-License-Identifier: Apache-2.0
//
// Names of environment variables that no row of the table has.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "config/config.h"

namespace opennrt::config {

inline constexpr std::string_view kConfigVariable = "OPENNRT_CONFIG";
inline constexpr std::string_view kLogLevelPrefix = "NEURON_RT_LOG_LEVEL_";
inline constexpr std::string_view kLogLocationPrefix = "NEURON_RT_LOG_LOCATION_";

// What there is to say about a variable that is set; nullopt: nothing.
std::optional<Issue> remark_on(std::string_view variable);

}  // namespace opennrt::config
