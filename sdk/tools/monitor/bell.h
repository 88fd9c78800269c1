// SPDX-License-Identifier: Apache-2.0
//
// Hears the signals that end a program, on a thread of its own: it ends also while a
// sample takes long, or nobody reads its lines.
#pragma once

#include <signal.h>

#include <condition_variable>
#include <mutex>
#include <thread>

namespace opennrt::tools {

class Bell {
 public:
  // From now on SIGINT, SIGTERM and SIGHUP are heard; before other threads are made.
  Bell();
  ~Bell();
  Bell(const Bell&) = delete;
  Bell& operator=(const Bell&) = delete;

  // By CLOCK_MONOTONIC. False: a signal came; the program has kGrace to end by itself,
  // then it ends with exit code 0 wherever it is.
  bool sleep_until(double at_s);

 private:
  void listen();

  sigset_t signals_{};
  std::mutex mutex_;
  std::condition_variable changed_;
  bool rung_ = false, ends_ = false;
  std::thread thread_;
};

}  // namespace opennrt::tools
