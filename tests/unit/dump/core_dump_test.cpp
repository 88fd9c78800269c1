// SPDX-License-Identifier: Apache-2.0
#include "dump/core_dump.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "log/context.h"
#include "log/log.h"
#include "log/ring.h"
#include "temporary_directory.h"

namespace opennrt::dump {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

constexpr Failure kTimeout{.api = "nrt_execute", .code = NRT_TIMEOUT};
constexpr std::array<std::uint8_t, 16> kUuid = {0xAB, 1, 2,  3,  4,  5,  6,  7,
                                                8,    9, 10, 11, 12, 13, 14, 15};

class CoreDump : public ::testing::Test {
 protected:
  void SetUp() override {
    settings_.directory = dir_ / "%i/%l";
    settings_.directory_given = true;
    settings_.instance_id = "i-1";
    settings_.cores = {{{0, 0}, {0, 1}}, {{0, 2}, {0, 3}}};
    settings_.describe = [](const Failure& f) { return std::string("about ") + f.api + "\n"; };
  }
  void TearDown() override { close(); }
  std::string helper() {
    return dir_.script("helper", "echo \"$*\" >> " + (dir_ / "calls") + "\n");
  }
  // What the console shows.
  std::string fail(const Failure& failure) {
    testing::internal::CaptureStderr();
    on_failure(failure);
    return testing::internal::GetCapturedStderr();
  }
  static std::string pid() { return std::to_string(getpid()); }

