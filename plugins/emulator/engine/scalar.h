// SPDX-License-Identifier: Apache-2.0
//
// The scalar unit of a sequencer: operations on 32-bit registers and register
// pairs. Integers wrap; truth values are 1 and 0 of the operand type. At 64 bits
// only addition, subtraction and multiplication exist (public NKI documentation).
#pragma once

#include <cstdint>
#include <string>

#include "opennrt/isa/table.h"

namespace opennrt::emu {

// INT64 and UINT64 stand in register pairs.
bool scalar_is_wide(std::uint32_t dtype);

// Why `alu_op` on `dtype` is not executed; empty: it is.
std::string scalar_refusal(std::uint32_t alu_op, std::uint32_t dtype, isa::Generation generation);

// Operands and result as raw bits. False: *error says which operand values the
// operation is not defined for.
bool scalar_operate(std::uint32_t alu_op, std::uint32_t dtype, std::uint64_t a, std::uint64_t b,
                    std::uint64_t* result, std::string* error);

// For messages: "MULT", or the number of an unknown operation; "INT32" likewise.
std::string alu_op_name(std::uint32_t alu_op);
std::string dtype_name(std::uint32_t dtype);

}  // namespace opennrt::emu
