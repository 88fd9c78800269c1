// SPDX-License-Identifier: Apache-2.0
//
// What opennrt ls shows, collected without opening a device.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "machine/holders.h"
#include "machine/surroundings.h"

namespace opennrt::tools {

struct Core {
  std::uint32_t core = 0, logical = 0;
  std::optional<Holder> holder;  // of a software device; the kernel's driver does not tell
};

struct Device {
  std::uint32_t index = 0;
  std::string silicon, arch;  // arch empty: no plugin
  std::uint32_t arch_type = 0;
  std::vector<Core> cores;
  std::optional<std::uint64_t> memory_used, memory_total;  // bytes of device memory
  std::vector<Holder> processes;                           // that have it open
};

struct Listing {
  std::string served_by;  // "kernel", "opennrt-emud (pid 17)"; empty: nothing
  std::string driver, product;
  std::vector<Device> devices;
  std::string reason;  // why there is no device, or what is missing about them
  bool good = true;    // false: the reason is a fault
  std::vector<plugin::Candidate> plugins;
};

Listing collect(Surroundings& here);

}  // namespace opennrt::tools
