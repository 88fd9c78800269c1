// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "bench.h"
#include "compute/numeric.h"

namespace opennrt::emu::test {
namespace {

// --- rounding, against formulas in double precision

// Nearest value with `bits` significand bits (hidden one included), smallest
// exponent `emin` and largest finite value `max`; ties to even.
double round_to_format(double x, int bits, int emin, double max) {
  if (x == 0 || std::isnan(x) || std::isinf(x)) return x;
  const int exponent = std::max(std::ilogb(x), emin);
  const double unit = std::ldexp(1.0, exponent - (bits - 1));
  const double q = x / unit;
  double r = std::floor(q);
  const double rest = q - r;
  if (rest > 0.5 || (rest == 0.5 && std::fmod(r, 2.0) != 0)) r += 1;
  const double result = r * unit;
  if (std::fabs(result) > max) return std::copysign(INFINITY, x);
  return std::copysign(result, x);
}

// Value of a 16-bit float, field by field.
double value_of(std::uint16_t h, int exponent_bits, int fraction_bits) {
  const int sign = h >> 15;
  const int e = h >> fraction_bits & ((1 << exponent_bits) - 1);
  const int f = h & ((1 << fraction_bits) - 1);
  const int bias = (1 << (exponent_bits - 1)) - 1;
  double v;
  if (e == (1 << exponent_bits) - 1)
    v = f ? NAN : INFINITY;
  else if (e == 0)
    v = std::ldexp(f, 1 - bias - fraction_bits);
  else
    v = std::ldexp((1 << fraction_bits) + f, e - bias - fraction_bits);
  return sign ? -v : v;
}

std::vector<float> interesting_floats() {
  std::vector<float> v;
  std::mt19937 random(12345);
  for (int i = 0; i < 400000; ++i)
    v.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(random())));
  // Every 16-bit pattern of both formats, its neighbours and the ties between.
  for (std::uint32_t h = 0; h < 0x10000; ++h)
    for (const std::uint32_t low : {0u, 1u, 0x7FFFu, 0x8000u, 0x8001u, 0xFFFFu})
      v.push_back(std::bit_cast<float>(h << 16 | low));
  for (std::uint32_t e = 90; e < 160; ++e)
    for (std::uint32_t f = 0; f < 0x800; f += 3)
      for (const std::uint32_t low : {0u, 1u, 0xFFFu, 0x1000u, 0x1001u, 0x1FFFu})
        v.push_back(std::bit_cast<float>(e << 23 | (f << 12 & 0x7FE000) | low));
  return v;
}

TEST(Rounding, HalfPrecision) {
  for (const float x : interesting_floats()) {
    const std::uint16_t h = f32_to_f16(x);
    if (std::isnan(x)) {
      ASSERT_TRUE(std::isnan(value_of(h, 5, 10))) << std::bit_cast<std::uint32_t>(x);
      continue;
    }
    const double want = round_to_format(x, 11, -14, 65504);
    ASSERT_EQ(value_of(h, 5, 10), want) << std::hexfloat << x;
    ASSERT_EQ(h >> 15, std::signbit(x) ? 1 : 0) << std::hexfloat << x;
  }
}

TEST(Rounding, Bfloat16) {
  for (const float x : interesting_floats()) {
    const std::uint16_t h = f32_to_bf16(x);
    if (std::isnan(x)) {
      ASSERT_TRUE(std::isnan(value_of(h, 8, 7))) << std::bit_cast<std::uint32_t>(x);
      continue;
    }
    const double max = std::ldexp(255, 127 - 7);
    ASSERT_EQ(value_of(h, 8, 7), round_to_format(x, 8, -126, max)) << std::hexfloat << x;
    ASSERT_EQ(h >> 15, std::signbit(x) ? 1 : 0) << std::hexfloat << x;
  }
}

TEST(Rounding, WideningIsExact) {
  for (std::uint32_t h = 0; h < 0x10000; ++h) {
    const auto bits = static_cast<std::uint16_t>(h);
    const double f16 = value_of(bits, 5, 10), bf16 = value_of(bits, 8, 7);
    if (std::isnan(f16))
      ASSERT_TRUE(std::isnan(f16_to_f32(bits))) << h;
    else
      ASSERT_EQ(f16_to_f32(bits), f16) << h;
    if (std::isnan(bf16))
      ASSERT_TRUE(std::isnan(bf16_to_f32(bits))) << h;
    else
      ASSERT_EQ(bf16_to_f32(bits), bf16) << h;
    ASSERT_EQ(std::signbit(f16_to_f32(bits)), h >> 15 != 0) << h;
  }
}

