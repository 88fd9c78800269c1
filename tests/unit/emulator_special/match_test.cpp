// SPDX-License-Identifier: Apache-2.0
//
// MAX8, MATCH_VALUE_LOAD, FIND_INDEX8, MATCH_REPLACE8, DVE_READ_INDICES.
#include <algorithm>
#include <random>

#include "unit/emulator_act/lab.h"

namespace opennrt::emu::test {
namespace {

class Match : public Lab {
 protected:
  static constexpr std::uint32_t kQuadrant1 = 0x800000;
  Match() { on(NRTP_ENGINE_DVE, isa::Generation::kMariana); }

  // Source of n elements, destination of eight.
  static Record max8(int n, std::uint32_t out, int out_step, std::uint8_t partitions = 1,
                     std::uint32_t in_dtype = isa::kDtFloat32,
                     std::uint32_t out_dtype = isa::kDtFloat32) {
    namespace bn = layout::S4D2_BN;
    Record r = record(isa::op::MAX8);
    pattern(bn::src(r.data()), 0x1000, 4, {n}, {1});
    pattern(bn::dst(r.data()), out, 2, {8}, {out_step});
    bn::in_dtype.set(r.data(), static_cast<std::uint8_t>(in_dtype));
    bn::out_dtype.set(r.data(), static_cast<std::uint8_t>(out_dtype));
    bn::num_active_channels.set(r.data(), partitions);
    return r;
  }
  static Record find(int n, std::uint32_t dtype = isa::kDtUint32, std::uint8_t partitions = 1) {
    Record r = max8(n, 0x30000 - 0x1000, 1, partitions, isa::kDtFloat32, dtype);
    r[0] = isa::op::FIND_INDEX8;
    return r;
  }
  // Keys as compiled programs load them: backwards from the last one.
  static Record keys(std::uint32_t address, std::uint8_t partitions = 1) {
    namespace bn = layout::S2_BN;
    Record r = record(isa::op::MATCH_VALUE_LOAD);
    pattern(bn::src(r.data()), address + 28, 2, {8}, {-1});
    bn::dtype.set(r.data(), isa::kDtFloat32);
    bn::num_active_channels.set(r.data(), partitions);
    return r;
  }
  static Record replace(int n, float value, std::uint8_t partitions = 1) {
    namespace mr = layout::S4D4_MR;
    Record r = record(isa::op::MATCH_REPLACE8);
    pattern(mr::src(r.data()), 0x1000, 4, {n}, {1});
    pattern(mr::dst(r.data()), 0x18000, 4, {n}, {1});
    mr::in_dtype.set(r.data(), isa::kDtFloat32);
    mr::out_dtype.set(r.data(), isa::kDtFloat32);
    mr::num_active_channels.set(r.data(), partitions);
    mr::immediate.set(r.data(), value);
    return r;
  }
  static Record indices(std::uint32_t dtype, std::uint8_t partitions = 1) {
    namespace mr = layout::D4_MR;
    Record r = record(isa::op::DVE_READ_INDICES);
    pattern(mr::dst(r.data()), 0x2E000, 4, {8}, {1});
    mr::dtype.set(r.data(), static_cast<std::uint8_t>(dtype));
    mr::num_active_channels.set(r.data(), partitions);
    mr::dst_element_count.set(r.data(), 8);
    return r;
  }
};

TEST_F(Match, LargestEightDescendInMemory) {
  std::mt19937 random(3);
  for (const int n : {8, 9, 128, 5000, 16384}) {
    for (std::uint32_t p = 0; p < 2; ++p)
      for (int i = 0; i < n; ++i)
        at<float>(0x1000, p)[i] = static_cast<float>(static_cast<int>(random() % 2000) - 1000);
    ok(max8(n, kQuadrant1 + 0x40 + 28, -1, 2));
    for (std::uint32_t p = 0; p < 2; ++p) {
      std::vector<float> all(at<float>(0x1000, p), at<float>(0x1000, p) + n);
      std::sort(all.rbegin(), all.rend());
      for (std::size_t k = 0; k < 8; ++k)
        ASSERT_EQ(at<float>(0x40, 32 + p)[k], all[k]) << n << " " << k;
    }
  }
}

TEST_F(Match, LargestOfInfinitiesAndHalfPrecision) {
  fill<std::uint16_t>(0x1000, 0,
                      {0x7C00, 0xFC00, 0xFC00, 0x0001, 0x8001, 0xFC00, 0xFC00, 0xFC00, 0x3C00});
  ok(max8(9, 0x40, 1, 1, isa::kDtFloat16, isa::kDtFloat16));
  const std::uint16_t want[] = {0xFC00, 0xFC00, 0xFC00, 0xFC00, 0x8001, 0x0001, 0x3C00, 0x7C00};
  for (int k = 0; k < 8; ++k) EXPECT_EQ(at<std::uint16_t>(0x40)[k], want[k]) << k;
}

// The sequence of compiled top-k programs.
TEST_F(Match, PositionsOfTheLargestEight) {
  std::vector<float> x(128);
  std::mt19937 random(5);
  for (float& v : x) v = static_cast<float>(random() % 40);  // many equal values
  fill(0x1000, 0, x);
  ok(max8(128, kQuadrant1 + 0x40 + 28, -1));
  ok(keys(kQuadrant1 + 0x40));
  ok(find(128));
  // Descending values, equal ones by ascending position.
  std::vector<std::uint32_t> order(128);
  for (std::uint32_t i = 0; i < 128; ++i) order[i] = i;
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t a, std::uint32_t b) { return x[a] != x[b] ? x[a] > x[b] : a < b; });
  for (std::size_t k = 0; k < 8; ++k) EXPECT_EQ(at<std::uint32_t>(0x2F000)[k], order[k]) << k;
}

