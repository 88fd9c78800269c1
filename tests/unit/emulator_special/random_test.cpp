// SPDX-License-Identifier: Apache-2.0
//
// RNG and DROPOUT: what seeds the generator against its published test vectors,
// distribution, determinism.
#include "compute/random.h"

#include <set>

#include "unit/emulator_act/lab.h"

namespace opennrt::emu::test {
namespace {

// Known answers of the authors of Philox (Random123, philox4x32-10).
TEST(Philox, KnownAnswers) {
  EXPECT_EQ(philox(0, 0, 0, 0),
            (std::array<std::uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
}

TEST(Philox, UniformIsBelowOne) {
  EXPECT_EQ(uniform_of(0), 0);
  EXPECT_EQ(uniform_of(0x80000000), 0.5f);
  EXPECT_LT(uniform_of(0xFFFFFFFF), 1.0f);
}

class Random : public Lab {
 protected:
  Random() { on(NRTP_ENGINE_DVE); }

  static Record rng(std::uint32_t out, int n, std::uint8_t partitions, std::uint32_t dtype) {
    namespace mr = layout::D4_MR;
    Record r = record(isa::op::RNG);
    pattern(mr::dst(r.data()), out, 4, {n}, {1});
    mr::dtype.set(r.data(), static_cast<std::uint8_t>(dtype));
    mr::num_active_channels.set(r.data(), partitions);
    mr::dst_element_count.set(r.data(), static_cast<std::uint32_t>(n));
    return r;
  }
  static Record dropout(int n, std::uint8_t type, float threshold, std::uint8_t partitions = 1,
                        std::uint32_t dtype = isa::kDtFloat32) {
    namespace dr = layout::S3D3_DROPOUT;
    Record r = record(isa::op::DROPOUT);
    pattern(dr::src(r.data()), 0x1000, 3, {n}, {1});
    pattern(dr::dst(r.data()), 0x18000, 3, {n}, {1});
    dr::in_dtype.set(r.data(), static_cast<std::uint8_t>(dtype));
    dr::out_dtype.set(r.data(), static_cast<std::uint8_t>(dtype));
    dr::num_active_channels.set(r.data(), partitions);
    dr::threshold_type.set(r.data(), type);
    dr::threshold.set(r.data(), std::bit_cast<std::uint32_t>(threshold));
    return r;
  }
};

TEST_F(Random, WordsAreSpreadAndDifferByChannel) {
  ok(rng(0x1000, 4000, 4, isa::kDtUint32));
  std::set<std::uint32_t> seen;
  double ones = 0, mean = 0;
  for (std::uint32_t p = 0; p < 4; ++p)
    for (int i = 0; i < 4000; ++i) {
      const std::uint32_t v = at<std::uint32_t>(0x1000, p)[i];
      seen.insert(v);
      ones += std::popcount(v);
      mean += v / 4294967296.0;
    }
  EXPECT_GT(seen.size(), 15990u);       // 16000 draws, hardly any twice
  EXPECT_NEAR(ones / 16000, 16, 0.15);  // 6 standard deviations
  EXPECT_NEAR(mean / 16000, 0.5, 0.014);
  EXPECT_EQ(at<std::uint32_t>(0x1000)[4000], 0u);
}

TEST_F(Random, SameStateSameDrawsAndAdvancing) {
  // Whole turns of the four generators.
  ok(rng(0x1000, 100, 2, isa::kDtUint32));
  ok(rng(0x4000, 100, 2, isa::kDtUint32));
  EXPECT_NE(std::memcmp(at<char>(0x1000), at<char>(0x4000), 400), 0);
  state_.reset();
  ok(rng(0x8000, 200, 2, isa::kDtUint32));
  EXPECT_EQ(std::memcmp(at<char>(0x1000, 1), at<char>(0x8000, 1), 400), 0);
  EXPECT_EQ(std::memcmp(at<char>(0x4000, 1), at<char>(0x8000 + 400, 1), 400), 0);
}

TEST_F(Random, NarrowTypesTakeTheLowBits) {
  ok(rng(0x1000, 64, 1, isa::kDtUint32));
  state_.reset();
  ok(rng(0x4000, 64, 1, isa::kDtUint8));
  state_.reset();
  ok(rng(0x8000, 64, 1, isa::kDtUint16));
  for (int i = 0; i < 64; ++i) {
    const std::uint32_t word = at<std::uint32_t>(0x1000)[i];
    EXPECT_EQ(at<std::uint8_t>(0x4000)[i], word & 0xFF);
    EXPECT_EQ(at<std::uint16_t>(0x8000)[i], word & 0xFFFF);
  }
}

TEST_F(Random, DropoutRates) {
  constexpr int kN = 10000;
  for (std::uint32_t p = 0; p < 2; ++p)
    for (int i = 0; i < kN; ++i) at<float>(0x1000, p)[i] = 2.5f;
  const auto kept = [&](std::uint32_t p) {
    int count = 0;
    for (int i = 0; i < kN; ++i) {
      const float v = at<float>(0x18000, p)[i];
      EXPECT_TRUE(v == 0 || v == 2.5f) << v;  // no rescaling
      count += v != 0;
    }
    return count;
  };
  ok(dropout(kN, 0, 0.25f, 2));
  EXPECT_NEAR(kept(0), 0.75 * kN, 260);  // 6 standard deviations
  EXPECT_NEAR(kept(1), 0.75 * kN, 260);
  ok(dropout(kN, 1, 0.25f));
  EXPECT_NEAR(kept(0), 0.25 * kN, 260);
  ok(dropout(kN, 0, 0));
  EXPECT_EQ(kept(0), kN);
  ok(dropout(kN, 0, 1));
  EXPECT_EQ(kept(0), 0);
  ok(dropout(kN, 1, 1));
  EXPECT_EQ(kept(0), kN);
}

TEST_F(Random, DropoutKeepsBitsAndTakesARatePerPartition) {
  for (std::uint32_t p = 0; p < 2; ++p)
    for (int i = 0; i < 100; ++i) at<std::uint16_t>(0x1000, p)[i] = 0xFFA5;  // a NaN
  *at<float>(0x40, 0) = 1;
  *at<float>(0x40, 1) = 0;
  Record r = dropout(100, 0, 0, 2, isa::kDtBfloat16);
  layout::S3D3_DROPOUT::threshold_src.set(r.data(), 1);
  layout::S3D3_DROPOUT::threshold.set(r.data(), 0x40);
  ok(r);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(at<std::uint16_t>(0x18000, 0)[i], 0);
    EXPECT_EQ(at<std::uint16_t>(0x18000, 1)[i], 0xFFA5);
  }
}

TEST_F(Random, WrongFieldsAreRefused) {
  Record r = rng(0x1000, 8, 1, isa::kDtUint32);
  layout::D4_MR::dst_element_count.set(r.data(), 9);
  refused(r, {"element count is 9"});
  r = rng(0x1000, 8, 1, isa::kDtUint32);
  layout::D4_MR::set_value.set(r.data(), 9);
  refused(r, {"set value"});
  refused(rng(0x1000, 8, 1, isa::kDtUint64), {"element size is 8"});
  r = dropout(8, 2, 0);
  refused(r, {"threshold type is 2"});
  r = dropout(8, 0, 0);
  layout::S3D3_DROPOUT::out_dtype.set(r.data(), isa::kDtBfloat16);
  refused(r, {"output data type is 6"});
  r = dropout(8, 0, 0);
  layout::S3D3_DROPOUT::threshold_dtype.set(r.data(), isa::kDtBfloat16);
  refused(r, {"threshold data type is 6"});
  r = dropout(8, 0, 0);
  pattern(layout::S3D3_DROPOUT::dst(r.data()), 0x18000, 3, {7}, {1});
  refused(r, {"7"});
}

}  // namespace
}  // namespace opennrt::emu::test
