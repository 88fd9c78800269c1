// SPDX-License-Identifier: Apache-2.0
#include "compute/pe_product.h"

#include <algorithm>

#include "compute/float_environment.h"
#include "compute/numeric.h"

namespace opennrt::emu {

namespace {

float to_f32(float v) { return v; }
float to_f32(std::uint16_t v) { return bf16_to_f32(v); }
void from_f32(float v, float* out) { *out = v; }
void from_f32(float v, std::uint16_t* out) { *out = f32_to_bf16(v); }

template <typename T>
void put(const Pattern& pattern, std::uint8_t* partition, const float* products,
         std::uint32_t first, std::uint32_t n, bool add) {
  T* base = reinterpret_cast<T*>(partition);
  Cursor cursor(pattern);
  for (std::uint64_t left = first; left != 0;) left -= cursor.next(left).count;
  for (std::uint64_t left = n; left != 0;) {
    const Cursor::Run r = cursor.next(left);
    for (std::uint64_t i = 0; i < r.count; ++i) {
      T* to = base + r.offset + static_cast<std::int64_t>(i) * r.step;
      from_f32(add ? to_f32(*to) + products[i] : products[i], to);
    }
    products += r.count;
    left -= r.count;
  }
}

}  // namespace

Product::Product(const PeTile& tile, const Operand& moving, Fp32Part part,
                 const Operand& destination)
    : kernels_(&pe_kernels()),
      tile_(tile),
      moving_(moving),
      out_(destination),
      packer_(row_packer(*kernels_, moving.dtype, part)),
      in_place_(destination.dtype == isa::kDtFloat32 && destination.pattern.dense()) {}

void Product::multiply(PeArray& array, PeScratch& scratch, std::uint32_t first, std::uint32_t n,
                       bool overwrite) const {
  const FloatEnvironment environment;
  for (const std::uint32_t end = first + n; first < end; first += PeScratch::kMoving) {
    const std::uint32_t count = std::min(PeScratch::kMoving, end - first);
    widen(scratch, first, count);
    multiply_panels(array.stationary(tile_), scratch, first, count, !overwrite);
  }
}

void Product::widen(PeScratch& scratch, std::uint32_t first, std::uint32_t n) const {
  const std::uint32_t width = kernels_->width;
  const std::uint64_t panel = PeScratch::panel_stride(width);
  for (std::uint32_t r = 0; r < tile_.rows; ++r) {
    if (r + kRowsAhead < tile_.rows) prefetch_row(moving_, r + kRowsAhead);
    const std::uint8_t* raw = gather_row(moving_, moving_.partition(r), scratch.raw_row);
    packer_.pack(raw + first * moving_.element_bytes, n, scratch.row, scratch.moving + r * width,
                 width, panel);
  }
}

void Product::multiply_panels(const float* stationary, PeScratch& scratch, std::uint32_t first,
                              std::uint32_t n, bool add) const {
  const std::uint32_t width = kernels_->width;
  const std::uint64_t panel = PeScratch::panel_stride(width);
  const auto rows_from = [&](std::uint32_t c) {
    return std::min<std::uint32_t>(kPeBlock, tile_.columns - c);
  };
  if (in_place_) {
    // A panel stays in the first cache level while the stationary matrix passes.
    const float* x = scratch.moving;
    for (std::uint32_t j = 0; j < n; j += width, x += panel)
      for (std::uint32_t c = 0; c < tile_.columns; c += kPeBlock)
        kernels_->multiply(stationary + c / kPeBlock * kPeBlockStride, x, tile_.rows,
                           reinterpret_cast<float*>(out_.partition(c)) + first + j,
                           out_.partition_stride / sizeof(float), rows_from(c),
                           std::min(width, n - j), add);
    return;
  }
  for (std::uint32_t c = 0; c < tile_.columns; c += kPeBlock) {
    const float* x = scratch.moving;
    for (std::uint32_t j = 0; j < n; j += width, x += panel)
      kernels_->multiply(stationary + c / kPeBlock * kPeBlockStride, x, tile_.rows,
                         scratch.products + j, PeScratch::kMoving, rows_from(c),
                         std::min(width, n - j), false);
    for (std::uint32_t i = 0; i < rows_from(c); ++i)
      put_products(out_, out_.partition(c + i), scratch.products + i * PeScratch::kMoving, first, n,
                   add);
  }
}

void put_products(const Operand& destination, std::uint8_t* partition, const float* products,
                  std::uint32_t first, std::uint32_t n, bool add) {
  if (destination.dtype == isa::kDtFloat32)
    put<float>(destination.pattern, partition, products, first, n, add);
  else
    put<std::uint16_t>(destination.pattern, partition, products, first, n, add);
}

}  // namespace opennrt::emu
