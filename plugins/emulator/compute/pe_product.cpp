// SPDX-License-Identifier: Apache-2.0
#include "compute/pe_product.h"

#include <algorithm>

#include "compute/numeric.h"

namespace opennrt::emu {

namespace {

float to_f32(float v) { return v; }
float to_f32(std::uint16_t v) { return bf16_to_f32(v); }
void from_f32(float v, float* out) { *out = v; }
void from_f32(float v, std::uint16_t* out) { *out = f32_to_bf16(v); }

template <typename T>
void put(const Pattern& pattern, std::uint8_t* partition, const float* results, std::uint32_t first,
         std::uint32_t n, bool add) {
  T* base = reinterpret_cast<T*>(partition);
  Cursor cursor(pattern);
  for (std::uint64_t left = first; left != 0;) left -= cursor.next(left).count;
  for (std::uint64_t left = n; left != 0;) {
    const Cursor::Run r = cursor.next(left);
    for (std::uint64_t i = 0; i < r.count; ++i) {
      T* to = base + r.offset + static_cast<std::int64_t>(i) * r.step;
      from_f32(add ? to_f32(*to) + results[i] : results[i], to);
    }
    results += r.count;
    left -= r.count;
  }
}

}  // namespace

ProductSink::ProductSink(const Operand& destination)
    : out_(destination),
      in_place_(destination.dtype == isa::kDtFloat32 && destination.pattern.dense()) {}

void ProductSink::scatter(std::uint8_t* partition, const float* results, std::uint32_t first,
                          std::uint32_t n, bool add) const {
  if (out_.dtype == isa::kDtFloat32)
    put<float>(out_.pattern, partition, results, first, n, add);
  else
    put<std::uint16_t>(out_.pattern, partition, results, first, n, add);
}

void ProductSink::multiply(PeArray& array, const PeKernels& kernels, const PeTile& tile,
                           std::uint32_t first, std::uint32_t n, bool add) const {
  const std::uint32_t width = kernels.width;
  const std::uint64_t panel = PeArray::panel_stride(width);
  const float* w = array.stationary(tile);
  const auto rows_from = [&](std::uint32_t c) {
    return std::min<std::uint32_t>(kPeBlock, tile.columns - c);
  };
  if (in_place_) {
    // A panel stays in the first cache level while the stationary matrix passes.
    const float* x = array.moving();
    for (std::uint32_t j = 0; j < n; j += width, x += panel)
      for (std::uint32_t c = 0; c < tile.columns; c += kPeBlock)
        kernels.multiply(
            w + c * kPeRows, x, tile.rows, reinterpret_cast<float*>(out_.partition(c)) + first + j,
            out_.partition_stride / sizeof(float), rows_from(c), std::min(width, n - j), add);
    return;
  }
  for (std::uint32_t c = 0; c < tile.columns; c += kPeBlock) {
    const float* x = array.moving();
    for (std::uint32_t j = 0; j < n; j += width, x += panel)
      kernels.multiply(w + c * kPeRows, x, tile.rows, array.results() + j, PeArray::kMoving,
                       rows_from(c), std::min(width, n - j), false);
    for (std::uint32_t i = 0; i < rows_from(c); ++i)
      scatter(out_.partition(c + i), array.results() + i * PeArray::kMoving, first, n, add);
  }
}

}  // namespace opennrt::emu
