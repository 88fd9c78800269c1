// SPDX-License-Identifier: Apache-2.0
#include "monitor/bell.h"

#include <unistd.h>

#include <chrono>

namespace opennrt::tools {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kGrace{500};

}  // namespace

Bell::Bell() {
  sigemptyset(&signals_);
  for (const int s : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals_, s);
  // Threads that are made later do not take them.
  ::pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  thread_ = std::thread([this] { listen(); });
}

Bell::~Bell() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  ::pthread_kill(thread_.native_handle(), SIGTERM);
  thread_.join();
}

void Bell::listen() {
  int signal = 0;
  while (::sigwait(&signals_, &signal) != 0) {
  }
  std::unique_lock lock(mutex_);
  rung_ = true;
  changed_.notify_all();
  if (!changed_.wait_for(lock, kGrace, [this] { return ends_; })) ::_exit(0);
}

bool Bell::sleep_until(double at_s) {
  const Clock::time_point at(
      std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(at_s)));
  std::unique_lock lock(mutex_);
  return !changed_.wait_until(lock, at, [this] { return rung_; });
}

}  // namespace opennrt::tools
