// SPDX-License-Identifier: Apache-2.0
//
// FP32 arithmetic of the vector engines, by ALU code.
#pragma once

#include <cstdint>

namespace opennrt::emu {

// out[i] = a[i] op b[i]; out may be a or b.
using BinaryKernel = void (*)(const float* a, const float* b, float* out, std::uint64_t n);

// nullptr for codes that are not plain FP32 arithmetic.
BinaryKernel binary_kernel(std::uint32_t alu_op);

}  // namespace opennrt::emu
