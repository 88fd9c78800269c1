// SPDX-License-Identifier: Apache-2.0
//
// Sums of activated values, and the record that reads them.
#include "unit/emulator_act/act_lab.h"

namespace opennrt::emu::test {
namespace {

using Accumulator = ActLab;
namespace rd = layout::D1_RD;

Record read(std::uint32_t address, std::uint8_t partitions, std::uint32_t dtype) {
  Record r{};
  r[0] = isa::op::ACTIVATION_READ_ACCUMULATOR;
  r[1] = 0x10;
  rd::dst_element_count.set(r.data(), 1);
  rd::dtype.set(r.data(), static_cast<std::uint8_t>(dtype));
  rd::num_active_channels.set(r.data(), partitions);
  std::memcpy(rd::dst(r.data()), &address, 4);
  const std::uint16_t one = 1;
  std::memcpy(rd::dst(r.data()) + 6, &one, 2);
  return r;
}

TEST_F(Accumulator, CommandsClearAddAndLeaveAlone) {
  fill<float>(0x100, 0, {1, 2, 3, 4});
  fill<float>(0x100, 1, {10, 20, 30, 40});
  const auto square = [&](std::uint8_t command) {
    ok(activate({.function = 30, .in_counts = {4}, .out_counts = {4}, .accumulate = command}));
  };
  const auto sums = [&] {
    ok(read(0x9000, 2, isa::kDtFloat32));
    return std::make_pair(*at<float>(0x9000, 0), *at<float>(0x9000, 1));
  };
  square(3);
  EXPECT_EQ(sums(), std::make_pair(30.0f, 3000.0f));
  EXPECT_EQ(sums(), std::make_pair(30.0f, 3000.0f)) << "reading does not clear";
  square(2);
  EXPECT_EQ(sums(), std::make_pair(60.0f, 6000.0f));
  square(0);
  EXPECT_EQ(sums(), std::make_pair(60.0f, 6000.0f));
  square(3);
  EXPECT_EQ(sums(), std::make_pair(30.0f, 3000.0f)) << "not added to what was there";
  square(1);
  EXPECT_EQ(sums(), std::make_pair(0.0f, 0.0f));
  EXPECT_EQ(at<float>(0x8000, 1)[3], 1600) << "the activation itself is performed";
}

TEST_F(Accumulator, SumsAreTakenBeforeTheOutputRounding) {
  fill<float>(0x100, 0, std::vector<float>(600, 1.0f / 4096 + 1));
  ok(activate({.out_dtype = isa::kDtBfloat16,
               .in_counts = {600},
               .out_counts = {600},
               .partitions = 1,
               .accumulate = 3}));
  ok(read(0x9000, 1, isa::kDtFloat32));
  EXPECT_NEAR(*at<float>(0x9000), 600 * (1 + 1.0 / 4096), 1e-3);
}

TEST_F(Accumulator, LanesAreChannels) {
  for (std::uint32_t p = 0; p < 128; ++p) *at<float>(0x100, p) = static_cast<float>(p);
  const auto add = [&](std::uint32_t first, std::uint8_t count, std::uint8_t command) {
    const std::uint32_t shift = first * 0x40000;
    ok(activate({.in = 0x100 + shift,
                 .out = 0x8000 + shift,
                 .in_counts = {1},
                 .out_counts = {1},
                 .partitions = count,
                 .accumulate = command}));
  };
  add(0, 128, 3);
  add(64, 32, 2);
  ok(read(0x9000 + 64 * 0x40000, 64, isa::kDtFloat32));
  for (std::uint32_t lane = 0; lane < 64; ++lane)
    EXPECT_EQ(*at<float>(0x9000, 64 + lane),
              static_cast<float>(lane < 32 ? lane + 64 + lane : lane))
        << lane;
}

TEST_F(Accumulator, ReadsAsHalfPrecision) {
  fill<float>(0x100, 0, {1.5f, 2.5f});
  ok(activate({.in_counts = {2}, .out_counts = {2}, .partitions = 1, .accumulate = 3}));
  ok(read(0x9000, 1, isa::kDtFloat16));
  EXPECT_EQ(*at<std::uint16_t>(0x9000), 0x4400);
  ok(read(0x9000, 1, isa::kDtBfloat16));
  EXPECT_EQ(*at<std::uint16_t>(0x9000), 0x4080);
}

TEST_F(Accumulator, ResetForgetsTheSums) {
  fill<float>(0x100, 0, {5});
  ok(activate({.in_counts = {1}, .out_counts = {1}, .partitions = 1, .accumulate = 3}));
  state_.reset();
  *at<float>(0x9000) = 9;
  ok(read(0x9000, 1, isa::kDtFloat32));
  EXPECT_EQ(*at<float>(0x9000), 0);
}

TEST_F(Accumulator, WrongReadsAreRefused) {
  refused(read(0x9000, 1, isa::kDtInt32), {"data type 8"});
  refused(read(0x9000, 0, isa::kDtFloat32), {"partitions"});
  Record r = read(0x9000, 1, isa::kDtFloat32);
  rd::negated.set(r.data(), 1);
  refused(r, {"negated"});
  r = read(0x9000, 1, isa::kDtFloat32);
  rd::dst_element_count.set(r.data(), 2);
  refused(r, {"element count 2"});
  r = read(0x9000, 1, isa::kDtFloat32);
  r[44 + 6] = 2;
  refused(r, {"2 elements"});
  on(NRTP_ENGINE_POOL);
  refused(read(0x9000, 1, isa::kDtFloat32), {"engine"});
}

}  // namespace
}  // namespace opennrt::emu::test
