// SPDX-License-Identifier: Apache-2.0
//
// Command line of `opennrt emu`.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace opennrt::emu::launcher {

struct Options {
  bool help = false;
  bool shared = false;  // the machine-wide daemon instead of one of this launch
  bool guard = true;
  std::string log;  // file that gets the log of the machine
  std::vector<std::pair<std::string, std::string>> settings;  // emulator.* keys
  std::vector<std::string> program;                           // with its arguments
};

// False with *error: what is wrong with which option.
bool parse(const std::vector<std::string>& arguments, Options* out, std::string* error);

extern const char kHelp[];

}  // namespace opennrt::emu::launcher
