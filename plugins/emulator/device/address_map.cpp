// SPDX-License-Identifier: Apache-2.0
#include "device/address_map.h"

namespace opennrt::emu {

AddressMap::AddressMap(const nrtp_arch_plugin* arch, const nrtp_product* product,
                       DeviceMemory& memory, std::uint32_t cores)
    : arch_(arch), product_(product), memory_(&memory), cores_(cores) {
  const nrtp_arch_geometry& g = *arch->geometry;
  const auto add = [this](std::uint64_t base, std::uint64_t limit, Region& region) {
    if (base != UINT64_MAX && limit != 0)
      windows_.push_back({base, std::min(limit, region.bytes()), region.data()});
  };
  for (std::uint32_t i = 0; i < std::min(g.n_hbm, memory.hbm_channels()); ++i)
    add(g.hbm[i].base, product->hbm_channel_bytes ? product->hbm_channel_bytes : g.hbm[i].bytes,
        memory.hbm(i));
  for (std::uint32_t core = 0; core < cores; ++core) {
    add(arch->address->local_to_device(product, core, 0), g.sbuf_window_bytes, memory.sbuf(core));
    add(arch->address->local_to_device(product, core, g.psum_local_base), g.psum_window_bytes,
        memory.psum(core));
  }
  add(g.host_window_base, memory.host().bytes(), memory.host());
  std::sort(windows_.begin(), windows_.end(),
            [](const Window& a, const Window& b) { return a.base < b.base; });
}

bool AddressMap::classify(std::uint64_t pa, nrtp_addr_class* out) const {
  *out = {};
  out->size = sizeof *out;
  return arch_->address->classify(product_, pa, out) == NRTP_OK;
}

}  // namespace opennrt::emu
