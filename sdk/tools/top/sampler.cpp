// SPDX-License-Identifier: Apache-2.0
#include "top/sampler.h"

#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <system_error>
#include <utility>

namespace opennrt::tools {

Sampler::Sampler(Surroundings& here)
    : here_(here), ready_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (ready_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
  // Signals are for the thread that waits.
  sigset_t all, before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread_ = std::thread([this] { run(); });
  } catch (...) {
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    ::close(ready_);
    throw;
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Sampler::~Sampler() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  thread_.join();
  ::close(ready_);
}

void Sampler::run() {
  Source source(here_);
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return asked_ || ends_; });
    if (ends_) return;
    lock.unlock();
    Sample made = source.take();
    lock.lock();
    sample_ = std::move(made);
    asked_ = false;
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t n = ::write(ready_, &one, sizeof one);
    changed_.notify_all();
  }
}

void Sampler::ask() {
  {
    const std::lock_guard lock(mutex_);
    asked_ = true;
  }
  changed_.notify_all();
}

std::optional<Sample> Sampler::take() {
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t n = ::read(ready_, &count, sizeof count);
  const std::lock_guard lock(mutex_);
  return std::exchange(sample_, std::nullopt);
}

bool Sampler::idle_within(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, patience, [this] { return !asked_; });
}

}  // namespace opennrt::tools
