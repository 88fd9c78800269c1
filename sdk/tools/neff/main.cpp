// SPDX-License-Identifier: Apache-2.0
//
// opennrt-neff, run as `opennrt neff`: looks into NEFF files, takes them apart
// and builds them.
#include "log/log.h"
#include "neff/commands.h"

int main(int argc, char** argv) {
  // What the loader finds is told once, by the command.
  opennrt::log::set_level(opennrt::log::Level::kDisabled);
  return opennrt::tools::tool_main(argc, argv, opennrt::tools::neff_command);
}
