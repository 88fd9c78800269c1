// SPDX-License-Identifier: Apache-2.0
//
// The books of an emulated driver: what its tables say of each other. For tests
// that do anything to a machine and then ask whether it is still sound.
#pragma once

#include <string>

#include "driver/machine.h"

namespace opennrt::emu {

struct MachineBooks {
  // Empty, or the first thing that does not add up. No request may be under way.
  static std::string check(Machine& machine);
  // The same, and that nothing is left of any process: nothing open, mapped,
  // marked or locked, and no memory but the driver's own and notification queues.
  static std::string check_idle(Machine& machine);
  // The same, and no notification queues either: after a reset.
  static std::string check_fresh(Machine& machine);
  // Descriptors that can still be opened.
  static std::size_t free_descriptors(const Machine& machine);

 private:
  static std::string check_files(Machine& machine);
  static std::string check_host(Machine& machine);
};

}  // namespace opennrt::emu
