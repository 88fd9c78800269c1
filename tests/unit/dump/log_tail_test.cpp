// SPDX-License-Identifier: Apache-2.0
#include "dump/log_tail.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "temporary_directory.h"

namespace opennrt::dump {
namespace {

using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

TEST(LogTail, TakesEachLineOnce) {
  log::keep_line(30, "first");
  log::keep_line(log::kNoCore, "of no core");
  LogTail tail;
  const std::string before = tail.take("title");
  EXPECT_EQ(before.substr(0, 10), "=== title\n");
  EXPECT_THAT(before, HasSubstr("--- process\n"));
  EXPECT_THAT(before, HasSubstr("of no core\n"));
  EXPECT_THAT(before, HasSubstr("--- logical core 30\nfirst\n"));
  EXPECT_EQ(tail.take("again"), "=== again\n");
  log::keep_line(30, "second");
  EXPECT_EQ(tail.take("again"), "=== again\n--- logical core 30\nsecond\n");
}

TEST(LogTail, SaysThatLinesWereOverwritten) {
  LogTail tail;
  tail.take("");
  for (int i = 0; i < 200; ++i) log::keep_line(31, std::string(1000, 'x'));
  EXPECT_THAT(tail.take(""),
              HasSubstr("--- logical core 31\n(earlier lines were overwritten)\nxxx"));
}

TEST(LogFile, IsAddedTo) {
  const TemporaryDirectory dir;
  EXPECT_TRUE(append_to_log(dir.path(), "a.log", "one\n").is_ok());
  EXPECT_TRUE(append_to_log(dir.path(), "a.log", "two\n").is_ok());
  EXPECT_EQ(text_of_file(dir / "a.log"), "one\ntwo\n");
  EXPECT_THAT(files_in(dir.path()), UnorderedElementsAre("a.log")) << "nothing temporary is left";
}

TEST(LogFile, KeepsTheNewestMiB) {
  const TemporaryDirectory dir;
  const std::string part = std::string(399'999, 'a') + "\n";
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(append_to_log(dir.path(), "a.log", part).is_ok());
  EXPECT_TRUE(append_to_log(dir.path(), "a.log", "last\n").is_ok());
  const std::string text = text_of_file(dir / "a.log");
  EXPECT_EQ(text, part + part + "last\n");
}

TEST(LogFile, FailuresNameThePathAndTheReason) {
  const TemporaryDirectory dir;
  const Status missing = append_to_log(dir / "none", "a.log", "x");
  EXPECT_EQ(missing.code(), NRT_FAILURE);
  EXPECT_THAT(std::string(missing.message()), HasSubstr("/none/a.log: No such file"));
  std::filesystem::create_directory(dir / "d");
  EXPECT_THAT(std::string(append_to_log(dir.path(), "d", "x").message()), HasSubstr("directory"));
}

// Runs in a child, whose status says how it went.
int in_child(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

constexpr int kGood = 0, kBad = 1, kNotPossible = 2;

// The file of before stays whole when there is no room for the new one.
int write_without_room(const std::string& directory, const char* reason) {
  if (!append_to_log(directory, "a.log", "before\n").is_ok()) return kBad;
  const Status full = append_to_log(directory, "a.log", std::string(600'000, 'x'));
  if (full.is_ok() || full.message().find(reason) == std::string_view::npos) return kBad;
  if (full.message().find(directory + "/a.log") == std::string_view::npos) return kBad;
  if (text_of_file(directory + "/a.log") != "before\n") return kBad;
  return files_in(directory).size() == 1 ? kGood : kBad;
}

// A small file system of this process only. False: not possible here.
bool mount_small(const std::string& directory) {
  const uid_t uid = geteuid();
  if (unshare(uid == 0 ? CLONE_NEWNS : CLONE_NEWNS | CLONE_NEWUSER) != 0) return false;
  if (uid != 0) std::ofstream("/proc/self/uid_map") << "0 " << uid << " 1";
  return mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         mount("none", directory.c_str(), "tmpfs", 0, "size=65536") == 0;
}

TEST(LogFile, AFullFileSystemLeavesTheOldFile) {
  const TemporaryDirectory dir;
  const int result = in_child([&] {
    if (!mount_small(dir.path())) return kNotPossible;
    return write_without_room(dir.path(), "No space left on device");
  });
  if (result == kNotPossible) GTEST_SKIP() << "no file system can be mounted here";
  EXPECT_EQ(result, kGood);
}

TEST(LogFile, AFileSizeLimitLeavesTheOldFile) {
  const TemporaryDirectory dir;
  EXPECT_EQ(in_child([&] {
              signal(SIGXFSZ, SIG_IGN);
              const rlimit limit{65536, 65536};
              setrlimit(RLIMIT_FSIZE, &limit);
              return write_without_room(dir.path(), "File too large");
            }),
            kGood);
}

}  // namespace
}  // namespace opennrt::dump
