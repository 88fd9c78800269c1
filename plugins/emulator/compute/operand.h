// SPDX-License-Identifier: Apache-2.0
//
// An operand of a compute record: where it lies in SBUF or PSUM, its data type
// and access pattern, and its conversion to and from FP32.
#pragma once

#include <cstdint>
#include <string>

#include "compute/pattern.h"
#include "compute/plan.h"

namespace opennrt::emu {

struct Operand {
  std::uint8_t* base = nullptr;        // first element in the first partition
  std::uint64_t partition_stride = 0;  // bytes
  std::uint32_t dtype = 0;             // isa::DType
  std::uint32_t element_bytes = 0;
  Pattern pattern;

  std::uint8_t* partition(std::uint32_t p) const { return base + p * partition_stride; }
};

// Fields of an operand as they stand in a record.
struct OperandFields {
  const char* name;  // for texts: "source 0"
  std::uint32_t address;
  std::uint32_t dtype;
  std::int16_t step[4];
  std::uint16_t count[4];
  std::uint32_t dims;
};

// TENSOR3D and TENSOR4D at `bytes`.
OperandFields tensor3d(const char* name, const std::uint8_t* bytes, std::uint32_t dtype);
OperandFields tensor4d(const char* name, const std::uint8_t* bytes, std::uint32_t dtype);

// Bytes of one element, 0 for a type the device does not compute with.
std::uint32_t element_bytes(std::uint32_t dtype);

// False: *error says why. Checks partitions, alignment and that no element lies
// outside its partition.
bool resolve_operand(const PlanContext& context, const OperandFields& fields,
                     std::uint32_t partitions, Operand* out, std::string* error);

// Moves the next n elements of a pattern over `partition` to or from FP32.
using LoadKernel = void (*)(const std::uint8_t* partition, Cursor& cursor, float* out,
                            std::uint64_t n);
using StoreKernel = void (*)(std::uint8_t* partition, Cursor& cursor, const float* in,
                             std::uint64_t n);
LoadKernel load_kernel(std::uint32_t dtype);
StoreKernel store_kernel(std::uint32_t dtype);

// Elements converted at a time.
inline constexpr std::uint64_t kChunk = 512;

}  // namespace opennrt::emu
