// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <thread>

#include "launched.h"

namespace opennrt::emu::test {
namespace {

class Launching : public testing::TestWithParam<bool> {
 protected:
  launcher::Launch shell(const std::string& text) {
    return program({"/bin/sh", "-c", text}, GetParam());
  }
};

TEST_P(Launching, ExitCodesAndStreams) {
  Ended e = launched(shell("echo out; echo err >&2; exit 7"));
  EXPECT_EQ(e.code, 7);
  EXPECT_EQ(e.out, "out\n");
  EXPECT_EQ(e.error, "err\n");
  EXPECT_EQ(launched(shell("kill -9 $$")).code, 128 + SIGKILL);
  EXPECT_EQ(launched(shell("kill -TERM $$")).code, 128 + SIGTERM);
  EXPECT_EQ(launched(shell("true")).code, 0);
}

TEST_P(Launching, WhatCannotBeRun) {
  Ended e = launched(program({"/nonexistent/program"}, GetParam()));
  EXPECT_EQ(e.code, launcher::kNotFound);
  EXPECT_NE(e.error.find("/nonexistent/program: No such file"), std::string::npos) << e.error;
  e = launched(program({"/etc/passwd"}, GetParam()));
  EXPECT_EQ(e.code, launcher::kCannotRun);
  EXPECT_NE(e.error.find("Permission denied"), std::string::npos) << e.error;
}

TEST_P(Launching, EnvironmentAndArguments) {
  launcher::Launch launch = shell("echo \"$A|$0|$1\"");
  launch.environment = {{"A", "b c"}};
  launch.arguments.push_back("zero");
  launch.arguments.push_back("one two");
  EXPECT_EQ(launched(launch).out, "b c|zero|one two\n");
}

TEST_P(Launching, SignalsGoOn) {
  // The program tells its launcher's number; a thread there sends the signal.
  const Ended e = launched(
      shell("trap 'echo got; exit 9' TERM; kill -TERM $PPID; while :; do sleep 0.05; done"));
  EXPECT_EQ(e.out, "got\n");
  EXPECT_EQ(e.code, 9);
}

TEST_P(Launching, SignalMasksAreTheCallers) {
  const Ended e = launched(shell("grep -E 'SigBlk|SigIgn' /proc/self/status"), [] {
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    ::signal(SIGPIPE, SIG_DFL);
  });
  EXPECT_EQ(e.out, "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
}

TEST_P(Launching, TheProgramEndsWithItsLauncher) {
  const Directory directory;
  const std::string file = directory / "pid";
  const pid_t launcher = ::fork();
  if (launcher == 0) {
    bool last;
    ::_exit(launcher::run(
        shell("echo $$ > " + file + ".new; mv " + file + ".new " + file + "; exec sleep 1000"),
        &last));
  }
  while (!std::filesystem::exists(file)) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const pid_t sleeper = std::stoi(contents(file));
  ::kill(launcher, SIGKILL);
  ::waitpid(launcher, nullptr, 0);
  bool gone = false;
  for (int i = 0; i < 2000 && !gone; ++i) {
    const std::string state = contents("/proc/" + std::to_string(sleeper) + "/stat");
    gone = state.empty() || state.find(") Z") != std::string::npos;
    if (!gone) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_TRUE(gone);
  if (!gone) ::kill(sleeper, SIGKILL);
}

INSTANTIATE_TEST_SUITE_P(WithAndWithoutGuard, Launching, testing::Bool());

// One process stays for those that go on; it ends with the last of them.
TEST(Staying, UntilTheLastHasEnded) {
  const Directory directory;
  launcher::Launch launch = program({OPENNRT_DIRECT, "sleep", "/dev/null", directory / "result"});
  const std::string stayed = directory / "stayed", over = directory / "over";
  const pid_t child = ::fork();
  if (child == 0) {
    launch.stay = [&] {
      std::ofstream(stayed) << "yes";
      return true;
    };
    bool last = false;
    const pid_t self = ::getpid();
    const int code = launcher::run(launch, &last);
    if (::getpid() != self) {
      std::ofstream(over + ".new") << last;
      std::filesystem::rename(over + ".new", over);
    }
    ::_exit(last && ::getpid() == self ? 99 : code);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 5);
  EXPECT_TRUE(std::filesystem::exists(stayed));
  for (int i = 0; i < 2000 && !std::filesystem::exists(over); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(contents(over), "1");
  EXPECT_EQ(std::stol(contents(directory / "result")) >= 0, true);
}

}  // namespace
}  // namespace opennrt::emu::test
