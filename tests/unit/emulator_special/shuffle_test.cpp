// SPDX-License-Identifier: Apache-2.0
//
// STREAM_SHUFFLE with its mask.
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

}  // namespace
}  // namespace opennrt::emu::test
