// SPDX-License-Identifier: Apache-2.0
//
// opennrt monitor as a process, on a shared software device with clients that have
// executed a known number of times.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <time.h>

#include <algorithm>

#include "support/exposition.h"
#include "watch_lab.h"

namespace opennrt::test {
namespace {

using simdjson::dom::element;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

class ToolMonitor : public WatchLab {
 protected:
  int monitor(const std::string& options, const std::string& variables = "") {
    return run("'" OPENNRT_MONITOR "' " + options, variables);
  }
  std::unique_ptr<Program> start(const std::string& options) {
    return std::make_unique<Program>(environment() + "'" OPENNRT_MONITOR "' " + options,
                                     directory_ + "/monitor");
  }
  static std::string get(int port) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(port));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    std::string out;
    if (::connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0) {
      constexpr char kRequest[] = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";
      [[maybe_unused]] const ssize_t sent = ::send(fd, kRequest, sizeof kRequest - 1, MSG_NOSIGNAL);
      char text[4096];
      for (ssize_t n; (n = ::recv(fd, text, sizeof text, 0)) > 0;)
        out.append(text, static_cast<std::size_t>(n));
    }
    ::close(fd);
    return out;
  }
  static Exposition scrape(int port) {
    const std::string answer = get(port);
    return parse_exposition(answer.substr(answer.find("\r\n\r\n") + 4));
  }
  static std::string text(const simdjson::simdjson_result<element>& e) {
    return std::string(e.get_string().value());
  }
};

TEST_F(ToolMonitor, TwoClientsOnTwoCores) {
  const pid_t first = client(7, 0, "NEURON_PROCESS_TAG=first");
  const pid_t second = client(5, 1);
  ASSERT_EQ(monitor("--period 0.2 --count 2"), 0) << errors_;
  const auto all = lines(out_);
  ASSERT_EQ(all.size(), 2u);
  const element report = parsed(all[1]);
  const auto runtimes = report["neuron_runtime_data"].get_array().value();
  ASSERT_EQ(runtimes.size(), 2u);
  const struct {
    pid_t pid;
    std::string tag, core;
    std::uint64_t executions, memory;
  } kWanted[] = {{first, "first", "0", 7, memory_of(0)},
                 {second, std::to_string(second), "1", 5, memory_of(1)}};
  for (const auto& want : kWanted) {
    const auto runtime = runtimes.at(runtimes.at(0)["pid"].get_int64().value() == want.pid ? 0 : 1);
    SCOPED_TRACE(want.tag);
    EXPECT_EQ(runtime["pid"].get_int64().value(), want.pid);
    EXPECT_EQ(text(runtime["neuron_runtime_tag"]), want.tag);
    EXPECT_EQ(text(runtime["error"]), "");
    const auto groups = runtime["report"];
    const auto stats = groups["execution_stats"];
    EXPECT_EQ(stats["execution_totals"]["completed"].get_uint64().value(), want.executions);
    EXPECT_EQ(stats["execution_totals"]["timed_out"].get_uint64().value(), 0u);
    EXPECT_EQ(stats["execution_summary"]["completed"].get_uint64().value(), 0u);  // idle
    EXPECT_GT(stats["latency_stats"]["last_execution"]["total_latency"].get_double().value(), 0);
    const auto used = groups["memory_used"]["neuron_runtime_used_bytes"];
    EXPECT_GT(want.memory, 0u);
    EXPECT_EQ(used["neuron_device"].get_uint64().value(), want.memory);
    const auto models = groups["memory_used"]["loaded_models"].get_array().value();
    ASSERT_EQ(models.size(), 1u);
    EXPECT_THAT(text(models.at(0)["name"]), HasSubstr("vecadd"));
    const auto part = models.at(0)["subgraphs"]["sg_00"];
    EXPECT_EQ(std::to_string(part["neuroncore_index"].get_uint64().value()), want.core);
    const auto cores = groups["neuroncore_counters"]["neuroncores_in_use"].get_object().value();
    ASSERT_EQ(cores.size(), 1u);
    EXPECT_EQ(cores.begin().key(), want.core);
    EXPECT_EQ(groups["neuron_runtime_vcpu_usage"]["vcpu_usage"]["user"].is_double() ||
                  groups["neuron_runtime_vcpu_usage"]["vcpu_usage"]["user"].is_int64(),
              true);
  }
  EXPECT_EQ(report["neuron_hardware_info"]["neuron_device_count"].get_uint64().value(), 1u);
  EXPECT_EQ(report["neuron_hardware_info"]["neuroncore_per_device_count"].get_uint64().value(), 2u);
  EXPECT_EQ(text(report["neuron_hardware_info"]["neuron_device_type"]), "trainium1");
  EXPECT_EQ(text(report["instance_info"]["instance_type"]), kProduct);
  EXPECT_GT(report["system_data"]["memory_info"]["memory_total_bytes"].get_uint64().value(), 0u);
}

