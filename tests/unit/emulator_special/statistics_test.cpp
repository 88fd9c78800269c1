// SPDX-License-Identifier: Apache-2.0
//
// BATCH_NORM_STATS2 and its aggregation, POOL, CROSS_LANE_REDUCE.
#include <algorithm>
#include <random>

#include "unit/emulator_act/lab.h"

namespace opennrt::emu::test {
namespace {

class Statistics : public Lab {
 protected:
  Statistics() { on(NRTP_ENGINE_DVE); }

  static Record stats(std::uint8_t opcode, std::uint32_t in, int n, std::uint32_t out, int results,
                      float even, float odd, std::uint8_t partitions = 1,
                      std::uint32_t in_dtype = isa::kDtFloat32) {
    namespace bn = layout::S4D2_BN;
    Record r = record(opcode);
    pattern(bn::src(r.data()), in, 4, {n}, {1});
    pattern(bn::dst(r.data()), out, 2, {results}, {1});
    bn::in_dtype.set(r.data(), static_cast<std::uint8_t>(in_dtype));
    bn::out_dtype.set(r.data(), isa::kDtFloat32);
    bn::num_active_channels.set(r.data(), partitions);
    bn::even_count.set(r.data(), even);
    bn::odd_count.set(r.data(), odd);
    return r;
  }
};

struct Moments {
  double count = 0, mean = 0, m2 = 0;
};

Moments moments(const std::vector<float>& x, std::size_t first, std::size_t step) {
  Moments m;
  for (std::size_t i = first; i < x.size(); i += step) {
    m.count += 1;
    m.mean += static_cast<double>(x[i]);
  }
  m.mean /= m.count;
  for (std::size_t i = first; i < x.size(); i += step)
    m.m2 += (static_cast<double>(x[i]) - m.mean) * (static_cast<double>(x[i]) - m.mean);
  return m;
}

TEST_F(Statistics, EvenAndOddElementsThenMeanAndVariance) {
  std::mt19937 random(9);
  std::normal_distribution<float> normal(100, 3);  // mean far from zero
  std::vector<float> all;
  const int sizes[] = {512, 77, 2};
  for (int k = 0; k < 3; ++k) {
    std::vector<float> x(static_cast<std::size_t>(sizes[k]));
    for (float& v : x) v = normal(random);
    fill(0x1000, 0, x);
    const float even = static_cast<float>((sizes[k] + 1) / 2),
                odd = static_cast<float>(sizes[k] / 2);
    const std::uint32_t out = 0x4000 + 24 * static_cast<std::uint32_t>(k);
    ok(stats(isa::op::BATCH_NORM_STATS2, 0x1000, sizes[k], out, 6, even, odd));
    for (std::size_t g = 0; g < 2; ++g) {
      const Moments want = moments(x, g, 2);
      const float* have = at<float>(out) + 3 * g;
      EXPECT_EQ(have[0], want.count);
      EXPECT_NEAR(have[1], want.mean, 1e-5);
      EXPECT_NEAR(have[2], want.m2, 1e-5 * want.m2 + 1e-6);
    }
    all.insert(all.end(), x.begin(), x.end());
  }
  ok(stats(isa::op::BATCH_NORM_AGGREGATE, 0x4000, 18, 0x5000, 2, 0, 0));
  const Moments want = moments(all, 0, 1);
  EXPECT_NEAR(at<float>(0x5000)[0], want.mean, 1e-5);
  EXPECT_NEAR(at<float>(0x5000)[1], want.m2 / want.count, 1e-5 * want.m2 / want.count);
}

TEST_F(Statistics, OneGroupAndOneElement) {
  fill<float>(0x1000, 0, {1, 2, 3, 6});
  ok(stats(isa::op::BATCH_NORM_STATS, 0x1000, 4, 0x4000, 3, 4, 0));
  EXPECT_EQ(at<float>(0x4000)[0], 4);
  EXPECT_EQ(at<float>(0x4000)[1], 3);
  EXPECT_EQ(at<float>(0x4000)[2], 14);
  ok(stats(isa::op::BATCH_NORM_STATS2, 0x1000, 1, 0x4000, 6, 1, 0));
  const float want[] = {1, 1, 0, 0, 0, 0};
  for (int i = 0; i < 6; ++i) EXPECT_EQ(at<float>(0x4000)[i], want[i]) << i;
}

TEST_F(Statistics, WrongFieldsAreRefused) {
  refused(stats(isa::op::BATCH_NORM_STATS2, 0x1000, 513, 0x4000, 6, 257, 256), {"513", "512"});
  refused(stats(isa::op::BATCH_NORM_STATS, 0x1000, 257, 0x4000, 3, 257, 0), {"257", "256"});
  refused(stats(isa::op::BATCH_NORM_STATS2, 0x1000, 8, 0x4000, 3, 4, 4), {"it must be 6"});
  refused(stats(isa::op::BATCH_NORM_STATS2, 0x1000, 8, 0x4000, 6, 5, 4), {"even count"});
  refused(stats(isa::op::BATCH_NORM_STATS2, 0x1000, 8, 0x4000, 6, 4, 3), {"odd count"});
  refused(stats(isa::op::BATCH_NORM_AGGREGATE, 0x1000, 8, 0x4000, 2, 0, 0), {"multiple of 3"});
  refused(stats(isa::op::BATCH_NORM_AGGREGATE, 0x1000, 9, 0x4000, 3, 0, 0), {"it must be 2"});
  refused(stats(isa::op::BATCH_NORM_AGGREGATE, 0x1000, 9, 0x4000, 2, 1, 0), {"count"});
  on(NRTP_ENGINE_POOL);
  refused(stats(isa::op::BATCH_NORM_STATS2, 0x1000, 8, 0x4000, 6, 4, 4), {"engine"});
}

class PoolOp : public Lab {
 protected:
  PoolOp() { on(NRTP_ENGINE_POOL); }

