// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "driver/machine.h"
#include "opennrt/plugin.h"
#include "remote/client.h"

namespace opennrt::emu {

// Machine that the configuration asks for: emulator.product, devices,
// hbm_bytes, host_bytes, driver_version. False with *error filled on a value
// that cannot be used.
bool read_machine_config(const nrtp_host* host, MachineConfig* out, std::string* error);

// emulator.scope.
bool read_scope(const nrtp_host* host, bool* one_for_all, std::string* error);
// "256M" -> "268435456"; a text that is no number stays.
std::string plain_number(const std::string& text);
// Every key that makes up the machine, with numbers and paths in one form.
std::vector<remote::Setting> machine_settings(const nrtp_host* host);
// How to reach the daemon, and what its machine must be.
bool read_remote_options(const nrtp_host* host, remote::Options* out, std::string* error);
// emulator.idle_exit_s; unset leaves *seconds.
bool read_idle_exit(const nrtp_host* host, std::uint32_t* seconds, std::string* error);

// Memory limit of the control group of this process in bytes, 0 = none.
// root: where the cgroup file system is mounted, tests give their own.
std::uint64_t cgroup_memory_max(const char* proc_cgroup = "/proc/self/cgroup",
                                const char* root = "/sys/fs/cgroup");

}  // namespace opennrt::emu
