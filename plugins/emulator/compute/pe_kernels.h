// SPDX-License-Identifier: Apache-2.0
//
// Inner loops of the PE array, one set per instruction set of the host CPU.
// Every element of a product is one chain of multiply-adds over the rows, in
// row order: its bits depend neither on where it lies in a tile nor on how a
// tile is divided. The sets with fused multiply-add agree bit for bit.
#pragma once

#include <cstdint>
#include <span>

namespace opennrt::emu {

// Columns of the stationary matrix that a kernel handles at a time.
inline constexpr std::uint32_t kPeBlock = 8;
// Lower bound of PeKernels::width.
inline constexpr std::uint32_t kPeMinWidth = 12;

// Widens n consecutive elements to FP32 and deals them out to panels of `width`
// columns (a multiple of 8), panels being `stride` floats apart. The vector
// that holds the last element is filled up with zeros.
using PackKernel = void (*)(const void* in, std::uint32_t n, float* out, std::uint32_t width,
                            std::uint64_t stride);

struct PeKernels {
  const char* name;
  std::uint32_t width;  // columns of a panel of the moving matrix
  PackKernel pack_f32, pack_f16, pack_bf16;
  // c[i][j] (+)= sum over k of w[k][i] * x[k][j], for i < rows <= kPeBlock and
  // j < n <= width. Rows of w are kPeBlock floats apart, rows of x `width`,
  // rows of c `c_stride`. w and x are aligned to 32 and 64 bytes.
  void (*multiply)(const float* w, const float* x, std::uint32_t k, float* c,
                   std::uint64_t c_stride, std::uint32_t rows, std::uint32_t n, bool add);
};

// The fastest set that this CPU runs.
const PeKernels& pe_kernels();
// All that it runs, the portable one first; for tests and benches.
std::span<const PeKernels* const> usable_pe_kernels();

}  // namespace opennrt::emu
