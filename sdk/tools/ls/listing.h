// SPDX-License-Identifier: Apache-2.0
//
// What opennrt ls shows, collected without opening a device.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "machine/holders.h"
#include "machine/surroundings.h"
#include "remote/client.h"

namespace opennrt::tools {

struct Core {
  std::uint32_t core = 0, logical = 0;
  std::optional<Holder> holder;  // of a software device; the kernel's driver does not tell
};

struct Device {
  std::uint32_t index = 0;
  std::string silicon, arch;  // arch empty: no plugin
  std::string version;        // of the device, "v3" of Trainium1; empty: not told
  std::uint32_t arch_type = 0;
  std::vector<Core> cores;
  std::optional<std::uint64_t> memory_used, memory_total;  // bytes of device memory
  std::vector<Holder> processes;                           // that have it open
  // Memory errors since the driver was loaded.
  std::optional<std::uint64_t> sram_uncorrected, hbm_uncorrected, hbm_repairable;
};

struct Listing {
  std::string served_by;  // "kernel", "opennrt-emud (pid 17)"; empty: nothing
  std::string driver, product;
  std::vector<Device> devices;
  std::optional<std::uint32_t> lnc;  // physical cores of a logical one, by the settings here
  std::string reason;                // why there is no device, or what is missing about them
  bool good = true;                  // false: the reason is a fault
  std::vector<plugin::Candidate> plugins;
};

Listing collect(Surroundings& here);
// Without the plugins, and without the processes where the kernel's driver is asked. A
// client of the shared software device is made where one is needed and *client is
// none; it stays, also when its daemon is lost, which is then the reason.
Listing collect_devices(Surroundings& here, std::unique_ptr<emu::remote::Client>* client);

}  // namespace opennrt::tools
