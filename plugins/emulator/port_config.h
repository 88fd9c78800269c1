// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "driver/machine.h"
#include "opennrt/plugin.h"

namespace opennrt::emu {

// Machine that the configuration asks for: emulator.product, devices,
// hbm_bytes, host_bytes, driver_version. False with *error filled on a value
// that cannot be used.
bool read_machine_config(const nrtp_host* host, MachineConfig* out, std::string* error);

// Memory limit of the control group of this process in bytes, 0 = none.
// root: where the cgroup file system is mounted, tests give their own.
std::uint64_t cgroup_memory_max(const char* proc_cgroup = "/proc/self/cgroup",
                                const char* root = "/sys/fs/cgroup");

}  // namespace opennrt::emu
