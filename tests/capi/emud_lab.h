// SPDX-License-Identifier: Apache-2.0
//
// Processes that use the runtime on one machine-wide software device. The process
// of the test itself never initialises the runtime, so that it may fork.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

namespace opennrt::test {

// A directory for the socket; every process forked later uses the device there.
class MachineWide {
 public:
  MachineWide(const char* product, const char* devices) {
    std::string name = (std::filesystem::temp_directory_path() / "emud-XXXXXX").string();
    directory_ = mkdtemp(name.data()) ? name : "";
    set("OPENNRT_DEVICE", "emulator");
    set("OPENNRT_EMULATOR_SCOPE", "machine");
    set("OPENNRT_EMULATOR_SOCKET", socket().c_str());
    set("OPENNRT_EMULATOR_PRODUCT", product);
    set("OPENNRT_EMULATOR_DEVICES", devices);
    set("OPENNRT_EMULATOR_IDLE_EXIT_S", "2");
    unsetenv("NEURON_RT_VISIBLE_CORES");
    unsetenv("NEURON_RT_NUM_CORES");
  }
  ~MachineWide() {
    if (const pid_t pid = daemon()) kill(pid, SIGTERM);
    for (int i = 0; i < 3000 && std::filesystem::exists(socket()); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }
  static void set(const char* name, const char* value) { setenv(name, value, 1); }
  std::string socket() const { return directory_ + "/emud.sock"; }
  std::string file(const std::string& name) const { return directory_ + "/" + name; }

  // Pid of the daemon, 0: none. By its command line, as a person would look.
  pid_t daemon() const {
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      const std::string name = entry.path().filename().string();
      if (name.find_first_not_of("0123456789") != std::string::npos) continue;
      std::ifstream file(entry.path() / "cmdline", std::ios::binary);
      const std::string text{std::istreambuf_iterator<char>(file), {}};
      if (text.find("opennrt-emud") != std::string::npos &&
          text.find(socket()) != std::string::npos)
        return std::stoi(name);
    }
    return 0;
  }

 private:
  std::string directory_;
};

// A forked process that runs a body, with a line in each direction. Its standard
// error goes to a file.
class Child {
 public:
  struct Line {
    int in, out;
    void say(char c) const { [[maybe_unused]] const ssize_t n = write(out, &c, 1); }
    char hear() const {
      char c = 0;
      return read(in, &c, 1) == 1 ? c : '\0';
    }
  };
  Child(const std::string& log, const std::function<int(const Line&)>& body) : log_(log) {
    int up[2], down[2];
    if (pipe2(up, O_CLOEXEC) != 0 || pipe2(down, O_CLOEXEC) != 0) abort();
    pid_ = fork();
    if (pid_ == 0) {
      const int file = open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
      dup2(file, STDERR_FILENO);
      ::close(up[0]);
      ::close(down[1]);
      // Whatever happens, the child does not go on with the tests of its parent.
      int code = 99;
      try {
        code = body(Line{down[0], up[1]});
      } catch (const std::exception& e) {
        std::fprintf(stderr, "%s\n", e.what());
      }
      _exit(code);
    }
    ::close(up[1]);
    ::close(down[0]);
    line_ = {up[0], down[1]};
  }
  ~Child() {
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      wait();
    }
    ::close(line_.in);
    ::close(line_.out);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  pid_t pid() const { return pid_; }
  const Line& line() const { return line_; }
  // Exit code, or 1000 + signal.
  int wait() {
    int status = 0;
    waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
  }
  std::string log() const {
    std::ifstream file(log_);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  std::string log_;
  pid_t pid_ = -1;
  Line line_{-1, -1};
};

}  // namespace opennrt::test
