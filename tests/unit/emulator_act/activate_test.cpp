// SPDX-License-Identifier: Apache-2.0
//
// ACTIVATE with exact functions: operands, scale and bias sources, data types.
#include <numbers>
#include <random>

#include "unit/emulator_act/act_lab.h"

namespace opennrt::emu::test {
namespace {

using Activate = ActLab;
namespace ac = layout::S3D3_AC;

constexpr float kInf = INFINITY;

TEST_F(Activate, IdentityScalesAndAddsInFp32) {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> any(-100, 100);
  for (const int n : {1, 7, 8, 9, 64, 513, 1025}) {
    for (std::uint32_t p = 0; p < 3; ++p)
      for (int i = 0; i < n; ++i) at<float>(0x100, p)[i] = any(random);
    ok(activate(
        {.in_counts = {n}, .out_counts = {n}, .partitions = 3, .scale = 1.7f, .bias = 0.3f}));
    for (std::uint32_t p = 0; p < 3; ++p)
      for (int i = 0; i < n; ++i) {
        const double want = double{at<float>(0x100, p)[i]} * double{1.7f} + double{0.3f};
        // Two roundings: of the product and of the sum.
        ASSERT_NEAR(at<float>(0x8000, p)[i], want, std::fabs(want) * 1.2e-7 + 1.1e-5)
            << n << " " << i;
      }
    EXPECT_EQ(at<float>(0x8000, 0)[n], 0) << "one element too many";
    std::memset(at<char>(0x8000, 0), 0, 4096);
  }
  EXPECT_EQ(*at<float>(0x8000, 3), 0) << "one partition too many";
}

TEST_F(Activate, ProductIsRoundedBeforeTheSum) {
  // (1 + 2^-23)(1 - 2^-23) rounds to 1 in FP32: the sum with -1 is 0, a fused
  // operation would leave -2^-46.
  fill<float>(0x100, 0, {std::bit_cast<float>(0x3F800001u)});
  ok(activate({.in_counts = {1},
               .out_counts = {1},
               .partitions = 1,
               .scale = std::bit_cast<float>(0x3F7FFFFEu),
               .bias = -1}));
  EXPECT_EQ(*at<float>(0x8000), 0);
}

TEST_F(Activate, PsumToHalfPrecisionWithBiasPerPartition) {
  const int n = 444;
  for (std::uint32_t p = 0; p < 128; ++p) {
    *at<float>(0x40, p) = static_cast<float>(p) * 0.25f - 3;
    for (int i = 0; i < n; ++i) at<float>(kPsum, p)[i] = static_cast<float>(i) / 7 - 20;
  }
  Record r = activate({.in = kPsum,
                       .out_dtype = isa::kDtFloat16,
                       .in_counts = {n},
                       .out_counts = {n},
                       .partitions = 128});
  ac::bias_src_n.set(r.data(), 0);  // pointer
  ac::bias.set(r.data(), 0x40);
  ok(r);
  for (std::uint32_t p = 0; p < 128; ++p)
    for (int i = 0; i < n; ++i) {
      const float sum =
          static_cast<float>(double{at<float>(kPsum, p)[i]} + (static_cast<double>(p) * 0.25 - 3));
      const double have = f16_to_f32(at<std::uint16_t>(0x8000, p)[i]);
      const double unit = std::ldexp(1.0, std::max(std::ilogb(sum), -14) - 10);
      ASSERT_LE(std::fabs(have - double{sum}), unit / 2) << p << " " << i;
    }
}

TEST_F(Activate, StridedCopyOfHalfPrecision) {
  for (int i = 0; i < 9 * 128 + 3; ++i)
    at<std::uint16_t>(0x100)[i] = static_cast<std::uint16_t>(0x3C00 + i);
  ok(activate({.function = 128,
               .in_dtype = isa::kDtFloat16,
               .out_dtype = isa::kDtFloat16,
               .in_counts = {128, 3},
               .in_steps = {9, 1},
               .out_counts = {384},
               .partitions = 1}));
  for (int k = 0; k < 3; ++k)
    for (int i = 0; i < 128; ++i)
      ASSERT_EQ(at<std::uint16_t>(0x8000)[k * 128 + i], 0x3C00 + 9 * i + k) << k << " " << i;
}

TEST_F(Activate, StridedAndReversedDestination) {
  for (int i = 0; i < 384; ++i) at<float>(0x100)[i] = static_cast<float>(i);
  ok(activate({.function = 128,
               .out = 0x8000 + 4 * (9 * 127 + 2),
               .in_counts = {384},
               .out_counts = {128, 3},
               .out_steps = {-9, -1},
               .partitions = 1,
               .scale = 2}));
  for (int k = 0; k < 3; ++k)
    for (int i = 0; i < 128; ++i)
      ASSERT_EQ(at<float>(0x8000)[9 * (127 - i) + 2 - k], 2.0f * static_cast<float>(k * 128 + i));
}

// A strided row of the source fills several rows of the destination.
TEST_F(Activate, CopyIntoShorterRows) {
  for (const std::uint32_t dtype : {isa::kDtFloat32, isa::kDtFloat16}) {
    const std::uint32_t bytes = dtype == isa::kDtFloat32 ? 4 : 2;
    const auto value = [&](int i) {
      return (dtype == isa::kDtFloat32 ? 0x3F800000u : 0x3C00u) + i;
    };
    const auto element = [&](std::uint32_t address, int i) {
      return at<std::uint8_t>(address) + static_cast<std::uint32_t>(i) * bytes;
    };
    for (int i = 0; i < 36; ++i) {
      const std::uint32_t v = value(i);
      std::memcpy(element(0x100, i), &v, bytes);
    }
    ok(activate({.in_dtype = dtype,
                 .out_dtype = dtype,
                 .in_counts = {12},
                 .in_steps = {3},
                 .out_counts = {4, 3},
                 .out_steps = {1, 10},
                 .partitions = 1}));
    for (int i = 0; i < 12; ++i) {
      std::uint32_t got = 0;
      std::memcpy(&got, element(0x8000, i % 4 + i / 4 * 10), bytes);
      EXPECT_EQ(got, value(3 * i)) << dtype << " " << i;
    }
  }
}

TEST_F(Activate, BroadcastSource) {
  fill<float>(0x100, 0, {3, 5});
  ok(activate({.in_counts = {4, 2}, .in_steps = {0, 1}, .out_counts = {8}, .partitions = 1}));
  const float want[] = {3, 3, 3, 3, 5, 5, 5, 5};
  for (int i = 0; i < 8; ++i) EXPECT_EQ(at<float>(0x8000)[i], want[i]) << i;
}

TEST_F(Activate, ScaleFromMemoryAndRegister) {
  fill<float>(0x100, 0, {1, 2});
  fill<float>(0x100, 1, {1, 2});
  *at<float>(0x40, 0) = 10;
  *at<float>(0x40, 1) = 20;
  Record r = activate({.in_counts = {2}, .out_counts = {2}});
  ac::scale_src.set(r.data(), 1);
  ac::scale.set(r.data(), 0x40);
  ok(r);
  EXPECT_EQ(at<float>(0x8000, 0)[1], 20);
  EXPECT_EQ(at<float>(0x8000, 1)[1], 40);

  *at<float>(0x60, 0) = -1;
  *at<float>(0x60, 1) = -2;
  state_.registers[5] = 0x60;
  ac::scale_src.set(r.data(), 2);
  ac::scale.set(r.data(), 5);
  ok(r);
  EXPECT_EQ(at<float>(0x8000, 1)[1], -4);
  state_.registers[5] = 0x40;  // read at execution, not when the record is decoded
  ok(r);
  EXPECT_EQ(at<float>(0x8000, 1)[1], 40);
  state_.registers[5] = 0x7FFFFFF;
  refused(r, {"scale", "register 5"});
}

TEST_F(Activate, BiasInHalfPrecisionAndFromRegister) {
  fill<float>(0x100, 0, {1});
  *at<std::uint16_t>(0x42) = 0x4500;  // 5
  Record r = activate({.in_counts = {1}, .out_counts = {1}, .partitions = 1});
  ac::in_bias_dtype.set(r.data(), isa::kDtFloat32 | isa::kDtFloat16 << 4);
  ac::bias_src_n.set(r.data(), 0);
  ac::bias.set(r.data(), 0x42);
  ok(r);
  EXPECT_EQ(*at<float>(0x8000), 6);
  ac::bias_src_n.set(r.data(), 2);
  ac::bias.set(r.data(), 63);
  state_.registers[63] = 0x42;
  ok(r);
  EXPECT_EQ(*at<float>(0x8000), 6);
}

TEST_F(Activate, SpecialValuesOfIdentity) {
  EXPECT_TRUE(std::isnan(value(1, NAN)));
  EXPECT_EQ(value(1, kInf), kInf);
  EXPECT_EQ(value(1, -kInf), -kInf);
  EXPECT_EQ(value(1, 1e-42f), 1e-42f);
  const float zero = value(128, -0.0f);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(zero), 0u);
}

TEST_F(Activate, CopyOfEqualTypesKeepsValuesAndTidiesNan) {
  for (const std::uint32_t type : {isa::kDtFloat16, isa::kDtBfloat16}) {
    const std::uint16_t infinity = type == isa::kDtFloat16 ? 0x7C00 : 0x7F80;
    const std::uint16_t quiet = type == isa::kDtFloat16 ? 0x7E00 : 0x7FC0;
    fill<std::uint16_t>(0x100, 0,
                        {0x1234, 0x8001, 0x8000, infinity, static_cast<std::uint16_t>(infinity + 1),
                         static_cast<std::uint16_t>(infinity | 0x8000)});
    ok(activate({.function = 128,
                 .in_dtype = type,
                 .out_dtype = type,
                 .in_counts = {6},
                 .out_counts = {6},
                 .partitions = 1}));
    const std::uint16_t want[] = {0x1234,   0x8001, 0,
                                  infinity, quiet,  static_cast<std::uint16_t>(infinity | 0x8000)};
    for (int i = 0; i < 6; ++i) EXPECT_EQ(at<std::uint16_t>(0x8000)[i], want[i]) << i;
  }
}

TEST_F(Activate, IntegersConvertThroughFp32) {
  fill<std::int32_t>(0x100, 0, {-3, 7, 300, -300, 100000});
  ok(activate({.function = 1,
               .in_dtype = isa::kDtInt32,
               .out_dtype = isa::kDtInt8,
               .in_counts = {5},
               .out_counts = {5},
               .partitions = 1,
               .scale = 0.5f}));
  const std::int8_t want[] = {-2, 4, 127, -128, 127};  // ties to even, saturated
  for (int i = 0; i < 5; ++i) EXPECT_EQ(at<std::int8_t>(0x8000)[i], want[i]) << i;
}

struct Exact {
  std::uint8_t code;
  double (*f)(double);
};

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double cdf(double x) { return (1 + std::erf(x / std::sqrt(2.0))) / 2; }

const Exact kExact[] = {
    {1, [](double x) { return x; }},
    {2, [](double x) { return std::max(x, 0.0); }},
    {3, [](double x) { return x > 0 ? x : 0.01 * x; }},
    {5, sigmoid},
    {6, [](double x) { return std::tanh(x); }},
    {7, [](double x) { return std::exp(x); }},
    {8, [](double x) { return std::sqrt(x); }},
    {9, [](double x) { return std::log(1 + std::exp(x)); }},
    {10, [](double x) { return std::log(x); }},
    {11, [](double) { return 1.0; }},
    {12, [](double x) { return x > 0 ? 1.0 : 0.0; }},
    {13, [](double x) { return x > 0 ? 1.0 : 0.01; }},
    {19, [](double x) { return std::sin(x); }},
    {21, [](double x) { return std::erf(x); }},
    {22, [](double x) { return 2 / std::sqrt(std::numbers::pi) * std::exp(-x * x); }},
    {23, [](double x) { return x * cdf(x); }},
    {24, [](double x) { return x * std::tanh(std::log(1 + std::exp(x))); }},
    {25,
     [](double x) {
       return 0.5 * x *
              (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
     }},
    {26, [](double x) { return x * sigmoid(1.702 * x); }},
    {28, [](double x) { return std::atan(x); }},
    {29, [](double x) { return 1 / std::sqrt(x); }},
    {30, [](double x) { return x * x; }},
    {31, [](double x) { return x > 0   ? 1.0
                               : x < 0 ? -1.0
                                       : 0.0; }},
    {32,
     [](double x) { return cdf(x) + x * std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi); }},
    {33, [](double x) { return std::fabs(x); }},
    {34, [](double x) { return 1 / std::sqrt(std::fabs(x)); }},
    {35, [](double) { return 1.0; }},
    {36, [](double x) { return x * sigmoid(x); }},
    {37, [](double x) { return sigmoid(x) * (1 + x * (1 - sigmoid(x))); }},
    {38,
     [](double x) {
       const double s = sigmoid(1.702 * x);
       return s + 1.702 * x * s * (1 - s);
     }},
    {128, [](double x) { return x; }},
    {129, [](double x) { return 1 / x; }},
    {130, [](double) { return 0.0; }},
};

TEST_F(Activate, ExactFunctionsWithoutTables) {
  for (const Exact& e : kExact) {
    std::vector<float> x;
    for (int i = -60; i <= 60; ++i)
      if (i != 0) x.push_back(static_cast<float>(i) * 0.1f);
    fill<float>(0x100, 0, x);
    const int n = static_cast<int>(x.size());
    ok(activate({.function = e.code, .in_counts = {n}, .out_counts = {n}, .partitions = 1}));
    for (int i = 0; i < n; ++i) {
      const double want = e.f(x[static_cast<std::size_t>(i)]);
      const float have = at<float>(0x8000)[i];
      if (std::isnan(want))
        ASSERT_TRUE(std::isnan(have)) << int{e.code};
      else
        ASSERT_NEAR(have, want, std::fabs(want) * 1e-6 + 1e-9)
            << int{e.code} << " at " << x[static_cast<std::size_t>(i)];
    }
  }
}

TEST_F(Activate, ExactFunctionsAtTheEdges) {
  EXPECT_EQ(value(7, -kInf), 0);
  EXPECT_EQ(value(7, 100), kInf);
  EXPECT_EQ(value(10, 0), -kInf);
  EXPECT_TRUE(std::isnan(value(8, -1)));
  EXPECT_EQ(value(36, -200), 0);
  EXPECT_EQ(value(36, -kInf), 0);
  EXPECT_EQ(value(23, -kInf), 0);
  EXPECT_EQ(value(9, 200), 200);
  EXPECT_EQ(value(35, kInf), 0);
  EXPECT_EQ(value(35, NAN), 0);
  EXPECT_EQ(value(130, NAN), 0);
  EXPECT_EQ(value(12, 0), 1);
  EXPECT_TRUE(std::isnan(value(2, NAN)));
  EXPECT_TRUE(std::isnan(value(31, NAN)));
}

TEST_F(Activate, ParametricSlope) {
  fill<float>(0x100, 0, {-4, 4});
  Record r = activate({.function = 4, .in_counts = {2}, .out_counts = {2}, .partitions = 1});
  ac::imm.set(r.data(), std::bit_cast<std::uint32_t>(0.25f));
  ok(r);
  EXPECT_EQ(at<float>(0x8000)[0], -1);
  EXPECT_EQ(at<float>(0x8000)[1], 4);
  *at<float>(0x40) = 0.5f;
  ac::imm_src.set(r.data(), 1);
  ac::imm.set(r.data(), 0x40);
  ok(r);
  EXPECT_EQ(at<float>(0x8000)[0], -2);
}

TEST_F(Activate, WrongFieldsAreRefused) {
  Record r = activate({.function = 77});
  refused(r, {"77", "not known"});
  refused(activate({.out_counts = {7}}), {"8 elements", "7"});
  refused(activate({.in_dtype = 1}), {"source", "data type 1"});
  refused(activate({.out_dtype = 0}), {"destination", "data type 0"});
  refused(activate({.partitions = 0}), {"partitions"});
  refused(activate({.in = 0x102}), {"source", "multiple"});
  refused(activate({.accumulate = 4}), {"accumulator command 4"});
  refused(activate({.accumulate = 9}), {"accumulator command 9"});
  r = activate({});
  ac::scale_src.set(r.data(), 3);
  refused(r, {"scale", "3"});
  r = activate({});
  ac::bias_src_n.set(r.data(), 3);
  refused(r, {"bias", "3"});
  r = activate({});
  ac::bias_src_n.set(r.data(), 2);
  ac::bias.set(r.data(), 64);
  refused(r, {"bias", "64", "63"});
  r = activate({});
  ac::bias_src_n.set(r.data(), 0);
  ac::bias.set(r.data(), 0x30000);  // beyond the partition
  refused(r, {"bias", "partition"});
  on(NRTP_ENGINE_DVE);
  refused(activate({}), {"ACTIVATE", "engine"});
}

TEST_F(Activate, OperandsInRegisters) {
  fill<float>(0x100, 0, {1, 2});
  fill<float>(0x200, 0, {3, 4});
  Record r = activate(
      {.in = 0x80000003, .out = 0x80000004, .in_counts = {2}, .out_counts = {2}, .partitions = 1});
  state_.registers[3] = 0x100;
  state_.registers[4] = 0x8000;
  ok(r);
  EXPECT_EQ(at<float>(0x8000)[1], 2);
  state_.registers[3] = 0x200;
  ok(r);
  EXPECT_EQ(at<float>(0x8000)[1], 4);
  state_.registers[4] = 0x2FFFC;  // the second element lies outside
  refused(r, {"destination", "register 4"});
}

TEST_F(Activate, OperandsAreNamed) {
  struct Names final : OperandVisitor {
    std::vector<std::string> seen;
    void visit(const char* name, const Operand&, std::uint32_t partitions, Access a) override {
      seen.push_back(std::string(name) + (a == Access::kWrite ? " w" : " r") +
                     std::to_string(partitions));
    }
  } names;
  Record r = activate({});
  ac::scale_src.set(r.data(), 1);
  ac::scale.set(r.data(), 0x40);
  std::string error;
  const auto plan = plan_compute({*map_, 0, NRTP_ENGINE_ACT, generation_}, r.data(), &error);
  ASSERT_TRUE(plan) << error;
  plan->visit_operands(state_, names);
  EXPECT_EQ(names.seen, (std::vector<std::string>{"source r2", "scale r2", "destination w2"}));
}

}  // namespace
}  // namespace opennrt::emu::test
