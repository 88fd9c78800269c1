// SPDX-License-Identifier: Apache-2.0
//
// What the data path of a DMA engine computes while it copies: casts and
// element-wise combinations of sources, through FP32, rounded once to nearest
// even; and transposes of up to four dimensions.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "dma/stream.h"

namespace opennrt::emu {

// Whether elements of one type become elements of the other.
bool can_convert(std::uint32_t from_dtype, std::uint32_t to_dtype);
// Moves `count` elements of types that can; equal types are copied as they are.
void cast_stream(ReadStream& from, std::uint32_t from_dtype, WriteStream& to,
                 std::uint32_t to_dtype, std::uint64_t count);

enum class Combine : std::uint8_t { kAdd = 0, kFma = 1, kMax = 2, kMin = 3 };

struct CombineSource {
  ReadStream* stream;
  std::uint32_t dtype;
  float scale;  // kFma
};
// kAdd: sum, kFma: sum of scale x source, in the order of the sources; kMax and
// kMin: of all sources and `start` (nullptr: none); NaN propagates.
void combine_streams(Combine op, std::span<const CombineSource> sources, const float* start,
                     WriteStream& to, std::uint32_t to_dtype, std::uint64_t count);

struct Transpose {
  std::array<std::uint32_t, 4> size;   // of the source, innermost first
  std::array<std::uint32_t, 4> order;  // source dimension of each output dimension
  std::uint32_t element_bytes;
};
// `to` must not overlap `from`.
void transpose(const std::uint8_t* from, std::uint8_t* to, const Transpose& shape);

}  // namespace opennrt::emu
