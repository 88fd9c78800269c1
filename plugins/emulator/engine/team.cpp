// SPDX-License-Identifier: Apache-2.0
#include "engine/team.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <algorithm>
#include <system_error>

namespace opennrt::emu {

namespace {

// A core's work hardly divides further.
constexpr std::uint32_t kMostByDefault = 8;

}  // namespace

Team::~Team() {
  {
    std::lock_guard lock(mutex_);
    ended_ = true;
  }
  called_.notify_all();
  for (std::thread& t : threads_) t.join();
}

std::uint32_t Team::hire(std::uint32_t members) {
  if (threads_.size() >= members) return static_cast<std::uint32_t>(threads_.size());
  // Signals belong to the application's threads.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    while (threads_.size() < members) {
      const auto member = static_cast<std::uint32_t>(threads_.size());
      threads_.emplace_back([this, member] { serve(member); });
    }
  } catch (const std::system_error&) {
    // Fewer threads do the same work.
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return static_cast<std::uint32_t>(threads_.size());
}

void Team::start(std::uint32_t members, Body body, void* context) {
  {
    std::lock_guard lock(mutex_);
    members_ = members;
    body_ = body;
    context_ = context;
    working_.store(members, std::memory_order_relaxed);
    ++round_;
  }
  called_.notify_all();
}

void Team::serve(std::uint32_t member) {
  pthread_setname_np(pthread_self(), "opennrt-core");
  std::uint64_t seen = 0;
  std::unique_lock lock(mutex_);
  for (;;) {
    called_.wait(lock, [&] { return ended_ || (round_ != seen && member < members_); });
    if (ended_) return;
    seen = round_;
    const Body body = body_;
    void* const context = context_;
    lock.unlock();
    body(context, member);
    working_.fetch_sub(1, std::memory_order_release);
    lock.lock();
  }
}

std::uint32_t threads_per_core(std::uint32_t setting, std::uint32_t busy) {
  if (setting != 0) return setting;
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  if (sched_getaffinity(0, sizeof cpus, &cpus) != 0) return 1;
  const auto n = static_cast<std::uint32_t>(CPU_COUNT(&cpus)) / std::max(1u, busy);
  return std::clamp(n, 1u, kMostByDefault);
}

}  // namespace opennrt::emu
