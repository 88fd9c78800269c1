// SPDX-License-Identifier: Apache-2.0
//
// Evaluation of table functions against the functions they were made from, and
// the choice of buckets at the limits.
#include <random>

#include "unit/emulator_act/act_lab.h"

namespace opennrt::emu::test {
namespace {

using Table = ActLab;

double exponential(double x) { return std::exp(x); }

TEST_F(Table, ExponentialOnBothSides) {
  TableSet set;
  add_table(set, 7, exponential);
  put_tables({set});
  std::vector<float> x;
  for (int i = -399; i <= 399; ++i)
    if (i != 0) x.push_back(static_cast<float>(i) * 0.01f);
  fill<float>(0x100, 0, x);
  const int n = static_cast<int>(x.size());
  ok(activate({.function = 7, .in_counts = {n}, .out_counts = {n}, .partitions = 1}));
  for (int i = 0; i < n; ++i) {
    const double want = std::exp(double{x[static_cast<std::size_t>(i)]});
    ASSERT_NEAR(at<float>(0x8000)[i], want, want * 1e-4) << x[static_cast<std::size_t>(i)];
  }
}

TEST_F(Table, FixedResultsAndLimits) {
  TableSet set;
  add_table(set, 7, exponential);
  put_tables({set});
  EXPECT_EQ(std::bit_cast<std::uint32_t>(value(7, NAN)), 0x7FC00000u);
  EXPECT_EQ(value(7, INFINITY), 9);
  EXPECT_EQ(value(7, -INFINITY), -9);
  EXPECT_EQ(value(7, 0.0f), 1);
  EXPECT_EQ(value(7, -0.0f), 1);
  // Exponent 133, mantissa 0x400000 = 96: the large-signal constant from there on.
  EXPECT_EQ(value(7, 96), 777);
  EXPECT_NE(value(7, std::nextafter(96.0f, 0.0f)), 777);
  EXPECT_EQ(value(7, -96), -777);
  EXPECT_EQ(value(7, 1e30f), 777);
  // Below exponent 110 the small-signal cubic around 0.
  EXPECT_NEAR(value(7, std::ldexp(1.9f, 109 - 127)), 1.0000072, 1e-6);
  EXPECT_EQ(value(7, 1e-45f), 1);
}

// Exponent 110 begins the table on both sides, for single values and for rows.
TEST_F(Table, SmallSignalsEndWhereTheTableBegins) {
  TableSet set;
  add_table(set, 7, exponential);
  for (const int side : {0, 1}) {
    ActivationBucket& small = set.buckets[set.profiles[0].small_bucket[side]];
    small = {side == 0 ? 555.0f : -555.0f, 0, 0, 0, 0, {}};
  }
  put_tables({set});
  const float first = std::ldexp(1.0f, 110 - 127);
  const float below = std::nextafter(first, 0.0f);
  EXPECT_EQ(value(7, below), 555);
  EXPECT_NEAR(value(7, first), 1 + 0x1p-17, 1e-6);
  EXPECT_EQ(value(7, -below), -555);
  EXPECT_NEAR(value(7, -first), 1 - 0x1p-17, 1e-6);
  fill<float>(0x100, 0, {below, first, -below, -first, below, first, -below, -first});
  ok(activate({.function = 7, .partitions = 1}));
  for (int i = 0; i < 8; i += 4) {
    EXPECT_EQ(at<float>(0x8000)[i], 555);
    EXPECT_NEAR(at<float>(0x8000)[i + 1], 1 + 0x1p-17, 1e-6);
    EXPECT_EQ(at<float>(0x8000)[i + 2], -555);
    EXPECT_NEAR(at<float>(0x8000)[i + 3], 1 - 0x1p-17, 1e-6);
  }
}

TEST_F(Table, OddFunctionsFoldAndInvert) {
  TableSet set;
  add_table(set, 6, [](double x) { return std::tanh(x); }, true);
  put_tables({set});
  for (const float x : {0.01f, 0.3f, 1.0f, 2.75f, 4.0f}) {
    const float up = value(6, x), down = value(6, -x);
    EXPECT_NEAR(up, std::tanh(double{x}), 2e-5) << x;
    EXPECT_EQ(down, -up) << x;
  }
}

TEST_F(Table, SymmetryPointAndFoldToNegative) {
  TableSet set;
  add_table(set, 5, [](double x) { return 1 / (1 + std::exp(-x)); }, true);
  set.profiles[0].symmetry_point = std::bit_cast<std::uint32_t>(0.5f);
  put_tables({set});
  EXPECT_NEAR(value(5, 1.5f), 1 / (1 + std::exp(-1.5)), 2e-5);
  EXPECT_NEAR(value(5, -1.5f), 1 / (1 + std::exp(1.5)), 2e-5);

  TableSet negative;
  add_table(negative, 5, [](double x) { return std::exp(x); });
  negative.profiles[0].fold = negative.profiles[0].fold_to_negative = 1;
  put_tables({negative});
  EXPECT_NEAR(value(5, 1.5f), std::exp(-1.5), 1e-4);
  EXPECT_NEAR(value(5, -1.5f), std::exp(-1.5), 1e-4);
}

TEST_F(Table, OnePieceForEachSign) {
  TableSet set;
  add_pieces(set, 2, {0, 1, 0, 0, 0, {}}, {}, 0, 0x7F7F0000, 0, 0x7FC00000);
  add_pieces(set, 30, {0, 0, 1, 0, 0, {}}, {0, 0, 1, 0, 0, {}}, 0, 0x7F800000, 0x7F800000,
             0x7FC00000);
  add_pieces(set, 1, {0, 1, 0, 0, 0, {}}, {0, 1, 0, 0, 0, {}}, 0, 0x7F800000, 0xFF800000,
             0x7FC00000);
  put_tables({set});
  EXPECT_EQ(value(2, 3.5f), 3.5f);
  EXPECT_EQ(value(2, -3.5f), 0);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(value(2, INFINITY)), 0x7F7F0000u);
  EXPECT_EQ(value(30, -3), 9);
  EXPECT_EQ(value(30, 1e-30f), 0);
  EXPECT_EQ(value(30, 1e30f), INFINITY);
  EXPECT_EQ(value(1, -0.25f), -0.25f);
  EXPECT_EQ(value(1, -INFINITY), -INFINITY);
}

TEST_F(Table, ParametricFunctionTakesTheSlopeOfTheRecord) {
  TableSet set;
  ActivationProfile p{};
  p.func_id = 4;
  p.fma_source = 2;
  p.fma_const_0 = 0x3F800000;
  set.profiles.push_back(p);
  put_tables({set});
  fill<float>(0x100, 0, {-8, 8});
  Record r = activate({.function = 4, .in_counts = {2}, .out_counts = {2}, .partitions = 1});
  layout::S3D3_AC::imm.set(r.data(), std::bit_cast<std::uint32_t>(0.5f));
  ok(r);
  EXPECT_EQ(at<float>(0x8000)[0], -4);
  EXPECT_EQ(at<float>(0x8000)[1], 8);
}

// The wide evaluation and the one for any processor agree in every bit.
TEST_F(Table, WideEvaluationEqualsThePortableOne) {
  TableSet set;
  add_table(set, 7, exponential);
  add_table(set, 6, [](double x) { return std::tanh(x); }, true);
  add_pieces(set, 2, {0.5f, 1, 0.25f, 0, 2, {}}, {1, 3, 0, 0, 0, {}}, 7, 8, 9, 10);
  std::mt19937 random(7);
  std::vector<float> x(100003);
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (i % 3 == 0)
      x[i] = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    else
      x[i] = std::bit_cast<float>(static_cast<std::uint32_t>(
          (random() & 0x80000000u) | (105u + random() % 32) << 23 | (random() & 0x7FFFFF)));
  }
  x[8] = 0;
  x[9] = -0.0f;
  x[10] = INFINITY;
  x[11] = -INFINITY;
  x[12] = NAN;
  for (const ActivationProfile& profile : set.profiles) {
    ActivationFunction f;
    std::string error;
    ASSERT_TRUE(f.compile(profile, set.control, set.buckets, &error)) << error;
    std::vector<float> wide = x, portable = x;
    f.evaluate(wide.data(), wide.size(), 0);
    evaluate_portable(f, portable.data(), portable.size(), 0);
    for (std::size_t i = 0; i < x.size(); ++i)
      ASSERT_EQ(std::bit_cast<std::uint32_t>(wide[i]), std::bit_cast<std::uint32_t>(portable[i]))
          << profile.func_id << " at " << x[i];
  }
}

