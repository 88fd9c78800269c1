// SPDX-License-Identifier: Apache-2.0
#include "log/kernel_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "log/log.h"

namespace opennrt::log {
namespace {

std::vector<std::string>* g_lines = nullptr;
std::atomic<int> g_inside{0}, g_printed{0};

int keep(void*, const char* text, std::uint32_t bytes, std::uint32_t) {
  EXPECT_EQ(text[bytes - 1], '\0');
  g_lines->emplace_back(text, bytes - 1);
  return 0;
}

// What a driver in this process does: it writes a line itself.
int echo(void* ctx, const char* text, std::uint32_t bytes, std::uint32_t action) {
  write_from_plugin(Module::kEmu, Level::kError, "driver", text);
  ONRT_LOG(kNdl, kError, "and another one");
  return keep(ctx, text, bytes, action);
}

int count(void* ctx, const char*, std::uint32_t, std::uint32_t) {
  EXPECT_EQ(g_inside.fetch_add(1), 0) << "one at a time";
  EXPECT_TRUE(static_cast<std::atomic<bool>*>(ctx)->load()) << "not after the scope";
  g_printed.fetch_add(1);
  g_inside.fetch_sub(1);
  return 0;
}

class KernelLogTest : public ::testing::Test {
 protected:
  void SetUp() override {
    g_lines = &lines_;
    Settings s;
    for (auto& m : s.modules) m = {Level::kError, false, false};
    ASSERT_TRUE(configure(s).is_ok());
  }
  void TearDown() override { EXPECT_TRUE(configure({}).is_ok()); }
  std::vector<std::string> lines_;
};

TEST_F(KernelLogTest, GetsTheBodyOfEmittedLines) {
  {
    const KernelLogScope scope({.print = keep});
    ONRT_LOG(kTdrv, kError, "body {}", 1);
    ONRT_LOG(kTdrv, kWarn, "not emitted");
    ONRT_LOG(kTdrv, kError, "{}", std::string(2000, 'x'));
  }
  ONRT_LOG(kTdrv, kError, "after");
  EXPECT_THAT(lines_, testing::ElementsAre("body 1", std::string(511, 'x')));
}

TEST_F(KernelLogTest, LinesOfPluginsAndEchoesStayOut) {
  const KernelLogScope scope({.print = echo});
  write_from_plugin(Module::kNdl, Level::kError, "plugin", "its own");
  ONRT_LOG(kTdrv, kError, "once");
  EXPECT_THAT(lines_, testing::ElementsAre("once"));
}

TEST_F(KernelLogTest, NobodyIsInsideAfterwards) {
  std::atomic<bool> alive{true}, stop{false};
  std::vector<std::thread> threads;
  {
    const KernelLogScope scope({.print = count, .ctx = &alive});
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        while (!stop.load()) ONRT_LOG(kTdrv, kError, "line");
      });
    while (g_printed.load() < 200) std::this_thread::yield();
  }
  alive = false;
  for (int i = 0; i < 100; ++i) std::this_thread::yield();
  stop = true;
  for (auto& t : threads) t.join();
  EXPECT_GE(g_printed.load(), 200);
}

}  // namespace
}  // namespace opennrt::log
