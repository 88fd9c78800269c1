// SPDX-License-Identifier: Apache-2.0
//
// One process of opennrt-conform-checks: started in a group of its own, watched, ended
// at its time limit, and what it told and printed.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace opennrt::conform {

struct Child {
  enum class End { kExited, kSignal, kTimeLimit, kNotStarted };
  End end = End::kNotStarted;
  int code = 0;  // exit code or signal
  double seconds = 0;
  // KEY and text of each line on the results pipe (results.h).
  std::vector<std::pair<std::string, std::string>> told;
  std::string output;   // beginning and end of what it printed
  std::string problem;  // kNotStarted: why

  // The last text of a key, or "".
  std::string last(const std::string& key) const;
  std::vector<std::string> all(const std::string& key) const;
};

// program: path, then its arguments; --results is added. Waits for its end, at most
// about limit_s, and leaves no process of its group behind.
Child run_child(std::vector<std::string> program, double limit_s);

// "SIGSEGV"
std::string signal_text(int signal);

}  // namespace opennrt::conform
