// SPDX-License-Identifier: Apache-2.0
#include "hal/csr.h"

#include <algorithm>

namespace opennrt::hal {

Status CsrTable::add(std::uint64_t bar0, std::uint64_t bytes, const char* name) {
  const char* label = name != nullptr ? name : "?";
  if (bytes < 4 || bar0 + bytes < bar0) {
    return Status::invalid("csr region '{}': {:#x} bytes at BAR 0 offset {:#x} is not a range",
                           label, bytes, bar0);
  }
  const Region region{bar0, bar0 + bytes, label};
  auto next = std::lower_bound(regions_.begin(), regions_.end(), bar0,
                               [](const Region& r, std::uint64_t v) { return r.start < v; });
  const Region* clash = nullptr;
  if (next != regions_.end() && next->start < region.end) clash = &*next;
  if (next != regions_.begin() && std::prev(next)->end > region.start) clash = &*std::prev(next);
  if (clash != nullptr) {
    return Status::invalid("csr region '{}' [{:#x}, {:#x}) overlaps '{}' [{:#x}, {:#x})", label,
                           region.start, region.end, clash->name, clash->start, clash->end);
  }
  regions_.insert(next, region);
  return Status::ok();
}

Status CsrTable::check(std::uint32_t device, std::uint64_t bar0, std::uint32_t count) const {
  if (count == 0) return Status::ok();
  auto next = std::upper_bound(regions_.begin(), regions_.end(), bar0,
                               [](std::uint64_t v, const Region& r) { return v < r.start; });
  if (next != regions_.begin()) {
    const Region& r = *std::prev(next);
    // Last register of the access starts at or below end - 4.
    const std::uint64_t last = bar0 + 4ull * (count - 1);
    if (bar0 % 4 == 0 && last >= bar0 && r.end >= 4 && last <= r.end - 4) return Status::ok();
  }
  return Status::invalid(
      "device {}: {} register(s) at BAR 0 offset {:#x} lie in no register window of this arch",
      device, count, bar0);
}

}  // namespace opennrt::hal
