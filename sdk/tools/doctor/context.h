// SPDX-License-Identifier: Apache-2.0
//
// What the checks of opennrt doctor look at, and what they say.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "machine/surroundings.h"

namespace opennrt::tools::doctor {

struct Finding {
  std::string check;  // name of the row in the table
  std::string where;  // object: a path, variable, process
  std::string what;
  std::string fix;
};
using Findings = std::vector<Finding>;

struct Request {
  std::vector<std::string> models;   // files and directories
  std::vector<std::string> program;  // with its arguments
};

class Context : public Surroundings {
 public:
  explicit Context(Request request) : request_(std::move(request)) {}
  const Request& request() const { return request_; }

 private:
  Request request_;
};

struct Check {
  const char* name;
  const char* summary;
  void (*run)(Context&, Findings&);
};

// settings.cpp
void check_settings(Context&, Findings&);
void check_variables(Context&, Findings&);
void check_directories(Context&, Findings&);
void check_limits(Context&, Findings&);
// libraries.cpp
void check_library(Context&, Findings&);
void check_program(Context&, Findings&);
// devices.cpp
void check_plugins(Context&, Findings&);
void check_driver(Context&, Findings&);
void check_nodes(Context&, Findings&);
void check_daemon(Context&, Findings&);
void check_recording(Context&, Findings&);
void check_holders(Context&, Findings&);
void check_start(Context&, Findings&);
// models.cpp
void check_models(Context&, Findings&);

}  // namespace opennrt::tools::doctor
