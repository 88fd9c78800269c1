// SPDX-License-Identifier: Apache-2.0
//
// exp, log and pow in plain double arithmetic: the same bits on every CPU,
// which the C library does not promise. Rounded to FP32 they are the correctly
// rounded result but for rare ties.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace opennrt::emu {

// e^t for t in [-745, 709]; NaN stays.
inline double exact_exp(double t) {
  constexpr double kLog2e = 0x1.71547652b82fep0;
  constexpr double kLn2High = 0x1.62e42feep-1, kLn2Low = 0x1.a39ef35793c76p-33;
  constexpr double kShift = 0x1.8p52;
  const double shifted = t * kLog2e + kShift;  // integer k in the low bits
  const double k = shifted - kShift;
  const double r = (t - k * kLn2High) - k * kLn2Low;  // |r| <= ln(2) / 2
  double p = 1.0 / 6227020800.0;
  p = p * r + 1.0 / 479001600.0;
  p = p * r + 1.0 / 39916800.0;
  p = p * r + 1.0 / 3628800.0;
  p = p * r + 1.0 / 362880.0;
  p = p * r + 1.0 / 40320.0;
  p = p * r + 1.0 / 5040.0;
  p = p * r + 1.0 / 720.0;
  p = p * r + 1.0 / 120.0;
  p = p * r + 1.0 / 24.0;
  p = p * r + 1.0 / 6.0;
  p = p * r + 0.5;
  p = p * r + 1.0;
  p = p * r + 1.0;
  const std::uint64_t scale = (std::bit_cast<std::uint64_t>(shifted) + 1023) << 52;
  return p * std::bit_cast<double>(scale);
}

// exp of an FP32 value, through the largest range FP32 results need.
inline float exact_expf(float x) {
  double t = static_cast<double>(x);
  t = t < -110.0 ? -110.0 : t;
  t = t > 90.0 ? 90.0 : t;
  return static_cast<float>(exact_exp(t));
}

// ln x for finite x > 0.
inline double exact_log(double x) {
  int exponent;
  double m = std::frexp(x, &exponent);  // [0.5, 1)
  if (m < 0x1.6a09e667f3bcdp-1) {
    m *= 2;
    --exponent;
  }
  const double s = (m - 1) / (m + 1);  // ln m = 2 (s + s^3/3 + s^5/5 + ...)
  const double q = s * s;
  double p = 0;
  for (int k = 23; k >= 1; k -= 2) p = p * q + 1.0 / k;
  return 2 * s * p + exponent * 0x1.62e42fefa39efp-1;
}

// x^y with the special cases of IEEE 754 pow.
inline float exact_powf(float xf, float yf) {
  if (yf == 0 || xf == 1) return 1;
  if (xf != xf || yf != yf) return xf + yf;
  const double x = static_cast<double>(xf), y = static_cast<double>(yf);
  const bool integer = std::floor(yf) == yf;
  const bool odd = integer && std::fabs(y) < 0x1p25 && std::fmod(y, 2) != 0;
  const double magnitude = std::fabs(x);
  float result;
  if (magnitude == 0 || std::isinf(x)) {
    result = (magnitude == 0) == (y > 0) ? 0.0f : HUGE_VALF;
  } else if (std::isinf(y)) {
    result = magnitude == 1 ? 1.0f : (magnitude > 1) == (y > 0) ? HUGE_VALF : 0.0f;
  } else {
    if (x < 0 && !integer) return std::bit_cast<float>(0x7FC00000u);
    double t = y * exact_log(magnitude);
    t = t < -110.0 ? -110.0 : t > 90.0 ? 90.0 : t;
    result = static_cast<float>(exact_exp(t));
  }
  return odd && std::signbit(xf) ? -result : result;
}

}  // namespace opennrt::emu
