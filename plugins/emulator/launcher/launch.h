// SPDX-License-Identifier: Apache-2.0
//
// A program with its guard, from start to end.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace opennrt::emu::launcher {

inline constexpr int kCannotStart = 125, kCannotRun = 126, kNotFound = 127;

struct Launch {
  std::string path;                                              // of the program file
  std::vector<std::string> arguments;                            // with the name first
  std::vector<std::pair<std::string, std::string>> environment;  // to set
  bool guard = true;
  // Called in the process that stays when the program has ended and others that
  // it started have not, before the first one returns. False: they are left alone.
  std::function<bool()> stay;
};

// Exit code of the program, or one of the above with a line on stderr. *last:
// nothing of the launch runs any more. The process that stays returns too, when
// that is so.
int run(const Launch& launch, bool* last);

}  // namespace opennrt::emu::launcher
