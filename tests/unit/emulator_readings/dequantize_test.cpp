// SPDX-License-Identifier: Apache-2.0
#include "unit/emulator_vector/bench.h"

namespace opennrt::emu::test {
namespace {

namespace f = layout::S3D3_TENS_DEQUANT;

class Dequantize : public VectorTest {
 protected:
  Dequantize() { engine = state.engine = NRTP_ENGINE_POOL; }
  static Record dequantize(const Tensor& in, const Tensor& out, int format, int channels = 2) {
    return Record(op::TENSOR_DEQUANTIZE)
        .tensor(f::src, in, 3)
        .tensor(f::dst, out, 3)
        .set(f::in_dtype, kU32)
        .set(f::out_dtype, kU32)
        .set(f::num_active_channels, channels)
        .set(f::dequant_fmt, format);
  }
  // FP8 byte i of a stream of words.
  std::uint64_t byte(const Tensor& t, int p, int i) {
    return raw(t, p, i / 4) >> (8 * (i % 4)) & 0xFF;
  }
};

TEST_F(Dequantize, FourBitCodes) {
  const double e2m1[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  const double nf4[] = {
      -1.0,      -0.6961928, -0.52507305, -0.39491749, -0.28444138, -0.18477343, -0.09105004, 0,
      0.0795803, 0.1609302,  0.2461123,   0.33791524,  0.44070983,  0.562617,    0.72295684,  1};
  for (const int format : {1, 2, 3}) {
    const Tensor in{0x1000, kU32, {3}, {150}}, out{0x8000, kU32, {1, 11}, {10, 30}};
    fill(in, 2, true);
    run(dequantize(in, out, format));
    for (int p = 0; p < 2; ++p)
      for (int i = 0; i < 1200; ++i) {
        const int code = static_cast<int>(raw(in, p, i / 8) >> (4 * (i % 8)) & 15);
        const double value = format == 1   ? (code < 8 ? e2m1[code] : -e2m1[code - 8])
                             : format == 2 ? (code < 8 ? code : code - 16)
                                           : nf4[code];
        const int type = format == 3 ? kE4 : kE5;
        ASSERT_EQ(decode(type, byte(out, p, i)), nearest(type, value)) << format << " " << code;
      }
  }
}

TEST_F(Dequantize, MinusZeroKeepsItsSign) {
  const Tensor in = row(0x1000, kU32, 1), out = row(0x8000, kU32, 2);
  put_raw(in, 0, 0, 0x8);
  run(dequantize(in, out, 1, 1));
  EXPECT_EQ(raw(out, 0, 0), 0x80u);
}

TEST_F(Dequantize, SixBitCodes) {
  const Tensor in = row(0x1000, kU32, 300), out = row(0x8000, kU32, 400);
  fill(in, 2, true);
  run(dequantize(in, out, 4));
  for (int p = 0; p < 2; ++p)
    for (int i = 0; i < 1600; ++i) {
      int code = 0;
      for (int b = 0; b < 6; ++b)  // one stream of bits
        code |= static_cast<int>(raw(in, p, (6 * i + b) / 32) >> ((6 * i + b) % 32) & 1) << b;
      const int e = code >> 3 & 3, m = code & 7;
      const double magnitude = e == 0 ? m / 8.0 : std::ldexp(1 + m / 8.0, e - 1);
      ASSERT_EQ(decode(kE4, byte(out, p, i)), code >= 32 ? -magnitude : magnitude) << code;
    }
}

TEST_F(Dequantize, WrongFieldsAreRefused) {
  const Tensor in = row(0x1000, kU32, 6), out = row(0x8000, kU32, 12);
  refused(dequantize(in, out, 0), "format code is 0");
  refused(dequantize(in, out, 5), "format code is 5");
  refused(dequantize(in, out, 1).set(f::group_size, 8), "group size is 8");
  refused(dequantize(in, out, 1).set(f::in_dtype, kI32), "source data type is 8");
  refused(dequantize(in, out, 1).set(f::out_dtype, kE5), "destination data type is 15");
  refused(dequantize(in, row(0x8000, kU32, 11), 1), "number of destination words is 11");
  refused(dequantize(in, out, 4), "number of destination words is 12");
  refused(dequantize(row(0x1000, kU32, 4), out, 4), "number of source words is 4");
  generation = isa::Generation::kSunda;
  refused(dequantize(in, out, 1), "no published layout on sunda");
}

}  // namespace
}  // namespace opennrt::emu::test
