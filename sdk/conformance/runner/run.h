// SPDX-License-Identifier: Apache-2.0
//
// A run of the kit over one plugin: what the plugin is, and how each case ended.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "rules.h"

namespace opennrt::conform {

enum class Outcome { kPassed, kFailed, kCrashed, kHung, kExited, kSkipped };
const char* outcome_name(Outcome outcome);
constexpr bool is_bad(Outcome outcome) {
  return outcome != Outcome::kPassed && outcome != Outcome::kSkipped;
}

struct CaseResult {
  std::string name;
  const Rule* rule = nullptr;
  Outcome outcome = Outcome::kSkipped;
  double seconds = 0;
  std::string detail;                 // of every outcome but kPassed, one line
  std::vector<std::string> failures;  // of kFailed: each with its place
  std::string output;                 // what the plugin and the case printed
  std::string at;                     // where it was when it ended badly
};

struct PluginFacts {
  std::string path, kind, name, abi, build, arch_type;
  std::vector<std::string> offers;
  std::string problem;  // why there is no table to look at
};

struct Settings {
  std::string checks;  // path of opennrt-conform-checks
  std::string plugin;
  std::string filter;  // globs on case names and rule ids, by comma; "": all
  bool full = false;
  double time_limit_s = 20;
};

struct Report {
  PluginFacts plugin;
  bool full = false;
  double time_limit_s = 0, seconds = 0;
  std::vector<CaseResult> cases;
  std::string problem;  // the kit itself cannot run

  std::size_t count(Outcome outcome) const;
  bool good() const;
};

// Opens the plugin in a process of its own.
PluginFacts describe(const Settings& settings, std::string* problem);

struct Planned {
  const char* name;
  const Rule* rule;
  std::string not_run;  // why; "": it runs
};
// Cases of the plugin's kind, of the list and the filter, in the order of the rules.
std::vector<Planned> plan(const Settings& settings, const PluginFacts& plugin);

// done: called after each case.
Report run_all(const Settings& settings, const std::function<void(const CaseResult&)>& done);

}  // namespace opennrt::conform
