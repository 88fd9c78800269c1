// SPDX-License-Identifier: Apache-2.0
#include "monitor/bell.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

namespace opennrt::tools {
namespace {

// Exit code of a process that does this, or 1000 + its signal.
int outcome(const std::function<void()>& body) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    body();
    ::_exit(99);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

TEST(Bells, ASignalEndsTheSleep) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP})
    EXPECT_EQ(outcome([signal] {
                bool slept = true;
                {
                  Bell bell;
                  if (!bell.sleep_until(0)) ::_exit(1);  // long over, and nothing came
                  ::kill(::getpid(), signal);
                  slept = bell.sleep_until(1e9);
                }
                ::_exit(slept ? 2 : 42);
              }),
              42)
        << signal;
}

TEST(Bells, WhoGoesOnIsEnded) {
  EXPECT_EQ(outcome([] {
              Bell bell;
              ::kill(::getpid(), SIGTERM);
              for (;;) ::pause();
            }),
            0);
}

TEST(Bells, EndsWithoutASignal) {
  for (int i = 0; i < 50; ++i) const Bell bell;
}

}  // namespace
}  // namespace opennrt::tools
