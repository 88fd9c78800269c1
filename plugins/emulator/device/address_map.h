// SPDX-License-Identifier: Apache-2.0
//
// Device addresses: a sorted table of the memory windows (HBM, SBUF, PSUM, host
// memory) for the common case, the arch plugin's `classify` for the rest.
// Immutable after construction.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "device/memory.h"
#include "opennrt/arch.h"

namespace opennrt::emu {

class AddressMap {
 public:
  // Host addresses (the device's view without the window bit) are offsets in
  // DeviceMemory::host().
  AddressMap(const nrtp_arch_plugin* arch, const nrtp_product* product, DeviceMemory& memory,
             std::uint32_t cores);

  // A range of device space that is memory.
  struct Window {
    std::uint64_t base, bytes;
    std::uint8_t* host;
  };
  // The window that holds `pa`, else nullptr.
  const Window* window(std::uint64_t pa) const {
    auto it = std::upper_bound(windows_.begin(), windows_.end(), pa,
                               [](std::uint64_t a, const Window& w) { return a < w.base; });
    if (it == windows_.begin()) return nullptr;
    --it;
    return pa - it->base < it->bytes ? &*it : nullptr;
  }
  // Host pointer to a range that lies in one memory window, else nullptr.
  std::uint8_t* memory(std::uint64_t pa, std::uint64_t bytes) const {
    const Window* w = window(pa);
    if (!w || bytes > w->bytes - (pa - w->base)) return nullptr;
    return w->host + (pa - w->base);
  }

  // False: decodes to nothing.
  bool classify(std::uint64_t pa, nrtp_addr_class* out) const;

  const nrtp_arch_plugin& arch() const { return *arch_; }
  const nrtp_arch_geometry& geometry() const { return *arch_->geometry; }
  const nrtp_product* product() const { return product_; }
  std::uint32_t cores() const { return cores_; }
  std::uint8_t* sbuf(std::uint32_t core) const { return memory_->sbuf(core).data(); }
  std::uint8_t* psum(std::uint32_t core) const { return memory_->psum(core).data(); }

 private:
  const nrtp_arch_plugin* arch_;
  const nrtp_product* product_;
  DeviceMemory* memory_;
  std::uint32_t cores_;
  std::vector<Window> windows_;
};

}  // namespace opennrt::emu
