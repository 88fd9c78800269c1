// SPDX-License-Identifier: Apache-2.0
//
// What the emulated kernel driver knows of the silicon: the `driver` group of
// the arch table, and what follows from its other groups where the plugin has
// none.
#pragma once

#include <cstdint>
#include <vector>

#include "opennrt/arch.h"

namespace opennrt::emu {

struct ArchFacts {
  std::uint32_t compat_min = 0, compat_max = 0;  // COMPATIBLE_VERSION
  std::uint64_t host_window = 0, host_window_mask = 0;
  std::uint64_t bar0_bytes = 0;
  std::uint64_t misc_ram_bar0 = UINT64_MAX;                        // none
  std::uint64_t topsp_notific_bar0 = 0, topsp_notific_stride = 0;  // 0: not known
  bool dma_retry = false;                                          // no zero copy through DMA
  bool nc_map_query = false;                                       // logical to physical core map
  bool power_profiles = false;                                     // the recorded firmware has them
  bool single_node_pod = false;
  std::uint32_t instruction_queue = UINT32_MAX;
  std::uint32_t nx_ring_mask = 0;  // engines of a core whose instruction queue outlives its owner
  std::vector<std::vector<std::uint32_t>> scrub_engines;  // by HBM channel
  std::vector<nrtp_driver_map> special;
  std::vector<nrtp_device_window> program_windows;
};

ArchFacts make_arch_facts(const nrtp_arch_plugin& arch, const nrtp_product& product);

// Devices next to `index`, at most 8.
std::vector<std::uint8_t> connected_devices(const nrtp_arch_plugin& arch,
                                            const nrtp_product& product, std::uint32_t devices,
                                            std::uint32_t index);
// Routing id of a device.
std::uint32_t routing_id(const nrtp_arch_plugin& arch, const nrtp_product& product,
                         std::uint32_t devices, std::uint32_t index);

}  // namespace opennrt::emu
