// SPDX-License-Identifier: Apache-2.0
//
// Between the halves of a record that feeds one operation into another: the
// whole stream of every partition, dense.
#pragma once

#include <cstdint>
#include <memory>

#include "compute/engine_state.h"
#include "compute/operand.h"

namespace opennrt::emu {

class Staging final : public FamilyState {
 public:
  static constexpr std::uint64_t kPartitions = 128;
  static constexpr std::uint64_t kBytes = 0x40000;  // per partition, as the largest partition

  static Staging& of(EngineState& state) { return state.family<Staging>(Family::kStaging); }
  // Rows start on cache lines.
  static std::uint64_t stride(const Operand& o) {
    return (o.pattern.total * o.element_bytes + 63) / 64 * 64;
  }

  std::uint8_t* bytes() { return bytes_.get(); }

 private:
  // Not initialised: only the pages in use count.
  std::unique_ptr<std::uint8_t[]> bytes_{new std::uint8_t[kPartitions * kBytes]};
};

}  // namespace opennrt::emu
