// SPDX-License-Identifier: Apache-2.0
#include "api/state.h"

#include <pthread.h>
#include <time.h>

#include <array>
#include <atomic>

#include "dump/core_dump.h"
#include "log/log.h"
#include "trace/debug_stream.h"
#include "trace/profile.h"

namespace opennrt::api {

namespace {

constinit std::atomic<State> g_state{State::kStart};
constinit std::atomic<bool> g_fork_handler{false};

// Threads count on different cache lines, so that executions of different cores
// do not slow each other down.
struct alignas(64) Counter {
  std::atomic<std::int64_t> calls{0};
};
constexpr std::uint32_t kCounters = 16;
constinit std::array<Counter, kCounters> g_counters{};
constinit std::atomic<std::uint32_t> g_next_counter{0};
constinit thread_local std::uint32_t t_counter = ~0u;

Counter& counter() {
  if (t_counter == ~0u) t_counter = g_next_counter.fetch_add(1) % kCounters;
  return g_counters[t_counter];
}

const char* state_name(State state) {
  constexpr const char* kNames[] = {"NRT_STATE_START", "NRT_STATE_INIT", "NRT_STATE_CHILD",
                                    "NRT_STATE_CLOSED"};
  return kNames[static_cast<std::uint32_t>(state)];
}

// Nothing of the parent is used or released in the child.
void in_child() {
  g_state.store(State::kChild, std::memory_order_seq_cst);
  log::enter_forked_child();
  dump::enter_forked_child();
  trace::profile::enter_forked_child();
  trace::debug_stream::enter_forked_child();
}

}  // namespace

State state() noexcept { return g_state.load(std::memory_order_seq_cst); }

void set_state(State state) noexcept { g_state.store(state, std::memory_order_seq_cst); }

NRT_STATUS rejection(State state) noexcept {
  if (state == State::kStart) return NRT_UNINITIALIZED;
  return state == State::kClosed ? NRT_CLOSED : NRT_FAILURE;
}

void log_rejection(const char* name, State state) noexcept {
  const auto level = state == State::kClosed ? log::Level::kWarn : log::Level::kError;
  if (!log::enabled(log::Module::kNrt, level)) return;
  if (state == State::kStart)
    log::format(log::Module::kNrt, level, name, "NRT uninitialized; call nrt_init first");
  else if (state == State::kClosed)
    log::format(log::Module::kNrt, level, name, "NRT already closed");
  else
    log::format(
        log::Module::kNrt, level, name, "Incompatible runtime state: {}{}", state_name(state),
        state == State::kChild
            ? "; a forked child has no runtime: fork before nrt_init, or start a new program"
            : "");
}

// The order of the two operations pairs with set_state and wait_until_left:
// either the closer sees the count or the caller sees the new state.
State enter() noexcept {
  counter().calls.fetch_add(1, std::memory_order_seq_cst);
  const State seen = state();
  if (seen != State::kInit) leave();
  return seen;
}

void leave() noexcept { counter().calls.fetch_sub(1, std::memory_order_release); }

void wait_until_left() noexcept {
  constexpr std::int64_t kPollNs = 100'000;
  constexpr std::uint64_t kPollsPerWarning = 1'200'000;  // 120 s
  for (std::uint64_t polls = 1;; ++polls) {
    std::int64_t inside = 0;
    for (const Counter& c : g_counters) inside += c.calls.load(std::memory_order_seq_cst);
    if (inside == 0) return;
    const timespec pause{.tv_sec = 0, .tv_nsec = kPollNs};
    nanosleep(&pause, nullptr);
    if (polls % kPollsPerWarning == 0)
      ONRT_LOG(kNrt, kWarn, "nrt_close waits for {} call(s) that are still running", inside);
  }
}

int install_fork_handler() noexcept {
  if (g_fork_handler.exchange(true)) return 0;
  const int error = pthread_atfork(nullptr, nullptr, &in_child);
  if (error != 0) g_fork_handler = false;
  return -error;
}

}  // namespace opennrt::api
