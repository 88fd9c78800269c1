// SPDX-License-Identifier: Apache-2.0
#include "kmgr/completions.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "log/log.h"

namespace opennrt::kmgr {

namespace {

using Clock = std::chrono::steady_clock;

// No longer without a look: the tensor may have been freed.
constexpr std::chrono::milliseconds kLook{20};
// A wait beyond it is one for ever.
constexpr std::int64_t kForeverUs = 1ll << 50;
constexpr std::chrono::seconds kProgress{30};

struct Waiters {
  std::mutex mutex;
  std::condition_variable changed;
  std::atomic<std::uint32_t> waiting{0};
};

Waiters& waiters() {
  static Waiters* const all = new Waiters;
  return *all;
}

}  // namespace

void note_completion(tdrv::Tensor& tensor) noexcept {
  // Sequentially consistent: either the waiter sees the new count or we see the
  // waiter.
  tensor.completions.add();
  Waiters& all = waiters();
  if (all.waiting.load(std::memory_order_seq_cst) == 0) return;
  const std::lock_guard lock(all.mutex);
  all.changed.notify_all();
}

Status wait_for_completions(const std::function<Result<std::uint64_t>()>& count,
                            std::int64_t timeout_us, std::uint64_t expected) {
  ONRT_ASSIGN(std::uint64_t seen, count());
  if (seen >= expected) return {};
  Waiters& all = waiters();
  const Clock::time_point start = Clock::now();
  const bool bounded = timeout_us >= 0 && timeout_us < kForeverUs;
  const Clock::time_point end = start + std::chrono::microseconds(bounded ? timeout_us : 0);
  Clock::time_point told = start;
  std::unique_lock lock(all.mutex);
  all.waiting.fetch_add(1, std::memory_order_seq_cst);
  Status status;
  for (;;) {
    Result<std::uint64_t> now_seen = count();
    if (!now_seen.is_ok()) {
      status = std::move(now_seen).status();
      break;
    }
    seen = *now_seen;
    if (seen >= expected) break;
    const Clock::time_point now = Clock::now();
    if (bounded && now >= end) {
      status = Status::make(NRT_TIMEOUT, "the tensor has {} completions of {} after {} us", seen,
                            expected, timeout_us);
      break;
    }
    if (now - told >= kProgress) {
      told = now;
      ONRT_LOG(kKmgr, kInfo, "waiting for a tensor: {} completions of {}", seen, expected);
    }
    const Clock::time_point look = now + kLook;
    all.changed.wait_until(lock, bounded ? std::min(look, end) : look);
  }
  all.waiting.fetch_sub(1, std::memory_order_seq_cst);
  return status;
}

}  // namespace opennrt::kmgr
