// SPDX-License-Identifier: Apache-2.0
//
// The register windows of one device. An access is legal only when it lies
// wholly inside one window: a wild BAR offset never reaches the driver.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "opennrt/arch.h"

namespace opennrt::hal {

class CsrTable {
 public:
  // Regions must not overlap: NRT_INVALID.
  Status add(std::uint64_t bar0, std::uint64_t bytes, const char* name);
  // `count` 32-bit registers from `bar0` up, inside one region. NRT_INVALID
  // names the offset and the device.
  Status check(std::uint32_t device, std::uint64_t bar0, std::uint32_t count) const;
  std::size_t size() const { return regions_.size(); }
  void clear() { regions_.clear(); }

 private:
  struct Region {
    std::uint64_t start, end;  // end: one past the last byte
    std::string name;
  };
  std::vector<Region> regions_;  // sorted by start
};

}  // namespace opennrt::hal
