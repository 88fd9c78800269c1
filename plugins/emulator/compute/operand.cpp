// SPDX-License-Identifier: Apache-2.0
#include "compute/operand.h"

#include <cstring>

#include "compute/half.h"
#include "compute/numeric.h"
#include "device/bus.h"
#include "opennrt/isa/records.h"

namespace opennrt::emu {

namespace {

OperandFields tensor(const char* name, const std::uint8_t* bytes, std::uint32_t dtype,
                     std::uint32_t dims) {
  OperandFields f{};
  f.name = name;
  f.dtype = dtype;
  f.dims = dims;
  std::memcpy(&f.address, bytes, 4);
  std::memcpy(f.step, bytes + 4, 2 * dims);
  std::memcpy(f.count, bytes + 4 + 2 * dims, 2 * dims);
  return f;
}

float widen(float v) { return v; }
template <typename Int>
float widen_int(Int v) {
  return static_cast<float>(v);
}
float narrow(float v) { return v; }

template <typename T, auto Convert>
void load(const std::uint8_t* partition, Cursor& cursor, float* out, std::uint64_t n) {
  const T* base = reinterpret_cast<const T*>(partition);
  while (n != 0) {
    const Cursor::Run run = cursor.next(n);
    const T* from = base + run.offset;
    if (run.step == 1) {
      for (std::uint64_t i = 0; i < run.count; ++i) out[i] = Convert(from[i]);
    } else {
      for (std::uint64_t i = 0; i < run.count; ++i)
        out[i] = Convert(from[static_cast<std::int64_t>(i) * run.step]);
    }
    out += run.count;
    n -= run.count;
  }
}

template <typename T, auto Convert>
void store(std::uint8_t* partition, Cursor& cursor, const float* in, std::uint64_t n) {
  T* base = reinterpret_cast<T*>(partition);
  while (n != 0) {
    const Cursor::Run run = cursor.next(n);
    T* to = base + run.offset;
    if (run.step == 1) {
      for (std::uint64_t i = 0; i < run.count; ++i) to[i] = Convert(in[i]);
    } else {
      for (std::uint64_t i = 0; i < run.count; ++i)
        to[static_cast<std::int64_t>(i) * run.step] = Convert(in[i]);
    }
    in += run.count;
    n -= run.count;
  }
}

// Half precision: dense runs through the CPU's conversion.
void load_half(const std::uint8_t* partition, Cursor& cursor, float* out, std::uint64_t n) {
  static const HalfToFloat convert = half_to_float();
  const auto* base = reinterpret_cast<const std::uint16_t*>(partition);
  while (n != 0) {
    const Cursor::Run run = cursor.next(n);
    const std::uint16_t* from = base + run.offset;
    if (run.step == 1) {
      convert(from, out, run.count);
    } else {
      for (std::uint64_t i = 0; i < run.count; ++i)
        out[i] = f16_to_f32(from[static_cast<std::int64_t>(i) * run.step]);
    }
    out += run.count;
    n -= run.count;
  }
}

void store_half(std::uint8_t* partition, Cursor& cursor, const float* in, std::uint64_t n) {
  static const FloatToHalf convert = float_to_half();
  auto* base = reinterpret_cast<std::uint16_t*>(partition);
  while (n != 0) {
    const Cursor::Run run = cursor.next(n);
    std::uint16_t* to = base + run.offset;
    if (run.step == 1) {
      convert(in, to, run.count);
    } else {
      for (std::uint64_t i = 0; i < run.count; ++i)
        to[static_cast<std::int64_t>(i) * run.step] = f32_to_f16(in[i]);
    }
    in += run.count;
    n -= run.count;
  }
}

struct Type {
  std::uint32_t bytes;
  LoadKernel load;
  StoreKernel store;
};

template <typename Int>
constexpr Type integer() {
  return {sizeof(Int), load<Int, widen_int<Int>>, store<Int, f32_to_int<Int>>};
}

Type type_of(std::uint32_t dtype) {
  switch (dtype) {
    case isa::kDtInt8:
      return integer<std::int8_t>();
    case isa::kDtUint8:
      return integer<std::uint8_t>();
    case isa::kDtInt16:
      return integer<std::int16_t>();
    case isa::kDtUint16:
      return integer<std::uint16_t>();
    case isa::kDtInt32:
      return integer<std::int32_t>();
    case isa::kDtUint32:
      return integer<std::uint32_t>();
    case isa::kDtBfloat16:
      return {2, load<std::uint16_t, bf16_to_f32>, store<std::uint16_t, f32_to_bf16>};
    case isa::kDtFloat16:
      return {2, load_half, store_half};
    case isa::kDtFloat32:
      return {4, load<float, widen>, store<float, narrow>};
    default:
      return {0, nullptr, nullptr};
  }
}

}  // namespace

OperandFields tensor3d(const char* name, const std::uint8_t* bytes, std::uint32_t dtype) {
  return tensor(name, bytes, dtype, 3);
}
OperandFields tensor4d(const char* name, const std::uint8_t* bytes, std::uint32_t dtype) {
  return tensor(name, bytes, dtype, 4);
}

std::uint32_t element_bytes(std::uint32_t dtype) { return type_of(dtype).bytes; }
LoadKernel load_kernel(std::uint32_t dtype) { return type_of(dtype).load; }
StoreKernel store_kernel(std::uint32_t dtype) { return type_of(dtype).store; }

bool resolve_operand(const PlanContext& context, const OperandFields& f, std::uint32_t partitions,
                     Operand* out, std::string* error) {
  const AddressMap& map = context.map;
  const nrtp_arch_geometry& g = map.geometry();
  const auto fail = [&](const std::string& text) {
    *error = std::string(f.name) + ": " + text;
    return false;
  };
  const std::uint32_t bytes = element_bytes(f.dtype);
  if (bytes == 0) return fail("data type " + std::to_string(f.dtype) + " is not implemented");
  // Bits 31:26 mark register, shape and indirect addresses.
  if (f.address >> 26 != 0)
    return fail("address form " + hex(f.address) + " is not implemented (plain addresses only)");
  const bool psum = f.address >= g.psum_local_base;
  const std::uint64_t offset = psum ? f.address - g.psum_local_base : f.address;
  const std::uint64_t stride = psum ? g.psum_partition_stride : g.sbuf_partition_stride;
  const std::uint64_t usable = psum ? g.psum_partition_bytes : g.sbuf_partition_bytes;
  const std::uint32_t available = psum ? g.psum_partitions : g.sbuf_partitions;
  const std::uint64_t first = offset / stride;
  const std::uint64_t inside = offset % stride;
  if (partitions == 0 || first + partitions > available)
    return fail("partitions " + std::to_string(first) + " to " +
                std::to_string(first + partitions) + " (exclusive) at address " + hex(f.address) +
                ", the memory has " + std::to_string(available));
  for (std::uint32_t i = 0; i < f.dims; ++i)
    if (f.count[i] == 0) return fail("element count 0 in dimension " + std::to_string(i));
  if (inside % bytes != 0)
    return fail("address " + hex(f.address) + " is not a multiple of the element size " +
                std::to_string(bytes));
  const Pattern p = Pattern::make(f.step, f.count, f.dims);
  const std::int64_t low = static_cast<std::int64_t>(inside) + p.lowest * bytes;
  const std::int64_t high = static_cast<std::int64_t>(inside) + (p.highest + 1) * bytes;
  if (low < 0 || high > static_cast<std::int64_t>(usable))
    return fail("bytes " + std::to_string(low) + " to " + std::to_string(high) +
                " of a partition at address " + hex(f.address) + ", a partition has " +
                std::to_string(usable));
  // No useful operand repeats itself beyond a partition's worth of elements.
  if (p.total > usable)
    return fail(std::to_string(p.total) + " elements per partition, the limit is " +
                std::to_string(usable));
  *out = {.base = (psum ? map.psum(context.core) : map.sbuf(context.core)) + offset,
          .partition_stride = stride,
          .dtype = f.dtype,
          .element_bytes = bytes,
          .pattern = p};
  return true;
}

}  // namespace opennrt::emu
