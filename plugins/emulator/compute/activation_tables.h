// SPDX-License-Identifier: Apache-2.0
//
// The activation sets in the ACT table memory of a core, compiled when first
// used. Layout of the memory: a directory (number of sets, then 32 bytes per
// set), control entries, function profiles, buckets, each in its own part.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "compute/activation_function.h"
#include "compute/engine_state.h"

namespace opennrt::emu {

// What ACT keeps besides its registers.
class ActivationState final : public FamilyState {
 public:
  static constexpr std::uint32_t kLanes = 128;

  // Sums of activated values by channel (compiled programs shift quadrants
  // between records that belong together), read by ACTIVATION_READ_ACCUMULATOR.
  std::array<float, kLanes> accumulator{};

  // The function of `code` in the selected set as table memory has it now;
  // nullptr: *error says what is wrong. Valid until the next call.
  const ActivationFunction* function(const EngineState& state, std::uint32_t code,
                                     std::string* error);

 private:
  struct Set {
    std::uint32_t directory[8] = {};  // as in table memory
    std::vector<std::uint8_t> raw;    // control, profiles, buckets as in table memory
    std::vector<std::uint32_t> control;
    std::vector<ActivationProfile> profiles;
    std::vector<ActivationBucket> buckets;
    std::array<std::unique_ptr<ActivationFunction>, 256> functions;
    bool current = false;  // compared with table memory since its last write
  };

  // Brings the selected set up to date. False: *error.
  bool refresh(const EngineState& state, std::string* error);

  std::uint64_t version_ = 0;  // of table memory that the sets were compared with
  bool known_ = false;         // version_ is valid
  std::uint32_t set_count_ = 0;
  std::vector<std::unique_ptr<Set>> sets_;
  std::array<std::unique_ptr<ActivationFunction>, 256> exact_;
};

}  // namespace opennrt::emu
