// SPDX-License-Identifier: Apache-2.0
//
// What one engine keeps from record to record besides its program counter:
// registers, and one object per instruction family (the stationary matrix, the
// activation tables in use, accumulators, random number generators).
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>

namespace opennrt::emu {

class Bus;
class WorkShare;

// kVector and kPool: match keys, generators, pool buffer; kLanes: accumulators
// and shuffle mask of the vector engine.
// kStaging: what one half of a record leaves for the other.
enum class Family : std::uint8_t { kPe, kActivation, kVector, kPool, kLanes, kStaging };
inline constexpr std::size_t kFamilies = 6;

class FamilyState {
 public:
  virtual ~FamilyState() = default;
};

class EngineState {
 public:
  static constexpr std::uint32_t kRegisters = 64;

  Bus* bus = nullptr;
  std::uint32_t core = 0;
  std::uint32_t engine = 0;  // nrtp_engine
  // Device address of the record that executes. What follows in memory may be
  // looked at, never relied on: a jump or a reset can come between.
  std::uint64_t pc = 0;
  std::array<std::uint32_t, kRegisters> registers{};
  // Where idle threads look for work; nullptr: there are none.
  WorkShare* share = nullptr;
  // Multiply-adds of the PE array so far.
  std::uint64_t multiply_adds = 0;
  // Set selected by the last ACTIVATION_TABLE_LOAD.
  std::uint32_t activation_set = 0;

  // The family's state, made when first used. State must be a FamilyState that
  // is default constructible, and always the same type for one family.
  template <typename State>
  State& family(Family f) {
    auto& slot = families_[static_cast<std::size_t>(f)];
    if (!slot) slot = std::make_unique<State>();
    return static_cast<State&>(*slot);
  }

  // State after a reset of the core.
  void reset() {
    registers.fill(0);
    activation_set = 0;
    for (auto& f : families_) f.reset();
  }

 private:
  std::array<std::unique_ptr<FamilyState>, kFamilies> families_;
};

}  // namespace opennrt::emu
