// SPDX-License-Identifier: Apache-2.0
//
// Lines of public calls: what is held back, what ends a call, and remedies.
#include "log/context.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <fstream>
#include <regex>
#include <sstream>
#include <thread>

#include "log/collector.h"
#include "log/log.h"

namespace opennrt::log {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kTime[] = "2025-Oct-01 23:48:34.002205";
constexpr char kLater[] = "2025-Oct-01 23:48:35.000001";

TEST(LogCollector, JoinsWithNewlineAndTab) {
  Collector c;
  EXPECT_TRUE(c.empty());
  c.add(std::string(kTime) + " one");
  c.add(std::string(kTime) + " two");
  EXPECT_EQ(c.block(), std::string(kTime) + " one\n\t" + kTime + " two");
  EXPECT_EQ(c.lines(), std::string(kTime) + " one\n" + kTime + " two");
  c.clear();
  EXPECT_TRUE(c.empty());
  EXPECT_EQ(c.block(), "");
}

TEST(LogCollector, CountsRepeatedLines) {
  Collector c;
  c.add(std::string(kTime) + " same");
  c.add(std::string(kLater) + " same");
  c.add(std::string(kLater) + " same");
  EXPECT_EQ(c.block(), std::string(kTime) + " same (3 times)");
  c.add(std::string(kLater) + " other");
  c.add(std::string(kLater) + " same");
  EXPECT_EQ(c.block(),
            std::string(kTime) + " same (3 times)\n\t" + kLater + " other\n\t" + kLater + " same");
}

TEST(LogCollector, KeepsTheNewestSixteenKiB) {
  Collector c;
  // 100 bytes each, and a newline: 162 fit into 16384 bytes.
  for (int i = 0; i < 200; ++i) c.add(fmt::format("{} {:072}", kTime, i));
  EXPECT_EQ(c.lines().substr(0, 28), "(38 earlier lines left out)\n");
  EXPECT_THAT(c.lines(), HasSubstr(fmt::format("{:072}", 38)));
  EXPECT_THAT(c.lines(), Not(HasSubstr(fmt::format("{:072}", 37))));
  EXPECT_THAT(c.lines(), HasSubstr(fmt::format("{:072}", 199)));
  c.clear();
  c.add(std::string(100'000, 'x'));
  EXPECT_EQ(c.block(), std::string(16 << 10, 'x'));
}

class LogContext : public ::testing::Test {
 protected:
  void SetUp() override { settings_.coalesce = true; }
  void TearDown() override { EXPECT_TRUE(configure({}).is_ok()); }
  // What the console shows of `body`.
  template <typename Body>
  std::string console(Body body) {
    EXPECT_TRUE(configure(settings_).is_ok());
    testing::internal::CaptureStderr();
    body();
    return testing::internal::GetCapturedStderr();
  }
  Settings settings_;
};

void fail(const char* api) {
  api_error(api, "NRT_RESOURCE", NRT_RESOURCE, "no room", resolution(Cause::kDeviceMemory));
}

TEST_F(LogContext, TheBlockFollowsTheLineOfTheCall) {
  const std::string text = console([] {
    CallContext call("nrt_load");
    ONRT_LOG(kTdrv, kError, "first");
    ONRT_LOG(kTdrv, kError, "second");
    fail("nrt_load");
  });
  const std::regex form(
      "[^\n\t]* ERROR   NRT:nrt_load {33}NRT_RESOURCE \\(4\\): no room Resolution: [^\n]*\n"
      "\t[^\n\t]* ERROR  TDRV:[^\n]* first\n"
      "\t[^\n\t]* ERROR  TDRV:[^\n]* second\n");
  EXPECT_TRUE(std::regex_match(text, form)) << text;
}

TEST_F(LogContext, ACallWithoutALineOfItsOwnSaysGenericFailure) {
  const std::string text = console([] {
    CallContext call("nrt_load");
    ONRT_LOG(kTdrv, kError, "why");
  });
  const std::regex form(
      "[^\n\t]* ERROR  NLOG:nrt_load {33}Generic API Failure\n\t[^\n\t]* ERROR  TDRV:[^\n]* why\n");
  EXPECT_TRUE(std::regex_match(text, form)) << text;
}

TEST_F(LogContext, SuccessShowsWarningsAndForgetsThem) {
  settings_.modules[static_cast<std::size_t>(Module::kTdrv)].level = Level::kWarn;
  const std::string text = console([] {
    {
      CallContext call("nrt_load");
      ONRT_LOG(kTdrv, kWarn, "careful");
      call.succeed();
    }
    CallContext call("nrt_unload");
    fail("nrt_unload");
  });
  const std::regex form(
      "[^\n\t]*  WARN  TDRV:[^\n]* careful\n[^\n\t]* ERROR   NRT:nrt_unload[^\n]*\n");
  EXPECT_TRUE(std::regex_match(text, form)) << text;
}

TEST_F(LogContext, WithoutCoalescingEachLineComesAtOnce) {
  settings_.coalesce = false;
  const std::string text = console([] {
    CallContext call("nrt_load");
    ONRT_LOG(kTdrv, kError, "first");
    fail("nrt_load");
  });
  EXPECT_LT(text.find(" first\n"), text.find("NRT:nrt_load")) << text;
  EXPECT_EQ(text.find("Generic API Failure"), std::string::npos);
}

TEST_F(LogContext, OutsideOfCallsNothingIsHeldBack) {
  EXPECT_THAT(console([] { ONRT_LOG(kTdrv, kError, "now"); }), HasSubstr(" now\n"));
}

TEST_F(LogContext, InnerCallsBelongToTheOuterOne) {
  const std::string text = console([] {
    CallContext outer("nrt_outer");
    {
      CallContext inner("nrt_inner");
      ONRT_LOG(kTdrv, kError, "inside");
      inner.succeed();
    }
    EXPECT_STREQ(current_api(), "nrt_outer");
  });
  EXPECT_EQ(current_api(), nullptr);
  EXPECT_THAT(text, HasSubstr("NLOG:nrt_outer"));
  EXPECT_THAT(text, HasSubstr("\n\t"));
}

TEST_F(LogContext, OtherSinksGetEachLineAtOnce) {
  char name[] = "/tmp/opennrt-context-XXXXXX";
  const int fd = mkstemp(name);
  ASSERT_GE(fd, 0);
  ::close(fd);
  settings_.file = name;
  std::string during;
  console([&] {
    CallContext call("nrt_load");
    ONRT_LOG(kTdrv, kError, "first");
    std::ifstream in(name);
    std::getline(in, during);
    fail("nrt_load");
  });
  EXPECT_THAT(during, HasSubstr(" first"));
  std::stringstream all;
  all << std::ifstream(name).rdbuf();
  EXPECT_THAT(all.str(), Not(HasSubstr("\t"))) << "the block is for the console";
  ::unlink(name);
}

TEST_F(LogContext, EachCauseHasItsOwnRemedy) {
  const Cause all[] = {Cause::kForeignNeff,   Cause::kDeviceMemory,  Cause::kDeviceInUse,
                       Cause::kNoDevice,      Cause::kConfiguration, Cause::kExecutionTimeout,
                       Cause::kPluginMissing, Cause::kDeviceLost};
  static_assert(std::size(all) == static_cast<std::size_t>(Cause::kCount));
  EXPECT_EQ(static_cast<int>(Cause::kForeignNeff), 0);
  std::vector<std::string_view> seen;
  for (const Cause cause : all) {
    const std::string_view remedy = resolution(cause);
    EXPECT_GT(remedy.size(), 20u);
    EXPECT_THAT(seen, Not(testing::Contains(remedy)));
    seen.push_back(remedy);
    const std::string text =
        console([&] { api_error("f", "NRT_INVALID", NRT_INVALID, "m", resolution(cause)); });
    EXPECT_THAT(text, HasSubstr("NRT_INVALID (2): m Resolution: " + std::string(remedy) + "\n"));
  }
  EXPECT_THAT(console([] { api_error("f", "NRT_INVALID", NRT_INVALID, "m", {}); }),
              testing::EndsWith("NRT_INVALID (2): m\n"));
}

TEST_F(LogContext, TheFirstCauseOfAStatusStays) {
  const Status s = Status::invalid("x").because(Cause::kNoDevice).because(Cause::kConfiguration);
  EXPECT_EQ(s.cause(), Cause::kNoDevice);
  EXPECT_EQ(Status::invalid("x").because(Cause::kNoDevice).with_context("y").cause(),
            Cause::kNoDevice);
  EXPECT_EQ(Status().because(Cause::kNoDevice).cause(), Cause::kNone);
  EXPECT_EQ(s.remedy(), resolution(Cause::kNoDevice));
  EXPECT_EQ(Status::invalid("x").because(Cause::kNoDevice, "wait").remedy(), "wait");
  EXPECT_EQ(Status::invalid("x").remedy(), "");
}

TEST_F(LogContext, FailuresAreRemembered) {
  console([] {
    for (int i = 0; i < 20; ++i)
      api_error("nrt_f", "NRT_INVALID", NRT_INVALID, fmt::format("number {}", i), {});
  });
  const std::vector<std::string> lines = recent_failures();
  ASSERT_EQ(lines.size(), 16u);
  EXPECT_THAT(lines.front(), testing::EndsWith("NRT_INVALID (2): number 4"));
  EXPECT_THAT(lines.back(), testing::EndsWith("NRT_INVALID (2): number 19"));
}

TEST_F(LogContext, ADisabledModuleHoldsNothingBack) {
  for (auto& m : settings_.modules) m.level = Level::kDisabled;
  EXPECT_EQ(console([] {
              CallContext call("nrt_load");
              ONRT_LOG(kTdrv, kError, "x");
              fail("nrt_load");
            }),
            "");
}

// Each thread has its own block; a thread that ends inside a call loses nothing.
TEST_F(LogContext, ThreadsDoNotMix) {
  const std::string text = console([] {
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([t] {
        for (int i = 0; i < 50; ++i) {
          CallContext call("nrt_load");
          ONRT_LOG(kTdrv, kError, "cause {}", t);
          api_error("nrt_load", "NRT_INVALID", NRT_INVALID, fmt::format("failed {}", t), {});
        }
      });
    for (auto& t : threads) t.join();
  });
  std::istringstream in(text);
  int pairs = 0;
  for (std::string head, cause; std::getline(in, head) && std::getline(in, cause); ++pairs) {
    ASSERT_THAT(head, HasSubstr("failed "));
    ASSERT_EQ(cause.front(), '\t');
    ASSERT_EQ(cause.back(), head.back());
  }
  EXPECT_EQ(pairs, 200);
}

}  // namespace
}  // namespace opennrt::log
