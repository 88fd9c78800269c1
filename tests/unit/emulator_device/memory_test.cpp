// SPDX-License-Identifier: Apache-2.0
#include "device/memory.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace opennrt::emu {
namespace {

// What a process without standard streams prints must not become device memory.
TEST(DeviceMemory, NeverTakesTheNumbersOfStandardStreams) {
  const pid_t child = fork();
  if (child == 0) {
    for (int fd = 0; fd <= STDERR_FILENO; ++fd) close(fd);
    std::string error;
    const auto region = Region::create("opennrt-test", 4096, &error);
    if (!region) _exit(1);
    for (int fd = 0; fd <= STDERR_FILENO; ++fd)
      if (fcntl(fd, F_GETFD) != -1) _exit(2);
    _exit(0);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace opennrt::emu
