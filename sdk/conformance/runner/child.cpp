// SPDX-License-Identifier: Apache-2.0
#include "runner/child.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>

#include "results.h"

namespace opennrt::conform {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kResultsFd = 3;
constexpr std::size_t kKept = 32 << 10;        // of the output, from each end
constexpr std::size_t kMostResults = 1 << 20;  // bytes of the results pipe
constexpr int kLookMs = 50;                    // between looks at a child that is silent
constexpr int kGraceMs = 2000;                 // for a killed one to be gone

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

// In the new process; only calls that are safe there.
[[noreturn]] void become(char* const* argv, int output, int results, int parent) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);
  const int null = ::open("/dev/null", O_RDONLY);
  // The results pipe may lie where the others go.
  const int high = ::fcntl(results, F_DUPFD_CLOEXEC, 10);
  if (null < 0 || high < 0 || ::dup2(null, 0) < 0 || ::dup2(output, 1) < 0 ||
      ::dup2(output, 2) < 0 || ::dup2(high, kResultsFd) < 0)
    ::_exit(127);
  ::signal(SIGPIPE, SIG_DFL);
  ::execv(argv[0], argv);
  ::_exit(127);
}

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

bool has_ended(pid_t pid) {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == pid;
}

void parse(const std::string& text, Child* child) {
  std::size_t at = 0;
  for (std::size_t end; (end = text.find('\n', at)) != text.npos; at = end + 1) {
    const std::string line = text.substr(at, end - at);
    const std::size_t tab = line.find('\t');
    if (tab != line.npos)
      child->told.emplace_back(line.substr(0, tab), unescaped(line.substr(tab + 1)));
  }
}

// Reads until both pipes end, the process does, or the time is over. False: the time.
bool watch(pid_t pid, int output, int results, Clock::time_point deadline, Kept* printed,
           std::string* told) {
  pollfd waits[2] = {{output, POLLIN, 0}, {results, POLLIN, 0}};
  bool ended = false;
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return ended || has_ended(pid);
    const bool open = waits[0].fd >= 0 || waits[1].fd >= 0;
    if (!open && has_ended(pid)) return true;
    // A process that has ended has written all it will; others may hold its pipes.
    const int wait = ended ? 0 : static_cast<int>(std::min<long long>(left, open ? kLookMs : 1));
    const int ready = ::poll(waits, 2, wait);
    if (ready < 0 && errno != EINTR) return true;
    if (ready <= 0) {
      if (ended) return true;
      ended = has_ended(pid);
      continue;
    }
    if (waits[0].revents != 0 &&
        !drain(output, [&](const char* data, std::size_t n) { printed->add(data, n); }))
      waits[0].fd = -1;
    if (waits[1].revents != 0 && !drain(results, [&](const char* data, std::size_t n) {
          told->append(data, std::min(n, kMostResults - std::min(kMostResults, told->size())));
        }))
      waits[1].fd = -1;
    waits[0].revents = waits[1].revents = 0;
  }
}

// Ends the group, takes its processes away and returns the status of its leader. Those
// whose parent has ended are this process's to take.
int reap(pid_t pid) {
  ::kill(-pid, SIGKILL);
  int status = 0;
  for (int waited = 0; waited < kGraceMs;) {
    int other = 0;
    const pid_t got = ::waitpid(-pid, &other, WNOHANG);
    if (got == pid) status = other;
    if (got < 0 && errno != EINTR) break;  // none is left
    if (got != 0) continue;
    ::usleep(1000);
    ++waited;
  }
  return status;
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
  program.push_back("--results=" + std::to_string(kResultsFd));
  std::vector<char*> argv;
  for (std::string& word : program) argv.push_back(word.data());
  argv.push_back(nullptr);
  Pipe output, results;
  if (!output.open() || !results.open()) {
    child.problem = std::string("pipe: ") + std::strerror(errno);
    return child;
  }
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  const auto start = Clock::now();
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) {
    child.problem = std::string("fork: ") + std::strerror(errno);
    return child;
  }
  if (pid == 0) become(argv.data(), output.ends[1], results.ends[1], parent);
  ::setpgid(pid, pid);  // whoever comes first
  output.close_end(1);
  results.close_end(1);
  Kept printed;
  std::string told;
  const auto limit =
      std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(limit_s));
  const bool in_time = watch(pid, output.ends[0], results.ends[0], start + limit, &printed, &told);
  const int status = reap(pid);
  child.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  child.output = printed.text();
  parse(told, &child);
  if (!in_time) {
    child.end = Child::End::kTimeLimit;
  } else if (WIFSIGNALED(status)) {
    child.end = Child::End::kSignal;
    child.code = WTERMSIG(status);
  } else {
    child.end = Child::End::kExited;
    child.code = WEXITSTATUS(status);
  }
  if (child.end == Child::End::kExited && child.code == 127 && child.told.empty()) {
    child.end = Child::End::kNotStarted;
    child.problem = program[0] + ": cannot be started";
  }
  return child;
}

std::string signal_text(int signal) {
  const char* name = ::sigabbrev_np(signal);
  return name != nullptr ? std::string("SIG") + name : "signal " + std::to_string(signal);
}

}  // namespace opennrt::conform
