// SPDX-License-Identifier: Apache-2.0
//
// Conversions between FP32 and the 16-bit float formats, round to nearest
// even, and between FP32 and integers (nearest even, saturating; NaN becomes 0).
// Branch-light integer code so that loops over them vectorise.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace opennrt::emu {

inline float bf16_to_f32(std::uint16_t h) { return std::bit_cast<float>(std::uint32_t{h} << 16); }

inline std::uint16_t f32_to_bf16(float f) {
  const auto u = std::bit_cast<std::uint32_t>(f);
  const std::uint32_t rounded = (u + 0x7FFF + ((u >> 16) & 1)) >> 16;
  const std::uint32_t quiet = (u >> 16) | 0x40;  // rounding could turn a NaN into infinity
  return static_cast<std::uint16_t>((u & 0x7FFFFFFF) > 0x7F800000 ? quiet : rounded);
}

inline float f16_to_f32(std::uint16_t h) {
  const std::uint32_t sign = std::uint32_t{h & 0x8000u} << 16;
  const std::uint32_t magnitude = h & 0x7FFFu;
  // Scaling by 2^112 moves the exponent bias and normalises subnormals.
  const float scaled = std::bit_cast<float>(magnitude << 13) * 0x1p112f;
  const std::uint32_t finite = std::bit_cast<std::uint32_t>(scaled);
  const std::uint32_t quiet = magnitude > 0x7C00 ? 0x400000 : 0;  // as the CPU's own conversion
  const std::uint32_t special = (magnitude << 13) | 0x7F800000 | quiet;
  return std::bit_cast<float>(sign | (magnitude >= 0x7C00 ? special : finite));
}

inline std::uint16_t f32_to_f16(float f) {
  const auto u = std::bit_cast<std::uint32_t>(f);
  const std::uint32_t sign = u >> 16 & 0x8000;
  const std::uint32_t magnitude = u & 0x7FFFFFFF;
  // Normal results: rebias, round on bit 13. A carry into the exponent is right,
  // up to infinity.
  const std::uint32_t normal = (magnitude - (112u << 23) + 0xFFF + (magnitude >> 13 & 1)) >> 13;
  // Subnormal results: the FP32 addition aligns and rounds (0.5 has ulp 2^-24).
  const std::uint32_t subnormal =
      std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3F000000;
  const std::uint32_t nan = 0x7E00 | (magnitude >> 13 & 0x1FF);
  std::uint32_t result = magnitude < 0x38800000 ? subnormal : normal;
  result = magnitude >= 0x477FF000 ? 0x7C00 : result;
  result = magnitude > 0x7F800000 ? nan : result;
  return static_cast<std::uint16_t>(sign | result);
}

template <typename Int>
Int f32_to_int(float f) {
  if (f != f) return 0;
  const float r = std::nearbyint(f);
  if (r <= static_cast<float>(std::numeric_limits<Int>::min()))
    return std::numeric_limits<Int>::min();
  // The maximum of 32-bit types rounds up to 2^31 or 2^32 as a float.
  if (r >= static_cast<float>(std::numeric_limits<Int>::max()))
    return std::numeric_limits<Int>::max();
  return static_cast<Int>(r);
}

}  // namespace opennrt::emu
