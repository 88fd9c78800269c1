// SPDX-License-Identifier: Apache-2.0
//
// Subcommands of the `opennrt` tool.
#pragma once

#include <string>
#include <vector>

namespace opennrt::tools {

// args: what follows the subcommand. Returns the exit code: 0 done, 1 failed,
// 2 bad usage.
int run_command(const std::vector<std::string>& args);
int config_command(const std::vector<std::string>& args);
int config_check_command(const std::vector<std::string>& args);  // of `config`
int plugins_command(const std::vector<std::string>& args);
int isa_command(const std::vector<std::string>& args);
int link_command(const std::vector<std::string>& args);

}  // namespace opennrt::tools