// Nothing is counted twice or lost, whatever the periods.
TEST_F(ToolMonitor, PeriodsAddUpToWhatWasExecuted) {
  const pid_t pid = client(3, 0);
  const auto monitor = start("--period 0.1");
  ASSERT_TRUE(soon([&] { return !lines(monitor->output()).empty(); })) << monitor->errors();
  constexpr int kRounds = 5;
  for (int i = 0; i < kRounds; ++i) {
    more(0);
    ASSERT_TRUE(soon([&] { return lines(programs_[0]->output()).size() == 4u + 2u * i; }));
  }
  const auto total = [&](const std::string& line) {
    return parsed(line)["neuron_runtime_data"]
        .at(0)["report"]["execution_stats"]["execution_totals"]["completed"]
        .get_uint64()
        .value();
  };
  ASSERT_TRUE(soon([&] { return total(lines(monitor->output()).back()) == 3u + 3u * kRounds; }));
  std::uint64_t sum = 0;
  for (const std::string& line : lines(monitor->output())) {
    const auto runtime = parsed(line)["neuron_runtime_data"].at(0);
    EXPECT_EQ(runtime["pid"].get_int64().value(), pid);
    sum +=
        runtime["report"]["execution_stats"]["execution_summary"]["completed"].get_uint64().value();
  }
  EXPECT_EQ(sum, 3u * kRounds);
  EXPECT_EQ(monitor->end(SIGTERM), 0);
}

// Means and periods against what the client and this process have measured.
TEST_F(ToolMonitor, FiguresOfAPeriodAreThoseOfTheClient) {
  const auto now_s = [] {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
  };
  client(1, 0);
  client(3, 1);
  const double begun_s = now_s();
  const auto monitor = start("--period 0.2");
  ASSERT_TRUE(soon([&] { return !lines(monitor->output()).empty(); })) << monitor->errors();
  const double first_s = now_s();
  double longest_us[2] = {};
  constexpr std::size_t kRounds = 4;
  for (std::size_t round = 0; round < kRounds; ++round) {
    for (std::size_t i = 0; i < 2; ++i) more(i);
    for (std::size_t i = 0; i < 2; ++i) {
      ASSERT_TRUE(soon([&] { return lines(programs_[i]->output()).size() == 4 + 2 * round; }));
      longest_us[i] = std::max(longest_us[i], took(i));
    }
    // A period of its own for each round: the sample of the second line from now is new.
    const std::size_t now = lines(monitor->output()).size();
    ASSERT_TRUE(soon([&] { return lines(monitor->output()).size() >= now + 2; }));
  }
  const double last_s = now_s();
  const std::size_t seen = lines(monitor->output()).size();
  ASSERT_TRUE(soon([&] { return lines(monitor->output()).size() >= seen + 2; }));
  EXPECT_EQ(monitor->end(SIGTERM), 0);
  const double ended_s = now_s();

  double periods_s = 0;
  std::uint64_t executions[2] = {}, alone = 0, threes = 0;
  const auto all = lines(monitor->output());
  for (std::size_t n = 0; n < all.size(); ++n) {
    const element report = parsed(all[n]);
    const auto runtimes = report["neuron_runtime_data"].get_array().value();
    ASSERT_EQ(runtimes.size(), 2u);
    for (std::size_t i = 0; i < 2; ++i) {
      const bool is_first = runtimes.at(0)["pid"].get_int64().value() == programs_[i]->pid();
      const auto groups = runtimes.at(is_first ? 0 : 1)["report"];
      const auto stats = groups["execution_stats"];
      const double period_s = stats["period"].get_double().value();
      if (i == 0 && n > 0) periods_s += period_s;
      const auto completed = stats["execution_summary"]["completed"].get_uint64().value();
      executions[i] += completed;
      const auto latency = stats["latency_stats"];
      if (completed == 0) {
        EXPECT_TRUE(latency["mean_device_latency"].is_null());
        continue;
      }
      const double mean_s = latency["mean_device_latency"].get_double().value();
      const double last_device_s = latency["last_execution"]["device_latency"].get_double().value();
      const double last_total_s = latency["last_execution"]["total_latency"].get_double().value();
      const double whole_s = mean_s * static_cast<double>(completed);
      EXPECT_GT(last_device_s, 0);
      EXPECT_LE(last_device_s, last_total_s);
      EXPECT_LE(last_total_s, longest_us[i] * 1e-6);
      EXPECT_GE(whole_s, last_device_s * (1 - 1e-9));
      EXPECT_LE(whole_s, longest_us[i] * 1e-6);
      const auto core = groups["neuroncore_counters"]["neuroncores_in_use"][std::to_string(i)];
      EXPECT_NEAR(core["neuroncore_utilization"].get_double().value() / 100 * period_s,
                  std::min(whole_s, period_s), 1e-9);
      if (completed == 1) {
        ++alone;
        EXPECT_NEAR(mean_s, last_device_s, 1e-9);
        EXPECT_NEAR(latency["device_latency"]["p50"].get_double().value(), last_device_s, 1e-9);
        EXPECT_NEAR(latency["total_latency"]["p99"].get_double().value(), last_total_s, 1e-9);
      }
      threes += completed == 3;
    }
  }
  EXPECT_EQ(executions[0], kRounds);
  EXPECT_EQ(executions[1], 3 * kRounds);
  EXPECT_GE(alone, kRounds);
  EXPECT_GT(threes, 0u);
  // From the first line, which was there at first_s, to one that came after last_s.
  EXPECT_GE(periods_s, last_s - first_s);
  EXPECT_LE(periods_s, ended_s - begun_s);
}

