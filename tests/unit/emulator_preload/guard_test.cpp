// SPDX-License-Identifier: Apache-2.0
//
// Programs that go past every library.
#include <gtest/gtest.h>

#include "launched.h"

namespace opennrt::emu::test {
namespace {

class Guarded : public testing::TestWithParam<std::tuple<const char*, const char*>> {};

TEST_P(Guarded, ServedNamesEndTheProgram) {
  const auto [binary, how] = GetParam();
  for (const char* path : {"/dev/neuron0", "/sys/module/neuron/version", "/sys/class/neuron_device",
                           "/dev/../dev//neuron3"}) {
    const Ended e = launched(program({binary, how, path}));
    EXPECT_EQ(e.code, launcher::kCannotRun) << path;
    EXPECT_EQ(e.out, "");
    EXPECT_NE(e.error.find(binary), std::string::npos) << e.error;
    EXPECT_NE(e.error.find("it was ended"), std::string::npos) << e.error;
    const bool is_static = std::string(binary) == OPENNRT_STATIC;
    EXPECT_EQ(e.error.find("linked statically") != std::string::npos, is_static) << e.error;
  }
}

TEST_P(Guarded, OtherNamesGoOn) {
  const auto [binary, how] = GetParam();
  EXPECT_EQ(launched(program({binary, how, "/dev/null"})).out, "0\n");
  EXPECT_EQ(launched(program({binary, how, "/nonexistent"})).out, "-2\n");
  EXPECT_EQ(launched(program({binary, how, "/tmp/../dev/zero"})).out, "0\n");
  const std::string longest(4000, 'a');
  EXPECT_EQ(launched(program({binary, how, "/" + longest})).out, "-36\n");
}

INSTANTIATE_TEST_SUITE_P(Ways, Guarded,
                         testing::Combine(testing::Values(OPENNRT_DIRECT, OPENNRT_STATIC),
                                          testing::Values("open", "openat", "stat", "access")));

TEST(GuardedMore, RelativeNames) {
  const Ended e = launched(program({OPENNRT_STATIC, "cwd", "neuron0"}));
  EXPECT_EQ(e.code, launcher::kCannotRun);
  EXPECT_NE(e.error.find("/dev/neuron0"), std::string::npos) << e.error;
  EXPECT_EQ(launched(program({OPENNRT_STATIC, "cwd", "null"})).out, "0\n");
}

// What has been through the library is not asked about.
TEST(GuardedMore, MarkedCalls) {
  EXPECT_EQ(launched(program({OPENNRT_STATIC, "marked", "/dev/neuron63"})).out, "-2\n");
}

TEST(GuardedMore, DescriptorsAreNoNames) {
  EXPECT_EQ(launched(program({OPENNRT_STATIC, "fstat", "x"})).out, "0\n");
}

// The same request type belongs to other drivers as well.
TEST(GuardedMore, RequestsOnOtherFilesGoOn) {
  EXPECT_EQ(launched(program({OPENNRT_STATIC, "ioctl", "/dev/null"})).out, "-25\n");
}

// A child is ended alone; its parent goes on.
TEST(GuardedMore, Children) {
  const Ended e = launched(
      program({"/bin/sh", "-c",
               std::string(OPENNRT_STATIC) + " open /dev/neuron0; echo after $?; exit 4"}));
  EXPECT_EQ(e.code, 4);
  EXPECT_EQ(e.out, "after 137\n");
  EXPECT_NE(e.error.find("linked statically"), std::string::npos) << e.error;
}

TEST(GuardedMore, WithoutTheGuardNobodyLooks) {
  EXPECT_EQ(launched(program({OPENNRT_DIRECT, "open", "/dev/neuron63"}, false)).out, "-2\n");
}

}  // namespace
}  // namespace opennrt::emu::test
