// SPDX-License-Identifier: Apache-2.0
#include "runner/supervisor.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <set>

#include "results.h"

namespace opennrt::conform {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kMostChildren = 4096;  // in one look

// In the process of the case; only calls that are safe there.
[[noreturn]] void become(const Supervised& what, int failed, pid_t supervisor) {
  const auto give_up = [failed] {
    const int error = errno;
    if (::write(failed, &error, sizeof error) < 0) ::_exit(126);
    ::_exit(127);
  };
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != supervisor) ::_exit(127);
  const int null = ::open("/dev/null", O_RDONLY);
  // The results pipe may lie where the others go.
  const int high = ::fcntl(what.results, F_DUPFD_CLOEXEC, 10);
  const int out = ::fcntl(what.output, F_DUPFD_CLOEXEC, 10);
  failed = ::fcntl(failed, F_DUPFD_CLOEXEC, 10);
  if (null < 0 || high < 0 || out < 0 || failed < 0 || ::dup2(null, 0) < 0 || ::dup2(out, 1) < 0 ||
      ::dup2(out, 2) < 0 || ::dup2(high, kResultsFd) < 0)
    give_up();
  ::signal(SIGPIPE, SIG_DFL);
  ::signal(SIGXFSZ, SIG_DFL);
  ::sigprocmask(SIG_SETMASK, &what.mask, nullptr);
  ::execv(what.argv[0], what.argv);
  give_up();
  ::_exit(127);
}

// Takes away what has ended. False: there is no child at all.
bool reap_others() {
  for (;;) {
    const pid_t got = ::waitpid(-1, nullptr, WNOHANG);
    if (got == 0) return true;
    if (got < 0 && errno != EINTR) return false;
  }
}

class Supervisor {
 public:
  explicit Supervisor(const Supervised& what) : what_(what) {
    sigemptyset(&news_);
    sigaddset(&news_, SIGCHLD);
    sigaddset(&news_, SIGTERM);
  }

  void run() {
    if (!start()) return;
    while (!leader_has_ended()) wait_for_news(-1);
    sweep();
  }
  const Notice& notice() const { return notice_; }

 private:
  bool start() {
    int failed[2];
    if (::pipe2(failed, O_CLOEXEC) != 0) {
      notice_.start_error = errno;
      return false;
    }
    const pid_t self = ::getpid();
    leader_ = ::fork();
    if (leader_ < 0) {
      notice_.start_error = errno;
      return false;
    }
    if (leader_ == 0) become(what_, failed[1], self);
    ::setpgid(leader_, leader_);  // whoever comes first
    ::close(failed[1]);
    ::close(what_.output);
    ::close(what_.results);
    if (::read(failed[0], &notice_.start_error, sizeof notice_.start_error) !=
        sizeof notice_.start_error)
      notice_.start_error = 0;
    ::close(failed[0]);
    notice_.pid = leader_;
    return true;
  }

  bool leader_has_ended() {
    for (;;) {
      int status = 0;
      const pid_t got = ::waitpid(-1, &status, WNOHANG);
      if (got == 0) return false;
      if (got < 0 && errno != EINTR) return true;
      if (got == leader_) {
        notice_.status = status;
        return true;
      }
    }
  }

  // For at most that long, -1: any time. Kills the case when it is to end.
  void wait_for_news(int ms) {
    siginfo_t info{};
    const timespec time{ms / 1000, ms % 1000 * 1000000L};
    const int got = ms < 0 ? ::sigwaitinfo(&news_, &info) : ::sigtimedwait(&news_, &info, &time);
    if (got != SIGTERM || (info.si_pid != what_.runner && ::getppid() == what_.runner)) return;
    impatient_ = true;
    siginfo_t ended{};
    // A case that has ended by itself has done so in time.
    if (::waitid(P_PID, static_cast<id_t>(leader_), &ended, WEXITED | WNOHANG | WNOWAIT) != 0 ||
        ended.si_pid == leader_)
      return;
    notice_.ordered = true;
    ::kill(-leader_, SIGKILL);
    ::kill(leader_, SIGKILL);  // it may have left its group
  }

  // Ends what the case has left, as long as there is any.
  void sweep() {
    const auto settled = Clock::now() + std::chrono::milliseconds(kSettleMs);
    while (reap_others() && !impatient_ && Clock::now() < settled) wait_for_news(5);
    const auto given_up = Clock::now() + std::chrono::milliseconds(kGraceMs);
    std::set<pid_t> seen;
    static pid_t found[kMostChildren];
    while (reap_others()) {
      const int n = own_children(found, kMostChildren);
      for (int i = 0; i < n; ++i) {
        seen.insert(found[i]);
        // A group is killed at once, so that its members cannot outrun the signal.
        const pid_t group = ::getpgid(found[i]);
        if (group > 0 && group != ::getpgrp()) ::kill(-group, SIGKILL);
        ::kill(found[i], SIGKILL);
      }
      if (Clock::now() >= given_up) {
        notice_.staying = n > 0 ? n : 1;
        break;
      }
      wait_for_news(1);
    }
    notice_.left = std::max(static_cast<int>(seen.size()), notice_.staying);
  }

  const Supervised what_;
  sigset_t news_{};
  pid_t leader_ = -1;
  Notice notice_;
  bool impatient_ = false;
};

}  // namespace

int own_children(pid_t* out, int n) {
  char name[64];
  std::snprintf(name, sizeof name, "/proc/self/task/%d/children", static_cast<int>(::getpid()));
  std::FILE* file = std::fopen(name, "re");
  if (file == nullptr) return 0;
  int count = 0;
  for (int pid; std::fscanf(file, "%d", &pid) == 1; ++count)
    if (count < n) out[count] = pid;
  std::fclose(file);
  return count < n ? count : n;
}

void supervise(const Supervised& what) {
  // Of a session of its own: a case cannot move into the group of the runner.
  ::setsid();
  ::signal(SIGCHLD, SIG_DFL);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != what.runner) ::_exit(1);
  Supervisor supervisor(what);
  supervisor.run();
  const Notice notice = supervisor.notice();
  ::_exit(::write(what.notice, &notice, sizeof notice) == sizeof notice ? 0 : 1);
}

}  // namespace opennrt::conform
