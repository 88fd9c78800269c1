// SPDX-License-Identifier: Apache-2.0
//
// main() of the subcommands in command.h; the build names the function.
#include <cstdio>

#include "command.h"

int main(int argc, char** argv) {
  // Lines stay in order with the runtime's log when both go to one file.
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  return opennrt::tools::tool_main(argc, argv, opennrt::tools::OPENNRT_COMMAND);
}
