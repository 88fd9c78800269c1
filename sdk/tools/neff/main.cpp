// SPDX-License-Identifier: Apache-2.0
//
// opennrt-neff, run as `opennrt neff`: looks into NEFF files, takes them apart
// and builds them.
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>

#include "log/log.h"
#include "neff/commands.h"

int main(int argc, char** argv) {
  // A closed pipe is an error that is told, not a silent end.
  std::signal(SIGPIPE, SIG_IGN);
  // What the loader finds is told once, by the command.
  opennrt::log::set_level(opennrt::log::Level::kDisabled);
  try {
    return opennrt::tools::neff_command({argv + 1, argv + argc});
  } catch (const std::bad_alloc&) {
    std::fputs("opennrt neff: no memory left\n", stderr);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "opennrt neff: %s\n", e.what());
  }
  return opennrt::tools::kFailed;
}
