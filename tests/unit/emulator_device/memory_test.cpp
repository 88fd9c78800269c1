// SPDX-License-Identifier: Apache-2.0
#include "device/memory.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <string>

namespace opennrt::emu {
namespace {

using ::testing::HasSubstr;

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

// Text of the refusal in a process with that limit, "" when there is none.
std::string refusal(__rlimit_resource resource, rlim_t limit_bytes, const char* name,
                    std::uint64_t bytes) {
  int ends[2];
  if (pipe(ends) != 0) return "no pipe";
  const pid_t child = fork();
  if (child == 0) {
    const rlimit limit{limit_bytes, limit_bytes};
    std::string error;
    if (setrlimit(resource, &limit) != 0) error = "no limit";
    if (error.empty()) Region::create(name, bytes, &error);
    _exit(write(ends[1], error.data(), error.size()) < 0 ? 1 : 0);
  }
  close(ends[1]);
  std::string text(4096, '\0');
  const ssize_t n = read(ends[0], text.data(), text.size());
  close(ends[0]);
  int status = -1;
  waitpid(child, &status, 0);
  if (!WIFEXITED(status)) return "the process was ended by a signal";
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
  return text;
}

TEST(DeviceMemory, ALimitOnFilesIsToldAndKillsNobody) {
  constexpr std::uint64_t kMiB = 1 << 20;
  EXPECT_EQ(refusal(RLIMIT_FSIZE, 4 * kMiB, "opennrt-hbm", 4 * kMiB), "");
  const std::string hbm = refusal(RLIMIT_FSIZE, 4 * kMiB, "opennrt-hbm", 4 * kMiB + 4096);
  for (const char* part : {"4198400 bytes", "limited to 4194304 bytes (ulimit -f)",
                           "raise the limit", "OPENNRT_EMULATOR_HBM_BYTES (emulator.hbm_bytes)"})
    EXPECT_THAT(hbm, HasSubstr(part));
  EXPECT_THAT(refusal(RLIMIT_FSIZE, kMiB, "opennrt-host", 2 * kMiB),
              HasSubstr("or lower OPENNRT_EMULATOR_HOST_BYTES (emulator.host_bytes)"));
  EXPECT_THAT(refusal(RLIMIT_FSIZE, kMiB, "opennrt-sbuf", 2 * kMiB),
              ::testing::EndsWith("raise the limit"));
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(__has_feature)
#define OPENNRT_LIMITED_ADDRESS_SPACE 1  // sanitizers need more than any limit leaves
#endif
#ifdef OPENNRT_LIMITED_ADDRESS_SPACE
TEST(DeviceMemory, ALimitOnTheAddressSpaceIsToldWithTheSetting) {
  const std::string text =
      refusal(RLIMIT_AS, rlim_t{1} << 30, "opennrt-hbm", std::uint64_t{4} << 30);
  for (const char* part : {"4294967296 bytes", "limited to 1073741824 bytes (ulimit -v)",
                           "OPENNRT_EMULATOR_HBM_BYTES (emulator.hbm_bytes)"})
    EXPECT_THAT(text, HasSubstr(part));
}
#endif

}  // namespace
}  // namespace opennrt::emu
