// SPDX-License-Identifier: Apache-2.0
//
// State of the vector engine's lanes: the accumulator that reducing records
// share, and the shuffle mask.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "compute/engine_state.h"

namespace opennrt::emu {

struct LaneState final : FamilyState {
  static constexpr std::uint32_t kLanes = 128;
  std::array<float, kLanes> accumulator{};  // by partition
  std::array<std::uint8_t, 32> mask{};
  bool mask_loaded = false;

  static LaneState& of(EngineState& state) { return state.family<LaneState>(Family::kLanes); }
};

// Whether the command makes a record reduce into the accumulator; false with
// *error for commands that are not known.
bool check_accumulator_command(std::uint32_t command, std::string* error);
// Value the accumulation starts from: `reset`, what the accumulator holds, or
// `loaded`. IDLE and ZERO do not accumulate; ZERO only resets.
float accumulator_start(std::uint32_t command, float held, float reset, float loaded);
bool accumulates(std::uint32_t command);

}  // namespace opennrt::emu
