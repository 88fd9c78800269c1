// SPDX-License-Identifier: Apache-2.0
//
// A shared software device with programs on it that execute as often as they are told,
// and the tools that look at it.
#pragma once

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <simdjson.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace opennrt::test {

inline constexpr char kProduct[] = "trn1.2xlarge";

// A process and what it has written.
class Program {
 public:
  Program(const std::string& line, std::string output) : output_(std::move(output)) {
    pid_ = ::fork();
    if (pid_ != 0) return;
    const std::string whole = "exec " + line + " >'" + output_ + "' 2>'" + output_ + ".err'";
    execl("/bin/sh", "sh", "-c", whole.c_str(), nullptr);
    _exit(127);
  }
  ~Program() { end(SIGKILL); }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  pid_t pid() const { return pid_; }
  std::string output() const { return contents(output_); }
  std::string errors() const { return contents(output_ + ".err"); }
  // Exit code, or 1000 + signal.
  int end(int signal = 0) {
    if (pid_ <= 0) return code_;
    if (signal != 0) ::kill(pid_, signal);
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = 0;
    return code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
  }
  static std::string contents(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    std::ostringstream out;  // a file of /proc may fail while it is read
    out << in.rdbuf();
    return out.str();
  }

 private:
  std::string output_;
  pid_t pid_ = 0;
  int code_ = -1;
};

class WatchLab : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/opennrt-watch-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    directory_ = name;
  }
  void TearDown() override {
    programs_.clear();
    if (const pid_t pid = daemon()) {
      ::kill(pid, SIGTERM);
      ::kill(pid, SIGCONT);
    }
    soon([this] { return daemon() == 0; });
    std::filesystem::remove_all(directory_);
  }
  pid_t daemon() const {
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      const std::string name = entry.path().filename().string();
      if (name.find_first_not_of("0123456789") != std::string::npos) continue;
      const std::string text = Program::contents(entry.path() / "cmdline");
      if (text.find("opennrt-emud") != std::string::npos &&
          text.find(directory_) != std::string::npos)
        return std::stoi(name);
    }
    return 0;
  }
  std::string environment(const std::string& variables = "") const {
    return "env -u OPENNRT_CONFIG -u NEURON_RT_VISIBLE_CORES -u NEURON_PROCESS_TAG "
           "OPENNRT_DEVICE=emulator OPENNRT_EMULATOR_SCOPE=machine OPENNRT_EMULATOR_HBM_BYTES=256M "
           "OPENNRT_EMULATOR_PRODUCT=" +
           product_ + " OPENNRT_EMULATOR_DEVICES=" + std::to_string(devices_) +
           " OPENNRT_EMULATOR_IDLE_EXIT_S=3 OPENNRT_EMULATOR_SOCKET=" + directory_ +
           "/s/emud.sock " + variables + " ";
  }
  // Runs to its end; standard output in out_.
  int run(const std::string& command, const std::string& variables = "") {
    Program program(environment(variables) + command, directory_ + "/out");
    const int code = program.end();
    out_ = program.output();
    errors_ = program.errors();
    return code;
  }
  // Bytes of device memory that the client has, as its runtime says.
  std::uint64_t memory_of(std::size_t index) const {
    const std::string text = programs_.at(index)->output();
    return std::strtoull(text.c_str() + text.find("used ") + 5, nullptr, 10);
  }
  // A client with the model loaded on a core, that has executed so often and stays.
  pid_t client(int executions, int core, const std::string& variables = "") {
    const std::string output = directory_ + "/client" + std::to_string(programs_.size());
    programs_.push_back(std::make_unique<Program>(
        environment(variables + " NEURON_RT_VISIBLE_CORES=" + std::to_string(core)) +
            "'" OPENNRT_WATCH_CLIENT "' '" OPENNRT_MODEL "' " + std::to_string(executions),
        output));
    for (int i = 0; i < 6000 && programs_.back()->output().find("ready\n") == std::string::npos;
         ++i)
      ::usleep(10'000);
    EXPECT_THAT(programs_.back()->output(), ::testing::HasSubstr("ready\n"))
        << programs_.back()->errors();
    return programs_.back()->pid();
  }
  // So many executions more, while it runs on.
  void more(std::size_t index) { ::kill(programs_.at(index)->pid(), SIGUSR1); }
  // Microseconds of the client's clock for the executions it was told last.
  double took(std::size_t index) const {
    const std::string text = programs_.at(index)->output();
    return std::strtod(text.c_str() + text.rfind("took ") + 5, nullptr);
  }
  // The daemon does nothing from now on; its pid.
  pid_t stop_daemon() {
    const pid_t pid = daemon();
    EXPECT_GT(pid, 0);
    ::kill(pid, SIGSTOP);
    EXPECT_TRUE(soon([&] {
      return Program::contents("/proc/" + std::to_string(pid) + "/stat").find(") T ") !=
             std::string::npos;
    }));
    return pid;
  }
  static std::string is_stopped(pid_t pid) {
    const std::string number = std::to_string(pid);
    return "opennrt-emud (pid " + number +
           ") is stopped and has not answered for 2 s; kill -CONT " + number +
           " lets it go on, kill -9 " + number + " ends it";
  }
  // Below it a sample of the kernel's devices never ends.
  std::string endless_root() const {
    const std::string root = directory_ + "/root";
    std::filesystem::create_directories(root + "/sys/module/neuron");
    EXPECT_EQ(::mkfifo((root + "/sys/module/neuron/version").c_str(), 0600), 0);
    return "OPENNRT_DEVICE=kernel OPENNRT_TEST_ROOT=" + root;
  }
  bool soon(const std::function<bool()>& holds) {
    for (int i = 0; i < 3000; ++i) {
      if (holds()) return true;
      ::usleep(10'000);
    }
    return false;
  }
  simdjson::dom::element parsed(const std::string& line) {
    auto result = parser_.parse(line);
    EXPECT_EQ(result.error(), simdjson::SUCCESS) << line;
    return result.value();
  }
  static std::vector<std::string> lines(const std::string& text) {
    std::vector<std::string> out;
    std::size_t at = 0;
    for (std::size_t end; (end = text.find('\n', at)) != std::string::npos; at = end + 1)
      out.push_back(text.substr(at, end - at));
    return out;
  }

  std::string directory_, out_, errors_, product_ = kProduct;
  int devices_ = 1;
  std::vector<std::unique_ptr<Program>> programs_;
  simdjson::dom::parser parser_;
};

}  // namespace opennrt::test
