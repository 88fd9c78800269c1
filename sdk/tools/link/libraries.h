// SPDX-License-Identifier: Apache-2.0
//
// Which libnrt a program gets, as the loader itself answers it: nothing of its
// search is done again here.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "launcher/elf.h"

namespace opennrt::tools {

using emu::launcher::Linkage;
using emu::launcher::Program;

// libnrt.so.1 of the same build or installation as this program; empty: none.
std::string own_library();
// A file beside it.
std::string beside_own_library(const char* name);

// "libnrt.so", "libnrt.so.1" and longer ones, with or without a directory.
bool is_libnrt(const std::string& name);
bool same_file(const std::string& a, const std::string& b);
// The same file, or a copy of it.
bool same_library(const std::string& a, const std::string& b);

// Changes to the environment of a program. An empty value removes the variable.
using Variables = std::map<std::string, std::string>;

struct LoadedLibrary {
  std::string name, path;  // path empty: not found
};
struct LoadOrder {
  std::vector<LoadedLibrary> libraries;  // in the order of loading
  std::vector<std::string> ignored;      // of LD_PRELOAD and LD_AUDIT, as it goes without
  std::string trouble;                   // what else the loader complained about
};
// What the loader of a program loads before it starts. False with *error when the
// loader cannot be asked.
bool load_order(const Program& program, const Variables& variables, LoadOrder* out,
                std::string* error);

// Where the loader of the program finds a library that is asked for by name; empty:
// nowhere.
std::string found_by_name(const Program& program, const Variables& variables,
                          const std::string& name);

// Names of a libnrt with a directory that stand in the file as texts: what it may
// dlopen without a search.
std::vector<std::string> path_names(const std::string& file);

// Directories of an RPATH or RUNPATH with $ORIGIN put in.
std::vector<std::string> search_directories(const std::string& path_list, const std::string& file);

// Value of LD_PRELOAD and the like with the file in front.
std::string in_front(const std::string& file, const char* variable, const char* separator);

}  // namespace opennrt::tools
