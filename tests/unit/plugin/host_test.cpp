// SPDX-License-Identifier: Apache-2.0
#include "plugin/host.h"

#include <gtest/gtest.h>
#include <string.h>

#include "plugin/loader.h"

namespace opennrt::plugin {
namespace {

class HostTest : public ::testing::Test {
 protected:
  HostTest() {
    auto loaded = config::load({.system_file = "", .environment = {{"OPENNRT_DEVICE", "kernel"}}});
    loader_.configure(loaded.config);
  }
  Loader loader_;
  const nrtp_host& host_ = *loader_.host();
};

TEST_F(HostTest, ConfigGet) {
  char text[16];
  EXPECT_EQ(host_.config_get(host_.self, "device", text, sizeof text), NRTP_OK);
  EXPECT_STREQ(text, "kernel");
  EXPECT_EQ(host_.config_get(host_.self, "device", text, 7), NRTP_OK);
  EXPECT_EQ(host_.config_get(host_.self, "device", text, 6), NRTP_RESOURCE);
  EXPECT_EQ(host_.config_get(host_.self, "no.such", text, sizeof text), NRTP_INVALID);
  EXPECT_EQ(host_.config_get(host_.self, nullptr, text, sizeof text), NRTP_INVALID);
  EXPECT_EQ(host_.config_get(host_.self, "device", nullptr, 5), NRTP_INVALID);
  EXPECT_EQ(host_.config_get(host_.self, "device", text, 0), NRTP_INVALID);
}

TEST_F(HostTest, MemoryIsAligned) {
  for (std::size_t align : {1u, 8u, 64u, 4096u}) {
    void* p = host_.alloc(host_.self, 100, align);
    ASSERT_NE(p, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(p) % align, 0u);
    memset(p, 1, 100);
    host_.release(host_.self, p);
  }
  EXPECT_EQ(host_.alloc(host_.self, 8, 24), nullptr);  // no power of two
  host_.release(host_.self, nullptr);
}

TEST_F(HostTest, LogFollowsTheModuleLevels) {
  log::set_level(log::Level::kError);
  log::set_level(log::Module::kEmu, log::Level::kInfo);
  EXPECT_EQ(host_.log_enabled(host_.self, NRTP_LOG_INFO, "EMU"), 1u);
  EXPECT_EQ(host_.log_enabled(host_.self, NRTP_LOG_DEBUG, "EMU"), 0u);
  EXPECT_EQ(host_.log_enabled(host_.self, NRTP_LOG_WARN, "unheard-of"), 0u);
  testing::internal::CaptureStderr();
  host_.log(host_.self, NRTP_LOG_INFO, "EMU", "from a plugin");
  host_.log(host_.self, NRTP_LOG_DEBUG, "EMU", "not shown");
  host_.log(host_.self, 99, nullptr, nullptr);
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find("from a plugin"), std::string::npos);
  EXPECT_EQ(text.find("not shown"), std::string::npos);
}

TEST_F(HostTest, FaultPoints) {
  EXPECT_EQ(host_.fault(host_.self, "x"), 0);
  loader_.host_services().arm_fault("x", 2, NRTP_TIMEOUT);
  EXPECT_EQ(host_.fault(host_.self, "y"), 0);
  EXPECT_EQ(host_.fault(host_.self, "x"), 0);
  EXPECT_EQ(host_.fault(host_.self, "x"), NRTP_TIMEOUT);
  EXPECT_EQ(host_.fault(host_.self, "x"), NRTP_TIMEOUT);
  loader_.host_services().arm_fault("x", 0, 0);
  EXPECT_EQ(host_.fault(host_.self, "x"), 0);
  EXPECT_EQ(host_.fault(host_.self, nullptr), 0);
}

TEST_F(HostTest, UnknownArchIsNullNotAbort) {
  EXPECT_EQ(host_.arch(host_.self, 4711), nullptr);
  EXPECT_EQ(host_.arch_of_product(host_.self, "no.such"), nullptr);
  EXPECT_EQ(host_.arch_of_product(host_.self, nullptr), nullptr);
}

TEST_F(HostTest, ClockIsMonotonic) {
  const auto a = host_.now_ns(host_.self), b = host_.now_ns(host_.self);
  EXPECT_LE(a, b);
  EXPECT_GT(a, 0u);
}

}  // namespace
}  // namespace opennrt::plugin
