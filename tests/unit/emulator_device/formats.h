// SPDX-License-Identifier: Apache-2.0
//
// References for the 16-bit float formats, by their definition.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace opennrt::emu::test {

// bfloat16 and float16 of a finite value by the definition of the format:
// nearest multiple of the spacing at that magnitude, ties to even.
inline std::uint16_t to_small(double v, int mantissa, int min_exponent, int max_exponent,
                              int sign_shift) {
  const std::uint32_t sign = std::signbit(v) ? 1u << sign_shift : 0;
  const double a = std::fabs(v);
  int e = 0;
  std::frexp(a, &e);
  e = a == 0 ? min_exponent : std::max(e - 1, min_exponent);
  const double spacing = std::ldexp(1.0, e - mantissa);
  const double steps = std::nearbyint(a / spacing);  // the default mode rounds ties to even
  if (steps * spacing >= std::ldexp(2.0, max_exponent))
    return static_cast<std::uint16_t>(
        sign | static_cast<std::uint32_t>(max_exponent - min_exponent + 2) << mantissa);
  // The encoding of multiples of the spacing is continuous across exponents.
  const auto code = static_cast<std::uint32_t>(steps) +
                    (static_cast<std::uint32_t>(e - min_exponent) << mantissa);
  return static_cast<std::uint16_t>(sign | code);
}
inline std::uint16_t to_f16(double v) { return to_small(v, 10, -14, 15, 15); }
inline std::uint16_t to_bf16(double v) { return to_small(v, 7, -126, 127, 15); }

}  // namespace opennrt::emu::test
