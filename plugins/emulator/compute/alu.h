// SPDX-License-Identifier: Apache-2.0
//
// The ALU operations by code, in three classes: FP32 arithmetic, bit operations
// on raw integers of 8, 16 or 32 bits, and the exact integer operations of the
// pool engine.
#pragma once

#include <cstdint>

#include "opennrt/isa/table.h"

namespace opennrt::emu {

// --- FP32

// out[i] = a[i] op b[i]; out may be a or b.
using BinaryKernel = void (*)(const float* a, const float* b, float* out, std::uint64_t n);
// out[i] = a[i] op s, or s op a[i].
using ScalarKernel = void (*)(const float* a, float s, float* out, std::uint64_t n);
// acc op in[0] op in[1] ...; associative operations as a tree over pieces of 512,
// others in order.
using FoldKernel = float (*)(const float* in, std::uint64_t n, float acc);

struct ArithOp {
  BinaryKernel vectors = nullptr;
  ScalarKernel scalar = nullptr;    // a[i] op s
  ScalarKernel reversed = nullptr;  // s op a[i]
  FoldKernel fold = nullptr;
  float (*one)(float a, float b) = nullptr;
};

// nullptr for codes that are not FP32 arithmetic of this generation.
const ArithOp* arith_op(std::uint32_t code, isa::Generation generation = isa::Generation::kMariana);
// target 0 baseline, 1 the one for this CPU.
const ArithOp* arith_op_of_target(std::uint32_t code, int target);
// Value that leaves an accumulator unchanged: add and subtract 0, multiply 1, max
// -infinity, min +infinity. False: the operation has none.
bool reset_value(std::uint32_t code, float* value);

// The `vectors` kernel; nullptr for codes that are not FP32 arithmetic.
BinaryKernel binary_kernel(std::uint32_t alu_op);

using UnaryKernel = void (*)(const float* in, float* out, std::uint64_t n);
UnaryKernel reciprocal_kernel();
// out[i] = e^(in[i] - s)
ScalarKernel exponential_kernel();

// --- bits. Values are zero extended; `width` is the element's: 8, 16 or 32.
// Shifting by the width or more gives 0, or the sign for arithmetic shifts right,
// which take the top bit of the element as the sign.

struct BitOp {
  void (*vectors)(const std::uint32_t* a, const std::uint32_t* b, std::uint32_t* out,
                  std::uint64_t n, std::uint32_t width) = nullptr;
  std::uint32_t (*one)(std::uint32_t a, std::uint32_t b, std::uint32_t width) = nullptr;
  bool shifts_left = false, shifts_right = false;
};
const BitOp* bit_op(std::uint32_t code);

// --- exact 32-bit integers; results wrap.

struct IntegerOp {
  std::uint32_t (*one)(std::uint32_t a, std::uint32_t b) = nullptr;
  bool divides = false;  // b must not be 0
};
// nullptr: no such operation, or its result is not published (signed division
// and remainder, index of the largest).
const IntegerOp* integer_op(std::uint32_t code, isa::Generation generation);

// "ADD", or the number.
const char* alu_name(std::uint32_t code);

}  // namespace opennrt::emu
