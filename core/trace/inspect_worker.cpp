// SPDX-License-Identifier: Apache-2.0
#include "trace/inspect_worker.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <utility>

namespace opennrt::trace::inspect {

namespace {

constexpr int kPeriodMs = 1000;
// The interrupted thread may hold a lock that writing needs: then the signal is
// passed on without the files.
constexpr int kFlushMs = 5000;
constexpr std::uint64_t kQuit = 1, kSignal = 1ull << 32;

constexpr std::array kSignals = {SIGINT, SIGTERM};
// Of the session whose handlers are installed; -1: none.
constinit std::atomic<int> g_wake{-1}, g_done{-1};
constinit std::array<struct sigaction, kSignals.size()> g_before{};
constinit std::atomic<bool> g_installed{false};
// Somebody's handler was put over ours and may still chain to it.
constinit std::array<bool, kSignals.size()> g_covered{};

// Async-signal-safe calls only.
void flush_and_chain(int number, siginfo_t* info, void* context) {
  const int error = errno;
  const int wake = g_wake.load();
  const int done = g_done.load();
  if (wake >= 0 && write(wake, &kSignal, sizeof kSignal) == sizeof kSignal) {
    pollfd wait{.fd = done, .events = POLLIN, .revents = 0};
    while (poll(&wait, 1, kFlushMs) < 0 && errno == EINTR) {
    }
  }
  const struct sigaction& before = g_before[number == kSignals[0] ? 0 : 1];
  errno = error;
  if ((before.sa_flags & SA_SIGINFO) != 0) {
    if (before.sa_sigaction != nullptr) before.sa_sigaction(number, info, context);
  } else if (before.sa_handler == SIG_DFL) {
    signal(number, SIG_DFL);
    raise(number);  // delivered when this handler returns
  } else if (before.sa_handler != SIG_IGN) {
    before.sa_handler(number);
  }
}

void install(int wake, int done) {
  g_wake = wake;
  g_done = done;
  struct sigaction ours{};
  ours.sa_sigaction = &flush_and_chain;
  ours.sa_flags = SA_SIGINFO | SA_RESTART;
  sigemptyset(&ours.sa_mask);
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    if (g_covered[i]) continue;
    if (sigaction(kSignals[i], nullptr, &g_before[i]) != 0) continue;
    if ((g_before[i].sa_flags & SA_SIGINFO) == 0 && g_before[i].sa_handler == SIG_IGN) continue;
    sigaction(kSignals[i], &ours, nullptr);
  }
  g_installed = true;
}

// A handler that somebody put over ours stays; where it chains to ours, that one
// only passes on until the next session.
void uninstall() {
  if (!g_installed.exchange(false)) return;
  g_wake = -1;
  g_done = -1;
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    struct sigaction now{};
    if (sigaction(kSignals[i], nullptr, &now) != 0) continue;
    const bool ours = (now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == &flush_and_chain;
    if (ours) sigaction(kSignals[i], &g_before[i], nullptr);
    const bool never = (g_before[i].sa_flags & SA_SIGINFO) == 0 &&
                       g_before[i].sa_handler == SIG_IGN && !g_covered[i];
    g_covered[i] = !ours && !never;
  }
}

}  // namespace

void forget_signals() noexcept { uninstall(); }

Status Worker::start(std::function<void()> tick, std::function<void()> flush, bool ticks) {
  tick_ = std::move(tick);
  flush_ = std::move(flush);
  wake_ = eventfd(0, EFD_CLOEXEC);
  done_ = eventfd(0, EFD_CLOEXEC);
  if (wake_ < 0 || done_ < 0) {
    Status failed = Status::resource("no descriptor for an inspection: {}", strerror(errno));
    stop();
    return failed;
  }
  // Signals are for the host's threads.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  Status status;
  try {
    thread_ = std::thread([this, ticks] { run(ticks); });
  } catch (const std::exception& e) {
    status = Status::resource("no thread for an inspection: {}", e.what());
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (!status) {
    stop();
    return status;
  }
  install(wake_, done_);
  return {};
}

void Worker::run(bool ticks) {
  while (true) {
    pollfd wait{.fd = wake_, .events = POLLIN, .revents = 0};
    const int ready = poll(&wait, 1, ticks ? kPeriodMs : -1);
    if (ready == 0) {
      tick_();
      continue;
    }
    std::uint64_t reason = 0;
    if (ready < 0 || read(wake_, &reason, sizeof reason) != sizeof reason) continue;
    if (reason >= kSignal) {
      flush_();
      const std::uint64_t one = 1;
      [[maybe_unused]] const ssize_t n = write(done_, &one, sizeof one);
    }
    if (reason % kSignal != 0) return;
    ticks = false;  // flushed: there is nothing left to sample
  }
}

void Worker::stop() {
  if (thread_.joinable()) {
    uninstall();
    [[maybe_unused]] const ssize_t n = write(wake_, &kQuit, sizeof kQuit);
    thread_.join();
  }
  for (int* fd : {&wake_, &done_})
    if (*fd >= 0) close(std::exchange(*fd, -1));
}

}  // namespace opennrt::trace::inspect
