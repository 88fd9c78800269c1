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
  enum class End { kExited, kSignal, kTimeLimit, kNotStarted, kUnwatched };
  End end = End::kNotStarted;
  int code = 0;  // exit code or signal
  double seconds = 0;
  int left = 0, staying = 0;  // processes that it left behind; of them: not to be ended
  // KEY and text of each line on the results pipe (results.h) that is of this process.
  std::vector<std::pair<std::string, std::string>> told;
  bool forged = false;  // others wrote there, too
  std::string output;   // beginning and end of what it printed
  std::string problem;  // kNotStarted, kUnwatched: why

  // The last text of a key, or "".
  std::string last(const std::string& key) const;
  std::vector<std::string> all(const std::string& key) const;
};

// program: path, then its arguments; --results is added. Waits for its end, at most
// about limit_s, and leaves no process of it behind. A signal that is to end this process
// does so when the child has been ended.
Child run_child(std::vector<std::string> program, double limit_s);

// "SIGSEGV"
std::string signal_text(int signal);

}  // namespace opennrt::conform
