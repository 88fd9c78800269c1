// SPDX-License-Identifier: Apache-2.0
//
// What a program file is, as far as it decides whether a library can be
// preloaded into it.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace opennrt::emu::launcher {

// What the dynamic section of a program or library says.
struct Linkage {
  std::vector<std::string> needed;  // libraries it names
  std::string soname, rpath, runpath;
  std::map<std::string, std::vector<std::string>> requires_versions;  // of which library
  std::vector<std::string> offers_versions;
};

struct Program {
  bool go = false;         // built by the Go toolchain
  bool is_static = false;  // an ELF file without an interpreter
  Linkage linkage;
  std::string file;    // of a script the interpreter's
  std::string loader;  // that the file names
};

enum class Verdict { kFits, kRefused, kMissing };

// Looks at the file, and behind "#!" at the interpreter. kRefused and kMissing
// with *reason, which names the file.
Verdict inspect(const std::string& path, Program* out, std::string* reason);

// Of a shared library for this processor. False with *reason: it is none.
bool read_library(const std::string& path, Linkage* out, std::string* reason);

// Path of a program as execvp(3) finds it; empty: none.
std::string find_program(const std::string& name);

}  // namespace opennrt::emu::launcher
