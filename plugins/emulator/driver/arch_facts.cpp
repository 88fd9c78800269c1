// SPDX-License-Identifier: Apache-2.0
#include "driver/arch_facts.h"

#include <algorithm>
#include <array>
#include <bit>
#include <span>

namespace opennrt::emu {

namespace {

const nrtp_arch_driver* driver_of(const nrtp_arch_plugin& arch) {
  return NRTP_HAS(nrtp_arch_plugin, &arch, driver) ? arch.driver : nullptr;
}

std::span<const nrtp_csr_region> regions(const nrtp_arch_plugin& arch,
                                         const nrtp_product& product) {
  std::uint32_t n = 0;
  const nrtp_csr_region* first = arch.address->csr_regions(&product, &n);
  return first ? std::span(first, n) : std::span<const nrtp_csr_region>();
}

std::uint64_t bar0_of(const nrtp_arch_plugin& arch, const nrtp_product& product,
                      std::uint64_t device) {
  for (const nrtp_csr_region& r : regions(arch, product))
    if (device >= r.device && device - r.device < r.bytes) return r.bar0 + (device - r.device);
  return UINT64_MAX;
}

// Queue and DMA engines (index in the core) of instruction fetch.
void add_fetch_rings(ArchFacts& f, const nrtp_arch_plugin& arch, const nrtp_product& product) {
  const std::uint32_t per_core = std::max(1u, arch.geometry->dma_per_core);
  for (std::uint32_t engine = 0; engine < arch.geometry->engines; ++engine) {
    nrtp_dma_slot slot{};
    if (arch.dma->runtime_ring(&product, 0, NRTP_RING_FETCH + engine, &slot) != NRTP_OK) continue;
    f.instruction_queue = slot.queue;
    f.nx_ring_mask |= 1u << (slot.engine % per_core % 32);
  }
}

// The driver of silicon whose plugin says nothing about it: every published version of
// the interface, as a driver layer speaks an older one to some families; every register
// region and memory channel within reach.
void derive_driver(ArchFacts& f, const nrtp_arch_plugin& arch, const nrtp_product& product) {
  constexpr std::uint32_t kOldestInterface = 5, kNewestInterface = 11;
  constexpr std::uint64_t kSyncBytes = 0x2000;
  f.compat_min = kOldestInterface;
  f.compat_max = kNewestInterface;
  f.host_window_mask = f.host_window;
  for (const nrtp_csr_region& r : regions(arch, product)) {
    f.bar0_bytes = std::max(f.bar0_bytes, std::bit_ceil(r.bar0 + r.bytes));
    f.program_windows.push_back({r.device, r.bytes});
  }
  const nrtp_arch_geometry& g = *arch.geometry;
  for (std::uint32_t core = 0; core < product.cores; ++core) {
    const std::uint64_t sbuf = arch.address->local_to_device(&product, core, 0);
    f.special.push_back({NRTP_DRIVER_TPB, core, NRTP_DRIVER_SBUF, 0, sbuf, g.sbuf_window_bytes,
                         bar0_of(arch, product, sbuf)});
    const std::uint64_t sync = arch.address->event_addr(&product, core, 0) & ~(kSyncBytes - 1);
    f.special.push_back({NRTP_DRIVER_TPB, core, NRTP_DRIVER_SEMAPHORES, 0, sync, kSyncBytes,
                         bar0_of(arch, product, sync)});
  }
  for (std::uint32_t hbm = 0; hbm < g.n_hbm; ++hbm) {
    auto& engines = f.scrub_engines.emplace_back();
    for (std::uint32_t core = 0; core < product.cores; ++core)
      for (std::uint32_t i = 0;
           arch.address->default_hbm(&product, core) == hbm && i < g.dma_per_core; ++i)
        engines.push_back(arch.dma->core_engine(&product, core, i));
  }
}

void read_driver(ArchFacts& f, const nrtp_arch_plugin& arch, const nrtp_arch_driver& d) {
  f.compat_min = d.compat_min;
  f.compat_max = d.compat_max;
  f.bar0_bytes = d.bar0_bytes;
  f.host_window_mask = d.host_window_mask;
  f.topsp_notific_bar0 = d.topsp_notific_bar0;
  f.topsp_notific_stride = d.topsp_notific_stride;
  f.dma_retry = (d.flags & NRTP_DRIVER_NO_ZERO_COPY) != 0;
  f.nc_map_query = (d.flags & NRTP_DRIVER_CORE_MAP) != 0;
  f.power_profiles = (d.flags & NRTP_DRIVER_POWER_PROFILES) != 0;
  f.single_node_pod = (d.flags & NRTP_DRIVER_SINGLE_NODE_POD) != 0;
  f.nx_ring_mask = d.fetch_engine_mask;
  f.special.assign(d.maps, d.maps + d.n_maps);
  f.program_windows.assign(d.windows, d.windows + d.n_windows);
  for (std::uint32_t hbm = 0; hbm < arch.geometry->n_hbm; ++hbm) {
    auto& engines = f.scrub_engines.emplace_back();
    for (std::uint32_t i = 0; i < d.n_scrub_engines; ++i)
      engines.push_back(hbm * d.scrub_stride + d.scrub_engines[i]);
  }
}

}  // namespace

ArchFacts make_arch_facts(const nrtp_arch_plugin& arch, const nrtp_product& product) {
  ArchFacts facts;
  const nrtp_arch_driver* driver = driver_of(arch);
  facts.host_window = arch.geometry->host_window_base;
  if (NRTP_HAS(nrtp_arch_address, arch.address, misc_ram_device) && arch.address->misc_ram_device)
    facts.misc_ram_bar0 = bar0_of(arch, product, arch.address->misc_ram_device(&product, 0));
  add_fetch_rings(facts, arch, product);
  if (driver)
    read_driver(facts, arch, *driver);
  else
    derive_driver(facts, arch, product);
  if (!driver || (driver->flags & NRTP_DRIVER_MAP_HBM) != 0)
    for (std::uint32_t i = 0; i < arch.geometry->n_hbm; ++i) {
      const nrtp_hbm_channel& channel = arch.geometry->hbm[i];
      facts.special.push_back({NRTP_DRIVER_HBM, i, NRTP_DRIVER_DMEM, 0, channel.base,
                               product.hbm_channel_bytes, channel.bar4});
      facts.program_windows.push_back({channel.base, product.hbm_channel_bytes});
    }
  return facts;
}

std::vector<std::uint8_t> connected_devices(const nrtp_arch_plugin& arch,
                                            const nrtp_product& product, std::uint32_t devices,
                                            std::uint32_t index) {
  const nrtp_arch_driver* driver = driver_of(arch);
  std::array<std::uint32_t, 8> out{};
  std::uint32_t n = out.size();
  if (!driver || !driver->neighbours ||
      driver->neighbours(&product, devices, index, out.data(), &n) != NRTP_OK)
    return {};
  std::vector<std::uint8_t> neighbours;
  for (std::uint32_t i = 0; i < n && i < out.size(); ++i)
    neighbours.push_back(static_cast<std::uint8_t>(out[i]));
  return neighbours;
}

std::uint32_t routing_id(const nrtp_arch_plugin& arch, const nrtp_product& product,
                         std::uint32_t devices, std::uint32_t index) {
  const nrtp_arch_driver* driver = driver_of(arch);
  return driver && driver->routing_id ? driver->routing_id(&product, devices, index) : index;
}

}  // namespace opennrt::emu
