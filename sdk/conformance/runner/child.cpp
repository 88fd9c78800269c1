// SPDX-License-Identifier: Apache-2.0
#include "runner/child.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iterator>

#include "results.h"
#include "runner/supervisor.h"

namespace opennrt::conform {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kKept = 32 << 10;        // of the output, from each end
constexpr std::size_t kMostResults = 1 << 20;  // bytes of the results pipe

struct Pipe {
  int ends[2] = {-1, -1};
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  bool open() { return ::pipe2(ends, O_CLOEXEC) == 0; }
  void close_end(int i) {
    if (ends[i] >= 0) ::close(ends[i]);
    ends[i] = -1;
  }
};

// Beginning and end of a text of any length.
class Kept {
 public:
  void add(const char* data, std::size_t n) {
    const std::size_t first = std::min(n, kKept - std::min(kKept, head_.size()));
    head_.append(data, first);
    tail_.append(data + first, n - first);
    if (tail_.size() > 2 * kKept) {
      dropped_ += tail_.size() - kKept;
      tail_.erase(0, tail_.size() - kKept);
    }
  }
  std::string text() const {
    if (dropped_ == 0) return head_ + tail_;
    return head_ + "\n[" + std::to_string(dropped_) + " bytes left out]\n" + tail_;
  }

 private:
  std::string head_, tail_;
  std::size_t dropped_ = 0;
};

// Signals that end this process wait until its child has been ended. Those that it
// ignores stay ignored.
constexpr int kEnding[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};
volatile std::sig_atomic_t caught = 0;

class Interrupts {
 public:
  Interrupts() {
    caught = 0;
    sigset_t all;
    sigfillset(&all);
    ::sigprocmask(SIG_SETMASK, &all, &mask_);
    for (std::size_t i = 0; i < std::size(kEnding); ++i) {
      ::sigaction(kEnding[i], nullptr, &before_[i]);
      if (before_[i].sa_handler == SIG_IGN) continue;
      struct sigaction action{};
      action.sa_handler = [](int signal) { caught = signal; };
      ::sigaction(kEnding[i], &action, nullptr);
    }
    ::sigaction(SIGCHLD, nullptr, &child_);
    ::signal(SIGCHLD, SIG_DFL);  // ignored ones could not be waited for
  }
  ~Interrupts() {
    for (std::size_t i = 0; i < std::size(kEnding); ++i)
      ::sigaction(kEnding[i], &before_[i], nullptr);
    ::sigaction(SIGCHLD, &child_, nullptr);
    ::sigprocmask(SIG_SETMASK, &mask_, nullptr);
    if (caught != 0) ::raise(caught);
  }
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;
  // During which they are let in.
  const sigset_t& mask() const { return mask_; }

 private:
  sigset_t mask_{};
  struct sigaction before_[std::size(kEnding)]{};
  struct sigaction child_{};
};

// What has arrived; false at the end.
template <typename Add>
bool drain(int fd, Add add) {
  char block[65536];
  const ssize_t n = ::read(fd, block, sizeof block);
  if (n < 0) return errno == EINTR || errno == EAGAIN;
  if (n == 0) return false;
  add(block, static_cast<std::size_t>(n));
  return true;
}

// Lines of the program itself: NONCE TAB PID TAB KEY TAB TEXT. pid 0: not known.
void parse(const std::string& text, const std::string& nonce, pid_t pid, Child* child) {
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    at = end + 1;
    const std::string head = nonce + '\t' + std::to_string(pid) + '\t';
    const std::size_t key = pid == 0 ? line.find('\t', nonce.size() + 1) + 1 : head.size();
    const std::size_t tab = line.find('\t', key);
    if (!line.starts_with(pid == 0 ? nonce : head) || key == 0 || tab == line.npos) {
      child->forged = true;
      continue;
    }
    child->told.emplace_back(line.substr(key, tab - key), unescaped(line.substr(tab + 1)));
  }
}

std::string new_nonce() {
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof number, 0) != sizeof number)
    number = static_cast<std::uint64_t>(Clock::now().time_since_epoch().count());
  char text[20];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(number));
  return text;
}

int until(Clock::time_point when) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(when - Clock::now()).count();
  return static_cast<int>(std::clamp<long long>(left, 0, 1 << 30));
}

// Reads what a program prints and tells until its supervisor says that it is over.
class Watch {
 public:
  Watch(int output, int results, int notice)
      : waits_{{output, POLLIN, 0}, {results, POLLIN, 0}, {notice, POLLIN, 0}} {}

  // True: the notice is there.
  bool run(pid_t supervisor, Clock::time_point deadline, const sigset_t& mask) {
    bool ordered = false;
    for (;;) {
      if (!ordered && (caught != 0 || until(deadline) == 0)) {
        ::kill(supervisor, SIGTERM);
        ordered = true;
        deadline = Clock::now() + std::chrono::milliseconds(2 * kGraceMs);
      }
      if (ordered && until(deadline) == 0) return false;
      look(until(deadline), &mask);
      if (waits_[2].revents == 0) continue;
      const bool whole = ::read(waits_[2].fd, &notice_, sizeof notice_) == sizeof notice_;
      // Nobody writes any more, but for one that could not be ended.
      const auto end = Clock::now() + std::chrono::milliseconds(kGraceMs);
      waits_[2].fd = -1;
      while (until(end) != 0 && look(0, nullptr)) {
      }
      return whole;
    }
  }
  const Notice& notice() const { return notice_; }
  std::string printed() const { return printed_.text(); }
  const std::string& told() const { return told_; }