TEST_F(ToolMonitor, ADaemonThatIsStopped) {
  client(2, 0);
  const auto monitor = start("--prometheus=127.0.0.1:0 --quiet --period 0.1");
  ASSERT_TRUE(soon([&] { return monitor->errors().find("/metrics\n") != std::string::npos; }));
  const std::string said = monitor->errors();
  const int port = std::atoi(said.c_str() + said.find("127.0.0.1:") + 10);
  const auto up = [&] { return scrape(port).sum("opennrt_machine_up"); };
  EXPECT_EQ(up(), 1);
  const pid_t pid = stop_daemon();
  EXPECT_TRUE(soon([&] { return up() == 0; }));
  EXPECT_EQ(scrape(port).sum("execution_status_total"), 0);
  EXPECT_TRUE(soon([&] { return monitor->errors().find(is_stopped(pid)) != std::string::npos; }));
  EXPECT_EQ(this->monitor("--period 0.05 --count 1"), 0);
  EXPECT_EQ(text(parsed(lines(out_).at(0))["neuron_hardware_info"]["error"]), is_stopped(pid));
  ::kill(pid, SIGCONT);
  EXPECT_TRUE(soon([&] { return up() == 1; }));
  EXPECT_EQ(monitor->end(SIGTERM), 0);
}

// Its lines are not read: the figures get old, which a scraper hears, and it ends.
TEST_F(ToolMonitor, LinesThatNobodyReads) {
  client(2, 0);
  ASSERT_EQ(::mkfifo((directory_ + "/monitor").c_str(), 0600), 0);
  const int keeps = ::open((directory_ + "/monitor").c_str(), O_RDWR | O_CLOEXEC);
  const auto monitor = start("--prometheus=127.0.0.1:0 --period 0.05");
  const auto errors = [&] { return Program::contents(directory_ + "/monitor.err"); };
  ASSERT_TRUE(soon([&] { return errors().find("/metrics\n") != std::string::npos; }));
  const std::string said = errors();
  const int port = std::atoi(said.c_str() + said.find("127.0.0.1:") + 10);
  EXPECT_EQ(scrape(port).sum("opennrt_machine_up"), 1);
  EXPECT_TRUE(soon([&] { return scrape(port).sum("opennrt_machine_up") == 0; }));
  const double at_s = scrape(port).sum("opennrt_sample_timestamp_seconds");
  EXPECT_GT(at_s, 0);
  EXPECT_EQ(scrape(port).types.size(), 2u);
  EXPECT_EQ(scrape(port).sum("opennrt_sample_timestamp_seconds"), at_s);
  EXPECT_EQ(monitor->end(SIGTERM), 0);
  ::close(keeps);
}