  const TemporaryDirectory dir_;
  Settings settings_;
};

// Dumps are counted over the whole process: where the latest one is.
std::string latest(const TemporaryDirectory& dir) {
  unsigned long highest = 0;
  for (const std::string& name : files_in(dir / "i-1"))
    highest = std::max(highest, std::stoul(name));
  return dir / ("i-1/" + std::to_string(highest));
}

TEST_F(CoreDump, WithoutAHelperTheLogIsLeft) {
  open(settings_);
  log::keep_line(1, "what happened on 1");
  const std::string text = fail(kTimeout);
  const std::string where = latest(dir_);
  EXPECT_THAT(text, HasSubstr("files for support are in " + where + "\n"));
  EXPECT_THAT(files_in(where), UnorderedElementsAre("i-1-nrt-pid-" + pid() + ".log",
                                                    "i-1-nrt-pid-" + pid() + "-info.txt"));
  const std::string log = text_of_file(where + "/i-1-nrt-pid-" + pid() + ".log");
  EXPECT_THAT(log, HasSubstr("nrt_execute failed with status 5\n"));
  EXPECT_THAT(log, HasSubstr("--- logical core 1\nwhat happened on 1\n"));
  EXPECT_EQ(text_of_file(where + "/i-1-nrt-pid-" + pid() + "-info.txt"), "about nrt_execute\n");
}

TEST_F(CoreDump, TheDescriptionIsWrittenOnce) {
  open(settings_);
  fail(kTimeout);
  const auto first = files_in(dir_ / "i-1");
  fail(kTimeout);
  for (const std::string& dump : files_in(dir_ / "i-1"))
    EXPECT_EQ(files_in(dir_ / ("i-1/" + dump)).size(), first.contains(dump) ? 2u : 1u);
}

TEST_F(CoreDump, OffUnlessAsked) {
  settings_.directory_given = false;
  open(settings_);  // the default directory, and no helper
  EXPECT_EQ(fail(kTimeout), "");
  settings_.directory_given = true;
  settings_.directory = "";
  settings_.helper = helper();
  open(settings_);  // both empty
  EXPECT_EQ(fail(kTimeout), "");
  settings_.helper = dir_ / "none";
  settings_.s3_prefix = "s3://bucket";
  open(settings_);  // a prefix only, which is the helper's
  EXPECT_EQ(fail(kTimeout), "");
  EXPECT_THAT(files_in(dir_.path()), UnorderedElementsAre("helper"));
}

TEST_F(CoreDump, OnlyFailuresOfTheRuntimeOrTheHardware) {
  for (const NRT_STATUS code :
       {NRT_FAILURE, NRT_RESOURCE, NRT_TIMEOUT, NRT_HW_ERROR, NRT_EXEC_COMPLETED_WITH_ERR,
        NRT_EXEC_OOB, NRT_EXEC_HW_ERR_COLLECTIVES, NRT_EXEC_HW_ERR_DMA_ABORT})
    EXPECT_TRUE(deserves_dump(code)) << code;
  for (const NRT_STATUS code :
       {NRT_SUCCESS, NRT_INVALID, NRT_INVALID_HANDLE, NRT_QUEUE_FULL, NRT_QUEUE_EMPTY,
        NRT_LOAD_NOT_ENOUGH_NC, NRT_UNSUPPORTED_NEFF_VERSION, NRT_UNINITIALIZED, NRT_CLOSED,
        NRT_EXEC_BAD_INPUT, NRT_EXEC_COMPLETED_WITH_NUM_ERR, NRT_EXEC_UNIT_UNRECOVERABLE,
        NRT_EXEC_NC_BUSY, NRT_COLL_PENDING})
    EXPECT_FALSE(deserves_dump(code)) << code;
  open(settings_);
  EXPECT_EQ(fail({.api = "nrt_load", .code = NRT_INVALID}), "");
  EXPECT_THAT(files_in(dir_.path()), IsEmpty());
}

TEST_F(CoreDump, TheHelperRunsForEachPhysicalCore) {
  settings_.helper = helper();
  settings_.s3_prefix = "s3://b/%i";
  open(settings_);
  {
    log::CallContext call("nrt_execute");
    blame(1, "my net", kUuid);
    fail(kTimeout);
  }
  const std::string where = latest(dir_);
  const std::string number = where.substr(where.rfind('/') + 1);
  std::istringstream in(text_of_file(dir_ / "calls"));
  std::vector<std::string> calls;
  for (std::string l; std::getline(in, l);) calls.push_back(l);
  ASSERT_EQ(calls.size(), 4u);
  EXPECT_EQ(calls[0], "--runtime-generated " + where + "/i-1-nrt-pid-" + pid() + ".log");
  EXPECT_EQ(calls[1], "--runtime-generated " + where + "/i-1-nrt-pid-" + pid() + "-info.txt");
  const std::string begin =
      "--neff-name my net --neff-uuid ab0102030405060708090a0b0c0d0e0f --date-time ";
  const std::string end = " --pid " + pid() + " --tid " + pid() + " --log-id " + number +
                          " --instance-id i-1 --cluster-id 0000000000000000 --error-location "
                          "nrt_execute --error-code 5 --local-output-dir " +
                          where + " --s3-output-prefix s3://b/i-1 --device-id 0 --core-id ";
  EXPECT_EQ(calls[2].substr(0, begin.size()), begin);
  EXPECT_EQ(calls[2].substr(begin.size() + 15), end + "2");
  EXPECT_EQ(calls[3].substr(begin.size() + 15), end + "3");
}

TEST_F(CoreDump, TheSubjectIsForOneFailureOfTheSameCall) {
  settings_.helper = helper();
  open(settings_);
  blame(0, "other", kUuid);  // outside of the call
  {
    log::CallContext call("nrt_execute");
    fail(kTimeout);
    EXPECT_THAT(text_of_file(dir_ / "calls"), Not(HasSubstr("--core-id")));
    blame(0, "net", kUuid);
    fail(kTimeout);
    fail(kTimeout);
  }
  const std::string calls = text_of_file(dir_ / "calls");
  EXPECT_THAT(calls, Not(HasSubstr("other")));
  EXPECT_EQ(std::count(calls.begin(), calls.end(), '\n'), 2 + 1 + 2 + 1)
      << "two files, then one file and two cores, then one file: " << calls;
}

TEST_F(CoreDump, ProblemsAreTold) {
  settings_.directory = "/proc/none/%p";
  open(settings_);
  EXPECT_THAT(fail(kTimeout), HasSubstr("core dump: cannot make the directory /proc/none/"));
  settings_.directory = dir_ / "%i";
  settings_.helper = dir_.script("bad", "exit 7");
  open(settings_);
  EXPECT_THAT(fail(kTimeout), HasSubstr("core dump: " + (dir_ / "bad") + " ended with status 7"));
}

// All runs of one dump have one limit.
TEST_F(CoreDump, AHangingHelperHoldsTheCallForItsLimitOnce) {
  settings_.helper = dir_.script("slow", "echo x >> " + (dir_ / "calls") + "\nexec sleep 60\n");
  settings_.helper_timeout_ms = 300;
  open(settings_);
  log::set_level(log::Level::kWarn);
  const std::string told = fail(kTimeout);
  log::set_level(log::Level::kError);
  EXPECT_THAT(told, HasSubstr((dir_ / "slow") + " runs, for 300 ms at most"));
  EXPECT_THAT(told, HasSubstr("did not end within "));
  EXPECT_THAT(told, HasSubstr("the limit of 300 ms is over, 1 of 2 runs of "));
  EXPECT_EQ(text_of_file(dir_ / "calls"), "x\n");
}

TEST_F(CoreDump, AHelperThatCannotRunIsToldAtOnce) {
  settings_.helper = dir_ / "none";
  settings_.helper_given = true;
  testing::internal::CaptureStderr();
  open(settings_);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("core_dump.helper " + (dir_ / "none") + " is no executable file"));
}

TEST_F(CoreDump, NoneAfterCloseAndInAForkedChild) {
  open(settings_);
  const pid_t child = fork();
  if (child == 0) {
    enter_forked_child();
    on_failure(kTimeout);
    _exit(0);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  close();
  EXPECT_EQ(fail(kTimeout), "");
  EXPECT_THAT(files_in(dir_.path()), IsEmpty());
}

TEST_F(CoreDump, ManyThreadsWhileItOpensAndCloses) {
  settings_.directory = dir_ / "all";
  testing::internal::CaptureStderr();
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&] {
      while (!stop.load()) {
        log::CallContext call("nrt_execute");
        blame(0, "net", kUuid);
        on_failure(kTimeout);
        call.succeed();
      }
    });
  for (int i = 0; i < 10; ++i) {
    open(settings_);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    close();
  }
  stop = true;
  for (auto& t : threads) t.join();
  testing::internal::GetCapturedStderr();
  EXPECT_THAT(files_in(dir_ / "all"), UnorderedElementsAre("i-1-nrt-pid-" + pid() + ".log",
                                                           "i-1-nrt-pid-" + pid() + "-info.txt"));
}

}  // namespace
}  // namespace opennrt::dump
