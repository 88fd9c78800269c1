// SPDX-License-Identifier: Apache-2.0
//
// Elements of every data type to and from what the engines compute with: FP32
// for arithmetic, raw 32-bit integers for bit operations, plain bits for moves.
#pragma once

#include <cstdint>

#include "compute/pattern.h"

namespace opennrt::emu {

// Behaviour of the 8-bit float formats, a property of the loaded program.
struct NumericConfig {
  bool e4m3fn = false;        // FP8_EXP4 is OCP e4m3fn instead of the form with infinity
  bool fp8_saturate = false;  // results beyond the largest FP8 number become it
};

// A data type code with what NumericConfig says about it.
inline constexpr std::uint32_t kFormatOcp = 0x100;
inline constexpr std::uint32_t kFormatSaturate = 0x200;
std::uint32_t format_of(std::uint32_t dtype, const NumericConfig& config);

// Elements of a block, in order, to or from a dense array.
using LoadBlock = void (*)(const std::uint8_t* partition, const Block& block, float* out);
using StoreBlock = void (*)(std::uint8_t* partition, const Block& block, const float* in);
using LoadBits = void (*)(const std::uint8_t* partition, const Block& block, std::uint32_t* out);
using StoreBits = void (*)(std::uint8_t* partition, const Block& block, const std::uint32_t* in);
// Dense arrays of the element itself.
using GatherBytes = void (*)(const std::uint8_t* partition, const Block& block, std::uint8_t* out);
using ScatterBytes = void (*)(std::uint8_t* partition, const Block& block, const std::uint8_t* in);

struct Format {
  std::uint32_t bytes = 0;     // 0: unknown type
  LoadBlock load = nullptr;    // nullptr: no arithmetic on it (64-bit integers)
  StoreBlock store = nullptr;  // nullptr: no result of this type
  bool integer = false, is_signed = false;
};

// By format code.
const Format& format(std::uint32_t code);

// By element size: 1, 2 or 4 bytes (zero extending), 1 to 8 bytes for moves.
LoadBits load_bits(std::uint32_t bytes);
StoreBits store_bits(std::uint32_t bytes);
GatherBytes gather_bytes(std::uint32_t bytes);
ScatterBytes scatter_bytes(std::uint32_t bytes);

// Both sets of loops, for tests: 0 baseline, 1 the one for this CPU.
const Format& format_of_target(std::uint32_t code, int target);

// Moves the next n elements of a pattern over a partition to or from FP32.
class LoadKernel {
 public:
  LoadKernel(LoadBlock block = nullptr) : block_(block) {}
  explicit operator bool() const { return block_ != nullptr; }
  void operator()(const std::uint8_t* partition, Cursor& cursor, float* out,
                  std::uint64_t n) const {
    while (n != 0) {
      const Block b = cursor.block(n);
      block_(partition, b, out);
      out += b.total();
      n -= b.total();
    }
  }

 private:
  LoadBlock block_;
};
class StoreKernel {
 public:
  StoreKernel(StoreBlock block = nullptr) : block_(block) {}
  explicit operator bool() const { return block_ != nullptr; }
  void operator()(std::uint8_t* partition, Cursor& cursor, const float* in, std::uint64_t n) const {
    while (n != 0) {
      const Block b = cursor.block(n);
      block_(partition, b, in);
      in += b.total();
      n -= b.total();
    }
  }

 private:
  StoreBlock block_;
};

}  // namespace opennrt::emu
