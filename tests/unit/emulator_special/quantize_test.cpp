// SPDX-License-Identifier: Apache-2.0
//
// QUANTIZE_MX: scales and 8-bit values against formulas in double precision.
#include <random>

#include "unit/emulator_act/lab.h"

namespace opennrt::emu::test {
namespace {

class Quantize : public Lab {
 protected:
  Quantize() { on(NRTP_ENGINE_DVE, isa::Generation::kMariana); }

  static Record quantize(int n, std::uint8_t channels, std::uint32_t in, std::uint32_t out) {
    namespace q = layout::S3DMX1_QUANT;
    Record r = record(isa::op::QUANTIZE_MX);
    pattern(q::src(r.data()), 0x1000, 3, {n}, {1});
    q::num_active_channels.set(r.data(), channels);
    q::in_dtype.set(r.data(), static_cast<std::uint8_t>(in));
    q::out_dtype.set(r.data(), static_cast<std::uint8_t>(out));
    const std::uint32_t data = 0x8000, scale = 0x10000;
    const std::uint16_t elements = static_cast<std::uint16_t>(n / 4);
    std::memcpy(q::dst(r.data()), &data, 4);
    std::memcpy(q::dst(r.data()) + 4, &scale, 4);
    std::memcpy(q::dst(r.data()) + 8, &elements, 2);
    return r;
  }
};

// Value of an 8-bit float with the given fraction bits; no infinities are made.
double value_of(std::uint8_t v, int fraction) {
  const int e = (v & 0x7F) >> fraction, f = v & ((1 << fraction) - 1);
  const int bias = fraction == 3 ? 7 : 15;
  const double m = e == 0 ? std::ldexp(f, 1 - bias - fraction)
                          : std::ldexp((1 << fraction) + f, e - bias - fraction);
  return v & 0x80 ? -m : m;
}

TEST_F(Quantize, ScalesAndValues) {
  const int n = 64;
  std::mt19937 random(11);
  for (const bool wide : {false, true}) {  // e4m3, e5m2
    const int fraction = wide ? 2 : 3, emax = wide ? 15 : 8, least = wide ? -16 : -9;
    for (std::uint32_t p = 0; p < 64; ++p)
      for (int i = 0; i < n; ++i) {
        // Groups of very different size; some all zero.
        const int group = i / 4 + static_cast<int>(p / 8);
        const float v = group % 5 == 0
                            ? 0.0f
                            : std::ldexp(static_cast<float>(static_cast<int>(random() % 256) - 128),
                                         group * 3 - 40);
        at<std::uint16_t>(0x1000, p)[i] =
            static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(v) >> 16);
      }
    ok(quantize(n, 64, isa::kDtBfloat16, wide ? isa::kDtFloat8e5 : isa::kDtFloat8e4));
    for (std::uint32_t p0 = 0; p0 < 64; p0 += 8)
      for (int i0 = 0; i0 < n; i0 += 4) {
        double largest = 0;
        for (std::uint32_t p = p0; p < p0 + 8; ++p)
          for (int i = i0; i < i0 + 4; ++i)
            largest =
                std::max(largest, std::fabs(double{bf16_to_f32(at<std::uint16_t>(0x1000, p)[i])}));
        const int exponent = largest == 0 ? -127 : std::ilogb(largest) - (emax - 1);
        const std::uint8_t scale = at<std::uint8_t>(0x10000, p0 / 32 * 32 + p0 % 32 / 8)[i0 / 4];
        ASSERT_EQ(int{scale}, exponent + 127) << p0 << " " << i0;
        for (std::uint32_t p = p0; p < p0 + 8; ++p)
          for (int i = i0; i < i0 + 4; ++i) {
            const double x =
                bf16_to_f32(at<std::uint16_t>(0x1000, p)[i]) / std::ldexp(1.0, exponent);
            const double have = value_of(at<std::uint8_t>(0x8000, p)[i], fraction);
            // Half a unit in the last place, of a denormal at least.
            const double unit =
                std::ldexp(1.0, std::max(x == 0 ? -100 : std::ilogb(x) - fraction, least));
            ASSERT_LE(std::fabs(have - x), unit / 2) << x;
          }
      }
  }
  EXPECT_EQ(*at<std::uint8_t>(0x10000, 4), 0) << "four scale rows in a quadrant";
}

TEST_F(Quantize, LargestValueOfTheGroupIsExactWhereItFits) {
  for (std::uint32_t p = 0; p < 32; ++p)
    for (int i = 0; i < 4; ++i) at<std::uint16_t>(0x1000, p)[i] = 0x3C00;  // 1.0
  ok(quantize(4, 32, isa::kDtFloat16, isa::kDtFloat8e4));
  EXPECT_EQ(int{*at<std::uint8_t>(0x10000)}, 127 - 7);
  EXPECT_EQ(value_of(*at<std::uint8_t>(0x8000, 31), 3), 128);
}

TEST_F(Quantize, WrongFieldsAreRefused) {
  refused(quantize(64, 32, isa::kDtFloat32, isa::kDtFloat8e4), {"input data type is 10"});
  refused(quantize(64, 32, isa::kDtFloat16, isa::kDtUint8), {"output data type is 3"});
  refused(quantize(64, 16, isa::kDtFloat16, isa::kDtFloat8e4), {"channels is 16"});
  refused(quantize(62, 32, isa::kDtFloat16, isa::kDtFloat8e4), {"62", "multiple of 4"});
  Record r = quantize(64, 32, isa::kDtFloat16, isa::kDtFloat8e4);
  r[48 + 8] = 15;
  refused(r, {"destination elements is 15"});
  r = quantize(64, 32, isa::kDtFloat16, isa::kDtFloat8e4);
  r[48 + 10] = 1;
  refused(r, {"step sign"});
  r = quantize(64, 32, isa::kDtFloat16, isa::kDtFloat8e4);
  r[48 + 11] = 4;
  refused(r, {"scale partition is 4"});
  on(NRTP_ENGINE_DVE, isa::Generation::kCayman);
  refused(quantize(64, 32, isa::kDtFloat16, isa::kDtFloat8e4), {"silicon family"});
}

}  // namespace
}  // namespace opennrt::emu::test
