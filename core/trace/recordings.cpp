// SPDX-License-Identifier: Apache-2.0
#include "trace/recordings.h"

#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <mutex>
#include <new>
#include <thread>

#include "log/log.h"
#include "trace/trace.h"

namespace opennrt::trace {

constinit std::atomic<std::uint64_t> g_wanted_types{0};

namespace {

constexpr std::size_t kPurposes = static_cast<std::size_t>(Purpose::kCount);
constexpr unsigned kCoreShift = 50;  // of tracking numbers that nobody chose

constinit std::array<std::atomic<Capture*>, kPurposes> g_captures{};
constinit std::atomic<std::uint64_t> g_next_id{1};
constinit std::atomic<std::uint64_t> g_next_tracking{1};
constinit std::atomic<std::uint32_t> g_cores{0};
// Recordings of the parent, kept so that they stay reachable in a child.
constinit std::array<Capture*, kPurposes> g_inherited{};

// Threads inside emit(), in two sets. Who takes a recording out changes the set
// that newcomers use and waits for the old one, twice, so that it also waits for
// a thread that had read the number of the set just before.
struct alignas(64) Counter {
  std::atomic<std::int64_t> inside[2]{};
};
constexpr std::uint32_t kCounters = 16;
constinit std::array<Counter, kCounters> g_counters{};
constinit std::atomic<std::uint32_t> g_set{0};
constinit std::atomic<std::uint32_t> g_next_counter{0};
constinit thread_local std::uint32_t t_counter = ~0u;
// The thread id, which changes in a forked child.
constinit std::atomic<std::uint32_t> g_generation{1};
constinit thread_local std::uint32_t t_generation = 0;
constinit thread_local std::uint64_t t_thread = 0;

// Guards starting, stopping and reading. Made anew in a forked child, where the
// thread that held it does not exist.
constinit std::mutex g_control;
constinit std::atomic<bool> g_fork_handler{false};

std::uint64_t thread_id() {
  const std::uint32_t generation = g_generation.load(std::memory_order_relaxed);
  if (t_generation != generation) {
    t_generation = generation;
    t_thread = static_cast<std::uint64_t>(gettid());
  }
  return t_thread;
}

void in_child() {
  g_wanted_types.store(0, std::memory_order_relaxed);
  for (std::size_t i = 0; i < kPurposes; ++i)
    g_inherited[i] = g_captures[i].exchange(nullptr, std::memory_order_relaxed);
  for (Counter& counter : g_counters)
    for (auto& inside : counter.inside) inside.store(0, std::memory_order_relaxed);
  g_generation.fetch_add(1, std::memory_order_relaxed);
  new (&g_control) std::mutex;
}

Status install_fork_handler() {
  if (g_fork_handler.load(std::memory_order_relaxed)) return {};  // under g_control
  if (pthread_atfork(nullptr, nullptr, &in_child) != 0)
    return Status::resource("no memory for a fork handler");
  g_fork_handler.store(true, std::memory_order_relaxed);
  return {};
}

std::atomic<Capture*>& slot(Purpose purpose) {
  return g_captures[static_cast<std::size_t>(purpose)];
}

void publish_wanted() {
  std::uint64_t types = 0;
  for (const auto& capture : g_captures)
    if (const Capture* c = capture.load(std::memory_order_relaxed)) types |= c->options().types;
  g_wanted_types.store(types, std::memory_order_seq_cst);
}

void wait_for_writers() {
  for (int round = 0; round < 2; ++round) {
    const std::uint32_t old = g_set.fetch_xor(1, std::memory_order_seq_cst);
    for (const Counter& counter : g_counters)
      while (counter.inside[old].load(std::memory_order_seq_cst) != 0)
        std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
}

constexpr const char* kNames[kPurposes] = {"the system trace", "inspection", "nrt_trace_start",
                                           "profile sessions"};

}  // namespace

std::uint64_t now_ns() noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

std::uint64_t next_tracking(std::uint32_t core) noexcept {
  return static_cast<std::uint64_t>(core) << kCoreShift |
         g_next_tracking.fetch_add(1, std::memory_order_relaxed);
}

void emit(const Event& event) noexcept {
  if (!wanted(event.type)) return;
  Record record{.event = event,
                .id = g_next_id.fetch_add(1, std::memory_order_relaxed),
                .core_id = 0,
                .thread = thread_id(),
                .time_ns = now_ns()};
  if (record.event.tracking == 0) record.event.tracking = next_tracking(event.core);
  if (t_counter == ~0u)
    t_counter = g_next_counter.fetch_add(1, std::memory_order_relaxed) % kCounters;
  Counter& counter = g_counters[t_counter];
  const std::uint32_t set = g_set.load(std::memory_order_seq_cst);
  counter.inside[set].fetch_add(1, std::memory_order_seq_cst);
  for (const auto& capture : g_captures)
    if (Capture* c = capture.load(std::memory_order_seq_cst)) c->push(record);
  counter.inside[set].fetch_sub(1, std::memory_order_release);
}

void Span::open(std::uint32_t core, const Payload& start, std::uint64_t sequence) noexcept {
  core_ = core;
  sequence_ = sequence;
  tracking_ = next_tracking(core);
  emit({.type = type_,
        .phase = Phase::kStart,
        .core = core,
        .tracking = tracking_,
        .sequence = sequence,
        .data = start});
}

void Span::close(const Payload& data) noexcept {
  emit({.type = type_,
        .phase = Phase::kStop,
        .core = core_,
        .tracking = tracking_,
        .sequence = sequence_,
        .data = data});
  tracking_ = 0;
}

Status start_recording(Purpose purpose, const CaptureOptions& options) {
  const std::lock_guard lock(g_control);
  if (slot(purpose).load(std::memory_order_relaxed) != nullptr)
    return Status::invalid("{} is already recording; stop it first",
                           kNames[static_cast<std::size_t>(purpose)]);
  ONRT_TRY(install_fork_handler());
  auto capture = std::make_unique<Capture>(options);
  // Before nrt_init there is at least what belongs to no core.
  ONRT_TRY(capture->provide(std::max(1u, g_cores.load(std::memory_order_relaxed))));
  slot(purpose).store(capture.release(), std::memory_order_seq_cst);
  publish_wanted();
  return {};
}

bool is_recording(Purpose purpose) {
  return slot(purpose).load(std::memory_order_acquire) != nullptr;
}

std::unique_ptr<Capture> stop_recording(Purpose purpose) {
  const std::lock_guard lock(g_control);
  std::unique_ptr<Capture> capture(slot(purpose).exchange(nullptr, std::memory_order_seq_cst));
  if (capture == nullptr) return nullptr;
  publish_wanted();
  wait_for_writers();
  capture->close();
  return capture;
}

Status fetch(Purpose purpose, const FetchOptions& options, std::vector<Record>& out) {
  const std::lock_guard lock(g_control);
  Capture* const capture = slot(purpose).load(std::memory_order_relaxed);
  if (capture == nullptr)
    return Status::invalid("{} is not recording; start it first",
                           kNames[static_cast<std::size_t>(purpose)]);
  capture->drain(options, out);
  return {};
}

void set_cores(std::uint32_t cores) {
  const std::lock_guard lock(g_control);
  g_cores.store(cores, std::memory_order_relaxed);
  for (std::size_t i = 0; i < kPurposes; ++i)
    if (Capture* capture = g_captures[i].load(std::memory_order_relaxed))
      if (Status s = capture->provide(cores); !s)
        ONRT_LOG(kNrt, kWarn, "{} lacks some cores: {}", kNames[i], s.message());
}

}  // namespace opennrt::trace
