// SPDX-License-Identifier: Apache-2.0
//
// Subcommands of `opennrt neff`. Each takes the words behind its name and
// returns the exit code.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "base/status.h"
#include "command_line.h"

namespace opennrt::tools {

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

// A failure ends the command, which tells its message.
inline void need(const Status& status) {
  if (!status.is_ok()) throw std::runtime_error(std::string(status.message()));
}
template <typename T>
T need(Result<T> result) {
  if (!result) need(result.status());
  return std::move(*result);
}

}  // namespace opennrt::tools
