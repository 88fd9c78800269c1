// SPDX-License-Identifier: Apache-2.0
#include "compute/pe_rows.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "compute/pe_float8.h"
#include "opennrt/isa/records.h"

namespace opennrt::emu {

namespace {

template <typename T>
void gather(const Operand& o, const std::uint8_t* partition, std::uint8_t* room) {
  const T* in = reinterpret_cast<const T*>(partition);
  T* out = reinterpret_cast<T*>(room);
  Cursor cursor(o.pattern);
  for (std::uint64_t left = o.pattern.total; left != 0;) {
    const Cursor::Run r = cursor.next(left);
    const T* from = in + r.offset;
    if (r.step == 1) {
      std::memcpy(out, from, r.count * sizeof(T));
    } else {
      for (std::uint64_t i = 0; i < r.count; ++i)
        out[i] = from[static_cast<std::int64_t>(i) * r.step];
    }
    out += r.count;
    left -= r.count;
  }
}

}  // namespace

std::uint32_t pe_element_bytes(std::uint32_t dtype) {
  switch (dtype) {
    case isa::kDtFloat8e3:
    case isa::kDtFloat8e4:
    case isa::kDtFloat8e5:
      return 1;
    case isa::kDtBfloat16:
    case isa::kDtFloat16:
      return 2;
    case isa::kDtFloat32:
    case isa::kDtFloat32r:
      return 4;
    default:
      return 0;
  }
}

float fp32_high(float x) {
  const auto u = std::bit_cast<std::uint32_t>(x);
  const bool finite = (u & 0x7F800000) != 0x7F800000;
  return finite ? std::bit_cast<float>(u & 0xFFFFF000) : x;
}

float fp32_low(float x) {
  const auto u = std::bit_cast<std::uint32_t>(x);
  const bool finite = (u & 0x7F800000) != 0x7F800000;
  return finite ? x - fp32_high(x) : 0.0f;
}

Operand reversed(const Operand& o) {
  Operand r = o;
  std::int64_t last = 0;
  for (std::uint32_t i = 0; i < o.pattern.dims; ++i) {
    last += o.pattern.step[i] * static_cast<std::int64_t>(o.pattern.count[i] - 1);
    r.pattern.step[i] = -o.pattern.step[i];
  }
  // A single element keeps its step of 1, so that it counts as dense.
  if (o.pattern.total == 1) r.pattern.step[0] = o.pattern.step[0];
  r.base = o.base + last * o.element_bytes;
  r.pattern.lowest = o.pattern.lowest - last;
  r.pattern.highest = o.pattern.highest - last;
  return r;
}

const std::uint8_t* gather_row(const Operand& o, const std::uint8_t* partition,
                               std::uint8_t* room) {
  if (o.pattern.dense()) return partition;
  if (o.element_bytes == 1)
    gather<std::uint8_t>(o, partition, room);
  else if (o.element_bytes == 2)
    gather<std::uint16_t>(o, partition, room);
  else
    gather<std::uint32_t>(o, partition, room);
  return room;
}

void prefetch_row(const Operand& o, std::uint32_t row) {
  constexpr std::int64_t kLine = 64, kMaxLines = 64;
  const std::int64_t step = kLine / o.element_bytes;
  const std::uint8_t* partition = o.partition(row);
  const std::int64_t last = std::min(o.pattern.highest, o.pattern.lowest + kMaxLines * step);
  for (std::int64_t i = o.pattern.lowest; i <= last; i += step)
    __builtin_prefetch(partition + i * o.element_bytes, 0, 2);
}

void RowPacker::pack(const std::uint8_t* raw, std::uint32_t n, float* room, float* out,
                     std::uint32_t width, std::uint64_t stride) const {
  if (direct) {
    direct(raw, n, out, width, stride);
    return;
  }
  if (table) {
    for (std::uint32_t i = 0; i < n; ++i) room[i] = table[raw[i]];
  } else {
    std::memcpy(room, raw, n * sizeof(float));
    if (part == Fp32Part::kHigh)
      for (std::uint32_t i = 0; i < n; ++i) room[i] = fp32_high(room[i]);
    else
      for (std::uint32_t i = 0; i < n; ++i) room[i] = fp32_low(room[i]);
  }
  pack_f32(room, n, out, width, stride);
}

RowPacker row_packer(const PeKernels& kernels, std::uint32_t dtype, Fp32Part part) {
  RowPacker p;
  p.part = part;
  p.pack_f32 = kernels.pack_f32;
  switch (dtype) {
    case isa::kDtFloat16:
      p.direct = kernels.pack_f16;
      break;
    case isa::kDtBfloat16:
      p.direct = kernels.pack_bf16;
      break;
    case isa::kDtFloat32:
    case isa::kDtFloat32r:
      if (part == Fp32Part::kAll) p.direct = kernels.pack_f32;
      break;
    default:
      p.table = float8_table(dtype, false);
  }
  return p;
}

}  // namespace opennrt::emu
