// SPDX-License-Identifier: Apache-2.0
//
// What numbers of events stand for: names of models, kinds of device memory,
// ranks of cores. Not for the execute path.
//
// Threading: every function may be called from any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace opennrt::trace {

// core: logical core it is on; -1: none.
void name_model(std::uint32_t id, std::string_view name, std::int32_t core = -1);
// The name is known a while longer, so that its events can be told.
void forget_model(std::uint32_t id);
// Empty: not known.
std::string model_name(std::uint32_t id);

// Names of the usage_type of memory events, by number; they live for ever.
void name_memory_usages(std::span<const char* const> names);
std::string_view memory_usage_name(std::uint64_t usage);

// Rank of a logical core in the global communicator; -1: none.
void set_core_rank(std::uint32_t core, std::int32_t rank);
std::int32_t core_rank(std::uint32_t core);

}  // namespace opennrt::trace
