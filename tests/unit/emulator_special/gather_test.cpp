// SPDX-License-Identifier: Apache-2.0
//
// GATHER from the pool buffer.
#include "unit/emulator_act/lab.h"

namespace opennrt::emu::test {
namespace {

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
