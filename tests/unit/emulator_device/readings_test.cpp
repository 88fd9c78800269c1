// SPDX-License-Identifier: Apache-2.0
//
// Instructions whose meaning is partly our reading: named once, or refused.
#include "bench.h"
#include "opennrt/isa/layouts.h"
#include "opennrt/isa/support.h"

namespace opennrt::emu::test {
namespace {

namespace mr = isa::layout::D4_MR;

class Readings : public Bench {
 protected:
  // One word of random bits to the first partition.
  static isa::ControlRecord rng() {
    auto r = isa::zero_record<isa::ControlRecord>(isa::op::RNG);
    auto* bytes = reinterpret_cast<std::uint8_t*>(&r);
    const std::uint16_t ones[] = {1, 1, 1, 1};
    const std::uint32_t address = 0x1000;
    std::memcpy(mr::dst(bytes), &address, 4);
    std::memcpy(mr::dst(bytes) + 12, ones, sizeof ones);
    mr::dtype.set(bytes, isa::kDtUint32);
    mr::num_active_channels.set(bytes, 1);
    mr::dst_element_count.set(bytes, 1);
    return r;
  }
  void make(bool refuse) {
    std::string error;
    device_ = Device::create({.host = &host_,
                              .arch = arch_,
                              .product = product_,
                              .index = 0,
                              .verify = {},
                              .inspect = {},
                              .refuse_unconfirmed = refuse},
                             memory_, &error);
    ASSERT_TRUE(device_) << error;
  }
};

TEST_F(Readings, EachOpcodeIsNamedOnce) {
  ASSERT_NE(isa::device_reading(isa::op::RNG), nullptr);
  make(false);
  execute(Program{}.add(rng()).add(rng()).add(mark(70)).add(halt()), NRTP_ENGINE_DVE);
  EXPECT_EQ(dev().semaphore_read(0, 70), 1u);
  EXPECT_NE(get<std::uint32_t>(sbuf(0, 0x1000)), 0u);
  dev().reset_cores(1);
  execute(Program{}.add(rng()).add(mark(70)).add(halt()), NRTP_ENGINE_DVE);
  EXPECT_EQ(dev().semaphore_read(0, 70), 1u);
  expect_logged({"device 0: RNG (0x4d)", isa::device_reading(isa::op::RNG)});
  EXPECT_EQ(log_lines(), 1u);
}

TEST_F(Readings, WhatIsConfirmedIsNotNamed) {
  make(true);
  execute(Program{}.add(nop()).add(mark(70)).add(halt()), NRTP_ENGINE_DVE);
  EXPECT_EQ(dev().semaphore_read(0, 70), 1u);
  EXPECT_EQ(log_lines(), 0u);
}

TEST_F(Readings, RefusedOnDemand) {
  make(true);
  put<std::uint32_t>(sbuf(0, 0x1000), 0xABCD);
  execute(Program{}.add(rng()).add(mark(70)).add(halt()), NRTP_ENGINE_DVE);
  EXPECT_EQ(dev().semaphore_read(0, 70), 0u);
  EXPECT_EQ(get<std::uint32_t>(sbuf(0, 0x1000)), 0xABCDu);
  expect_logged({"core 0 DVE at 0x1100000", "opcode 0x4d: RNG is refused",
                 isa::device_reading(isa::op::RNG),
                 "emulator.unconfirmed_instructions: run executes it"});
}

}  // namespace
}  // namespace opennrt::emu::test