TEST_F(ToolMonitor, ASampleThatNeverEnds) {
  const std::string root = endless_root();
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
    Program tool(environment(root) + "'" OPENNRT_MONITOR "' --period 0.05",
                 directory_ + "/monitor");
    const std::string status = "/proc/" + std::to_string(tool.pid()) + "/status";
    // It has begun to hear signals, and waits for the file.
    ASSERT_TRUE(soon([&] {
      const std::string text = Program::contents(status);
      const std::size_t at = text.find("SigBlk:");
      constexpr std::uint64_t kHeard =
          1u << (SIGTERM - 1) | 1u << (SIGINT - 1) | 1u << (SIGHUP - 1);
      return at != text.npos &&
             (std::strtoull(text.c_str() + at + 7, nullptr, 16) & kHeard) == kHeard;
    }));
    EXPECT_EQ(tool.end(signal), 0);
    EXPECT_EQ(tool.output(), "");
  }
}

TEST_F(ToolMonitor, AClientThatIsKilledIsGone) {
  client(2, 0);
  client(2, 1);
  const auto monitor = start("--period 0.1");
  const auto processes = [&] {
    const auto all = lines(monitor->output());
    return all.empty() ? std::size_t{99}
                       : parsed(all.back())["neuron_runtime_data"].get_array().value().size();
  };
  ASSERT_TRUE(soon([&] { return processes() == 2; }));
  programs_[0]->end(SIGKILL);
  ASSERT_TRUE(soon([&] { return processes() == 1; }));
  EXPECT_EQ(parsed(lines(monitor->output()).back())["neuron_runtime_data"]
                .at(0)["pid"]
                .get_int64()
                .value(),
            programs_[1]->pid());
  // The other one has not noticed.
  more(1);
  ASSERT_TRUE(soon([&] { return lines(programs_[1]->output()).size() == 4; }));
  EXPECT_EQ(monitor->end(SIGINT), 0);
  EXPECT_EQ(monitor->errors(), "");
}

TEST_F(ToolMonitor, TwoDevices) {
  product_ = "trn1.32xlarge";
  devices_ = 2;
  client(4, 0);
  const pid_t far = client(6, 3);  // of device 1
  ASSERT_EQ(monitor("--period 0.1 --count 1"), 0) << errors_;
  const element report = parsed(lines(out_).at(0));
  EXPECT_EQ(report["neuron_hardware_info"]["neuron_device_count"].get_uint64().value(), 2u);
  const auto runtimes = report["neuron_runtime_data"].get_array().value();
  ASSERT_EQ(runtimes.size(), 2u);
  const auto runtime = runtimes.at(runtimes.at(0)["pid"].get_int64().value() == far ? 0 : 1);
  const auto groups = runtime["report"];
  EXPECT_EQ(groups["execution_stats"]["execution_totals"]["completed"].get_uint64().value(), 6u);
  const auto part = groups["memory_used"]["loaded_models"].at(0)["subgraphs"]["sg_00"];
  EXPECT_EQ(part["neuroncore_index"].get_uint64().value(), 3u);
  EXPECT_EQ(part["neuron_device_index"].get_uint64().value(), 1u);
  EXPECT_EQ(groups["neuroncore_counters"]["neuroncores_in_use"].get_object().value().begin().key(),
            "3");
  EXPECT_EQ(
      report["system_data"]["neuron_hw_counters"]["neuron_devices"].get_array().value().size(), 2u);
}

