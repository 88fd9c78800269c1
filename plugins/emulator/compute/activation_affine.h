// SPDX-License-Identifier: Apache-2.0
//
// One pass over a partition for the identity function, by far the most frequent
// one: copies between memories, with bias and conversion.
#pragma once

#include "compute/operand.h"

namespace opennrt::emu {

// One partition: same results as load, x * scale + bias, the identity function,
// store.
using AffineKernel = void (*)(const Operand& in, const Operand& out, std::uint32_t partition,
                              float scale, float bias);
// Both operands FP32 or FP16 in contiguous rows, else nullptr.
AffineKernel affine_kernel(const Operand& in, const Operand& out);

// Identity with scale 1 and bias 0 of equal float types: moves the elements of
// one partition; NaN becomes the canonical NaN, -0 becomes 0.
using CopyKernel = void (*)(const Operand& in, const Operand& out, std::uint32_t partition);
CopyKernel copy_kernel(const Operand& in, const Operand& out);

}  // namespace opennrt::emu
