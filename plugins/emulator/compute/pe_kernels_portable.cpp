// SPDX-License-Identifier: Apache-2.0
//
// Plain loops for CPUs without a set of their own; the compiler vectorises them
// for what every CPU of the architecture has.
#include <algorithm>

#include "compute/numeric.h"
#include "compute/pe_kernels.h"

namespace opennrt::emu {

namespace {

constexpr std::uint32_t kWidth = 16;
constexpr std::uint32_t kTileRows = 2;

float from_f32(float v) { return v; }

template <typename T, auto Widen>
void pack(const void* raw, std::uint32_t n, float* out, std::uint32_t width, std::uint64_t stride) {
  const T* in = static_cast<const T*>(raw);
  for (; n != 0; out += stride) {
    const std::uint32_t m = std::min(n, width);
    for (std::uint32_t i = 0; i < m; ++i) out[i] = Widen(in[i]);
    std::fill(out + m, out + width, 0.0f);
    in += m;
    n -= m;
  }
}

void multiply(const float* w, const float* x, std::uint32_t k, float* c, std::uint64_t c_stride,
              std::uint32_t rows, std::uint32_t n, bool add) {
  for (std::uint32_t i = 0; i < rows; i += kTileRows) {
    float sum[kTileRows][kWidth] = {};
    for (std::uint32_t r = 0; r < k; ++r)
      for (std::uint32_t a = 0; a < kTileRows; ++a) {
        const float weight = w[r * kPeBlock + i + a];
        for (std::uint32_t j = 0; j < kWidth; ++j) sum[a][j] += weight * x[r * kWidth + j];
      }
    for (std::uint32_t a = 0; a < std::min(kTileRows, rows - i); ++a) {
      float* row = c + (i + a) * c_stride;
      for (std::uint32_t j = 0; j < n; ++j) row[j] = add ? row[j] + sum[a][j] : sum[a][j];
    }
  }
}

}  // namespace

extern const PeKernels kPeKernelsPortable;
const PeKernels kPeKernelsPortable = {"portable",
                                      kWidth,
                                      pack<float, from_f32>,
                                      pack<std::uint16_t, f16_to_f32>,
                                      pack<std::uint16_t, bf16_to_f32>,
                                      multiply};

}  // namespace opennrt::emu
