// SPDX-License-Identifier: Apache-2.0
#include "top/sampler.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace opennrt::tools {
namespace {

using std::chrono::milliseconds;

// The kernel's devices of another root: none.
class Samplers : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/opennrt-sampler-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    root_ = name;
    std::filesystem::create_directories(root_ + "/sys/module/neuron");
    ::setenv("OPENNRT_DEVICE", "kernel", 1);
    ::setenv("OPENNRT_TEST_ROOT", root_.c_str(), 1);
  }
  void TearDown() override {
    ::unsetenv("OPENNRT_DEVICE");
    ::unsetenv("OPENNRT_TEST_ROOT");
    std::filesystem::remove_all(root_);
  }
  std::string version() const { return root_ + "/sys/module/neuron/version"; }
  static bool is_there(const Sampler& sampler, int timeout_ms) {
    pollfd one{sampler.ready(), POLLIN, 0};
    return ::poll(&one, 1, timeout_ms) == 1;
  }
  std::string root_;
};

TEST_F(Samplers, WhatIsAskedFor) {
  std::ofstream(version()) << "2.27.4.0\n";
  Surroundings here;
  Sampler sampler(here);
  EXPECT_TRUE(sampler.idle_within(milliseconds(0)));
  EXPECT_FALSE(sampler.take());
  double last_s = 0;
  for (int i = 0; i < 20; ++i) {
    sampler.ask();
    ASSERT_TRUE(is_there(sampler, 60'000));
    const std::optional<Sample> sample = sampler.take();
    ASSERT_TRUE(sample);
    EXPECT_EQ(sample->machine.driver, "2.27.4.0");
    EXPECT_GT(sample->at_s, last_s);
    last_s = sample->at_s;
    EXPECT_FALSE(is_there(sampler, 0));
    EXPECT_FALSE(sampler.take());
  }
  sampler.ask();  // and nobody takes it
}

TEST_F(Samplers, OneThatTakesLong) {
  ASSERT_EQ(::mkfifo(version().c_str(), 0600), 0);
  Surroundings here;
  Sampler sampler(here);
  sampler.ask();
  EXPECT_FALSE(is_there(sampler, 50));
  EXPECT_FALSE(sampler.idle_within(milliseconds(50)));
  EXPECT_FALSE(sampler.take());
  std::ofstream(version()) << "2.27.4.0\n";
  ASSERT_TRUE(is_there(sampler, 60'000));
  EXPECT_TRUE(sampler.idle_within(milliseconds(0)));
  EXPECT_EQ(sampler.take()->machine.driver, "2.27.4.0");
}

}  // namespace
}  // namespace opennrt::tools
