// SPDX-License-Identifier: Apache-2.0
//
// Checks that the plans of most families share. Each returns false with a text
// in *error.
#pragma once

#include <cstdint>
#include <string>

#include "compute/operand.h"
#include "compute/plan.h"

namespace opennrt::emu {

// Bytes of the record that belong to no field are zero.
bool check_reserved(const PlanContext& context, const std::uint8_t* record, std::string* error);
// A field that the record has but this opcode does not use.
bool check_zero(const char* field, std::uint32_t value, std::string* error);
// Both have as many elements per partition.
bool check_same_total(const char* name, const OperandRef& operand, const OperandRef& dst,
                      std::string* error);
bool check_integer(const char* name, std::uint32_t dtype, std::string* error);
// "ALU operation 0x1c (CRC32) ..."; returns false.
bool refuse_operation(std::uint32_t op, const char* why, std::string* error);

}  // namespace opennrt::emu
