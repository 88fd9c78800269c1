// SPDX-License-Identifier: Apache-2.0
//
// Tables computed from ArchFacts while compiling: the decoder (device address
// -> block) and the register windows of BAR 0.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include "arch-common/facts.h"
#include "arch-common/udma.h"

namespace opennrt::arch_common {

// One range of device addresses that decodes. Memory channels are handled apart,
// since their size depends on the product.
struct Block {
  std::uint64_t device = 0, bytes = 0;
  std::uint32_t kind = 0, core = 0, unit = 0;
  std::uint64_t local = 0;  // class local of the first byte
};

constexpr std::uint64_t tile_to_device(const ArchFacts& f, std::uint32_t core,
                                       std::uint64_t local) {
  return f.cores[core].tile + local + (local >= f.tile_split ? f.tile_high : 0);
}

constexpr std::uint64_t register_to_bar0(const ArchFacts& f, std::uint64_t device) {
  for (const RegisterWindow& w : f.windows) {
    if (device >= w.device && device - w.device < w.bytes) return w.bar0 + (device - w.device);
  }
  return kNone;
}

constexpr std::size_t block_count(const ArchFacts& f) {
  return f.cores.size() * (f.tile_blocks.size() + 3) + 2 * f.dma.size() + f.topsps.size() + 4 +
         f.cores.size();
}

template <std::size_t N>
struct BlockTable {
  std::array<Block, N> block{};
  std::size_t count = 0;
  constexpr void add(const Block& b) { block[count++] = b; }
};

template <const ArchFacts& F>
constexpr auto make_blocks() {
  BlockTable<block_count(F)> t;
  for (std::uint32_t c = 0; c < F.cores.size(); ++c) {
    const CoreFacts& core = F.cores[c];
    for (const TileBlock& b : F.tile_blocks) {
      t.add(
          {tile_to_device(F, c, b.begin), b.bytes, b.kind, c, b.unit, b.tile_local ? b.begin : 0});
    }
    t.add({core.csr, F.csr_bytes, NRTP_ADDR_TPB_CSR, c, 0, 0});
    t.add({core.notific, kNotificBytes, NRTP_ADDR_NOTIFIC, c, 0, 0});
    t.add({core.broadcast, kUdmaWindowBytes, NRTP_ADDR_UDMA_BCAST, c, 0xFF, 0});
    bool first_of_its_ram = true;
    for (std::uint32_t other = 0; other < c; ++other) {
      first_of_its_ram = first_of_its_ram && F.cores[other].misc_ram != core.misc_ram;
    }
    if (first_of_its_ram) t.add({core.misc_ram, F.misc_ram_bytes, NRTP_ADDR_MISC_RAM, 0, 0, 0});
  }
  for (std::uint32_t e = 0; e < F.dma.size(); ++e) {
    t.add({F.dma[e].udma, kUdmaWindowBytes, NRTP_ADDR_UDMA, F.dma[e].core, e, 0});
    t.add({F.dma[e].misc, F.dma_misc_bytes, NRTP_ADDR_SDMA_MISC, F.dma[e].core, e, 0});
  }
  for (std::uint32_t i = 0; i < F.topsps.size(); ++i) {
    t.add({F.topsps[i].device, F.topsp_bytes, NRTP_ADDR_TOPSP, 0, i, 0});
  }
  for (std::uint32_t value = 0; value < F.event_const.size(); ++value) {
    t.add({F.event_const[value], 4, NRTP_ADDR_CONST, 0, 0, value});
  }
  t.add({F.geometry->host_window_base, F.geometry->host_window_base, NRTP_ADDR_HOST, 0, 0, 0});
  std::sort(t.block.begin(), t.block.begin() + static_cast<std::ptrdiff_t>(t.count),
            [](const Block& a, const Block& b) { return a.device < b.device; });
  return t;
}

template <const ArchFacts& F>
inline constexpr auto kBlocks = make_blocks<F>();

struct Region {
  std::uint64_t bar0 = 0, device = 0, bytes = 0;
  std::array<char, 24> name{};
};

// "prefix" + number + "suffix"; a number of -1 is left out.
constexpr std::array<char, 24> region_name(std::string_view prefix, int number = -1,
                                           std::string_view suffix = "") {
  std::array<char, 24> out{};
  std::size_t n = 0;
  for (char c : prefix) out[n++] = c;
  if (number >= 100) out[n++] = static_cast<char>('0' + number / 100);
  if (number >= 10) out[n++] = static_cast<char>('0' + number / 10 % 10);
  if (number >= 0) out[n++] = static_cast<char>('0' + number % 10);
  for (char c : suffix) out[n++] = c;
  return out;
}

template <std::size_t N>
struct RegionTable {
  std::array<Region, N> region{};
  std::size_t count = 0;
};

constexpr std::size_t region_count(const ArchFacts& f) {
  return 6 * f.cores.size() + 2 * f.dma.size() + 2 * f.topsps.size() + f.other_ranges.size();
}

template <const ArchFacts& F>
constexpr auto make_regions() {
  RegionTable<region_count(F)> t;
  const auto add = [&t](std::uint64_t bar0, std::uint64_t device, std::uint64_t bytes,
                        std::array<char, 24> name) {
    for (std::size_t i = 0; i < t.count; ++i) {
      if (t.region[i].bar0 == bar0) return;  // one block that several cores share
    }
    t.region[t.count++] = {bar0, device, bytes, name};
  };
  const auto add_registers = [&](std::uint64_t device, std::uint64_t bytes,
                                 std::array<char, 24> name) {
    add(register_to_bar0(F, device), device, bytes, name);
  };
  for (std::uint32_t c = 0; c < F.cores.size(); ++c) {
    const int core = static_cast<int>(c);
    const std::uint64_t bar0 = F.tile_bar0 + c * F.tile_bytes;
    if (F.tile_high == 0) {
      add(bar0, F.cores[c].tile, F.tile_bytes, region_name("tpb", core));
    } else {
      add(bar0, F.cores[c].tile, F.tile_split, region_name("tpb", core, "_sbuf"));
      add(bar0 + F.tile_split, tile_to_device(F, c, F.tile_split), F.tile_bytes - F.tile_split,
          region_name("tpb", core, "_engines"));
    }
    add_registers(F.cores[c].csr, F.csr_bytes, region_name("tpb", core, "_csr"));
    add_registers(F.cores[c].notific, kNotificBytes, region_name("tpb", core, "_notific"));
    add_registers(F.cores[c].broadcast, kUdmaWindowBytes,
                  region_name("tpb", core, "_udma_broadcast"));
    add_registers(F.cores[c].misc_ram, F.misc_ram_bytes, region_name("misc_ram"));
  }
  for (std::uint32_t e = 0; e < F.dma.size(); ++e) {
    const int engine = static_cast<int>(e);
    add_registers(F.dma[e].udma, kUdmaWindowBytes, region_name("udma", engine));
    add_registers(F.dma[e].misc, F.dma_misc_bytes, region_name("sdma", engine));
  }
  for (std::uint32_t i = 0; i < F.topsps.size(); ++i) {
    const int id = static_cast<int>(i);
    add(F.topsps[i].bar0, F.topsps[i].device, F.topsp_bytes, region_name("topsp", id));
    if (F.topsps[i].registers != kNone) {
      add_registers(F.topsps[i].registers, F.topsp_register_bytes,
                    region_name("topsp", id, "_apb"));
    }
  }
  for (const NamedRange& r : F.other_ranges) add(r.bar0, r.device, r.bytes, region_name(r.name));
  std::sort(t.region.begin(), t.region.begin() + static_cast<std::ptrdiff_t>(t.count),
            [](const Region& a, const Region& b) { return a.bar0 < b.bar0; });
  return t;
}

template <const ArchFacts& F>
inline constexpr auto kRegionNames = make_regions<F>();

template <const ArchFacts& F>
constexpr auto make_csr_regions() {
  std::array<nrtp_csr_region, kRegionNames<F>.count> out{};
  for (std::size_t i = 0; i < out.size(); ++i) {
    const Region& r = kRegionNames<F>.region[i];
    out[i] = {r.bar0, r.device, r.bytes, r.name.data()};
  }
  return out;
}

template <const ArchFacts& F>
inline constexpr auto kCsrRegions = make_csr_regions<F>();

template <const ArchFacts& F>
constexpr bool windows_are_disjoint() {
  for (std::size_t i = 1; i < kBlocks<F>.count; ++i) {
    const Block& before = kBlocks<F>.block[i - 1];
    if (before.device + before.bytes > kBlocks<F>.block[i].device) return false;
  }
  for (std::size_t i = 1; i < kCsrRegions<F>.size(); ++i) {
    const nrtp_csr_region& before = kCsrRegions<F>[i - 1];
    if (before.bar0 + before.bytes > kCsrRegions<F>[i].bar0) return false;
  }
  return true;
}

}  // namespace opennrt::arch_common
