// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cerrno>
#include <map>
#include <vector>

#include "hal/hal.h"

namespace opennrt::hal {
namespace {

// Register file behind a driver table.
struct Registers {
  std::map<std::uint64_t, std::uint32_t> values;
  std::vector<std::uint32_t> bursts;  // sizes of the calls
  std::uint64_t slept_us = 0;
  int fail = 0;

  static int read(void* ctx, std::uint64_t, const std::uint64_t* a, std::uint32_t n,
                  std::uint32_t* out) {
    auto& self = *static_cast<Registers*>(ctx);
    self.bursts.push_back(n);
    if (self.fail != 0) return self.fail;
    for (std::uint32_t i = 0; i < n; ++i) out[i] = self.values[a[i]];
    return 0;
  }
  static int write(void* ctx, std::uint64_t, const std::uint64_t* a, std::uint32_t n,
                   const std::uint32_t* v) {
    auto& self = *static_cast<Registers*>(ctx);
    self.bursts.push_back(n);
    if (self.fail != 0) return self.fail;
    for (std::uint32_t i = 0; i < n; ++i) self.values[a[i]] = v[i];
    return 0;
  }
  static void sleep(void* ctx, std::uint32_t us) { static_cast<Registers*>(ctx)->slept_us += us; }
};

class RegisterTest : public ::testing::Test {
 protected:
  RegisterTest() {
    reg_.size = sizeof(reg_);
    reg_.read = Registers::read;
    reg_.write = Registers::write;
    misc_.size = sizeof(misc_);
    misc_.sleep_us = Registers::sleep;
    ops_.reg = &reg_;
    ops_.misc = &misc_;
    device_.ndl = &ops_;
    device_.ctx = &registers_;
    device_.index = 3;
    EXPECT_TRUE(device_.csr.add(0x1000, 0x1000, "window").is_ok());
  }
  Registers registers_;
  nrtp_ndl_reg reg_{};
  nrtp_ndl_misc misc_{};
  nrtp_ndl_ops ops_{};
  Device device_;
};

TEST_F(RegisterTest, WritesAndReadsBack) {
  ASSERT_TRUE(al_reg_write32(device_, 0x1010, 77).is_ok());
  std::uint32_t value = 0;
  ASSERT_TRUE(al_reg_read32(device_, 0x1010, value).is_ok());
  EXPECT_EQ(value, 77u);
}

TEST_F(RegisterTest, ArraysAreConsecutiveAndSplitIntoBursts) {
  std::vector<std::uint32_t> in(150), out(150);
  for (std::uint32_t i = 0; i < in.size(); ++i) in[i] = i * 3;
  ASSERT_TRUE(al_reg_write32_array(device_, 0x1000, in).is_ok());
  EXPECT_EQ(registers_.bursts, (std::vector<std::uint32_t>{64, 64, 22}));
  EXPECT_EQ(registers_.values[0x1000 + 4 * 149], 447u);
  ASSERT_TRUE(al_reg_read32_array(device_, 0x1000, out).is_ok());
  EXPECT_EQ(in, out);
}

TEST_F(RegisterTest, OutsideEveryWindowNothingReachesTheDriver) {
  std::uint32_t value = 5;
  EXPECT_EQ(al_reg_read32(device_, 0x2000, value).code(), NRT_INVALID);
  EXPECT_EQ(al_reg_write32(device_, 0x0FFC, 1).code(), NRT_INVALID);
  EXPECT_TRUE(registers_.bursts.empty());
  EXPECT_EQ(value, 5u);               // outputs only on success
  EXPECT_FALSE(device_.dead.load());  // a refused access is no lost write
}

TEST_F(RegisterTest, FailedWriteKillsTheDevice) {
  registers_.fail = -EIO;
  const Status status = al_reg_write32(device_, 0x1000, 1);
  EXPECT_EQ(status.code(), NRT_HW_ERROR);
  EXPECT_NE(status.message().find("device 3"), std::string_view::npos);
  EXPECT_NE(status.message().find("0x1000"), std::string_view::npos);
  EXPECT_TRUE(device_.dead.load());
  registers_.fail = 0;
  registers_.bursts.clear();
  std::uint32_t value = 0;
  EXPECT_EQ(al_reg_read32(device_, 0x1000, value).code(), NRT_HW_ERROR);
  EXPECT_EQ(al_reg_write32(device_, 0x1000, 1).code(), NRT_HW_ERROR);
  EXPECT_TRUE(registers_.bursts.empty());
}

TEST_F(RegisterTest, FailedReadLeavesTheDeviceUsable) {
  registers_.fail = -EIO;
  std::uint32_t value = 9;
  EXPECT_EQ(al_reg_read32(device_, 0x1000, value).code(), NRT_HW_ERROR);
  EXPECT_EQ(value, 9u);
  EXPECT_FALSE(device_.dead.load());
}

TEST_F(RegisterTest, MemoryFormsMoveWords) {
  const std::uint32_t in[3] = {1, 2, 3};
  ASSERT_TRUE(al_mem_write_buf(device_, 0x1100, in, sizeof(in)).is_ok());
  std::uint32_t out[3] = {};
  registers_.bursts.clear();
  ASSERT_TRUE(al_mem_read_buf(device_, out, 0x1100, sizeof(out)).is_ok());
  EXPECT_EQ(out[2], 3u);
  EXPECT_EQ(registers_.bursts, (std::vector<std::uint32_t>{1, 1, 1}));  // a word loop, no burst
  ASSERT_TRUE(al_memset(device_, 0x1200, 0xABCD, 8).is_ok());
  EXPECT_EQ(registers_.values[0x1204], 0xABCDu);
  ASSERT_TRUE(al_reg_init(device_, 0x1300, 2, 6).is_ok());
  EXPECT_EQ(registers_.values[0x1304], 6u);
  EXPECT_EQ(al_mem_write_buf(device_, 0x1100, in, 6).code(), NRT_INVALID);
  EXPECT_EQ(al_mem_read_buf(device_, out, 0x1100, 2).code(), NRT_INVALID);
  EXPECT_EQ(al_memset(device_, 0x1200, 0, 3).code(), NRT_INVALID);
}

TEST_F(RegisterTest, DelayGoesThroughTheDriverLayer) {
  al_udelay(device_, 12);
  EXPECT_EQ(registers_.slept_us, 12u);
}

}  // namespace
}  // namespace opennrt::hal
