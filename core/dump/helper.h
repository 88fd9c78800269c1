// SPDX-License-Identifier: Apache-2.0
//
// The program that takes a core dump: started, waited for, and ended when it
// takes too long.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"

namespace opennrt::dump {

bool is_executable(const std::string& path);

// NRT_FAILURE: it could not be started, did not end in time (it is killed
// then), or ended with another status than 0. Its output goes to stderr.
Status run_helper(const std::string& path, const std::vector<std::string>& arguments,
                  int timeout_ms);

}  // namespace opennrt::dump
