// SPDX-License-Identifier: Apache-2.0
//
// Thread of an inspection: takes samples, and ends the session when a signal
// that would end the process arrives, before the process's own handler runs.
#pragma once

#include <functional>
#include <thread>

#include "base/status.h"

namespace opennrt::trace::inspect {

class Worker {
 public:
  ~Worker() { stop(); }
  // Calls tick() every second if `ticks`, and flush() once when SIGINT or
  // SIGTERM arrives. Neither may call back into this object.
  Status start(std::function<void()> tick, std::function<void()> flush, bool ticks);
  void stop();  // joins the thread

 private:
  void run(bool ticks);
  std::function<void()> tick_, flush_;
  std::thread thread_;
  int wake_ = -1, done_ = -1;  // event descriptors
};

// After fork, in the child: signals go to the handlers of before.
void forget_signals() noexcept;

}  // namespace opennrt::trace::inspect
