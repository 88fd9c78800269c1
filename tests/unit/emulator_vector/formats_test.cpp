// SPDX-License-Identifier: Apache-2.0
//
// Conversions of every data type, over all bit patterns of the 8 and 16-bit
// ones, against formulas in double precision.
#include "compute/formats.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "opennrt/isa/records.h"

namespace opennrt::emu::test {
namespace {

struct Layout {
  const char* name;
  std::uint32_t code;
  int exponent_bits, fraction_bits;
  bool infinity;  // largest exponent: infinity and NaN; else only all ones is NaN
  bool saturates;
};

const Layout kLayouts[] = {
    {"e3m4", isa::kDtFloat8e3, 3, 4, true, false},
    {"e4m3", isa::kDtFloat8e4, 4, 3, true, false},
    {"e5m2", isa::kDtFloat8e5, 5, 2, true, false},
    {"e4m3fn", isa::kDtFloat8e4 | kFormatOcp, 4, 3, false, false},
    {"e3m4 saturating", isa::kDtFloat8e3 | kFormatSaturate, 3, 4, true, true},
    {"e4m3 saturating", isa::kDtFloat8e4 | kFormatSaturate, 4, 3, true, true},
    {"e5m2 saturating", isa::kDtFloat8e5 | kFormatSaturate, 5, 2, true, true},
    {"e4m3fn saturating", isa::kDtFloat8e4 | kFormatOcp | kFormatSaturate, 4, 3, false, true},
    {"f16", isa::kDtFloat16, 5, 10, true, false},
    {"bf16", isa::kDtBfloat16, 8, 7, true, false},
};

int bits_of(const Layout& l) { return 1 + l.exponent_bits + l.fraction_bits; }

// Value of a pattern, field by field.
double value_of(const Layout& l, std::uint32_t v) {
  const int bias = (1 << (l.exponent_bits - 1)) - 1;
  const int top = (1 << l.exponent_bits) - 1;
  const int e = static_cast<int>(v >> l.fraction_bits) & top;
  const int f = static_cast<int>(v) & ((1 << l.fraction_bits) - 1);
  double r;
  if (e == top && l.infinity)
    r = f ? NAN : INFINITY;
  else if (e == top && f == (1 << l.fraction_bits) - 1)
    r = NAN;
  else if (e == 0)
    r = std::ldexp(f, 1 - bias - l.fraction_bits);
  else
    r = std::ldexp((1 << l.fraction_bits) + f, e - bias - l.fraction_bits);
  return v >> (bits_of(l) - 1) ? -r : r;
}

double largest(const Layout& l) {
  double best = 0;
  for (std::uint32_t v = 0; v < 1u << (bits_of(l) - 1); ++v) {
    const double x = value_of(l, v);
    if (std::isfinite(x) && x > best) best = x;
  }
  return best;
}

// Nearest number of the format, ties to even.
double rounded(const Layout& l, double max, double x) {
  if (std::isnan(x) || x == 0) return x;
  if (std::isinf(x)) return l.saturates ? std::copysign(max, x) : l.infinity ? x : NAN;
  const int bias = (1 << (l.exponent_bits - 1)) - 1;
  const int exponent = std::max(std::ilogb(x), 1 - bias);
  const double unit = std::ldexp(1.0, exponent - l.fraction_bits);
  const double q = std::fabs(x) / unit;
  double r = std::floor(q);
  if (q - r > 0.5 || (q - r == 0.5 && std::fmod(r, 2) != 0)) r += 1;
  double result = r * unit;
  if (result > max) result = l.saturates ? max : l.infinity ? INFINITY : NAN;
  return std::copysign(result, x);
}

std::vector<float> interesting(const Layout& l) {
  std::vector<float> v = {0.0f, -0.0f, INFINITY, -INFINITY, NAN, 1e-45f, 3e38f, -3e38f};
  const std::uint32_t n = 1u << bits_of(l);
  // Every number of the format, its FP32 neighbours, and the ties with theirs.
  for (std::uint32_t p = 0; p < n; ++p) {
    const double x = value_of(l, p), y = value_of(l, (p + 1) % n);
    if (!std::isfinite(x)) continue;
    const double middle = std::isfinite(y) ? (x + y) / 2 : x + x / 32;
    for (const double d : {x, middle}) {
      const auto f = static_cast<float>(d);
      v.push_back(f);
      v.push_back(std::nextafter(f, INFINITY));
      v.push_back(std::nextafter(f, -INFINITY));
    }
  }
  std::mt19937 random(7);
  for (int i = 0; i < 20000; ++i)
    v.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(random())));
  for (int e = -30; e < 30; ++e)
    for (int i = 0; i < 500; ++i)
      v.push_back(std::ldexp(1.0f + static_cast<float>(random() % 65536) / 65536.0f, e));
  return v;
}

Block dense(std::uint64_t n) { return {0, 1, 0, n, 1}; }

class FloatFormat : public ::testing::TestWithParam<int> {};

