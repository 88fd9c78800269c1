// SPDX-License-Identifier: Apache-2.0
#include "array.h"

namespace opennrt::emu::test {
namespace {

class Fp32Pair : public PeTest {
 protected:
  static constexpr std::uint32_t kW = 0x1000, kX = 0x8000;
  static constexpr int kN = 50;

  Fp32Pair() {
    randomise(kW, 128, 128, isa::kDtFloat32);
    randomise(kX, 128, kN, isa::kDtFloat32);
    for (std::uint32_t c = 0; c < 128; ++c)
      for (std::uint32_t i = 0; i < 512; ++i) put_psum(c, i, 0.75f);
  }

  std::vector<Record> pair(std::uint32_t first_flags = acc::START,
                           std::uint32_t moving_mode = fp32::LOW_HIGH) {
    Shape low{.dtype = isa::kDtFloat32, .fp32_mode = fp32::LOW}, high = low, both = low;
    high.fp32_mode = fp32::HIGH;
    both.fp32_mode = moving_mode;
    const View w = backwards(kW, isa::kDtFloat32, 128), x = dense(kX, kN);
    return {load_weights(w, low), matmul(x, dense(kPsum, kN), first_flags, both),
            load_weights(w, high), matmul(x, dense(kPsum, kN), acc::END, both)};
  }

