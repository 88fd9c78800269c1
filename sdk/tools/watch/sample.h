// SPDX-License-Identifier: Apache-2.0
//
// What was seen at one moment: devices, processes with their data stores, host.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ls/listing.h"
#include "nds/reader.h"
#include "watch/system.h"

namespace opennrt::tools {

struct DeviceStore {
  std::uint32_t device = 0;
  nds::StoreReading store;
};

struct ProcessSample {
  long pid = 0;
  std::string command;
  std::uint64_t started = 0;        // ticks after boot
  std::optional<ProcessTicks> cpu;  // nothing: may not be looked at
  std::uint32_t lnc = 1;            // physical cores of a logical one
  std::vector<DeviceStore> stores;  // those that can be read
  std::string error;                // why others cannot

  // As the process says, else its pid.
  std::string tag() const {
    for (const DeviceStore& d : stores)
      if (!d.store.tag.empty()) return d.store.tag;
    return std::to_string(pid);
  }
};

struct Sample {
  double at_s = 0;    // of a clock that does not jump
  double wall_s = 0;  // since 1970
  Listing machine;
  std::string error;  // why the processes on the devices are not known, or not all
  std::vector<ProcessSample> processes;  // by pid
  SystemSample system;
};

}  // namespace opennrt::tools
