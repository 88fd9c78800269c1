// SPDX-License-Identifier: Apache-2.0
//
// What the kernel driver knows about a silicon family beside the arch table
// (address maps of aws-neuron-driver 2.24.7.0 .. 2.26.5.0).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "opennrt/arch.h"

namespace opennrt::emu {

// A window that mmap and RESOURCE_MMAP_INFO know.
enum class Block : std::uint32_t { kTpb = 0, kTopsp = 1, kHbm = 2 };
enum class Resource : std::uint32_t { kSemaphore = 0, kAll = 1, kSbuf = 2, kDmem = 3 };
struct SpecialMap {
  Block block;
  std::uint32_t id;
  Resource resource;
  std::uint64_t offset, bytes;
  std::uint64_t bar_offset;  // of BAR 0, of BAR 4 for HBM
};

struct Window {
  std::uint64_t base, bytes;
};

struct ArchFacts {
  std::uint32_t arch_type = 0;
  std::uint32_t compat_min = 0, compat_max = 0;  // COMPATIBLE_VERSION
  std::uint64_t host_window = 0, host_window_mask = 0;
  std::uint64_t bar0_bytes = 0;
  std::uint64_t misc_ram_bar0 = 0;
  std::uint64_t topsp_notific_bar0 = 0, topsp_notific_stride = 0;  // 0: not known
  bool dma_retry = false;                                          // no zero copy through DMA
  bool nc_map_query = false;                                       // logical to physical core map
  bool power_profiles = false;                                     // the recorded firmware has them
  std::uint32_t nx_ring_mask = 0;  // engines of a core whose queue 14 outlives its owner
  std::uint32_t scrub_stride = 16;
  std::vector<std::uint32_t> scrub_engines;  // relative to hbm * scrub_stride
  std::vector<SpecialMap> special;
  std::vector<Window> program_windows;
};

// Facts of the arch, filled in from its table where the table has them. An
// unknown arch_type gets those of the newest family.
ArchFacts make_arch_facts(const nrtp_arch_plugin& arch, const nrtp_product& product);

// Device indexes next to `index`; empty unless the instance is a full board.
std::span<const std::uint8_t> connected_devices(const nrtp_product& product, std::uint32_t devices,
                                                std::uint32_t index);
// Routing id of a device.
std::uint32_t routing_id(const nrtp_product& product, std::uint32_t devices, std::uint32_t index);

}  // namespace opennrt::emu