 private:
  // False: nothing has come.
  bool look(int ms, const sigset_t* mask) {
    for (pollfd& wait : waits_) wait.revents = 0;
    const timespec time{ms / 1000, ms % 1000 * 1000000L};
    if (::ppoll(waits_, 3, &time, mask) <= 0) return false;
    if (waits_[0].revents != 0 &&
        !drain(waits_[0].fd, [&](const char* data, std::size_t n) { printed_.add(data, n); }))
      waits_[0].fd = -1;
    if (waits_[1].revents != 0 && !drain(waits_[1].fd, [&](const char* data, std::size_t n) {
          told_.append(data, std::min(n, kMostResults - std::min(kMostResults, told_.size())));
        }))
      waits_[1].fd = -1;
    return true;
  }

  pollfd waits_[3];
  Kept printed_;
  std::string told_;
  Notice notice_;
};

// What is left of a case whose supervisor is gone has become this process's.
void end_strangers(const std::vector<pid_t>& own) {
  for (int waited = 0; waited < kGraceMs; ++waited) {
    pid_t found[256];
    const int n = own_children(found, static_cast<int>(std::size(found)));
    bool any = false;
    for (int i = 0; i < n; ++i) {
      if (std::find(own.begin(), own.end(), found[i]) != own.end()) continue;
      any = true;
      ::kill(found[i], SIGKILL);
      ::waitpid(found[i], nullptr, WNOHANG);
    }
    if (!any) break;
    ::usleep(1000);
  }
}

}  // namespace

std::string Child::last(const std::string& key) const {
  for (std::size_t i = told.size(); i-- > 0;)
    if (told[i].first == key) return told[i].second;
  return "";
}

std::vector<std::string> Child::all(const std::string& key) const {
  std::vector<std::string> out;
  for (const auto& [name, text] : told)
    if (name == key) out.push_back(text);
  return out;
}

Child run_child(std::vector<std::string> program, double limit_s) {
  Child child;
  const std::string nonce = new_nonce();
  program.push_back("--results=" + nonce);
  std::vector<char*> argv;
  for (std::string& word : program) argv.push_back(word.data());
  argv.push_back(nullptr);
  Pipe output, results, notice;
  if (!output.open() || !results.open() || !notice.open()) {
    child.problem = std::string("pipe: ") + std::strerror(errno);
    return child;
  }
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);  // for what a supervisor leaves that was killed
  // Those of the program that this process was before.
  std::vector<pid_t> own(4096);
  own.resize(static_cast<std::size_t>(own_children(own.data(), static_cast<int>(own.size()))));
  Interrupts interrupts;
  Supervised what{.argv = argv.data(),
                  .output = output.ends[1],
                  .results = results.ends[1],
                  .notice = notice.ends[1],
                  .runner = ::getpid(),
                  .mask = interrupts.mask()};
  sigdelset(&what.mask, SIGPIPE);
  const auto start = Clock::now();
  const pid_t supervisor = ::fork();
  if (supervisor < 0) {
    child.problem = std::string("fork: ") + std::strerror(errno);
    return child;
  }
  if (supervisor == 0) supervise(what);
  for (Pipe* pipe : {&output, &results, &notice}) pipe->close_end(1);
  const auto limit =
      std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(limit_s));
  Watch watch(output.ends[0], results.ends[0], notice.ends[0]);
  const bool watched = watch.run(supervisor, start + limit, interrupts.mask());
  ::kill(supervisor, SIGKILL);  // it has ended, or does not
  ::waitpid(supervisor, nullptr, 0);
  const Notice& end = watch.notice();
  child.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  child.output = watch.printed();
  parse(watch.told(), nonce, end.pid, &child);
  child.left = end.left;
  child.staying = end.staying;
  if (!watched) {
    end_strangers(own);
    child.end = Child::End::kUnwatched;
    child.problem = "the process that watches the case was killed or stopped";
  } else if (caught != 0) {
    child.problem = "interrupted by " + signal_text(caught);
  } else if (end.start_error != 0) {
    child.problem = program[0] + ": cannot be started: " + std::strerror(end.start_error);
  } else if (end.ordered) {
    child.end = Child::End::kTimeLimit;
  } else if (WIFSIGNALED(end.status)) {
    child.end = Child::End::kSignal;
    child.code = WTERMSIG(end.status);
  } else {
    child.end = Child::End::kExited;
    child.code = WEXITSTATUS(end.status);
  }
  return child;
}

std::string signal_text(int signal) {
  const char* name = ::sigabbrev_np(signal);
  return name != nullptr ? std::string("SIG") + name : "signal " + std::to_string(signal);
}

}  // namespace opennrt::conform
