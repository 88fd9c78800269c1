// SPDX-License-Identifier: Apache-2.0
#include "log/log.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <thread>

namespace opennrt::log {
namespace {

std::string slurp(const std::string& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

class LogTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/opennrt-log-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    dir_ = name;
  }
  void TearDown() override {
    EXPECT_TRUE(configure({}).is_ok());
    for (const char* f : {"a", "b"}) ::unlink((dir_ + "/" + f).c_str());
    ::rmdir(dir_.c_str());
  }
  std::string dir_;
};

Settings file_only(const std::string& path, Level level) {
  Settings s;
  s.file = path;
  for (auto& m : s.modules) m = {level, false, false};
  return s;
}

TEST_F(LogTest, FileReceivesAdmittedLinesOnly) {
  ASSERT_TRUE(configure(file_only(dir_ + "/a", Level::kWarn)).is_ok());
  ONRT_LOG(kTdrv, kWarn, "shown {}", 7);
  ONRT_LOG(kTdrv, kInfo, "not shown");
  const std::string text = slurp(dir_ + "/a");
  EXPECT_NE(text.find("  WARN  TDRV:TestBody"), std::string::npos) << text;
  EXPECT_NE(text.find(" shown 7\n"), std::string::npos);
  EXPECT_EQ(text.find("not shown"), std::string::npos);
}

// The whole line, but for the time.
TEST_F(LogTest, LineOfThisThreadByteForByte) {
  ASSERT_TRUE(configure(file_only(dir_ + "/a", Level::kDebug)).is_ok());
  const time_t before = time(nullptr);
  write(Module::kTdrv, Level::kError, "exec_request_process_errors", "[ND 0][NC 1] message");
  write(Module::kNrt, Level::kDebug, "nrt_execute", "API:IN");
  const time_t after = time(nullptr);
  std::ifstream in(dir_ + "/a");
  std::string first, second;
  ASSERT_TRUE(std::getline(in, first) && std::getline(in, second));
  char ids[32];
  snprintf(ids, sizeof ids, "%5d:%-5d", getpid(), gettid());
  EXPECT_EQ(first.substr(27),
            std::string(" ") + ids +
                " ERROR  TDRV:exec_request_process_errors              [ND 0][NC 1] message");
  EXPECT_EQ(second.substr(27), std::string(" ") + ids +
                                   " DEBUG   NRT:nrt_execute                              API:IN");
  tm parsed{};
  const char* const rest = strptime(first.c_str(), "%Y-%b-%d %H:%M:%S", &parsed);
  ASSERT_NE(rest, nullptr);
  EXPECT_EQ(rest - first.c_str(), 20);
  parsed.tm_isdst = -1;
  const time_t written = mktime(&parsed);
  EXPECT_GE(written, before);
  EXPECT_LE(written, after);
  EXPECT_EQ(rest[0], '.');
  EXPECT_EQ(strspn(rest + 1, "0123456789"), 6u);
}

TEST_F(LogTest, LevelsArePerModule) {
  Settings s = file_only(dir_ + "/a", Level::kError);
  s.modules[static_cast<std::size_t>(Module::kNdl)].level = Level::kDebug;
  ASSERT_TRUE(configure(s).is_ok());
  EXPECT_TRUE(enabled(Module::kNdl, Level::kDebug));
  EXPECT_FALSE(enabled(Module::kNdl, Level::kTrace));
  EXPECT_FALSE(enabled(Module::kTdrv, Level::kWarn));
  EXPECT_TRUE(enabled(Module::kTdrv, Level::kError));
}

TEST_F(LogTest, DisabledWritesNothing) {
  ASSERT_TRUE(configure(file_only(dir_ + "/a", Level::kDisabled)).is_ok());
  ONRT_LOG(kNrt, kError, "x");
  EXPECT_EQ(slurp(dir_ + "/a"), "");
}

TEST_F(LogTest, AFullFileIsToldOnce) {
  ASSERT_TRUE(configure(file_only("/dev/full", Level::kError)).is_ok());
  ::testing::internal::CaptureStderr();
  ONRT_LOG(kNrt, kError, "one");
  ONRT_LOG(kNrt, kError, "two");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "log file: No space left on device; lines are lost\n");
}

TEST_F(LogTest, AnotherFileTakesOver) {
  ASSERT_TRUE(configure(file_only(dir_ + "/a", Level::kError)).is_ok());
  ONRT_LOG(kNrt, kError, "one");
  ASSERT_TRUE(configure(file_only(dir_ + "/b", Level::kError)).is_ok());
  ONRT_LOG(kNrt, kError, "two");
  EXPECT_NE(slurp(dir_ + "/a").find("one"), std::string::npos);
  EXPECT_EQ(slurp(dir_ + "/a").find("two"), std::string::npos);
  EXPECT_NE(slurp(dir_ + "/b").find("two"), std::string::npos);
}

TEST_F(LogTest, UnwritableFileIsReportedWithItsPath) {
  const Status s = configure(file_only(dir_ + "/missing/a", Level::kError));
  EXPECT_EQ(s.code(), NRT_INVALID);
  EXPECT_NE(s.message().find("/missing/a: No such file"), std::string::npos) << s.message();
  testing::internal::CaptureStderr();
  ONRT_LOG(kNrt, kError, "why it failed");
  EXPECT_NE(testing::internal::GetCapturedStderr().find("why it failed"), std::string::npos);
}

TEST_F(LogTest, ClosedPipeLosesTheLineOnly) {
  ASSERT_TRUE(configure({}).is_ok());
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGPIPE, SIG_DFL);
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]);
    ONRT_LOG(kNrt, kError, "nobody reads this");
    sigset_t left;
    sigpending(&left);
    _exit(sigismember(&left, SIGPIPE) == 0 ? 0 : 2);
  }
  close(ends[0]);
  close(ends[1]);
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(LogTest, ConsoleIsStderrWithoutColourUnlessTerminal) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  ASSERT_TRUE(configure({}).is_ok());
  ONRT_LOG(kNrt, kError, "seen");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find("seen\n"), std::string::npos);
  EXPECT_EQ(text.find('\033'), std::string::npos);
}

TEST_F(LogTest, ConcurrentLinesDoNotMix) {
  ASSERT_TRUE(configure(file_only(dir_ + "/a", Level::kError)).is_ok());
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([t] {
      for (int i = 0; i < 200; ++i) ONRT_LOG(kNrt, kError, "{}", std::string(300, char('a' + t)));
    });
  for (auto& t : threads) t.join();
  std::ifstream in(dir_ + "/a");
  int lines = 0;
  for (std::string l; std::getline(in, l); ++lines)
    ASSERT_EQ(l.substr(l.size() - 300), std::string(300, l.back()));
  EXPECT_EQ(lines, 800);
}

TEST_F(LogTest, ForkedChildCanWrite) {
  ASSERT_TRUE(configure(file_only(dir_ + "/a", Level::kError)).is_ok());
  const pid_t child = fork();
  if (child == 0) {
    enter_forked_child();
    ONRT_LOG(kNrt, kError, "from the child");
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_NE(slurp(dir_ + "/a").find("from the child"), std::string::npos);
}

TEST(LogModules, TagsAndTheirSynonym) {
  EXPECT_EQ(module_of("TDRV"), Module::kTdrv);
  EXPECT_EQ(module_of("tdrv"), Module::kTdrv);
  EXPECT_EQ(module_of("KMGR"), Module::kKmgr);
  EXPECT_EQ(module_of("NMGR"), Module::kKmgr);
  EXPECT_EQ(module_of("RUST"), std::nullopt);
}

}  // namespace
}  // namespace opennrt::log
