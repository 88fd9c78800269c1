// SPDX-License-Identifier: Apache-2.0
//
// A scalar operand of a record that may differ by partition: a number in the
// record, the address of one value per partition, or a register with such an
// address.
#pragma once

#include <cstdint>
#include <string>

#include "compute/operand.h"
#include "compute/plan.h"

namespace opennrt::emu {

class LaneScalar {
 public:
  // source: code::imm_src. bits: the field. dtype: of the values in memory.
  // False: *error.
  static bool make(const PlanContext& context, const char* name, std::uint32_t source,
                   std::uint32_t bits, std::uint32_t dtype, std::uint32_t partitions,
                   LaneScalar* out, std::string* error);

  // The operand for one execution: reads the register. False: *error.
  bool bind(const EngineState& state, Operand* out, std::string* error) const;

  // Value of a partition; `bound` comes from bind().
  float value(const Operand& bound, std::uint32_t partition) const {
    if (kind_ == Kind::kNumber) return number_;
    float v;
    Cursor cursor(bound.pattern);
    load_(bound.partition(partition), cursor, &v, 1);
    return v;
  }

  void visit(EngineState& state, OperandVisitor& visitor) const;

 private:
  enum class Kind : std::uint8_t { kNumber, kPointer, kRegister };
  OperandFields fields(std::uint32_t address) const;

  Kind kind_ = Kind::kNumber;
  const char* name_ = "";
  float number_ = 0;
  std::uint32_t register_ = 0, dtype_ = 0, partitions_ = 0;
  Operand operand_;
  LoadKernel load_ = nullptr;
};

}  // namespace opennrt::emu
