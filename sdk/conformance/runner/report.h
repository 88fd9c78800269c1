// SPDX-License-Identifier: Apache-2.0
//
// The report of a run, for people, for programs and for test dashboards.
#pragma once

#include <string>
#include <vector>

#include "runner/run.h"

namespace opennrt::conform {

// Lines of one case that did not pass.
std::string case_text(const CaseResult& result);
// What follows the cases: skipped ones by reason, counts.
std::string summary_text(const Report& report);
std::string json_text(const Report& report);
std::string junit_text(const Report& report);

// The interface rules as a table in markdown.
std::string rules_text();
std::string list_text(const std::vector<Planned>& cases);

}  // namespace opennrt::conform