TEST_F(Match, AbsentKeysGiveAllOnes) {
  fill<float>(0x1000, 0, {5, 6, 7, 5, 6, 7, 1, 2, 3});
  fill<float>(0x40, 0, {7, 7, 7, 9, NAN, 1, 3, -0.0f});
  ok(keys(0x40));
  ok(find(9, isa::kDtUint16));
  const std::uint16_t want[] = {2, 5, 0xFFFF, 0xFFFF, 0xFFFF, 6, 8, 0xFFFF};
  for (int k = 0; k < 8; ++k) EXPECT_EQ(at<std::uint16_t>(0x2F000)[k], want[k]) << k;
}

TEST_F(Match, ReplaceTakesSuccessiveOccurrences) {
  fill<float>(0x1000, 0, {4, 4, 4, 1, 2, 3, 8, 8, 9});
  fill<float>(0x40, 0, {9, 8, 4, 4, 77, 3, 78, 79});
  ok(keys(0x40));
  ok(replace(9, -1));
  const float want[] = {-1, -1, 4, 1, 2, -1, -1, 8, -1};
  for (int i = 0; i < 9; ++i) EXPECT_EQ(at<float>(0x18000)[i], want[i]) << i;
  ok(indices(isa::kDtUint32));
  const std::uint32_t places[] = {8, 6, 0, 1, ~0u, 5, ~0u, ~0u};
  for (int k = 0; k < 8; ++k) EXPECT_EQ(at<std::uint32_t>(0x2E000)[k], places[k]) << k;
}

TEST_F(Match, MissingKeysAndPositionsAreRefused) {
  refused(find(16), {"channels", "MATCH_VALUE_LOAD"});
  refused(replace(16, 0), {"MATCH_VALUE_LOAD"});
  refused(indices(isa::kDtUint32), {"MATCH_REPLACE8"});
  ok(keys(0x40));
  ok(find(16));
  refused(find(16, isa::kDtUint32, 2), {"channels is 2"});
  state_.reset();
  refused(find(16), {"MATCH_VALUE_LOAD"});
}

// What an earlier record left in lanes that the last one did not name is stale.
TEST_F(Match, FewerLanesLeaveNoOldOnes) {
  ok(keys(0x40, 2));
  ok(find(16, isa::kDtUint32, 2));
  ok(replace(16, 0, 2));
  ok(indices(isa::kDtUint32, 2));
  ok(replace(16, 0, 1));
  ok(indices(isa::kDtUint32, 1));
  refused(indices(isa::kDtUint32, 2), {"channels is 2", "MATCH_REPLACE8"});
  ok(keys(0x40, 1));
  refused(find(16, isa::kDtUint32, 2), {"channels is 2", "MATCH_VALUE_LOAD"});
}

TEST_F(Match, WrongFieldsAreRefused) {
  refused(max8(7, 0x40, 1), {"source elements is 7", "8 and 16384"});
  refused(max8(16385, 0x40, 1), {"16385"});
  Record r = max8(16, 0x40, 1);
  layout::S4D2_BN::even_count.set(r.data(), 1);
  refused(r, {"count"});
  r = max8(16, 0x40, 1);
  pattern(layout::S4D2_BN::dst(r.data()), 0x40, 2, {7}, {1});
  refused(r, {"destination elements is 7"});
  refused(max8(16, 0x40, 1, 1, isa::kDtFloat32, 1), {"destination", "type 1"});
  refused(find(16, isa::kDtInt32), {"output data type is 8"});
  r = keys(0x40);
  layout::S2_BN::imm1.set(r.data(), 1);
  refused(r, {"imm1"});
  r = keys(0x40);
  layout::S2_BN::imm0_src.set(r.data(), 1);
  refused(r, {"imm0"});
  r = keys(0x40);
  pattern(layout::S2_BN::src(r.data()), 0x40, 2, {4}, {1});
  refused(r, {"keys is 4"});
  r = indices(isa::kDtUint32);
  layout::D4_MR::dst_element_count.set(r.data(), 4);
  refused(r, {"element count is 4"});
  r = indices(isa::kDtUint32);
  layout::D4_MR::set_value.set(r.data(), 4);
  refused(r, {"set value"});
  r = replace(16, 0);
  pattern(layout::S4D4_MR::dst(r.data()), 0x18000, 4, {15}, {1});
  refused(r, {"15"});
  r = max8(16, 0x40, 1);
  r[36] = 1;
  refused(r, {"byte 36"});
  on(NRTP_ENGINE_POOL);
  refused(max8(16, 0x40, 1), {"MAX8", "engine"});
  on(NRTP_ENGINE_DVE, isa::Generation::kSunda);
  refused(indices(isa::kDtUint32), {"silicon family"});
}

}  // namespace
}  // namespace opennrt::emu::test
