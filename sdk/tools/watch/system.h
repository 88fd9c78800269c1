// SPDX-License-Identifier: Apache-2.0
//
// What the kernel tells of the host and of processes, in /proc.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace opennrt::tools {

// Ticks since boot, or since the process began.
struct CpuTicks {
  std::uint64_t user = 0, nice = 0, system = 0, idle = 0, io_wait = 0, irq = 0, soft_irq = 0,
                steal = 0;
  std::uint64_t sum() const {
    return user + nice + system + idle + io_wait + irq + soft_irq + steal;
  }
};

struct SystemSample {
  std::optional<CpuTicks> all;
  std::vector<CpuTicks> cpus;
  std::optional<std::uint64_t> context_switches;
  std::optional<std::uint64_t> memory_total, memory_available, swap_total, swap_free;  // bytes
};

SystemSample read_system(const std::string& proc = "/proc");

struct ProcessTicks {
  std::uint64_t started = 0;  // ticks after boot; 0: not known
  std::uint64_t user = 0, system = 0;
};
// Nothing: it has ended, or may not be looked at.
std::optional<ProcessTicks> read_process(long pid, const std::string& proc = "/proc");
// As it was started, for people; cut.
std::string command_line(long pid, const std::string& proc = "/proc");

}  // namespace opennrt::tools
