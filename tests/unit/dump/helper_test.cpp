// SPDX-License-Identifier: Apache-2.0
#include "dump/helper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>

#include "temporary_directory.h"

namespace opennrt::dump {
namespace {

using ::testing::HasSubstr;

TEST(DumpHelper, GetsItsArgumentsAsTheyAre) {
  const TemporaryDirectory dir;
  const std::string helper =
      dir.script("helper", "for a in \"$@\"; do printf '<%s>' \"$a\"; done > " + (dir / "out"));
  EXPECT_TRUE(run_helper(helper, {"--name", "a b; $(x)", ""}, 10'000).is_ok());
  EXPECT_EQ(text_of_file(dir / "out"), "<--name><a b; $(x)><>");
}

TEST(DumpHelper, LeavesTheStandardOutputAlone) {
  const TemporaryDirectory dir;
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  EXPECT_TRUE(
      run_helper(dir.script("helper", "echo said; read x; echo \"got $x\""), {}, 10'000).is_ok());
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "said\ngot \n");
}

TEST(DumpHelper, FailuresNameTheProgramAndTheReason) {
  const TemporaryDirectory dir;
  const Status missing = run_helper(dir / "none", {}, 1000);
  EXPECT_EQ(missing.code(), NRT_FAILURE);
  EXPECT_THAT(std::string(missing.message()), HasSubstr("/none cannot be started: No such file"));
  EXPECT_THAT(std::string(run_helper(dir.script("h3", "exit 3"), {}, 10'000).message()),
              HasSubstr("/h3 ended with status 3"));
  EXPECT_THAT(std::string(run_helper(dir.script("h9", "kill -9 $$"), {}, 10'000).message()),
              HasSubstr("/h9 was ended by signal 9"));
}

TEST(DumpHelper, IsEndedWhenItTakesTooLong) {
  const TemporaryDirectory dir;
  const auto begin = std::chrono::steady_clock::now();
  const Status late = run_helper(dir.script("helper", "exec sleep 60"), {}, 200);
  EXPECT_THAT(std::string(late.message()), HasSubstr("did not end within 200 ms"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "no child is left";
}

TEST(DumpHelper, AHostThatIgnoresItsChildren) {
  const TemporaryDirectory dir;
  signal(SIGCHLD, SIG_IGN);
  EXPECT_TRUE(run_helper(dir.script("helper", "exit 0"), {}, 10'000).is_ok());
  signal(SIGCHLD, SIG_DFL);
}

TEST(DumpHelper, OnlyAProgramIsExecutable) {
  const TemporaryDirectory dir;
  EXPECT_TRUE(is_executable(dir.script("helper", "")));
  EXPECT_FALSE(is_executable(""));
  EXPECT_FALSE(is_executable(dir.path()));
  EXPECT_FALSE(is_executable(dir / "none"));
}

}  // namespace
}  // namespace opennrt::dump
