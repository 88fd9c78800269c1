// SPDX-License-Identifier: Apache-2.0
//
// STREAM_SHUFFLE with its mask, GATHER from the pool buffer.
#include <numeric>

#include "unit/emulator_act/lab.h"

namespace opennrt::emu::test {
namespace {

class Shuffle : public Lab {
 protected:
  Shuffle() { on(NRTP_ENGINE_DVE); }

  static Record mask(const std::vector<std::uint8_t>& entries) {
    Record r = record(isa::op::LOAD_MASK_SELECT);
    for (std::size_t i = 0; i < entries.size(); ++i)
      layout::LOAD_MASK::mask.set(r.data(), entries[i], i);
    return r;
  }
  static Record shuffle(std::uint32_t in, std::uint32_t out, std::vector<int> counts,
                        std::vector<int> steps, std::uint8_t channels, std::uint32_t dtype) {
    namespace tr = layout::S4D4_TR;
    Record r = record(isa::op::STREAM_SHUFFLE);
    pattern(tr::src(r.data()), in, 4, counts, steps);
    pattern(tr::dst(r.data()), out, 4, counts, {1, counts[0]});
    tr::in_dtype.set(r.data(), static_cast<std::uint8_t>(dtype));
    tr::out_dtype.set(r.data(), static_cast<std::uint8_t>(dtype));
    tr::num_active_channels.set(r.data(), channels);
    return r;
  }
};

TEST_F(Shuffle, EveryQuadrantByTheSameMask) {
  std::vector<std::uint8_t> entries(32);
  for (std::uint32_t i = 0; i < 32; ++i)
    entries[i] = static_cast<std::uint8_t>(i % 3 == 0   ? 0xFF
                                           : i % 3 == 1 ? 0x20 | 5
                                                        : (7 * i) % 32);
  for (std::uint32_t p = 0; p < 128; ++p)
    for (std::uint32_t i = 0; i < 300; ++i) {
      at<std::uint32_t>(0x1000, p)[i] = p * 1000 + i;
      at<std::uint32_t>(0x4000, p)[i] = 0xABCD;
    }
  ok(mask(entries));
  ok(shuffle(0x1000, 0x4000, {100, 2}, {2, 1}, 128, isa::kDtInt32));
  for (std::uint32_t p = 0; p < 128; ++p)
    for (std::uint32_t i = 0; i < 200; ++i) {
      const std::uint32_t lane = p % 32, from = p / 32 * 32 + entries[lane];
      const std::uint32_t want = lane % 3 != 2 ? 0xABCD : from * 1000 + i % 100 * 2 + i / 100;
      ASSERT_EQ(at<std::uint32_t>(0x4000, p)[i], want) << p << " " << i;
    }
}

TEST_F(Shuffle, BroadcastOfLaneZeroToAnotherQuadrant) {
  fill<std::uint16_t>(0x1000, 0, {0x7E01, 0xFFFF, 0x1234});
  ok(mask(std::vector<std::uint8_t>(32, 0)));
  ok(shuffle(0x1000, 0x4000 + 0x800000, {3}, {1}, 32, isa::kDtFloat16));
  for (std::uint32_t p = 32; p < 64; ++p) {
    EXPECT_EQ(at<std::uint16_t>(0x4000, p)[0], 0x7E01) << "bits are not touched";
    EXPECT_EQ(at<std::uint16_t>(0x4000, p)[1], 0xFFFF);
    EXPECT_EQ(at<std::uint16_t>(0x4000, p)[2], 0x1234);
    EXPECT_EQ(at<std::uint16_t>(0x4000, p)[3], 0);
  }
}

TEST_F(Shuffle, InPlace) {
  std::vector<std::uint8_t> reverse(32);
  for (std::uint32_t i = 0; i < 32; ++i) reverse[i] = static_cast<std::uint8_t>(31 - i);
  for (std::uint32_t p = 0; p < 32; ++p)
    for (int i = 0; i < 200; ++i) at<std::uint8_t>(0x1000, p)[i] = static_cast<std::uint8_t>(p + i);
  ok(mask(reverse));
  ok(shuffle(0x1000, 0x1000, {200}, {1}, 32, isa::kDtUint8));
  for (std::uint32_t p = 0; p < 32; ++p)
    for (int i = 0; i < 200; ++i)
      ASSERT_EQ(at<std::uint8_t>(0x1000, p)[i],
                static_cast<std::uint8_t>(31 - p + static_cast<std::uint32_t>(i)));
}

TEST_F(Shuffle, WrongShufflesAreRefused) {
  refused(shuffle(0x1000, 0x4000, {8}, {1}, 32, isa::kDtInt32), {"LOAD_MASK_SELECT"});
  std::vector<std::uint8_t> entries(32, 0);
  entries[9] = 0x40;
  refused(mask(entries), {"entry 9", "64"});
  entries[9] = 20;
  ok(mask(entries));
  refused(shuffle(0x1000, 0x4000, {8}, {1}, 16, isa::kDtInt32), {"lane 9", "lane 20", "16"});
  Record r = shuffle(0x1000, 0x4000, {8}, {1}, 32, isa::kDtInt32);
  layout::S4D4_TR::out_dtype.set(r.data(), isa::kDtFloat32);
  refused(r, {"data type"});
  r = shuffle(0x1000, 0x4000, {8}, {1}, 32, isa::kDtInt32);
  layout::S4D4_TR::op.set(r.data(), 4);
  refused(r, {"ALU operation"});
  r = shuffle(0x1000, 0x4000, {8}, {1}, 32, isa::kDtInt32);
  layout::S4D4_TR::mask_enable.set(r.data(), 1);
  refused(r, {"mask enable"});
  on(NRTP_ENGINE_POOL);
  refused(mask(entries), {"engine"});
}

class Pool : public Lab {
 protected:
  Pool() { on(NRTP_ENGINE_POOL); }