// Two physical cores that are one logical core.
TEST_F(ToolMonitor, LogicalCoresOfTwoCountOnce) {
  const char* corpus = std::getenv("OPENNRT_CORPUS");
  const std::string model = std::string(corpus != nullptr ? corpus : OPENNRT_DEFAULT_CORPUS) +
                            "/vecadd_2tiles_cayman.neff";
  if (!std::filesystem::exists(model)) GTEST_SKIP() << "no " << model << " (OPENNRT_CORPUS)";
  product_ = "trn2.3xlarge";
  programs_.push_back(std::make_unique<Program>(
      environment("NEURON_RT_VISIBLE_CORES=1") + "'" OPENNRT_WATCH_CLIENT "' '" + model + "' 9",
      directory_ + "/client0"));
  ASSERT_TRUE(soon([&] { return programs_[0]->output().find("ready") != std::string::npos; }))
      << programs_[0]->errors();
  ASSERT_EQ(monitor("--period 0.1 --count 1"), 0) << errors_;
  const auto groups = parsed(lines(out_).at(0))["neuron_runtime_data"].at(0)["report"];
  EXPECT_EQ(groups["execution_stats"]["execution_totals"]["completed"].get_uint64().value(), 9u);
  const auto core = groups["neuroncore_counters"]["neuroncores_in_use"]["1"];
  EXPECT_EQ(core["v3d"].get_object().value().size(), 2u);
  EXPECT_EQ(groups["memory_used"]["loaded_models"].at(0)["subgraphs"].get_object().value().size(),
            2u);
}

