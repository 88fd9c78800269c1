// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "compute/checks.h"
#include "compute/plan.h"
#include "opennrt/isa/table.h"

namespace opennrt::emu {

// False: the engine or the silicon family does not have the instruction, or
// bytes that belong to no field are not zero; *error.
inline bool check_engine(const PlanContext& context, const std::uint8_t* record,
                         std::string* error) {
  const isa::Instruction* instruction = isa::find_instruction(record[0]);
  if (!instruction) {
    *error = "not an instruction";
    return false;
  }
  if ((instruction->engines >> context.engine & 1) == 0) {
    *error = std::string(instruction->name) + " does not exist on this engine";
    return false;
  }
  if ((instruction->generations >> static_cast<std::uint32_t>(context.generation) & 1) == 0) {
    *error = std::string(instruction->name) + " does not exist on this silicon family";
    return false;
  }
  return check_reserved(context, record, error);
}

}  // namespace opennrt::emu
