// SPDX-License-Identifier: Apache-2.0
//
// Subcommands whose main() is command_main.cpp.
#pragma once

#include "command_line.h"

namespace opennrt::tools {

// words: what follows the subcommand. Returns the exit code.
int run_command(const Words& words);
int config_command(const Words& words);
int config_check_command(const Words& words);  // of `config`
int plugins_command(const Words& words);
int isa_command(const Words& words);
int link_command(const Words& words);

}  // namespace opennrt::tools