TEST_P(FloatFormat, EveryPatternWidensExactly) {
  for (const Layout& l : kLayouts) {
    SCOPED_TRACE(l.name);
    const Format& f = format_of_target(l.code, GetParam());
    ASSERT_EQ(f.bytes * 8, static_cast<std::uint32_t>(bits_of(l)));
    const std::uint32_t n = 1u << bits_of(l);
    std::vector<std::uint8_t> bytes(n * f.bytes);
    for (std::uint32_t p = 0; p < n; ++p) std::memcpy(bytes.data() + p * f.bytes, &p, f.bytes);
    std::vector<float> out(n);
    f.load(bytes.data(), dense(n), out.data());
    for (std::uint32_t p = 0; p < n; ++p) {
      const double want = value_of(l, p);
      if (std::isnan(want))
        ASSERT_TRUE(std::isnan(out[p])) << p;
      else
        ASSERT_EQ(out[p], want) << p;
      ASSERT_EQ(std::signbit(out[p]), p >> (bits_of(l) - 1) != 0) << p;
    }
  }
}

TEST_P(FloatFormat, NarrowingRoundsToNearestEven) {
  for (const Layout& l : kLayouts) {
    SCOPED_TRACE(l.name);
    const Format& f = format_of_target(l.code, GetParam());
    const double max = largest(l);
    const std::vector<float> in = interesting(l);
    std::vector<std::uint8_t> bytes(in.size() * f.bytes);
    f.store(bytes.data(), dense(in.size()), in.data());
    for (std::size_t i = 0; i < in.size(); ++i) {
      std::uint32_t p = 0;
      std::memcpy(&p, bytes.data() + i * f.bytes, f.bytes);
      const double got = value_of(l, p), want = rounded(l, max, static_cast<double>(in[i]));
      if (std::isnan(want))
        ASSERT_TRUE(std::isnan(got)) << std::hexfloat << in[i];
      else
        ASSERT_EQ(got, want) << std::hexfloat << in[i];
      if (!std::isnan(in[i])) {
        ASSERT_EQ(p >> (bits_of(l) - 1) != 0, std::signbit(in[i])) << std::hexfloat << in[i];
      }
    }
  }
}

TEST_P(FloatFormat, LargestNumbersAreTheDocumentedOnes) {
  EXPECT_EQ(largest(kLayouts[0]), 15.5);
  EXPECT_EQ(largest(kLayouts[1]), 240);
  EXPECT_EQ(largest(kLayouts[2]), 57344);
  EXPECT_EQ(largest(kLayouts[3]), 448);
}

template <typename Int>
void check_integers(std::uint32_t code, int target) {
  const Format& f = format_of_target(code, target);
  ASSERT_EQ(f.bytes, sizeof(Int));
  std::vector<Int> values;
  if constexpr (sizeof(Int) < 4) {
    for (std::int64_t v = std::numeric_limits<Int>::min(); v <= std::numeric_limits<Int>::max();
         ++v)
      values.push_back(static_cast<Int>(v));
  } else {
    std::mt19937 random(3);
    for (int i = 0; i < 100000; ++i) values.push_back(static_cast<Int>(random()));
    for (const std::int64_t v : {0l, 1l, -1l, 16777216l, 16777217l, 16777219l, 2147483647l,
                                 -2147483648l, 4294967295l, 2147483648l})
      values.push_back(static_cast<Int>(v));
  }
  std::vector<float> wide(values.size());
  f.load(reinterpret_cast<const std::uint8_t*>(values.data()), dense(values.size()), wide.data());
  for (std::size_t i = 0; i < values.size(); ++i)
    ASSERT_EQ(wide[i], static_cast<float>(static_cast<double>(values[i])));

  std::vector<float> in = {0.0f, -0.0f, NAN, INFINITY, -INFINITY, 1e-40f, 3e9f, -3e9f, 5e9f};
  std::mt19937 random(5);
  for (int i = 0; i < 100000; ++i)
    in.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(random())));
  for (int i = -70000; i < 70000; ++i) {
    in.push_back(static_cast<float>(i) * 0.5f);
    in.push_back(std::nextafter(static_cast<float>(i) * 0.5f, INFINITY));
    in.push_back(static_cast<float>(i) * 61357.25f);
  }
  for (const float base : {2147483648.0f, 4294967296.0f, 8388608.0f, 16777216.0f})
    for (const float s : {1.0f, -1.0f}) {
      in.push_back(s * base);
      in.push_back(s * std::nextafter(base, 0.0f));
      in.push_back(s * std::nextafter(base, INFINITY));
    }
  std::vector<Int> out(in.size());
  f.store(reinterpret_cast<std::uint8_t*>(out.data()), dense(in.size()), in.data());
  for (std::size_t i = 0; i < in.size(); ++i) {
    const auto x = static_cast<double>(in[i]);
    double want = 0;
    if (!std::isnan(x)) {
      double r = std::floor(x);
      if (x - r > 0.5 || (x - r == 0.5 && std::fmod(r, 2) != 0)) r += 1;
      if (std::isinf(x)) r = x;
      want = std::min(std::max(r, static_cast<double>(std::numeric_limits<Int>::min())),
                      static_cast<double>(std::numeric_limits<Int>::max()));
    }
    ASSERT_EQ(static_cast<double>(out[i]), want) << std::hexfloat << in[i];
  }
}

