// SPDX-License-Identifier: Apache-2.0
#include "trace/inspect.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <simdjson.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "trace/host_sampler.h"
#include "trace/recordings.h"
#include "trace/trace.h"

namespace opennrt::trace {
namespace {

namespace fs = std::filesystem;

class Inspect : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/opennrt-inspect-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    dir_ = name;
    set_cores(1);
  }
  void TearDown() override {
    EXPECT_TRUE(inspect::stop().is_ok());
    fs::remove_all(dir_);
  }
  inspect::Options options(std::uint32_t activities = inspect::kSystemProfile) const {
    inspect::Options out;
    out.output_dir = dir_;
    out.activities = activities;
    return out;
  }
  std::set<std::string> files() const {
    std::set<std::string> names;
    for (const auto& e : fs::recursive_directory_iterator(dir_))
      if (e.is_regular_file()) names.insert(e.path().filename());
    return names;
  }
  std::size_t events_in(const std::string& path) const {
    simdjson::dom::parser parser;
    simdjson::dom::element root;
    if (parser.load(path).get(root) != simdjson::SUCCESS) return 9999;
    return simdjson::dom::array(root["events"]).size();
  }
  std::string dir_;
};

TEST_F(Inspect, WritesEventsSamplesAndModels) {
  ASSERT_TRUE(inspect::begin(options(inspect::kAllActivities)).is_ok());
  EXPECT_TRUE(inspect::is_running());
  EXPECT_EQ(inspect::begin(options()).code(), NRT_INVALID);
  emit({.type = EventType::kGeneric});
  const char model[] = "model file";
  std::array<std::byte, 16> uuid{};
  uuid[0] = std::byte{0xAB};
  inspect::keep_model_file(std::as_bytes(std::span(model)), uuid, 0);
  const std::string where = inspect::session_directory(dir_);
  EXPECT_TRUE(where.starts_with(dir_ + "/local_pid_" + std::to_string(getpid()) + "/"));
  ASSERT_TRUE(inspect::stop().is_ok());
  EXPECT_FALSE(inspect::is_running());
  EXPECT_EQ(files(), (std::set<std::string>{"cpu_util.json", "host_mem.json",
                                            "interned_strings.json", "sys_trace.json",
                                            "neff_ab000000000000000000000000000000_vnc_0.neff"}));
  EXPECT_EQ(events_in(where + "/sys_trace.json"), 1u);
  simdjson::dom::parser parser;
  simdjson::dom::object strings;
  ASSERT_EQ(parser.load(where + "/interned_strings.json").get(strings), simdjson::SUCCESS);
  EXPECT_GE(strings.size(), 46u);  // the names of the event types at least
  simdjson::dom::element memory;
  ASSERT_EQ(parser.load(where + "/host_mem.json").get(memory), simdjson::SUCCESS);
  EXPECT_GE(simdjson::dom::array(memory["samples"]).size(), 2u);  // begin and end
  EXPECT_GT(std::uint64_t(memory["samples"].at(0)["process_bytes"]), 1u << 20);
  EXPECT_EQ(inspect::session_directory(dir_), where);  // of the latest
  // Nothing runs any more.
  inspect::keep_model_file({}, uuid, 1);
  EXPECT_FALSE(wanted(EventType::kGeneric));
}

TEST_F(Inspect, WhatIsOffIsNotWritten) {
  ASSERT_TRUE(inspect::begin(options(inspect::kCpuUtil)).is_ok());
  EXPECT_FALSE(wanted(EventType::kGeneric));
  ASSERT_TRUE(inspect::stop().is_ok());
  EXPECT_EQ(files(), (std::set<std::string>{"cpu_util.json"}));
}

TEST_F(Inspect, DiscardWritesNothing) {
  inspect::Options o = options(inspect::kAllActivities);
  o.output_dir = "/dev/null";
  ASSERT_TRUE(inspect::begin(o).is_ok());
  inspect::keep_model_file({}, {}, 0);
  EXPECT_TRUE(inspect::stop().is_ok());
  EXPECT_TRUE(files().empty());
}

TEST_F(Inspect, RefusalsLeaveNothingRunning) {
  inspect::Options o = options(inspect::kAllActivities);
  o.device_mode = inspect::DeviceMode::kSession;
  const Status device = inspect::begin(o);
  EXPECT_EQ(device.code(), NRT_INVALID);
  EXPECT_NE(device.message().find("NTFF"), std::string::npos);
  o.activities = inspect::kSystemProfile;  // the mode alone asks for nothing
  ASSERT_TRUE(inspect::begin(o).is_ok());
  ASSERT_TRUE(inspect::stop().is_ok());
  o = options();
  o.enable_on_fail = true;
  EXPECT_EQ(inspect::begin(o).code(), NRT_INVALID);
  for (const char* reserved : {"./tmp", "tmp"}) {
    o = options();
    o.output_dir = reserved;
    EXPECT_EQ(inspect::begin(o).code(), NRT_INVALID) << reserved;
  }
  o = options();
  o.output_dir = "/proc/none";
  EXPECT_EQ(inspect::begin(o).code(), NRT_FAILURE);
  EXPECT_FALSE(inspect::is_running());
  EXPECT_FALSE(wanted(EventType::kGeneric));
  EXPECT_TRUE(inspect::begin(options()).is_ok());
}

