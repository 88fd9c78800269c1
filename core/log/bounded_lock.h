// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sched.h>

#include <mutex>

namespace opennrt::log {

// Holds the mutex, or gives up: a child forked while another thread held it
// must lose a line rather than wait for ever.
class BoundedLock {
 public:
  explicit BoundedLock(std::mutex& mutex) : mutex_(mutex) {
    constexpr int kTries = 10'000;  // a holder copies one line or prints it
    for (int i = 0; i < kTries && !held_; ++i) {
      held_ = mutex_.try_lock();
      if (!held_) sched_yield();
    }
  }
  ~BoundedLock() {
    if (held_) mutex_.unlock();
  }
  BoundedLock(const BoundedLock&) = delete;
  BoundedLock& operator=(const BoundedLock&) = delete;
  explicit operator bool() const { return held_; }

 private:
  std::mutex& mutex_;
  bool held_ = false;
};

}  // namespace opennrt::log