TEST(Rounding, IntegersRoundToEvenAndSaturate) {
  EXPECT_EQ(f32_to_int<std::int8_t>(2.5f), 2);
  EXPECT_EQ(f32_to_int<std::int8_t>(3.5f), 4);
  EXPECT_EQ(f32_to_int<std::int8_t>(-2.5f), -2);
  EXPECT_EQ(f32_to_int<std::int8_t>(127.5f), 127);
  EXPECT_EQ(f32_to_int<std::int8_t>(-129.0f), -128);
  EXPECT_EQ(f32_to_int<std::uint8_t>(-1.0f), 0);
  EXPECT_EQ(f32_to_int<std::int32_t>(3e9f), 2147483647);
  EXPECT_EQ(f32_to_int<std::int32_t>(-3e9f), std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ(f32_to_int<std::uint32_t>(5e9f), 4294967295u);
  EXPECT_EQ(f32_to_int<std::int32_t>(INFINITY), 2147483647);
  EXPECT_EQ(f32_to_int<std::int32_t>(NAN), 0);
}

// --- records

class Compute : public Bench {
 protected:
  struct View {
    std::uint32_t address;
    std::vector<int> step, count;
  };
  static isa::Tensor3d t3(const View& v) {
    isa::Tensor3d t{};
    t.address = v.address;
    for (int i = 0; i < 3; ++i) {
      const auto k = static_cast<std::size_t>(i);
      t.step[i] = static_cast<std::int16_t>(k < v.step.size() ? v.step[k] : 0);
      t.count[i] = static_cast<std::uint16_t>(k < v.count.size() ? v.count[k] : 1);
    }
    return t;
  }
  static isa::TensorTensorRecord tensor_tensor(std::uint8_t op, std::uint8_t dtypes,
                                               std::uint8_t out_dtype, std::uint8_t partitions,
                                               const View& a, const View& b, const View& out) {
    auto r = isa::zero_record<isa::TensorTensorRecord>(isa::kOpTensorTensor);
    r.op = op;
    r.src_dtypes = dtypes;
    r.dst_dtype = out_dtype;
    r.partitions = partitions;
    r.src0 = t3(a);
    r.src1 = t3(b);
    r.dst = t3(out);
    return r;
  }
  struct Raw {
    std::uint8_t bytes[64] = {};
  };
  static Raw copy_cast(std::uint8_t opcode, std::uint8_t in, std::uint8_t out,
                       std::uint8_t partitions, const View& from, const View& to) {
    Raw r;
    r.bytes[0] = opcode;
    r.bytes[1] = 0x10;
    put4(r.bytes + 12, from);
    r.bytes[32] = in;
    r.bytes[33] = out;
    r.bytes[34] = partitions;
    put4(r.bytes + 44, to);
    return r;
  }
  static void put4(std::uint8_t* at, const View& v) {
    std::memcpy(at, &v.address, 4);
    for (std::size_t i = 0; i < 4; ++i) {
      const auto step = static_cast<std::int16_t>(i < v.step.size() ? v.step[i] : 0);
      const auto count = static_cast<std::uint16_t>(i < v.count.size() ? v.count[i] : 1);
      std::memcpy(at + 4 + 2 * i, &step, 2);
      std::memcpy(at + 12 + 2 * i, &count, 2);
    }
  }
  static float number(std::uint32_t partition, std::uint32_t i, std::uint32_t seed) {
    return std::sin(static_cast<float>(partition * 1009 + i * 7 + seed * 131)) * 100;
  }
};

TEST_F(Compute, AddOfDenseFloatsOverAllPartitions) {
  const int n = 2000;
  for (std::uint32_t p = 0; p < 128; ++p)
    for (std::uint32_t i = 0; i < n; ++i) {
      put<float>(sbuf(p, 4 * i), number(p, i, 1));
      put<float>(sbuf(p, 8000 + 4 * i), number(p, i, 2));
    }
  execute(
      Program{}
          .add(tensor_tensor(4, 0xAA, 0xA, 128, {0, {1}, {n}}, {8000, {1}, {n}}, {16000, {1}, {n}}))
          .add(halt()),
      NRTP_ENGINE_DVE);
  for (std::uint32_t p = 0; p < 128; ++p)
    for (std::uint32_t i = 0; i < n; ++i)
      ASSERT_EQ(get<float>(sbuf(p, 16000 + 4 * i)), number(p, i, 1) + number(p, i, 2)) << p << i;
  EXPECT_EQ(log_lines(), 0u);
}

TEST_F(Compute, InPlaceAndPartitionOffset) {
  for (std::uint32_t p = 0; p < 128; ++p) put<float>(sbuf(p, 0), static_cast<float>(p));
  const std::uint32_t at = 32 * 0x40000;
  execute(Program{}
              .add(tensor_tensor(6, 0xAA, 0xA, 32, {at, {1}, {1}}, {at, {1}, {1}}, {at, {1}, {1}}))
              .add(halt()),
          NRTP_ENGINE_DVE);
  for (std::uint32_t p = 0; p < 128; ++p)
    EXPECT_EQ(get<float>(sbuf(p, 0)), static_cast<float>(p >= 32 && p < 64 ? p * p : p)) << p;
}

TEST_F(Compute, StridedBroadcastAndReversedPatternsThroughPsum) {
  // a: 3 x 5 with gaps, walked backwards; b: one row repeated; out: transposed.
  for (std::uint32_t p = 0; p < 4; ++p)
    for (std::uint32_t i = 0; i < 64; ++i) {
      put<float>(psum(p, 4 * i), number(p, i, 3));
      put<float>(sbuf(p, 0x200 + 4 * i), number(p, i, 4));
    }
  const View a{0x2000000 + 4 * 40, {-2, -8, 0}, {3, 5, 1}};
  const View b{0x200, {1, 0}, {3, 5}};
  const View out{0x1000, {5, 1}, {3, 5}};
  execute(Program{}.add(tensor_tensor(5, 0xAA, 0xA, 4, a, b, out)).add(halt()), NRTP_ENGINE_POOL);
  for (std::uint32_t p = 0; p < 4; ++p)
    for (std::uint32_t j = 0; j < 5; ++j)
      for (std::uint32_t i = 0; i < 3; ++i)
        ASSERT_EQ(get<float>(sbuf(p, 0x1000 + 4 * (5 * i + j))),
                  number(p, 40 - 2 * i - 8 * j, 3) - number(p, i, 4))
            << p << " " << i << " " << j;
}

TEST_F(Compute, SixteenBitTypesRoundOnce) {
  const int n = 1500;  // more than one conversion chunk
  for (std::uint32_t i = 0; i < n; ++i) {
    put<std::uint16_t>(sbuf(0, 2 * i), static_cast<std::uint16_t>(i * 41 & 0x7BFF));  // f16
    put<std::uint16_t>(sbuf(0, 4096 + 2 * i),
                       static_cast<std::uint16_t>(0x3F80 + (i & 0x7F)));  // bf16 in [1, 2)
  }
  const View a{0, {1}, {n}}, b{4096, {1}, {n}};
  execute(Program{}
              .add(tensor_tensor(6, 0x67, 0x7, 1, a, b, {8192, {1}, {n}}))
              .add(tensor_tensor(4, 0x67, 0x6, 1, a, b, {12288, {1}, {n}}))
              .add(tensor_tensor(4, 0x67, 0xA, 1, a, b, {16384, {1}, {n}}))
              .add(halt()),
          NRTP_ENGINE_DVE);
  for (std::uint32_t i = 0; i < n; ++i) {
    const double x = value_of(static_cast<std::uint16_t>(i * 41 & 0x7BFF), 5, 10);
    const double y = value_of(static_cast<std::uint16_t>(0x3F80 + (i & 0x7F)), 8, 7);
    // 11 + 8 significand bits: the FP32 product is exact.
    ASSERT_EQ(value_of(get<std::uint16_t>(sbuf(0, 8192 + 2 * i)), 5, 10),
              round_to_format(x * y, 11, -14, 65504));
    const float sum = static_cast<float>(x + y);
    ASSERT_EQ(get<float>(sbuf(0, 16384 + 4 * i)), sum);
    ASSERT_EQ(value_of(get<std::uint16_t>(sbuf(0, 12288 + 2 * i)), 8, 7),
              round_to_format(sum, 8, -126, std::ldexp(255, 120)));
  }
}

TEST_F(Compute, AluOperations) {
  struct Case {
    std::uint8_t op;
    float a, b, want;
  };
  const float nan = NAN, inf = INFINITY;
  const Case cases[] = {{0x00, 3, 9, 3},
                        {0x04, 3, 9, 12},
                        {0x05, 3, 9, -6},
                        {0x06, 3, 9, 27},
                        {0x07, 3, 8, 0.375f},
                        {0x07, 1, 0, inf},
                        {0x08, 3, 9, 9},
                        {0x08, nan, 9, nan},
                        {0x08, 9, nan, nan},
                        {0x09, 3, 9, 3},
                        {0x09, 3, nan, nan},
                        {0x0D, 2, 3, 1},
                        {0x0D, 2, 0, 0},
                        {0x0E, 0, 0, 0},
                        {0x0E, 0, 5, 1},
                        {0x0F, 4, 5, 0},
                        {0x0F, 0, 5, 1},
                        {0x12, 5, 5, 1},
                        {0x12, nan, nan, 0},
                        {0x13, 5, 4, 1},
                        {0x13, 5, 5, 0},
                        {0x14, 5, 5, 1},
                        {0x14, 4, 5, 0},
                        {0x15, 5, 5, 1},
                        {0x15, 6, 5, 0},
                        {0x16, 4, 5, 1},
                        {0x16, 5, 5, 0},
                        {0x17, 3, 9, 6},
                        {0x18, 3, 9, 1},
                        {0x18, 3, 3, 0},
                        {0x19, -3, 9, 3},
                        {0x1A, 2, 10, 1024},
                        {0x1D, 0.25f, 9, 2},
                        {0x04, inf, -inf, nan},
                        {0x04, 1e-45f, 1e-45f, 3e-45f}};
  for (const Case& c : cases) {
    put<float>(sbuf(0, 0), c.a);
    put<float>(sbuf(0, 4), c.b);
    execute(Program{}
                .add(tensor_tensor(c.op, 0xAA, 0xA, 1, {0, {1}, {1}}, {4, {1}, {1}}, {8, {1}, {1}}))
                .add(halt()),
            NRTP_ENGINE_DVE);
    const auto got = get<float>(sbuf(0, 8));
    if (std::isnan(c.want))
      EXPECT_TRUE(std::isnan(got)) << int{c.op};
    else
      EXPECT_EQ(got, c.want) << int{c.op} << ": " << c.a << ", " << c.b;
  }
  EXPECT_EQ(log_lines(), 0u);
}

TEST_F(Compute, CopyMovesBitsAndCastConverts) {
  // Three of nine, as strided weight copies do; a signalling NaN survives.
  for (std::uint32_t i = 0; i < 90; ++i) put<std::uint32_t>(sbuf(1, 4 * i), 0x7F800001 + i);
  execute(Program{}
              .add(copy_cast(isa::kOpCopy, 0xA, 0xA, 2, {0, {9, 1}, {10, 3}}, {4096, {1}, {30}}))
              .add(halt()),
          NRTP_ENGINE_DVE);
  for (std::uint32_t k = 0; k < 30; ++k)
    ASSERT_EQ(get<std::uint32_t>(sbuf(1, 4096 + 4 * k)), 0x7F800001 + k % 10 * 9 + k / 10);
  for (int i = 0; i < 256; ++i)
    put<std::int8_t>(sbuf(0, static_cast<std::uint64_t>(i)), static_cast<std::int8_t>(i - 128));
  execute(Program{}
              .add(copy_cast(isa::kOpCast, 2, 0xA, 1, {0, {1}, {256}}, {8192, {1}, {256}}))
              .add(copy_cast(isa::kOpCast, 0xA, 7, 1, {8192, {1}, {256}}, {16384, {1}, {256}}))
              .add(halt()),
          NRTP_ENGINE_DVE);
  for (int i = 0; i < 256; ++i) {
    const auto k = static_cast<std::uint64_t>(i);
    ASSERT_EQ(get<float>(sbuf(0, 8192 + 4 * k)), static_cast<float>(i - 128));
    ASSERT_EQ(value_of(get<std::uint16_t>(sbuf(0, 16384 + 2 * k)), 5, 10), i - 128);
  }
}

TEST_F(Compute, MemsetOfZero) {
  for (std::uint32_t i = 0; i < 32; ++i) put<float>(psum(2, 4 * i), 1.0f);
  Raw r;
  r.bytes[0] = isa::kOpMemset;
  r.bytes[1] = 0x10;
  r.bytes[28] = 8;
  r.bytes[32] = 0xA;
  r.bytes[34] = 3;
  put4(r.bytes + 44, {0x2000000 + 4, {2, 16}, {4, 2}});
  execute(Program{}.add(r).add(halt()), NRTP_ENGINE_DVE);
  for (std::uint32_t i = 0; i < 32; ++i) {
    const bool cleared = i % 16 >= 1 && i % 16 <= 7 && i % 2 == 1;
    EXPECT_EQ(get<float>(psum(2, 4 * i)), cleared ? 0.0f : 1.0f) << i;
  }
}

TEST_F(Compute, Refusals) {
  const View ok{0, {1}, {4}};
  const auto refused = [&](const auto& record, const std::string& text) {
    dev().reset_cores(1);
    execute(Program{}.add(record).add(mark(70)).add(halt()), NRTP_ENGINE_DVE);
    EXPECT_EQ(dev().semaphore_read(0, 70), 0u) << text;
    expect_logged({"core 0 DVE at 0x1100000", text});
  };
  const auto tt = [&](const View& a, const View& b, const View& o) {
    return tensor_tensor(4, 0xAA, 0xA, 1, a, b, o);
  };
  refused(tensor_tensor(0x0A, 0xAA, 0xA, 1, ok, ok, ok), "ALU operation 0xa");
  refused(tensor_tensor(0x1C, 0xAA, 0xA, 1, ok, ok, ok), "ALU operation 0x1c");
  refused(tensor_tensor(0xC4, 0xAA, 0xA, 1, ok, ok, ok), "ALU operation 0xc4");
  refused(tensor_tensor(4, 0xA0, 0xA, 1, ok, ok, ok), "source 0: data type 0");
  refused(tensor_tensor(4, 0x1A, 0xA, 1, ok, ok, ok), "source 1: data type 1");
  refused(tensor_tensor(4, 0xAA, 0xB, 1, ok, ok, ok), "destination: results of type FP32R");
  refused(tensor_tensor(4, 0xAA, 0xA, 0, ok, ok, ok), "source 0: 0 partitions");
  refused(tensor_tensor(4, 0xAA, 0xA, 65, {64 * 0x40000, {1}, {4}}, ok, ok),
          "source 0: partitions 64 to 129");
  refused(tt({0x10000000, {1}, {4}}, ok, ok), "address form 0x10000000");
  refused(tt(ok, {2, {1}, {4}}, ok), "source 1: address 0x2 is not a multiple");
  refused(tt(ok, ok, {0, {1}, {0}}), "element count 0");
  refused(tt(ok, ok, {0, {1}, {5}}), "source 0 has 4 elements per partition, the destination 5");
  refused(tt({0x2FFF4, {1}, {4}}, ok, ok), "source 0: bytes 196596 to 196612");
  refused(tt(ok, ok, {0, {-1}, {4}}), "destination: bytes -12 to 4");
  refused(tt(ok, ok, {0x2000000 + 0x3FF4, {1}, {4}}), "destination: bytes 16372 to 16388");
  const View huge{0, {0, 0, 0}, {65535, 65535, 65535}};
  refused(tt(huge, huge, huge), "elements per partition, the limit is");
  refused(copy_cast(isa::kOpCopy, 0xA, 7, 1, ok, ok), "a copy keeps the type");
  auto fill = copy_cast(isa::kOpMemset, 0xA, 0, 1, ok, ok);
  refused(fill, "no field of this record is known there");
}

}  // namespace
}  // namespace opennrt::emu::test
