// SPDX-License-Identifier: Apache-2.0
//
// State of the vector engine's lanes: the accumulator that reducing records
// share, the shuffle mask, and scalars loaded ahead.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "compute/engine_state.h"

namespace opennrt::emu {

struct LaneState final : FamilyState {
  static constexpr std::uint32_t kLanes = 128;
  std::array<float, kLanes> accumulator{};  // by channel, as the match keys
  std::array<std::uint8_t, 32> mask{};
  bool mask_loaded = false;

  // TENSOR_SCALAR_IMM_LD, by channel: FP32 bits, or integers.
  static constexpr std::uint32_t kScalars = 8;
  std::array<std::array<std::uint32_t, kScalars>, kLanes> scalars{};
  std::uint32_t scalar_lanes = 0, scalar_count = 0;
  bool scalars_are_bits = false;

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
