// SPDX-License-Identifier: Apache-2.0
//
// For CPUs without a set of their own: vectors of four, which every compiler
// maps to what all CPUs of the architecture have.
#include <algorithm>
#include <cstring>

#include "compute/numeric.h"
#include "compute/pe_kernels.h"

namespace opennrt::emu {

namespace {

using Vector = float __attribute__((vector_size(16)));
constexpr std::uint32_t kLanes = 4;
constexpr std::uint32_t kVectors = 3;
constexpr std::uint32_t kWidth = kVectors * kLanes;
constexpr std::uint32_t kTileRows = 4;
static_assert(kWidth >= kPeMinWidth && kPeBlock % kTileRows == 0);

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

// kTileRows x kWidth products; out is dense.
void tile(const float* w, const float* x, std::uint32_t k, float* out) {
  Vector sum[kTileRows][kVectors] = {};
  for (; k != 0; --k, w += kPeBlock, x += kWidth) {
    Vector in[kVectors];
    std::memcpy(in, x, sizeof in);
    for (std::uint32_t a = 0; a < kTileRows; ++a)
      for (std::uint32_t v = 0; v < kVectors; ++v) sum[a][v] += w[a] * in[v];
  }
  std::memcpy(out, sum, sizeof sum);
}

void multiply(const float* w, const float* x, std::uint32_t k, float* c, std::uint64_t c_stride,
              std::uint32_t rows, std::uint32_t n, bool add) {
  for (std::uint32_t i = 0; i < rows; i += kTileRows) {
    float products[kTileRows][kWidth];
    tile(w + i, x, k, products[0]);
    for (std::uint32_t a = 0; a < std::min(kTileRows, rows - i); ++a) {
      float* row = c + (i + a) * c_stride;
      for (std::uint32_t j = 0; j < n; ++j) row[j] = add ? row[j] + products[a][j] : products[a][j];
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
