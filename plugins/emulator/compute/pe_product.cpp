// SPDX-License-Identifier: Apache-2.0
#include "compute/pe_product.h"

#include <algorithm>
#include <cstring>

#include "compute/float_environment.h"
#include "compute/numeric.h"
#include "compute/work_share.h"

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

// Whether every element has its own place, as far as that is seen at once: each
// dimension steps over all of the ones below.
bool distinct(const Pattern& p) {
  std::int64_t reach = 0;
  for (std::uint32_t i = 0; i < p.dims; ++i) {
    if (p.count[i] == 1) continue;
    const std::int64_t step = p.step[i] < 0 ? -p.step[i] : p.step[i];
    if (step <= reach) return false;
    reach += step * static_cast<std::int64_t>(p.count[i] - 1);
  }
  return true;
}

// The elements `first` to `first` + n of a row, contiguous.
const std::uint8_t* row_part(const Operand& o, const std::uint8_t* partition, std::uint32_t first,
                             std::uint32_t n, std::uint8_t* room) {
  if (o.pattern.dense()) return partition + first * o.element_bytes;
  if (first == 0 && n == o.pattern.total) return gather_row(o, partition, room);
  const std::uint32_t bytes = o.element_bytes;
  const GatherBytes gather = gather_bytes(bytes);
  Cursor cursor(o.pattern);
  for (std::uint64_t left = first; left != 0;) left -= cursor.next(left).count;
  std::uint8_t* to = room;
  for (std::uint64_t left = n; left != 0;) {
    const Cursor::Run r = cursor.next(left);
    if (r.step == 1)
      std::memcpy(to, partition + r.offset * static_cast<std::int64_t>(bytes), r.count * bytes);
    else
      gather(partition, {r.offset, r.step, 0, r.count, 1}, to);
    to += r.count * bytes;
    left -= r.count;
  }
  return room;
}

}  // namespace

Product::Product(const PeTile& tile, const Operand& moving, Fp32Part part,
                 const Operand& destination)
    : kernels_(&pe_kernels()),
      tile_(tile),
      moving_(moving),
      out_(destination),
      packer_(row_packer(*kernels_, moving.dtype, part)),
      divisible_(distinct(destination.pattern)),
      in_place_(destination.dtype == isa::kDtFloat32 && destination.pattern.dense()) {}

void Product::perform(EngineState& state, PeArray& array, bool overwrite) const {
  state.multiply_adds += std::uint64_t{columns()} * tile_.rows * tile_.columns;
  const std::uint32_t width = kernels_->width;
  const Block whole{0, tile_.columns, 0, columns()};
  if (!state.share || !divisible_ || columns() < 2 * width) {
    multiply(array, array.scratch, whole, overwrite);
    return;
  }
  struct Job {
    const Product* product;
    PeArray* array;
    bool overwrite;
  } const job{this, &array, overwrite};
  state.share->run(
      steps(),
      [](const void* context, PeScratch& scratch, std::uint32_t first, std::uint32_t n) {
        const Job& j = *static_cast<const Job*>(context);
        j.product->multiply_steps(*j.array, scratch, first, first + n, j.overwrite);
      },
      &job, array.scratch);
}

void Product::multiply_steps(PeArray& array, PeScratch& scratch, std::uint32_t step,
                             std::uint32_t end, bool overwrite) const {
  const std::uint32_t width = kernels_->width;
  const std::uint32_t half = std::min<std::uint32_t>(
      tile_.columns, (tile_.columns / 2 + kPeBlock - 1) / kPeBlock * kPeBlock);
  const auto panels = [&](std::uint32_t first, std::uint32_t last, std::uint32_t from,
                          std::uint32_t to) {
    const std::uint32_t at = first * width;
    multiply(array, scratch, {from, to, at, std::min(last * width, columns()) - at}, overwrite);
  };
  if (step % 2 != 0) {
    panels(step / 2, step / 2 + 1, half, tile_.columns);
    ++step;
  }
  if (step / 2 != end / 2) panels(step / 2, end / 2, 0, tile_.columns);
  if (step < end && end % 2 != 0) panels(end / 2, end / 2 + 1, 0, half);
}

void Product::multiply(PeArray& array, PeScratch& scratch, Block block, bool overwrite) const {
  if (block.from == block.to) return;
  const FloatEnvironment environment;
  for (const std::uint32_t end = block.first + block.n; block.first < end;
       block.first += PeScratch::kMoving) {
    block.n = std::min(PeScratch::kMoving, end - block.first);
    widen(scratch, block.first, block.n);
    multiply_panels(array, scratch, block, !overwrite);
  }
}

void Product::widen(PeScratch& scratch, std::uint32_t first, std::uint32_t n) const {
  const std::uint32_t width = kernels_->width;
  const std::uint64_t panel = PeScratch::panel_stride(width);
  for (std::uint32_t r = 0; r < tile_.rows; ++r) {
    if (r + kRowsAhead < tile_.rows) prefetch_row(moving_, r + kRowsAhead);
    const std::uint8_t* raw = row_part(moving_, moving_.partition(r), first, n, scratch.raw_row);
    packer_.pack(raw, n, scratch.row, scratch.moving + r * width, width, panel);
  }
}

void Product::multiply_panels(PeArray& array, PeScratch& scratch, const Block& block,
                              bool add) const {
  const auto [from, to, first, n] = block;
  const float* const stationary = array.stationary(tile_);
  // Rows of the next stationary matrix to ask for with each block.
  constexpr std::uint32_t kRowsPerBlock = 2;
  std::uint32_t ahead =
      array.ahead.first != 0
          ? (first / kernels_->width * (kPeColumns / kPeBlock) + from / kPeBlock) * kRowsPerBlock
          : kPeRows;
  const std::uint32_t width = kernels_->width;
  const std::uint64_t panel = PeScratch::panel_stride(width);
  const auto rows_from = [&](std::uint32_t c) {
    return std::min<std::uint32_t>(kPeBlock, tile_.columns - c);
  };
  if (in_place_) {
    // A panel stays in the first cache level while the stationary matrix passes.
    const float* x = scratch.moving;
    for (std::uint32_t j = 0; j < n; j += width, x += panel)
      for (std::uint32_t c = from; c < to; c += kPeBlock) {
        for (std::uint32_t i = 0; i < kRowsPerBlock && ahead < array.ahead.rows; ++i)
          array.ahead.ask_for_row(ahead++);
        kernels_->multiply(stationary + c / kPeBlock * kPeBlockStride, x, tile_.rows,
                           reinterpret_cast<float*>(out_.partition(c)) + first + j,
                           out_.partition_stride / sizeof(float), rows_from(c),
                           std::min(width, n - j), add);
      }
    return;
  }
  for (std::uint32_t c = from; c < to; c += kPeBlock) {
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
