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

// The setting or group of settings that was meant by an unknown key; empty: none
// is near.
std::string nearest_key(std::string_view key);
// The innermost group of settings that a key is in; empty: there is none.
std::string_view group_of(std::string_view key);
// A variable that the name is a slip of the pen away from; empty: none, or the
// name is one.
std::string_view misspelt_variable(std::string_view name);

}  // namespace opennrt::config
