// SPDX-License-Identifier: Apache-2.0
//
// One pass over a partition for the identity function, by far the most frequent
// one: copies between memories, with bias and conversion.
#pragma once

#include "compute/operand.h"

namespace opennrt::emu {

// Same results as load, x * scale + bias, the identity function, store.
using AffineKernel = void (*)(const std::uint8_t* in, std::uint8_t* out, std::uint64_t n,
                              float scale, float bias);
// Both operands dense and FP32 or FP16, else nullptr.
AffineKernel affine_kernel(const Operand& in, const Operand& out);

// Identity with scale 1 and bias 0 of equal float types: moves the elements of
// one partition; NaN becomes the canonical NaN, -0 becomes 0.
using CopyKernel = void (*)(const Operand& in, const Operand& out, std::uint32_t partition);
CopyKernel copy_kernel(const Operand& in, const Operand& out);

}  // namespace opennrt::emu
