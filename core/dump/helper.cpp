// SPDX-License-Identifier: Apache-2.0
#include "dump/helper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace opennrt::dump {

namespace {

// How a child is started: no signal blocked or ignored, nothing to read, and
// stdout of the host process left alone.
class Launch {
 public:
  Launch() {
    posix_spawnattr_init(&attributes_);
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions_, STDERR_FILENO, STDOUT_FILENO);
  }
  ~Launch() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  Launch(const Launch&) = delete;
  Launch& operator=(const Launch&) = delete;
  int start(pid_t* pid, const char* path, char* const* argv) {
    return posix_spawn(pid, path, &actions_, &attributes_, argv, environ);
  }

 private:
  posix_spawnattr_t attributes_;
  posix_spawn_file_actions_t actions_;
};

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  const int fd_;
};

std::int64_t now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Waits for the end without taking the status. False: not in time.
bool ended(pid_t pid, int pidfd, int timeout_ms) {
  const std::int64_t until = now_ms() + timeout_ms;
  for (;;) {
    const std::int64_t left = std::max<std::int64_t>(0, until - now_ms());
    if (pidfd >= 0) {
      pollfd one{.fd = pidfd, .events = POLLIN, .revents = 0};
      const int n = poll(&one, 1, static_cast<int>(left));
      if (n > 0) return true;
      if (n == 0 || errno != EINTR) return false;
      continue;
    }
    // A kernel without such descriptors.
    siginfo_t info{};
    if (waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
        info.si_pid == pid)
      return true;
    if (left == 0) return false;
    poll(nullptr, 0, 10);
  }
}

}  // namespace

bool is_executable(const std::string& path) {
  struct stat info;
  return !path.empty() && stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
         access(path.c_str(), X_OK) == 0;
}

Status run_helper(const std::string& path, const std::vector<std::string>& arguments,
                  int timeout_ms) {
  std::vector<char*> argv{const_cast<char*>(path.c_str())};
  for (const std::string& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  pid_t pid = -1;
  Launch launch;
  if (const int error = launch.start(&pid, path.c_str(), argv.data()); error != 0)
    return Status::failure("{} cannot be started: {}", path, strerror(error));
  // A descriptor, because a host that collects all children may free the pid.
  const Descriptor child(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  const bool in_time = ended(pid, child.get(), timeout_ms);
  if (!in_time && child.get() >= 0)
    syscall(SYS_pidfd_send_signal, child.get(), SIGKILL, nullptr, 0);
  else if (!in_time)
    kill(pid, SIGKILL);
  int status = 0;
  pid_t got = -1;
  do got = waitpid(pid, &status, 0);
  while (got < 0 && errno == EINTR);
  if (!in_time) return Status::failure("{} did not end within {} ms", path, timeout_ms);
  if (got < 0) return {};  // the host took the status
  if (WIFSIGNALED(status))
    return Status::failure("{} was ended by signal {}", path, WTERMSIG(status));
  if (WEXITSTATUS(status) != 0)
    return Status::failure("{} ended with status {}", path, WEXITSTATUS(status));
  return {};
}

}  // namespace opennrt::dump