TEST_F(Table, TablesThatPointOutsideAreRefused) {
  TableSet good;
  add_table(good, 7, exponential);
  const auto fails = [&](auto change, std::initializer_list<const char*> texts) {
    TableSet set = good;
    change(set);
    put_tables({set});
    refused(activate({.function = 7}), texts);
  };
  fails([](TableSet& s) { s.profiles[0].large_bucket[0] = 100000; },
        {"large-signal bucket", "exp"});
  fails([](TableSet& s) { s.profiles[0].small_bucket[1] = 100000; }, {"small-signal bucket"});
  fails([](TableSet& s) { s.profiles[0].control_base[0] = 1000; }, {"control entry"});
  fails([](TableSet& s) { s.profiles[0].control_base[1] = 0xFFFFFF00; }, {"control entry"});
  fails([](TableSet& s) { s.profiles[0].exponent_offset = 1000; }, {"control entry"});
  fails([](TableSet& s) { s.control[5] |= 0xFFFF0000; }, {"mantissa bits"});
  fails([](TableSet& s) { s.control[5] = 0x7FF | 20u << 11 | 3u << 16; }, {"last bucket"});
  fails([](TableSet& s) { s.profiles[0].fma_source = 3; }, {"operand source 3"});
  fails([](TableSet& s) { s.buckets.clear(); }, {"buckets"});
}

}  // namespace
}  // namespace opennrt::emu::test
