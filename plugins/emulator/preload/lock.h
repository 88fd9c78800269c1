// SPDX-License-Identifier: Apache-2.0
//
// A lock that works before the C library is ready, in a signal handler's way and
// across fork: a word, no owner, no allocation.
#pragma once

#include <linux/futex.h>
#include <signal.h>
#include <sys/syscall.h>

#include <atomic>
#include <cstdint>

#include "preload/system.h"

namespace opennrt::emu::preload {

// A handler that came in the middle of our work could call us again and wait for
// ever; so none does. Faults of the thread itself still arrive.
class SignalsBlocked {
 public:
  SignalsBlocked() noexcept {
    std::uint64_t all = ~std::uint64_t{0};
    for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT})
      all &= ~(std::uint64_t{1} << (signal - 1));
    raw_call(SYS_rt_sigprocmask, SIG_BLOCK, word(&all), word(&before_), sizeof before_);
  }
  ~SignalsBlocked() {
    raw_call(SYS_rt_sigprocmask, SIG_SETMASK, word(&before_), 0, sizeof before_);
  }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  std::uint64_t before_ = 0;
};

class Lock {
 public:
  void lock() noexcept {
    std::uint32_t state = 0;
    if (word_.compare_exchange_strong(state, 1, std::memory_order_acquire)) return;
    // 2: somebody waits.
    while (word_.exchange(2, std::memory_order_acquire) != 0)
      raw_call(SYS_futex, word(&word_), FUTEX_WAIT_PRIVATE, 2);
  }
  void unlock() noexcept {
    if (word_.exchange(0, std::memory_order_release) == 2)
      raw_call(SYS_futex, word(&word_), FUTEX_WAKE_PRIVATE, 1);
  }

 private:
  std::atomic<std::uint32_t> word_{0};
};

// True in the thread that forks, while it holds every lock of the library: others
// that act around fork come by here again.
inline thread_local bool all_held __attribute__((tls_model("initial-exec"))) = false;

// Held for a few loads and stores only, with signals blocked.
class Held {
 public:
  explicit Held(Lock& lock) noexcept : lock_(lock), mine_(!all_held) {
    if (mine_) lock_.lock();
  }
  ~Held() {
    if (mine_) lock_.unlock();
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

 private:
  SignalsBlocked signals_;
  Lock& lock_;
  const bool mine_;
};

}  // namespace opennrt::emu::preload
