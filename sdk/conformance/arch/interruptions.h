// SPDX-License-Identifier: Apache-2.0
//
// Takes the processor from the other threads many thousand times a second, wherever they
// are. Where there is only one, or a busy machine gives no more, each thread would else
// have done all its calls before the next one begins. Made when the others run, by the
// thread that waits for them.
#pragma once

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/time.h>

#include <cerrno>

namespace opennrt::conform {

class Interruptions {
 public:
  Interruptions() {
    struct sigaction action{};
    action.sa_handler = [](int) {
      const int kept = errno;
      ::sched_yield();
      errno = kept;
    };
    action.sa_flags = SA_RESTART;
    ::sigaction(SIGALRM, &action, &action_before_);
    sigset_t alarm;
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    ::pthread_sigmask(SIG_BLOCK, &alarm, &mask_before_);
    set_timer(kEveryUs);
  }
  ~Interruptions() {
    set_timer(0);
    // One that waits still comes to our handler.
    ::pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
    ::sigaction(SIGALRM, &action_before_, nullptr);
  }
  Interruptions(const Interruptions&) = delete;
  Interruptions& operator=(const Interruptions&) = delete;

 private:
  static constexpr long kEveryUs = 50;
  static void set_timer(long us) {
    const itimerval every{{0, us}, {0, us}};
    ::setitimer(ITIMER_REAL, &every, nullptr);
  }
  struct sigaction action_before_{};
  sigset_t mask_before_{};
};

}  // namespace opennrt::conform
