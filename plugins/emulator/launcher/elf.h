// SPDX-License-Identifier: Apache-2.0
//
// What a program file is, as far as it decides whether a library can be
// preloaded into it.
#pragma once

#include <string>
#include <vector>

namespace opennrt::emu::launcher {

struct Program {
  bool go = false;                  // built by the Go toolchain
  bool is_static = false;           // an ELF file without an interpreter
  std::vector<std::string> needed;  // libraries it names
};

enum class Verdict { kFits, kRefused, kMissing };

// Looks at the file, and behind "#!" at the interpreter. kRefused and kMissing
// with *reason, which names the file.
Verdict inspect(const std::string& path, Program* out, std::string* reason);

// Path of a program as execvp(3) finds it; empty: none.
std::string find_program(const std::string& name);

}  // namespace opennrt::emu::launcher