  static Record load(std::uint32_t address, int n, std::uint8_t channels, std::uint32_t dtype) {
    namespace pb = layout::S4_PB;
    Record r = record(isa::op::POOL_BUFFER_LOAD);
    pattern(pb::src(r.data()), address, 4, {n}, {1});
    pb::dtype.set(r.data(), static_cast<std::uint8_t>(dtype));
    pb::num_active_channels.set(r.data(), channels);
    pb::depth_mask.set(r.data(), 0x1FF);
    return r;
  }
  static Record gather(int n, std::uint8_t channels, std::uint32_t index, std::uint32_t dtype,
                       std::uint8_t release = 1) {
    namespace gt = layout::S4D4_GT;
    Record r = record(isa::op::GATHER);
    pattern(gt::src(r.data()), 0x2000, 4, {n}, {1});
    pattern(gt::dst(r.data()), 0x3000, 4, {n}, {1});
    gt::in_dtype.set(r.data(), static_cast<std::uint8_t>(index));
    gt::out_dtype.set(r.data(), static_cast<std::uint8_t>(dtype));
    gt::num_active_channels.set(r.data(), channels);
    gt::free_pool_buffer.set(r.data(), release);
    return r;
  }
};

TEST_F(Pool, GatherByChannel) {
  // The buffer is filled from the second quadrant and used on the first.
  for (std::uint32_t c = 0; c < 8; ++c) {
    for (std::uint32_t i = 0; i < 512; ++i)
      at<std::uint16_t>(0x1000, 32 + c)[i] = static_cast<std::uint16_t>(c * 1000 + i);
    for (std::uint32_t i = 0; i < 600; ++i) at<std::uint32_t>(0x2000, c)[i] = (i * 37 + c) % 512;
  }
  ok(load(0x1000 + 0x800000, 512, 8, isa::kDtBfloat16));
  ok(gather(600, 8, isa::kDtUint32, isa::kDtBfloat16));
  for (std::uint32_t c = 0; c < 8; ++c)
    for (std::uint32_t i = 0; i < 600; ++i)
      ASSERT_EQ(at<std::uint16_t>(0x3000, c)[i], c * 1000 + (i * 37 + c) % 512) << c << " " << i;
}

TEST_F(Pool, IndexTypesAndRelease) {
  fill<float>(0x1000, 0, {10, 11, 12, NAN});
  ok(load(0x1000, 4, 1, isa::kDtFloat32));
  fill<std::uint8_t>(0x2000, 0, {2, 0, 3});
  ok(gather(3, 1, isa::kDtUint8, isa::kDtFloat32, 0));
  EXPECT_EQ(at<float>(0x3000)[0], 12);
  EXPECT_EQ(at<float>(0x3000)[1], 10);
  EXPECT_TRUE(std::isnan(at<float>(0x3000)[2]));
  fill<std::uint16_t>(0x2000, 0, {1});
  ok(gather(1, 1, isa::kDtUint16, isa::kDtFloat32, 1));
  EXPECT_EQ(at<float>(0x3000)[0], 11);
  refused(gather(1, 1, isa::kDtUint16, isa::kDtFloat32), {"POOL_BUFFER_LOAD"});
}

TEST_F(Pool, MissesAndWrongFieldsAreRefused) {
  ok(load(0x1000, 100, 1, isa::kDtFloat32));
  fill<std::uint32_t>(0x2000, 0, {5, 100});
  *at<float>(0x3000) = 42;
  refused(gather(2, 1, isa::kDtUint32, isa::kDtFloat32),
          {"index 100", "channel 0", "100 elements"});
  EXPECT_EQ(*at<float>(0x3000), 42) << "nothing is written";
  refused(gather(1, 1, isa::kDtUint32, isa::kDtBfloat16), {"data type"});
  refused(gather(1, 1, isa::kDtInt32, isa::kDtFloat32), {"index data type is 8"});
  refused(gather(1, 2, isa::kDtUint32, isa::kDtFloat32), {"channels is 2"});
  Record r = gather(1, 1, isa::kDtUint32, isa::kDtFloat32);
  layout::S4D4_GT::index_miss_behavior.set(r.data(), 1);
  refused(r, {"index miss"});
  refused(load(0x1000, 513, 1, isa::kDtFloat32), {"513", "512"});
  r = load(0x1000, 8, 1, isa::kDtFloat32);
  layout::S4_PB::depth_mask.set(r.data(), 0xFF);
  refused(r, {"depth mask is 255"});
  r = load(0x1000, 8, 1, isa::kDtFloat32);
  layout::S4_PB::element_count.set(r.data(), 7);
  refused(r, {"element count is 7"});
  on(NRTP_ENGINE_DVE);
  refused(load(0x1000, 8, 1, isa::kDtFloat32), {"engine"});
}

}  // namespace
}  // namespace opennrt::emu::test