  static Record pool(std::uint8_t function, float scale, std::vector<int> counts,
                     std::vector<int> steps, std::uint8_t dims, int results) {
    namespace pl = layout::S4D4_PL;
    Record r = record(isa::op::POOL);
    pattern(pl::src(r.data()), 0x1000, 4, counts, steps);
    pattern(pl::dst(r.data()), 0x8000, 4, {results}, {1});
    pl::in_dtype.set(r.data(), isa::kDtFloat32);
    pl::out_dtype.set(r.data(), isa::kDtFloat32);
    pl::num_active_channels.set(r.data(), 2);
    pl::pool_func.set(r.data(), function);
    pl::pool_dim.set(r.data(), dims);
    pl::pool_scale.set(r.data(), scale);
    return r;
  }
};

TEST_F(PoolOp, WindowsOfTwoByTwo) {
  constexpr int kWidth = 60, kHeight = 40;
  std::mt19937 random(2);
  for (std::uint32_t p = 0; p < 2; ++p)
    for (int i = 0; i < kWidth * kHeight; ++i)
      at<float>(0x1000, p)[i] = static_cast<float>(static_cast<int>(random() % 2000) - 1000);
  for (const bool maximum : {true, false}) {
    ok(pool(maximum ? 1 : 2, maximum ? 1.0f : 0.25f, {2, 2, kWidth / 2, kHeight / 2},
            {1, kWidth, 2, 2 * kWidth}, 3, kWidth / 2 * kHeight / 2));
    for (std::uint32_t p = 0; p < 2; ++p)
      for (int y = 0; y < kHeight / 2; ++y)
        for (int x = 0; x < kWidth / 2; ++x) {
          const float* corner = at<float>(0x1000, p) + 2 * y * kWidth + 2 * x;
          const double v[] = {corner[0], corner[1], corner[kWidth], corner[kWidth + 1]};
          const double want =
              maximum ? *std::max_element(v, v + 4) : (v[0] + v[1] + v[2] + v[3]) / 4;
          ASSERT_EQ(at<float>(0x8000, p)[y * kWidth / 2 + x], want) << x << " " << y;
        }
  }
}

TEST_F(PoolOp, NanWinsAMaximum) {
  fill<float>(0x1000, 0, {1, NAN, 3, -INFINITY, -5, -4});
  fill<float>(0x1000, 1, {1, 2, 3, -INFINITY, -INFINITY, -INFINITY});
  ok(pool(1, 1, {3, 2}, {1, 3}, 2, 2));
  EXPECT_TRUE(std::isnan(at<float>(0x8000)[0]));
  EXPECT_EQ(at<float>(0x8000)[1], -4);
  EXPECT_EQ(at<float>(0x8000, 1)[1], -INFINITY);
}

class CrossLane : public Lab {
 protected:
  CrossLane() { on(NRTP_ENGINE_POOL); }

