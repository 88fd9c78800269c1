// SPDX-License-Identifier: Apache-2.0
//
// Rows of the matrices that the PE array reads: their elements in stream order,
// raw or widened to FP32.
#pragma once

#include <cstdint>

#include "compute/operand.h"
#include "compute/pe_kernels.h"

namespace opennrt::emu {

// Input types of the PE array with their widths in bytes; 0: not one of them.
std::uint32_t pe_element_bytes(std::uint32_t dtype);

// Parts of FP32 numbers that the array multiplies in separate passes.
enum class Fp32Part : std::uint8_t { kAll, kLow, kHigh };

// The upper part of x: its 12 low mantissa bits cleared. LOW is the rest, exact
// for every finite x. Infinities and NaN are upper parts.
float fp32_high(float x);
float fp32_low(float x);

// The operand read backwards.
Operand reversed(const Operand& o);

// The n = pattern.total elements of a row in stream order, contiguous: in
// memory where they are, or gathered into `room`.
const std::uint8_t* gather_row(const Operand& o, const std::uint8_t* partition, std::uint8_t* room);

// Asks the cache for a row that is gathered soon. Partitions are so far apart
// that their lines share few cache sets, and too short a run for the hardware's
// own prefetch.
void prefetch_row(const Operand& o, std::uint32_t row);
inline constexpr std::uint32_t kRowsAhead = 4;

// How the rows of a matrix get into panels; made once per record.
struct RowPacker {
  PackKernel direct = nullptr;     // straight from the raw elements
  const float* table = nullptr;    // else 8-bit values through a table,
  Fp32Part part = Fp32Part::kAll;  // or a part of FP32 numbers
  PackKernel pack_f32 = nullptr;

  // n raw elements to panels of `width`; `room` holds n floats.
  void pack(const std::uint8_t* raw, std::uint32_t n, float* room, float* out, std::uint32_t width,
            std::uint64_t stride) const;
};
RowPacker row_packer(const PeKernels& kernels, std::uint32_t dtype, Fp32Part part);

}  // namespace opennrt::emu
