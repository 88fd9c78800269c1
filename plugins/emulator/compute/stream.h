// SPDX-License-Identifier: Apache-2.0
//
// One partition of an operand as a stream of FP32 values, in chunks. FP32 data
// that lie in a row are used where they are.
#pragma once

#include <algorithm>
#include <cstdint>

#include "compute/operand.h"
#include "opennrt/isa/records.h"

namespace opennrt::emu {

// Chunks of a pass over a destination: whole rows when they are of a useful
// length, so that rows of FP32 need no copy.
inline std::uint64_t chunk_elements(const Pattern& p) {
  const std::uint64_t row = p.count[0];
  return row >= 64 && row < kChunk ? row : kChunk;
}

class Reader {
 public:
  // `skip`: elements from the start of the partition to where the pattern begins.
  Reader(const Operand& o, const Pattern& pattern, std::uint32_t p, std::int64_t skip = 0)
      : cursor_(pattern),
        base_(o.partition(p) + skip * static_cast<std::int64_t>(o.element_bytes)),
        load_(format(o.dtype).load),
        direct_(o.dtype == isa::kDtFloat32 && pattern.step[0] == 1) {}
  Reader(const Operand& o, std::uint32_t p) : Reader(o, o.pattern, p) {}

  // The next n values: *scratch, or the memory itself.
  const float* next(std::uint64_t n, float* scratch) {
    if (direct_ && cursor_.row_left() >= n) {
      const float* values = reinterpret_cast<const float*>(base_) + cursor_.offset();
      cursor_.next(n);
      return values;
    }
    copy(n, scratch);
    return scratch;
  }
  void copy(std::uint64_t n, float* out) { load_(base_, cursor_, out, n); }

 private:
  Cursor cursor_;
  const std::uint8_t* base_;
  LoadKernel load_;
  bool direct_;
};

class Writer {
 public:
  Writer(const Operand& o, std::uint32_t p)
      : cursor_(o.pattern),
        base_(o.partition(p)),
        store_(format(o.dtype).store),
        direct_(o.dtype == isa::kDtFloat32 && o.pattern.step[0] == 1) {}

  // Where to put the next n values; end() with the same n and pointer follows.
  float* begin(std::uint64_t n, float* scratch) {
    if (direct_ && cursor_.row_left() >= n)
      return reinterpret_cast<float*>(base_) + cursor_.offset();
    return scratch;
  }
  void end(std::uint64_t n, const float* values) {
    if (direct_ && values == reinterpret_cast<float*>(base_) + cursor_.offset())
      cursor_.next(n);
    else
      store_(base_, cursor_, values, n);
  }

 private:
  Cursor cursor_;
  std::uint8_t* base_;
  StoreKernel store_;
  bool direct_;
};

// The same for raw integers.
class BitReader {
 public:
  BitReader(const Operand& o, const Pattern& pattern, std::uint32_t p, std::int64_t skip = 0)
      : cursor_(pattern),
        base_(o.partition(p) + skip * static_cast<std::int64_t>(o.element_bytes)),
        load_(load_bits(o.element_bytes)) {}
  BitReader(const Operand& o, std::uint32_t p) : BitReader(o, o.pattern, p) {}
  void next(std::uint64_t n, std::uint32_t* out) {
    while (n != 0) {
      const Block b = cursor_.block(n);
      load_(base_, b, out);
      out += b.total();
      n -= b.total();
    }
  }

 private:
  Cursor cursor_;
  const std::uint8_t* base_;
  LoadBits load_;
};

class BitWriter {
 public:
  BitWriter(const Operand& o, std::uint32_t p)
      : cursor_(o.pattern), base_(o.partition(p)), store_(store_bits(o.element_bytes)) {}
  void next(std::uint64_t n, const std::uint32_t* in) {
    while (n != 0) {
      const Block b = cursor_.block(n);
      store_(base_, b, in);
      in += b.total();
      n -= b.total();
    }
  }

 private:
  Cursor cursor_;
  std::uint8_t* base_;
  StoreBits store_;
};

}  // namespace opennrt::emu
