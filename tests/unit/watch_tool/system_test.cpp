// SPDX-License-Identifier: Apache-2.0
#include "watch/system.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace opennrt::tools {
namespace {

namespace fs = std::filesystem;

class Proc : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/opennrt-proc-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    directory_ = name;
    fs::create_directories(directory_ + "/7");
  }
  void TearDown() override { fs::remove_all(directory_); }
  void write(const std::string& file, const std::string& text) {
    std::ofstream(directory_ + "/" + file, std::ios::binary) << text;
  }
  std::string directory_;
};

TEST_F(Proc, Host) {
  write("stat",
        "cpu  10 2 30 400 5 6 7 8 0 0\ncpu0 1 2 3 4 5 6 7 8 9 10\ncpu1 x\nintr 5\nctxt 1234\n");
  write("meminfo",
        "MemTotal:  8 kB\nMemFree: 1 kB\nMemAvailable:  2 kB\nSwapTotal: 4 kB\nSwapFree: 3 kB\n");
  const SystemSample got = read_system(directory_);
  ASSERT_TRUE(got.all);
  EXPECT_EQ(got.all->user, 10u);
  EXPECT_EQ(got.all->soft_irq, 7u);
  EXPECT_EQ(got.all->sum(), 10u + 2 + 30 + 400 + 5 + 6 + 7 + 8);
  EXPECT_EQ(got.cpus.size(), 1u);
  EXPECT_EQ(got.context_switches, 1234u);
  EXPECT_EQ(got.memory_total, 8192u);
  EXPECT_EQ(got.memory_available, 2048u);
  EXPECT_EQ(got.swap_free, 3072u);
}

TEST_F(Proc, NothingThere) {
  const SystemSample got = read_system(directory_);
  EXPECT_FALSE(got.all);
  EXPECT_FALSE(got.memory_total);
  EXPECT_FALSE(read_process(7, directory_));
  EXPECT_FALSE(read_process(8, directory_));
  EXPECT_EQ(command_line(7, directory_), "(ended)");
}

TEST_F(Proc, Process) {
  // A name may hold anything.
  write("7/stat", "7 (a) (b) 1) S 1 7 7 0 -1 4 0 0 0 0 111 222 0 0 20 0 1 0 9999 0 0\n");
  const auto got = read_process(7, directory_);
  ASSERT_TRUE(got);
  EXPECT_EQ(got->user, 111u);
  EXPECT_EQ(got->system, 222u);
  EXPECT_EQ(got->started, 9999u);
  write("7/stat", "7 (a) Z 1 7 7 0 -1 4 0 0 0 0 111 222 0 0 20 0 1 0 9999 0 0\n");
  EXPECT_FALSE(read_process(7, directory_));
  write("7/stat", "7 (a) S 1 7 7 0 -1 4 0 0 0 0 111");
  EXPECT_FALSE(read_process(7, directory_));
}

TEST_F(Proc, Command) {
  write("7/cmdline", std::string("python3\0-c\0x\n\x1b[2J\0", 19));
  EXPECT_EQ(command_line(7, directory_), "python3 -c x  [2J");
  write("7/cmdline", std::string(1000, 'x'));
  EXPECT_EQ(command_line(7, directory_).size(), 200u);
  write("7/cmdline", "");
  write("7/comm", "worker\n");
  EXPECT_EQ(command_line(7, directory_), "worker");
}

TEST(ProcItself, ThisProcess) {
  EXPECT_TRUE(read_process(getpid()));
  EXPECT_GT(read_system().memory_total.value_or(0), 0u);
}

}  // namespace
}  // namespace opennrt::tools