TEST_P(FloatFormat, IntegersRoundToEvenAndSaturate) {
  check_integers<std::int8_t>(isa::kDtInt8, GetParam());
  check_integers<std::uint8_t>(isa::kDtUint8, GetParam());
  check_integers<std::int16_t>(isa::kDtInt16, GetParam());
  check_integers<std::uint16_t>(isa::kDtUint16, GetParam());
  check_integers<std::int32_t>(isa::kDtInt32, GetParam());
  check_integers<std::uint32_t>(isa::kDtUint32, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Targets, FloatFormat, ::testing::Values(0, 1),
                         [](const auto& test) { return test.param == 0 ? "Baseline" : "ThisCpu"; });

// All bits alike, NaN payloads included, on both sets of loops.
TEST(Formats, TargetsGiveTheSameBits) {
  std::vector<float> in;
  std::mt19937 random(11);
  for (int i = 0; i < 300000; ++i)
    in.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(random())));
  for (std::uint32_t code = 0; code < 16; ++code)
    for (const std::uint32_t mark : {0u, kFormatOcp, kFormatSaturate}) {
      const Format& a = format_of_target(code | mark, 0);
      const Format& b = format_of_target(code | mark, 1);
      ASSERT_EQ(a.bytes, b.bytes);
      if (!a.store) continue;
      std::vector<std::uint8_t> x(in.size() * a.bytes), y(x.size());
      a.store(x.data(), dense(in.size()), in.data());
      b.store(y.data(), dense(in.size()), in.data());
      ASSERT_EQ(x, y) << code;
      std::vector<float> u(in.size()), v(in.size());
      a.load(x.data(), dense(in.size()), u.data());
      b.load(x.data(), dense(in.size()), v.data());
      ASSERT_EQ(std::memcmp(u.data(), v.data(), 4 * u.size()), 0) << code;
    }
}

TEST(Formats, WhatHasNoArithmetic) {
  EXPECT_EQ(format(isa::kDtInt64).bytes, 8u);
  EXPECT_EQ(format(isa::kDtInt64).load, nullptr);
  EXPECT_EQ(format(isa::kDtUint64).store, nullptr);
  EXPECT_EQ(format(isa::kDtFloat32r).store, nullptr);
  EXPECT_NE(format(isa::kDtFloat32r).load, nullptr);
  EXPECT_EQ(format(0).bytes, 0u);
  EXPECT_EQ(format(0x10).bytes, 0u);
  EXPECT_EQ(format(0x19).bytes, 0u);
  EXPECT_EQ(format_of(isa::kDtFloat8e4, {.e4m3fn = true}), isa::kDtFloat8e4 | kFormatOcp);
  EXPECT_EQ(format_of(isa::kDtFloat8e5, {.e4m3fn = true}), isa::kDtFloat8e5);
  EXPECT_EQ(format_of(isa::kDtFloat32, {.e4m3fn = true, .fp8_saturate = true}), isa::kDtFloat32);
}

// Blocks of every shape, against element-by-element walking.
TEST(Formats, BlocksCoverThePatternInOrder) {
  std::mt19937 random(17);
  std::vector<std::uint16_t> memory(4096);
  for (auto& m : memory) m = static_cast<std::uint16_t>(random());
  for (int round = 0; round < 3000; ++round) {
    std::int16_t step[4];
    std::uint16_t count[4];
    std::int64_t low = 0, high = 0;
    for (int d = 0; d < 4; ++d) {
      count[d] = static_cast<std::uint16_t>(1 + random() % (d == 0 ? 12 : 5));
      step[d] = static_cast<std::int16_t>(static_cast<int>(random() % 41) - 20);
      if (random() % 4 == 0) step[d] = d == 0 ? 1 : static_cast<std::int16_t>(count[0]);
      (step[d] < 0 ? low : high) += step[d] * (count[d] - 1);
    }
    ASSERT_LT(high - low, 4096);
    const Pattern p = Pattern::make(step, count, 4);
    const std::uint16_t* origin = memory.data() - low;
    std::vector<float> want;
    for (int d = 0; d < count[3]; ++d)
      for (int c = 0; c < count[2]; ++c)
        for (int b = 0; b < count[1]; ++b)
          for (int a = 0; a < count[0]; ++a)
            want.push_back(
                static_cast<float>(origin[a * step[0] + b * step[1] + c * step[2] + d * step[3]]));
    std::vector<float> got(want.size());
    Cursor cursor(p);
    const LoadKernel load = format(isa::kDtUint16).load;
    for (std::size_t done = 0; done < got.size();) {
      const std::size_t n = std::min<std::size_t>(1 + random() % 40, got.size() - done);
      load(reinterpret_cast<const std::uint8_t*>(origin), cursor, got.data() + done, n);
      done += n;
    }
    ASSERT_EQ(got, want) << round;
  }
}

}  // namespace
}  // namespace opennrt::emu::test
