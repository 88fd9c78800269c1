// SPDX-License-Identifier: Apache-2.0
#include "driver/arch_facts.h"

#include <array>

namespace opennrt::emu {

namespace {

constexpr std::uint32_t kPciTrainium1 = 0x7164, kPciInferentia2 = 0x7264, kPciTrainium2 = 0x7364;
constexpr std::uint64_t kSemaphoreLocal = 0x2700000, kSemaphoreBytes = 0x2000;
constexpr std::uint64_t kSbufBytes = 0x2000000, kTopspBytes = 0x400000;

constexpr std::uint8_t kTrn1Neighbours[16][4] = {
    {12, 3, 4, 1},  {13, 0, 5, 2},  {14, 1, 6, 3},   {15, 2, 7, 0},  {0, 7, 8, 5},   {1, 4, 9, 6},
    {2, 5, 10, 7},  {3, 6, 11, 4},  {4, 11, 12, 9},  {5, 8, 13, 10}, {6, 9, 14, 11}, {7, 10, 15, 8},
    {8, 15, 0, 13}, {9, 12, 1, 14}, {10, 13, 2, 15}, {11, 14, 3, 12}};
// A torus of 4 by 4.
constexpr std::uint8_t kTrn2Neighbours[16][4] = {
    {12, 1, 3, 4},  {0, 13, 5, 2},  {14, 3, 1, 6},   {2, 15, 7, 0},  {8, 5, 7, 0},   {4, 9, 1, 6},
    {10, 7, 5, 2},  {6, 11, 3, 4},  {4, 9, 11, 12},  {8, 5, 13, 10}, {6, 11, 9, 14}, {10, 7, 15, 8},
    {0, 13, 15, 8}, {12, 1, 9, 14}, {2, 15, 13, 10}, {14, 3, 11, 12}};
constexpr std::uint8_t kInf2Ring[12][2] = {{11, 1}, {0, 2}, {1, 3}, {2, 4},  {3, 5},  {4, 6},
                                           {5, 7},  {6, 8}, {7, 9}, {8, 10}, {9, 11}, {10, 0}};
constexpr std::uint8_t kInf2Line[6][2] = {{1, 0}, {0, 2}, {1, 3}, {2, 4}, {3, 5}, {4, 0}};

constexpr std::uint8_t kTrn1IndexOfRoute[16] = {0,  4, 1,  5, 3,  7,  2,  6,
                                                12, 8, 13, 9, 15, 11, 14, 10};
constexpr std::uint8_t kTorusIndexOfRoute[16] = {0, 3, 4, 7, 12, 15, 8, 11,
                                                 1, 2, 5, 6, 13, 14, 9, 10};

void add_arch2(ArchFacts& f, const nrtp_arch_plugin& arch) {
  f.compat_min = 5;
  f.compat_max = 7;
  f.host_window = 0x100000000000;
  f.host_window_mask = 0x1F00000000000;
  f.bar0_bytes = 0x40000000;
  f.misc_ram_bar0 = 0x30FA0000;
  f.topsp_notific_bar0 = 0x30E04000;
  f.topsp_notific_stride = 0x40000;
  f.dma_retry = true;
  f.power_profiles = true;
  f.nx_ring_mask = 0x7FF;
  f.scrub_stride = 16;
  for (std::uint32_t i = 0; i < 16; ++i) f.scrub_engines.push_back(i);
  for (std::uint32_t i = 0; i < arch.geometry->tpbs; ++i) {
    const std::uint64_t bar = i * 0x4000000ull, device = 0xFFFC0000000 + bar;
    f.special.push_back({Block::kTpb, i, Resource::kSemaphore, device + kSemaphoreLocal,
                         kSemaphoreBytes, bar + kSemaphoreLocal});
    f.special.push_back({Block::kTpb, i, Resource::kSbuf, device, kSbufBytes, bar});
  }
  for (std::uint32_t i = 0; i < arch.geometry->topsps; ++i) {
    const std::uint64_t offset = 0xFFFD0000000 + i * kTopspBytes;
    const std::uint64_t bar = 0x10000000 + i * kTopspBytes;
    f.special.push_back({Block::kTopsp, i, Resource::kSemaphore, offset, kSemaphoreBytes, bar});
    f.special.push_back({Block::kTopsp, i, Resource::kAll, offset, kTopspBytes, bar});
  }
  f.program_windows = {{0xFFFC0000000, 0x8000000}, {0xFFFD0000000, 0x1800000}};
}

void add_arch3(ArchFacts& f, const nrtp_arch_plugin& arch, const nrtp_product& product) {
  f.compat_min = 10;
  f.compat_max = 11;
  f.host_window = 0x400000000000;
  f.host_window_mask = 0x400000000000;
  f.bar0_bytes = 0x100000000;
  f.misc_ram_bar0 = 0x6C84000;
  f.nc_map_query = true;
  f.nx_ring_mask = 0x19F;  // 0..4, 7, 8
  f.scrub_stride = 32;
  for (std::uint32_t group = 0; group < 4; ++group)
    for (std::uint32_t i = 4; i < 8; ++i) f.scrub_engines.push_back(group * 8 + i);
  for (std::uint32_t i = 0; i < arch.geometry->tpbs; ++i) {
    const std::uint64_t step = i * 0x4000000ull;
    f.special.push_back({Block::kTpb, i, Resource::kSemaphore, 0x2002700000 + step, kSemaphoreBytes,
                         0xD2700000 + step});
    f.special.push_back(
        {Block::kTpb, i, Resource::kSbuf, 0x2000000000 + step, kSbufBytes, 0xD0000000 + step});
  }
  for (std::uint32_t i = 0; i < 16; ++i) {
    const std::uint64_t k = i % 8;
    const std::uint64_t offset = (i < 8 ? 0x8280000000 : 0x808280000000) + k * 0x40000000;
    const std::uint64_t bar = (i < 8 ? 0xF0000000 : 0xF2800000) + k * kTopspBytes;
    f.special.push_back({Block::kTopsp, i, Resource::kSemaphore, offset, kSemaphoreBytes, bar});
    f.special.push_back({Block::kTopsp, i, Resource::kAll, offset, kTopspBytes, bar});
  }
  for (std::uint32_t i = 0; i < arch.geometry->n_hbm; ++i) {
    f.special.push_back({Block::kHbm, i, Resource::kDmem, arch.geometry->hbm[i].base,
                         product.hbm_channel_bytes, i * 0x1000000000ull});
    f.program_windows.push_back({arch.geometry->hbm[i].base, product.hbm_channel_bytes});
  }
  for (std::uint64_t die : {0ull, 0x800000000000ull}) {
    for (std::uint64_t base : {0x2000000000, 0x3000000000, 0x6000000000, 0x7000000000})
      f.program_windows.push_back({die + base, 0x804000000});
    for (std::uint64_t base : {0x1200000000, 0x5200000000})
      f.program_windows.push_back({die + base, 0x34C0000});
    for (std::uint64_t i = 0; i < 10; ++i)
      f.program_windows.push_back({die + 0x8280000000 + i * 0x40000000, kTopspBytes});
  }
}

}  // namespace

ArchFacts make_arch_facts(const nrtp_arch_plugin& arch, const nrtp_product& product) {
  ArchFacts facts;
  facts.arch_type = arch.arch_type;
  if (arch.arch_type == 2)
    add_arch2(facts, arch);
  else
    add_arch3(facts, arch, product);
  if (arch.geometry->host_window_base) facts.host_window = arch.geometry->host_window_base;
  return facts;
}

std::span<const std::uint8_t> connected_devices(const nrtp_product& product, std::uint32_t devices,
                                                std::uint32_t index) {
  if (index >= devices) return {};
  if (product.pci_device == kPciTrainium1 && devices == 16) return kTrn1Neighbours[index];
  if (product.pci_device == kPciTrainium2 && devices == 16) return kTrn2Neighbours[index];
  if (product.pci_device == kPciInferentia2 && devices == 12) return kInf2Ring[index];
  if (product.pci_device == kPciInferentia2 && devices == 6) {
    const std::span<const std::uint8_t> both = kInf2Line[index];
    return index == 0 || index == 5 ? both.first(1) : both;
  }
  return {};
}

std::uint32_t routing_id(const nrtp_product& product, std::uint32_t devices, std::uint32_t index) {
  if (devices != 16) return index;
  const std::uint8_t* map = nullptr;
  if (product.pci_device == kPciTrainium1)
    map = kTrn1IndexOfRoute;
  else if (product.pci_device != kPciInferentia2)
    map = kTorusIndexOfRoute;
  if (!map) return index;
  for (std::uint32_t route = 0; route < 16; ++route)
    if (map[route] == index) return route;
  return index;
}

}  // namespace opennrt::emu