  float w(std::uint32_t r, std::uint32_t c) {
    return std::bit_cast<float>(get(kW + r * kSbufStride, c, 4));
  }
  float x(std::uint32_t r, std::uint32_t n) {
    return std::bit_cast<float>(get(kX + r * kSbufStride, n, 4));
  }
  static float top(float v) {  // 12 low mantissa bits cleared
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(v) & ~0xFFFu);
  }
  using Part = std::function<float(float)>;
  double exact(std::uint32_t c, std::uint32_t n, const Part& part, const Part& moving) {
    double sum = 0;
    for (std::uint32_t r = 0; r < 128; ++r)
      sum += static_cast<double>(part(w(r, c))) * static_cast<double>(moving(x(r, n)));
    return sum;
  }
  void expect(
      double already, const Part& part, double tolerance,
      const Part& moving = [](float v) { return v; }) {
    for (std::uint32_t c = 0; c < 128; ++c)
      for (std::uint32_t n = 0; n < kN; ++n)
        ASSERT_NEAR(psum_f32(c, n), already + exact(c, n, part, moving), tolerance)
            << c << " " << n;
  }
  static float all(float v) { return v; }
  static float low(float v) { return v - top(v); }
};

TEST_F(Fp32Pair, SumsToTheWholeProduct) {
  ASSERT_EQ(run(pair()), "");
  expect(0, all, 2e-4);
  ASSERT_EQ(run(pair(acc::MID)), "");
  for (std::uint32_t c = 0; c < 128; ++c)
    for (std::uint32_t n = 0; n < kN; ++n)
      ASSERT_NEAR(psum_f32(c, n), 2 * exact(c, n, all, all), 4e-4);
  EXPECT_EQ(psum_f32(3, kN), 0.75f);
}

TEST_F(Fp32Pair, MergedPairIsOneChainOfWholeNumbers) {
  ASSERT_EQ(run(pair()), "");
  for (std::uint32_t c = 0; c < 128; c += 5)
    for (std::uint32_t n = 0; n < kN; ++n) {
      float fused = 0, rounded = 0;
      for (std::uint32_t r = 0; r < 128; ++r) {
        fused = std::fma(w(r, c), x(r, n), fused);
        rounded += w(r, c) * x(r, n);
      }
      // The second form on CPUs without fused multiply-add.
      ASSERT_TRUE(psum_f32(c, n) == fused || psum_f32(c, n) == rounded) << c << " " << n;
    }
}

TEST_F(Fp32Pair, MovingHighPartOnly) {
  ASSERT_EQ(run(pair(acc::START, fp32::HIGH)), "");
  expect(0, all, 2e-4, top);
}

// Whatever makes the LOW product visible, or the passes differ, must split.
TEST_F(Fp32Pair, SplitsWhenAnUpdateFollowsTheLowProduct) {
  auto p = pair();
  p[1][6] = isa::kUpdateSemInc;
  ASSERT_EQ(run({p[0], p[1]}), "");
  expect(0, low, 1e-6);
  ASSERT_EQ(run(p), "");
  expect(0, all, 2e-4);
  for (const std::size_t early : {0u, 2u}) {
    p = pair();
    p[early][6] = isa::kUpdateSemInc;
    ASSERT_EQ(run(p), "") << early;
    expect(0, all, 2e-4);
  }
}

TEST_F(Fp32Pair, LowAloneAndHighAlone) {
  const auto p = pair();
  ASSERT_EQ(run({p[0], p[1]}), "");
  expect(0, low, 1e-6);
  for (std::uint32_t c = 0; c < 128; ++c)
    for (std::uint32_t n = 0; n < kN; ++n) put_psum(c, n, 5);
  ASSERT_EQ(run({p[2], p[3]}), "");
  expect(5, top, 2e-4);
}

TEST_F(Fp32Pair, SplitsWhenOperandsDiffer) {
  const auto p = pair();
  // Another moving matrix in the HIGH product.
  auto q = p;
  put_pattern(mm::sunda::src(q[3].data()), {kX + 4, {1}, {kN}});
  ASSERT_EQ(run(q), "");
  for (std::uint32_t c = 0; c < 128; c += 9)
    for (std::uint32_t n = 0; n + 1 < kN; ++n)
      ASSERT_NEAR(psum_f32(c, n), exact(c, n, low, all) + exact(c, n + 1, top, all), 2e-4);
  // Another destination.
  q = p;
  put_pattern(mm::sunda::dst(q[3].data()), {kPsum + 0x800, {1}, {kN}});
  for (std::uint32_t c = 0; c < 128; ++c)
    for (std::uint32_t n = 0; n < kN; ++n) put_psum(c, 512 + n, 2);
  ASSERT_EQ(run(q), "");
  expect(0, low, 1e-6);
  for (std::uint32_t n = 0; n < kN; ++n)
    ASSERT_NEAR(psum_f32(7, 512 + n), 2 + exact(7, n, top, all), 2e-4);
  // The HIGH product starts anew: the LOW one is lost.
  q = p;
  set(q[3], mm::cayman::psum_accumulate_flags, acc::SINGLE);
  ASSERT_EQ(run(q), "");
  expect(0, top, 2e-4);
  // Two LOW loads.
  q = p;
  set(q[2], lw::cayman::fp32_mode, fp32::LOW);
  ASSERT_EQ(run(q), "");
  for (std::uint32_t n = 0; n < kN; ++n)
    ASSERT_NEAR(psum_f32(7, n), 2 * exact(7, n, low, all), 1e-5);
}

TEST_F(Fp32Pair, SplitsWhenTheHighProductHoldsWhatTheLowOneReplaces) {
  generation_ = Generation::kMariana;
  auto p = pair();
  set(p[3], mm::cayman::psum_accumulate_flags, acc::ACCUMULATE_END);
  ASSERT_EQ(run(p), "");
  expect(0, all, 2e-4);
  // Both hold: the sum comes on top.
  set(p[1], mm::cayman::psum_accumulate_flags, acc::ACCUMULATE);
  ASSERT_EQ(run(p), "");
  for (std::uint32_t c = 0; c < 128; c += 9)
    for (std::uint32_t n = 0; n < kN; ++n)
      ASSERT_NEAR(psum_f32(c, n), 2 * exact(c, n, all, all), 4e-4);
}

TEST_F(Fp32Pair, AnotherProductAfterThePairUsesTheHighPart) {
  auto p = pair();
  p.push_back(p[3]);
  put_pattern(mm::sunda::dst(p[4].data()), {kPsum + 0x800, {1}, {kN}});
  set(p[4], mm::cayman::psum_accumulate_flags, acc::SINGLE);
  ASSERT_EQ(run(p), "");
  expect(0, all, 2e-4);
  for (std::uint32_t c = 0; c < 128; ++c)
    for (std::uint32_t n = 0; n < kN; ++n)
      ASSERT_NEAR(psum_f32(c, 512 + n), exact(c, n, top, all), 2e-4);
}

TEST_F(Fp32Pair, ProductsOfOneLoadAddExactly) {
  // LOW load with two products, then the HIGH ones.
  const auto p = pair();
  auto second = [&](Record r) {
    put_pattern(mm::sunda::dst(r.data()), {kPsum + 0x800, {1}, {kN}});
    return r;
  };
  ASSERT_EQ(run({p[0], p[1], second(p[1]), p[2], p[3], second(p[3])}), "");
  expect(0, all, 2e-4);
  for (std::uint32_t n = 0; n < kN; ++n)
    ASSERT_NEAR(psum_f32(100, 512 + n), exact(100, n, all, all), 2e-4);
}

TEST_F(Fp32Pair, InfinityAndNanPassBothWays) {
  for (const bool merged : {true, false}) {
    SCOPED_TRACE(merged);
    const float inf = INFINITY, nan = NAN, one = 1;
    for (std::uint32_t r = 0; r < 128; ++r)
      for (std::uint32_t n = 0; n < kN; ++n)
        std::memcpy(sbuf(kX + r * kSbufStride) + 4 * n, &one, 4);
    std::memcpy(sbuf(kW + 3 * kSbufStride) + 4 * 10, &inf, 4);
    std::memcpy(sbuf(kW + 5 * kSbufStride) + 4 * 11, &nan, 4);
    auto p = pair();
    if (!merged) p[1][6] = isa::kUpdateSemInc;
    ASSERT_EQ(run(p), "");
    EXPECT_EQ(psum_f32(10, 4), INFINITY);
    EXPECT_TRUE(std::isnan(psum_f32(11, 4)));
    EXPECT_TRUE(std::isfinite(psum_f32(12, 4)));
  }
}

}  // namespace
}  // namespace opennrt::emu::test
