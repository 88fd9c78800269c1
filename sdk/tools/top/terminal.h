// SPDX-License-Identifier: Apache-2.0
//
// The terminal while a full-screen tool has it: keys without a line, a screen of its
// own, no cursor. Given back as it was when this ends, when the process is stopped,
// and before a signal ends it. One that takes no output keeps nobody from ending.
//
// One at a time; signals are handled on the thread that made it.
#pragma once

#include <signal.h>
#include <termios.h>

#include <cstddef>
#include <string>
#include <vector>

#include "top/screen.h"

namespace opennrt::tools {

class Terminal {
 public:
  // False in ok(): standard output is no terminal that can do this; error says why.
  Terminal();
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  bool ok() const { return error_.empty(); }
  const std::string& error() const { return error_; }

  void size(std::size_t* columns, std::size_t* rows) const;
  // False: the terminal is gone. A signal that ends ends this, too.
  bool draw(const std::vector<ScreenLine>& lines);

  enum class Event { kTime, kKey, kReady, kResized, kEnd };
  // Until the time of CLOCK_MONOTONIC, a key, something to read from `ready`, another
  // size, or a signal that ends.
  Event wait(double until_s, int ready, char* key);
  // The signal of kEnd; 0: the terminal is gone.
  int ending() const;

 private:
  void enter();
  void leave();
  void stop();
  bool write_all(const char* text, std::size_t bytes);

  std::string error_;
  bool entered_ = false, has_keys_ = false;
  int out_ = -1;  // the terminal
  termios before_{};
  sigset_t mask_{};
};

}  // namespace opennrt::tools