  static Record reduce(std::uint8_t opcode, std::uint8_t op, std::uint8_t axis, int n,
                       std::uint8_t partitions, std::uint32_t dtype, float scale = 0) {
    namespace cr = layout::S4D4_CR;
    Record r = record(opcode);
    pattern(cr::src(r.data()), 0x1000, 4, {n}, {1});
    pattern(cr::dst(r.data()), 0x8000, 4, {axis == 0 ? 1 : n}, {1});
    cr::in_dtype.set(r.data(), static_cast<std::uint8_t>(dtype));
    cr::out_dtype.set(r.data(), static_cast<std::uint8_t>(dtype));
    cr::num_active_channels.set(r.data(), partitions);
    cr::reduce_op.set(r.data(), op);
    cr::reduce_axis.set(r.data(), axis);
    cr::mean_scale.set(r.data(), scale);
    return r;
  }
};

TEST_F(CrossLane, SumAverageAndMaximumOverPartitions) {
  const int n = 700;
  for (std::uint32_t p = 0; p < 128; ++p)
    for (int i = 0; i < n; ++i)
      at<float>(0x1000, p)[i] = std::sin(static_cast<float>(i) * 0.37f + static_cast<float>(p));
  for (const std::uint8_t op : {0, 1, 2}) {
    ok(reduce(isa::op::CROSS_LANE_REDUCE_ARITH, op, 1, n, 128, isa::kDtFloat32,
              op == 1 ? 1.0f / 128 : 0));
    double everything = 0, largest = -2;
    for (int i = 0; i < n; ++i) {
      double sum = 0, best = -2;
      for (std::uint32_t p = 0; p < 128; ++p) {
        const double v = at<float>(0x1000, p)[i];
        sum += v;
        best = std::max(best, v);
      }
      everything += sum;
      largest = std::max(largest, best);
      ASSERT_NEAR(at<float>(0x8000)[i], op == 0 ? sum : op == 1 ? sum / 128 : best, 1e-5) << i;
    }
    ok(reduce(isa::op::CROSS_LANE_REDUCE_ARITH, op, 0, n, 128, isa::kDtFloat32,
              op == 1 ? 1.0f / (128 * n) : 0));
    EXPECT_NEAR(*at<float>(0x8000),
                op == 0   ? everything
                : op == 1 ? everything / (128 * n)
                          : largest,
                1e-4);
  }
  EXPECT_EQ(*at<float>(0x8000, 1), 0) << "one partition is written";
}

TEST_F(CrossLane, BitOperations) {
  for (std::uint32_t p = 0; p < 32; ++p)
    for (std::uint32_t i = 0; i < 600; ++i)
      at<std::uint16_t>(0x1000, p)[i] =
          static_cast<std::uint16_t>((p * 2654435761u + i * 40503u) >> 7);
  for (const std::uint8_t op : {3, 4, 5}) {
    ok(reduce(isa::op::CROSS_LANE_REDUCE_BITVEC, op, 1, 600, 32, isa::kDtUint16));
    std::uint16_t total = op == 4 ? 0xFFFF : 0;
    for (std::uint32_t i = 0; i < 600; ++i) {
      std::uint16_t want = op == 4 ? 0xFFFF : 0;
      for (std::uint32_t p = 0; p < 32; ++p) {
        const std::uint16_t v = at<std::uint16_t>(0x1000, p)[i];
        want = static_cast<std::uint16_t>(op == 3 ? want | v : op == 4 ? want & v : want ^ v);
        total = static_cast<std::uint16_t>(op == 3 ? total | v : op == 4 ? total & v : total ^ v);
      }
      ASSERT_EQ(at<std::uint16_t>(0x8000)[i], want) << int{op} << " " << i;
    }
    ok(reduce(isa::op::CROSS_LANE_REDUCE_BITVEC, op, 0, 600, 32, isa::kDtUint16));
    EXPECT_EQ(*at<std::uint16_t>(0x8000), total) << int{op};
  }
}

}  // namespace
}  // namespace opennrt::emu::test
