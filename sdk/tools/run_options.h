// SPDX-License-Identifier: Apache-2.0
//
// Command line of opennrt run.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "command_line.h"

namespace opennrt::tools {

// A range of memory to write to a file when a breakpoint is reached.
struct DumpRequest {
  std::string name;  // what --compare calls it; the file without its extension
  std::string at, what;
  std::string dtype;     // "": not given
  std::string variable;  // of var:
};

// --compare NAME=FILE[,rtol=R][,atol=A]
struct CompareRequest {
  std::string name;  // an output, or a dump
  std::string file;
  std::optional<double> rtol, atol;  // not given: by the data type
};

struct RunOptions {
  std::string model;
  std::string fill = "random";
  std::uint64_t seed = 1;
  std::map<std::string, std::string> inputs;  // tensor -> file or fill
  std::string output_dir;
  bool raw = false;
  bool json = false;
  int executions = 1;
  int vnc = -1;
  std::string device;
  std::optional<std::string> verify;  // list of checks
  std::vector<DumpRequest> dumps;
  std::string dump_dir = ".";
  std::vector<CompareRequest> compares;
};

bool is_fill(const std::string& kind);
CommandLine run_command_line();
// Throws a UsageError.
RunOptions run_options(const Arguments& arguments);

}  // namespace opennrt::tools