TEST_F(ToolMonitor, Prometheus) {
  const pid_t pid = client(11, 1, "NEURON_PROCESS_TAG='a\"b'");
  const auto monitor = start("--prometheus=127.0.0.1:0 --quiet --period 0.1");
  ASSERT_TRUE(soon([&] { return monitor->errors().find("/metrics\n") != std::string::npos; }));
  const std::string said = monitor->errors();
  EXPECT_THAT(said, ContainsRegex("serves http://127\\.0\\.0\\.1:[0-9]+/metrics\n"));
  const int port = std::atoi(said.c_str() + said.find("127.0.0.1:") + 10);
  const std::string answer = get(port);
  EXPECT_THAT(answer, ::testing::StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(answer, HasSubstr("Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"));
  const Exposition m = parse_exposition(answer.substr(answer.find("\r\n\r\n") + 4));
  EXPECT_EQ(m.error, "");
  const std::string who = "pid=\"" + std::to_string(pid) + "\"";
  EXPECT_EQ(m.sum("execution_status_total", {who, "status_type=\"completed\""}), 11);
  EXPECT_EQ(m.sum("execution_status_total", {"runtime_tag=\"a\"b\""}), 11);
  EXPECT_EQ(m.sum("neuron_runtime_memory_used_bytes", {who, "memory_location=\"neuron_device\""}),
            static_cast<double>(memory_of(0)));
  EXPECT_EQ(m.sum("opennrt_models_loaded", {who}), 1);
  EXPECT_EQ(m.sum("opennrt_machine_up"), 1);
  EXPECT_EQ(m.types.at("execution_status_total"), "counter");
  // It follows.
  more(0);
  EXPECT_TRUE(soon([&] { return scrape(port).sum("execution_status_total", {who}) == 22; }));
  // The address is taken.
  EXPECT_EQ(this->monitor("--prometheus 127.0.0.1:" + std::to_string(port) + " --count 1"), 1);
  EXPECT_THAT(errors_, ContainsRegex("127\\.0\\.0\\.1:[0-9]+ cannot be served: .*in use"));
  EXPECT_EQ(monitor->end(SIGTERM), 0);
  EXPECT_EQ(monitor->output(), "");
}

TEST_F(ToolMonitor, AMachineThatComesAndGoes) {
  const auto monitor = start("--period 0.1");
  const auto count = [&]() -> std::string {
    const auto all = lines(monitor->output());
    if (all.empty()) return "";
    return simdjson::minify(parsed(all.back())["neuron_hardware_info"]["neuron_device_count"]);
  };
  ASSERT_TRUE(soon([&] { return count() == "null"; }));
  EXPECT_EQ(daemon(), 0);
  EXPECT_THAT(monitor->errors(), HasSubstr("nothing serves " + directory_));
  client(1, 0);
  ASSERT_TRUE(soon([&] { return count() == "1"; }));
  // Without its client the machine is idle, though it is watched.
  programs_[0]->end(SIGTERM);
  ASSERT_TRUE(soon([&] { return count() == "null"; }));
  EXPECT_EQ(daemon(), 0);
  // A daemon that is killed is told.
  client(1, 0);
  ASSERT_TRUE(soon([&] { return count() == "1"; }));
  ::kill(daemon(), SIGKILL);
  ASSERT_TRUE(soon([&] { return count() == "null"; }));
  EXPECT_EQ(monitor->end(SIGHUP), 0);
}

TEST_F(ToolMonitor, AnEmptyMachine) {
  client(1, 0);
  programs_[0]->end(SIGTERM);
  ASSERT_NE(daemon(), 0);
  ASSERT_EQ(monitor("--period 0.05 --count 1"), 0) << errors_;
  const element report = parsed(lines(out_).at(0));
  EXPECT_EQ(report["neuron_runtime_data"].get_array().value().size(), 0u);
  EXPECT_EQ(report["neuron_hardware_info"]["neuron_device_count"].get_uint64().value(), 1u);
}

TEST_F(ToolMonitor, ProcessScopeHasNoMachine) {
  ASSERT_EQ(monitor("--period 0.05 --count 1", "OPENNRT_EMULATOR_SCOPE=process"), 0);
  const element report = parsed(lines(out_).at(0));
  EXPECT_THAT(text(report["neuron_hardware_info"]["error"]),
              HasSubstr("set OPENNRT_EMULATOR_SCOPE=machine"));
  EXPECT_TRUE(report["neuron_hardware_info"]["neuron_device_count"].is_null());
  EXPECT_THAT(errors_, HasSubstr("set OPENNRT_EMULATOR_SCOPE=machine"));
  EXPECT_EQ(daemon(), 0);
}

TEST_F(ToolMonitor, DeviceFilesOfTheDriver) {
  const std::string emu = "'" OPENNRT_EMU "' --product trn1.2xlarge --hbm-bytes 256M -- ";
  const std::string kernel = "env OPENNRT_DEVICE=kernel ";
  std::ofstream(directory_ + "/script")
      << kernel << "'" OPENNRT_WATCH_CLIENT "' '" OPENNRT_MODEL "' 6 >" << directory_ << "/in &\n"
      << "while ! grep -q ready " << directory_ << "/in; do sleep 0.1; done\n"
      << kernel << "'" OPENNRT_MONITOR "' --period 0.1 --count 1\nkill $!\n";
  ASSERT_EQ(run(emu + "sh " + directory_ + "/script"), 0) << errors_;
  const element report = parsed(lines(out_).at(0));
  const auto runtime = report["neuron_runtime_data"].at(0);
  EXPECT_EQ(
      runtime["report"]["execution_stats"]["execution_totals"]["completed"].get_uint64().value(),
      6u);
  EXPECT_EQ(report["neuron_hardware_info"]["neuron_device_count"].get_uint64().value(), 1u);
}

TEST_F(ToolMonitor, OutputThatFails) {
  // A reader that leaves is an end.
  EXPECT_EQ(run("sh -c \"'" OPENNRT_MONITOR "' --period 0.05 | head -n 1 >/dev/null\""), 0);
  EXPECT_THAT(errors_, Not(HasSubstr("standard output")));
  EXPECT_EQ(run("sh -c \"'" OPENNRT_MONITOR "' --period 0.05 >/dev/full\""), 1);
  EXPECT_THAT(errors_, HasSubstr("opennrt monitor: standard output: cannot write: No space left"));
}

TEST_F(ToolMonitor, Usage) {
  EXPECT_EQ(monitor("--help"), 0);
  EXPECT_THAT(out_, HasSubstr("usage: opennrt monitor"));
  for (const char* wrong :
       {"--nonsense", "word", "--period 0", "--period x", "--period", "--count 0", "--count -1",
        "--prometheus=x", "--prometheus 1.2.3.4", "--prometheus ::1:80", "--quiet"}) {
    EXPECT_EQ(monitor(wrong), 2) << wrong;
    EXPECT_THAT(errors_, HasSubstr("opennrt monitor: ")) << wrong;
  }
  EXPECT_EQ(monitor("--count 1", "NEURON_RT_EXEC_TIMEOUT=x"), 1);
  EXPECT_THAT(errors_, HasSubstr("NEURON_RT_EXEC_TIMEOUT"));
}

}  // namespace
}  // namespace opennrt::test
