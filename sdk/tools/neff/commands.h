// SPDX-License-Identifier: Apache-2.0
//
// Subcommands of `opennrt neff`. Each takes the words behind its name and
// returns the exit code.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace opennrt::tools {

enum ExitCode { kDone = 0, kFailed = 1, kBadUsage = 2 };

using Words = std::vector<std::string>;

// The first word chooses.
int neff_command(const Words& words);

int neff_info(const Words& words);
int neff_tree(const Words& words);
int neff_disasm(const Words& words);
int neff_asm(const Words& words);
int neff_verify(const Words& words);
int neff_diff(const Words& words);
int neff_unpack(const Words& words);
int neff_pack(const Words& words);
int neff_build(const Words& words);

// Prints "opennrt neff COMMAND: message" (and the usage); the exit code.
int fail(std::string_view command, const Status& status);
int bad_usage(std::string_view command, const Status& status);
// Of a command whose text is out: kDone, or kFailed when it did not arrive.
int finish(std::string_view command, int code = kDone);

}  // namespace opennrt::tools
