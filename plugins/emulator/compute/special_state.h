// SPDX-License-Identifier: Apache-2.0
//
// What the search, gather and random instructions keep from record to
// record. Lanes are numbered by channel, not by partition: compiled programs
// load keys and pool buffers from one quadrant and use them on another.
#pragma once

#include <array>
#include <cstdint>

#include "compute/engine_state.h"
#include "compute/random.h"

namespace opennrt::emu {

class SpecialState final : public FamilyState {
 public:
  static constexpr std::uint32_t kLanes = 128;
  static constexpr std::uint32_t kSlots = 8;           // of the match instructions
  static constexpr std::uint32_t kPoolElements = 512;  // of a lane's pool buffer
  static constexpr std::uint32_t kNoPosition = 0xFFFFFFFF;

  // Keys of MATCH_VALUE_LOAD and positions of the last MATCH_REPLACE8.
  std::array<std::array<float, kSlots>, kLanes> keys{};
  std::uint32_t key_lanes = 0;  // lanes that have keys
  std::array<std::array<std::uint32_t, kSlots>, kLanes> positions{};
  std::uint32_t position_lanes = 0;

  // POOL_BUFFER_LOAD: raw elements.
  std::array<std::array<std::uint32_t, kPoolElements>, kLanes> pool{};
  std::uint32_t pool_lanes = 0, pool_count = 0, pool_dtype = 0;

  Generators generators;
};

}  // namespace opennrt::emu
