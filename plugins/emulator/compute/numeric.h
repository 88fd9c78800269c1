// SPDX-License-Identifier: Apache-2.0
//
// Conversions between FP32 and the 16-bit and 8-bit float formats, round to
// nearest even, and between FP32 and integers (nearest even, saturating; NaN
// becomes 0). Branch-free integer code so that loops over them vectorise.
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

// Nearest even, saturating; NaN becomes 0. The addition of 1.5 * 2^k leaves the
// rounded integer in the low bits of the significand, for negative ones too.
template <typename Int>
Int f32_to_int(float f) {
  if constexpr (sizeof(Int) < 4) {
    constexpr auto kLow = static_cast<float>(std::numeric_limits<Int>::min());
    constexpr auto kHigh = static_cast<float>(std::numeric_limits<Int>::max());
    float c = f < kLow ? kLow : f;
    c = c > kHigh ? kHigh : c;
    c = c == c ? c : 0.0f;
    return static_cast<Int>(std::bit_cast<std::uint32_t>(c + 0x1.8p23f));
  } else {
    constexpr auto kLow = static_cast<double>(std::numeric_limits<Int>::min());
    constexpr auto kHigh = static_cast<double>(std::numeric_limits<Int>::max());
    double c = static_cast<double>(f);
    c = c < kLow ? kLow : c;
    c = c > kHigh ? kHigh : c;
    c = c == c ? c : 0.0;
    return static_cast<Int>(static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(c + 0x1.8p52)));
  }
}

// The 8-bit float formats. `exponent` and `fraction` are field widths; the bias
// is that of IEEE formats of these widths.
enum class Fp8Top : std::uint8_t {
  kInfinity,  // largest exponent: infinity and NaN
  kFn         // OCP e4m3fn: largest exponent holds numbers, all ones is NaN
};

template <int kExponent, int kFraction, Fp8Top kTop>
constexpr float fp8_to_f32(std::uint8_t v) {
  constexpr int kBias = (1 << (kExponent - 1)) - 1;
  const std::uint32_t magnitude = v & 0x7Fu;
  const std::uint32_t sign = std::uint32_t{v & 0x80u} << 24;
  constexpr std::uint32_t kInfinity = ((1u << kExponent) - 1) << kFraction;
  std::uint32_t bits;
  if (kTop == Fp8Top::kInfinity && magnitude >= kInfinity)
    bits = 0x7F800000 | (magnitude > kInfinity ? 0x400000 | (magnitude << (23 - kFraction)) : 0);
  else if (kTop == Fp8Top::kFn && magnitude == 0x7F)
    bits = 0x7FC00000;
  else if (magnitude >> kFraction == 0)
    bits = std::bit_cast<std::uint32_t>(static_cast<float>(magnitude) /
                                        static_cast<float>(1 << (kBias + kFraction - 1)));
  else
    bits = (magnitude << (23 - kFraction)) + (std::uint32_t{127 - kBias} << 23);
  return std::bit_cast<float>(sign | bits);
}

// Nearest even. Beyond the largest number: with `kSaturate` that number, else
// infinity, or NaN where the format has no infinity.
template <int kExponent, int kFraction, Fp8Top kTop, bool kSaturate>
std::uint8_t f32_to_fp8(float f) {
  constexpr int kBias = (1 << (kExponent - 1)) - 1;
  constexpr std::uint32_t kInfinity = ((1u << kExponent) - 1) << kFraction;
  constexpr std::uint32_t kLargest = kTop == Fp8Top::kFn ? 0x7E : kInfinity - 1;
  constexpr std::uint32_t kNan = kTop == Fp8Top::kFn ? 0x7F : kInfinity | 1u << (kFraction - 1);
  constexpr std::uint32_t kOver = kSaturate ? kLargest : kLargest + 1;  // infinity or NaN
  constexpr int kDrop = 23 - kFraction;
  const auto u = std::bit_cast<std::uint32_t>(f);
  const std::uint32_t sign = u >> 24 & 0x80;
  const std::uint32_t magnitude = u & 0x7FFFFFFF;
  const std::uint32_t normal = (magnitude - (std::uint32_t{127 - kBias} << 23) +
                                ((1u << (kDrop - 1)) - 1) + (magnitude >> kDrop & 1)) >>
                               kDrop;
  // Subnormal results: the addition aligns and rounds; its ulp is theirs.
  constexpr std::uint32_t kAlign = std::uint32_t{127 + 1 - kBias + kDrop} << 23;
  const std::uint32_t subnormal =
      std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + std::bit_cast<float>(kAlign)) -
      kAlign;
  constexpr std::uint32_t kNormal = std::uint32_t{127 + 1 - kBias} << 23;
  std::uint32_t result = magnitude < kNormal ? subnormal : normal;
  result = result > kLargest ? kOver : result;
  result = magnitude > 0x7F800000 ? kNan : result;
  return static_cast<std::uint8_t>(sign | result);
}

}  // namespace opennrt::emu
