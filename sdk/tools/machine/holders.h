// SPDX-License-Identifier: Apache-2.0
//
// Processes that have a device or a core.
#pragma once

#include <string>
#include <vector>

namespace opennrt::tools {

struct Holder {
  long pid = 0;
  std::string command, state;  // ", stopped"
  double running_s = -1;       // -1: not known
};

// command: empty: as /proc tells it.
Holder holder_of(long pid, const std::string& command = "");
// For people: nothing of the command that a terminal would obey.
std::string described(const Holder& holder);

// Processes that have the file open, as far as this user may see them.
std::vector<long> openers(const std::string& file);

}  // namespace opennrt::tools