TEST_F(Inspect, AFileThatCannotBeWrittenIsTold) {
  ASSERT_TRUE(inspect::begin(options()).is_ok());
  fs::remove_all(inspect::session_directory(dir_));
  EXPECT_EQ(inspect::stop().code(), NRT_FAILURE);
}

TEST_F(Inspect, ActivityNames) {
  EXPECT_EQ(inspect::activity_of("system_profile"), 1u);
  EXPECT_EQ(inspect::activity_of("device_profile"), 2u);
  EXPECT_EQ(inspect::activity_of("host_memory"), 4u);
  EXPECT_EQ(inspect::activity_of("cpu_util"), 8u);
  EXPECT_EQ(inspect::activity_of("all"), 15u);
  EXPECT_EQ(inspect::activity_of("everything"), 0u);
}

// A process that is told to end writes first, then dies of the signal.
TEST_F(Inspect, SignalWritesThenEndsTheProcess) {
  const pid_t child = fork();
  if (child == 0) {
    if (!inspect::begin(options()).is_ok()) _exit(1);
    emit({.type = EventType::kGeneric});
    raise(SIGTERM);
    _exit(2);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGTERM);
  EXPECT_EQ(files(), (std::set<std::string>{"interned_strings.json", "sys_trace.json"}));
}

volatile sig_atomic_t g_handled = 0;

// A handler of the host still runs, and the host goes on.
TEST_F(Inspect, HandlerOfTheHostRunsAfterTheFilesAreWritten) {
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGINT, [](int) { g_handled = 1; });
    if (!inspect::begin(options()).is_ok()) _exit(1);
    raise(SIGINT);
    if (g_handled != 1) _exit(2);
    if (files().size() != 2) _exit(3);
    if (!inspect::begin(options()).is_ok()) _exit(4);  // the first one has ended
    if (!inspect::stop().is_ok()) _exit(5);
    struct sigaction now{};
    sigaction(SIGINT, nullptr, &now);
    if ((now.sa_flags & SA_SIGINFO) != 0) _exit(6);  // the host's own again
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(Inspect, ExitWritesToo) {
  const pid_t child = fork();
  if (child == 0) {
    if (!inspect::begin(options()).is_ok()) _exit(1);
    exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(files(), (std::set<std::string>{"interned_strings.json", "sys_trace.json"}));
}

TEST_F(Inspect, ForkedChildLeavesTheSessionToItsParent) {
  ASSERT_TRUE(inspect::begin(options()).is_ok());
  const pid_t child = fork();
  if (child == 0) {
    const bool good = !inspect::is_running() && inspect::stop().is_ok() && files().empty();
    _exit(good ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_TRUE(files().empty());
  ASSERT_TRUE(inspect::stop().is_ok());
  EXPECT_EQ(files().size(), 2u);
}

// Figures of /proc written by hand: half of the second CPU's time was idle.
TEST(HostSampler, ComparesTwoLooksAtTheKernel) {
  char name[] = "/tmp/opennrt-proc-XXXXXX";
  ASSERT_NE(mkdtemp(name), nullptr);
  const std::string proc = name;
  fs::create_directory(proc + "/self");
  std::ofstream(proc + "/cpuinfo") << "processor : 0\nmodel name\t: Fast \"CPU\"\n";
  std::ofstream(proc + "/self/statm") << "25 3 2 1 0 4 0\n";
  auto stat = [&](const char* text) { std::ofstream(proc + "/stat") << text; };
  HostSampler sampler(proc);
  stat(
      "cpu  9 9 9 9 9 0 0 0 0 0\ncpu0 10 0 10 80 0 0 0 0 0 0\ncpu1 0 0 0 100 0 0 0 0 0 0\nintr "
      "5\n");
  sampler.sample(1000);
  stat("cpu  9 9 9 9 9 0 0 0 0 0\ncpu0 20 0 20 80 0 0 0 0 0 0\ncpu1 30 10 8 140 10 1 1 0 0 0\n");
  sampler.sample(2000);
  EXPECT_EQ(sampler.cpu_json(),
            "{\"cpu_name\":\"Fast \\\"CPU\\\"\",\"cpus\":2,\"samples\":[{\"timestamp_ns\":2000,"
            "\"utilization\":[1.0000,0.5000]}]}\n");
  const std::string bytes = std::to_string(25 * sysconf(_SC_PAGESIZE));
  EXPECT_NE(sampler.memory_json().find("{\"timestamp_ns\":1000,\"process_bytes\":" + bytes + "}"),
            std::string::npos);
  fs::remove_all(proc);
}

TEST(HostSampler, StopsAtItsLimit) {
  HostSampler sampler("/nowhere");
  for (std::size_t i = 0; i < HostSampler::kMostSamples + 5; ++i) sampler.sample(i);
  EXPECT_EQ(sampler.samples(), 10'000u);
}

}  // namespace
}  // namespace opennrt::trace
