// SPDX-License-Identifier: Apache-2.0
//
// The address map of the two-die families (cayman, mariana): eight cores on
// four sequencer clusters, tiles whose SBUF and engine halves are far apart,
// 128 DMA engines of cores and 4 of the host. aws-neuron-driver 2.24.7.0 and
// device images of real runs (cores 4 and 5); what a line marks as inferred is
// not confirmed by either.
#pragma once

#include <array>
#include <cstdint>

#include "arch-common/facts.h"

namespace opennrt::arch_common::split {

inline constexpr std::uint32_t kCores = 8;
inline constexpr std::uint32_t kClusters = 4;
inline constexpr std::uint32_t kTopsps = 16;
inline constexpr std::uint32_t kDmaPerCore = 16;
inline constexpr std::uint32_t kFirstHostEngine = 128;
inline constexpr std::uint32_t kHostEngines = 4;
inline constexpr std::uint64_t kDie = 0x800000000000;  // device address of the second die

// --- tiles ---
inline constexpr std::uint64_t kTileSplit = 0x2000000;   // SBUF below, the rest above
inline constexpr std::uint64_t kTileHigh = 0x800000000;  // added above the split
inline constexpr std::uint64_t kTileBytes = 0x4000000;   // BAR 0 distance
inline constexpr std::uint64_t kTileBar0 = 0xd0000000;
inline constexpr std::array<std::uint64_t, 4> kTileOfDie = {0x2000000000, 0x3000000000,
                                                            0x6000000000, 0x7000000000};
inline constexpr std::uint64_t kSequencerBytes = 0x80000;
inline constexpr std::uint64_t kNxOffset = 0x60000;
inline constexpr std::uint64_t kSyncLocal = 0x2700000;
// PE, ACT, POOL, DVE, SP
inline constexpr std::array<std::uint64_t, kEngines> kSequencerLocal = {
    0x2600000, 0x2400000, 0x3000000, 0x2b00000, 0x2800000};
inline constexpr std::uint64_t kActTablesLocal = 0x2500000;
inline constexpr std::uint64_t kActTablesBytes = 0x100000;
// End of the table memory of DVE, which begins elsewhere in each family: up to
// the next 64 KiB.
inline constexpr std::uint64_t kDveTablesEnd = 0x2b90000;

constexpr std::array<TileBlock, 10> tile_blocks(std::uint64_t dve_tables) {
  constexpr auto sequencer = [](std::uint32_t engine, std::uint64_t bytes) {
    return TileBlock{kSequencerLocal[engine], bytes, NRTP_ADDR_ENGINE, engine, false};
  };
  return {{
      {0, kTileSplit, NRTP_ADDR_SBUF, 0, false},
      {kTileSplit, 0x400000, NRTP_ADDR_PSUM, 0, false},
      sequencer(NRTP_ENGINE_ACT, kSequencerBytes),
      {kActTablesLocal, kActTablesBytes, NRTP_ADDR_TABLE, NRTP_ENGINE_ACT, true},
      sequencer(NRTP_ENGINE_PE, kSequencerBytes),
      {kSyncLocal, 0x2000, NRTP_ADDR_SYNC, 0, false},
      sequencer(NRTP_ENGINE_SP, kSequencerBytes),
      sequencer(NRTP_ENGINE_DVE, dve_tables - kSequencerLocal[NRTP_ENGINE_DVE]),
      {dve_tables, kDveTablesEnd - dve_tables, NRTP_ADDR_TABLE, NRTP_ENGINE_DVE, true},
      sequencer(NRTP_ENGINE_POOL, kSequencerBytes),
  }};
}

// --- register space: one window per die for I/O, one per cluster for DMA ---
inline constexpr std::uint64_t kIo = 0x8000000000;
inline constexpr std::uint64_t kIoBytes = 0x20000000;
inline constexpr std::uint64_t kClusterBytes = 0xc800000;
inline constexpr std::array<std::uint64_t, kClusters> kCluster = {
    0x1000000000, 0x5000000000, kDie + 0x1000000000, kDie + 0x5000000000};
inline constexpr std::array<RegisterWindow, 2 + kClusters> kWindows = {{
    {kIo, 0x0, kIoBytes},
    {kDie + kIo, 0x40000000, kIoBytes},
    {kCluster[0], 0x80000000, kClusterBytes},
    {kCluster[1], 0x90000000, kClusterBytes},
    {kCluster[2], 0xa0000000, kClusterBytes},
    {kCluster[3], 0xb0000000, kClusterBytes},
}};

// Inside an I/O window. Core registers: by cluster of the die, then by core.
inline constexpr std::array<std::uint64_t, 2> kIoCluster = {0x6000000, 0x6400000};
inline constexpr std::uint64_t kIoCoreStride = 0x180000;
inline constexpr std::uint64_t kCsrBytes = 0x1000;
inline constexpr std::uint64_t kIoNotific = 0x1000;
inline constexpr std::uint64_t kIoHostDma = 0x6800000;
inline constexpr std::uint64_t kIoTopsp = 0x6a00000;
inline constexpr std::uint64_t kIoTopspStride = 0x40000;
inline constexpr std::uint64_t kIoMiscRam = 0x6c84000;  // of the first die serves the device
inline constexpr std::uint64_t kMiscRamBytes = 0x4000;  // inferred

// Inside a cluster window: one DMA window per engine; its halves are the
// engine's rings, its register block and, in a core's first engine, the window
// that writes all 16 engines of the core.
inline constexpr std::array<std::uint64_t, 2> kClusterDma = {0x2000000, 0x4000000};
inline constexpr std::uint64_t kDmaStride = 0x100000;
inline constexpr std::uint64_t kDmaMisc = 0x40000;
inline constexpr std::uint64_t kDmaMiscBytes = 0x40000;
inline constexpr std::uint64_t kDmaBroadcast = 0x80000;

constexpr std::uint64_t udma(std::uint32_t engine) {
  if (engine >= kFirstHostEngine) {
    const std::uint32_t host = engine - kFirstHostEngine;
    return host / 2 * kDie + kIo + kIoHostDma + host % 2 * kDmaStride;
  }
  const std::uint32_t cluster = engine / (2 * kDmaPerCore);
  return kCluster[cluster] + kClusterDma[cluster % 2] + engine % (2 * kDmaPerCore) * kDmaStride;
}

constexpr std::array<CoreFacts, kCores> make_cores() {
  std::array<CoreFacts, kCores> out{};
  for (std::uint32_t core = 0; core < kCores; ++core) {
    const std::uint64_t die = core / 4 * kDie;
    const std::uint64_t csr = die + kIo + kIoCluster[core / 2 % 2] + core % 2 * kIoCoreStride;
    out[core] = {
        .tile = die + kTileOfDie[core % 4],
        .csr = csr,
        .notific = csr + kIoNotific,
        .broadcast = udma(core * kDmaPerCore) + kDmaBroadcast,
        .misc_ram = kIo + kIoMiscRam,
        .hbm = core / 2,
        .host_engine = kFirstHostEngine + core / 2,
        .host_queue = core % 2,
    };
  }
  return out;
}
inline constexpr std::array<CoreFacts, kCores> kCoreFacts = make_cores();

constexpr auto make_dma_engines() {
  std::array<DmaEngineFacts, kFirstHostEngine + kHostEngines> out{};
  for (std::uint32_t e = 0; e < out.size(); ++e) {
    const bool host = e >= kFirstHostEngine;
    out[e] = {udma(e), udma(e) + kDmaMisc, host ? 2 * (e - kFirstHostEngine) : e / kDmaPerCore};
  }
  return out;
}
inline constexpr auto kDmaEngines = make_dma_engines();

constexpr std::array<TopspFacts, kTopsps> make_topsps() {
  std::array<TopspFacts, kTopsps> out{};
  for (std::uint32_t id = 0; id < kTopsps; ++id) {
    const std::uint64_t die = id / 8, k = id % 8;
    out[id] = {die * kDie + 0x8280000000 + k * 0x40000000,
               (die == 0 ? 0xf0000000 : 0xf2800000) + k * 0x400000,
               die * kDie + kIo + kIoTopsp + k * kIoTopspStride};
  }
  return out;
}
inline constexpr std::array<TopspFacts, kTopsps> kTopspFacts = make_topsps();
inline constexpr std::uint64_t kTopspBytes = 0x400000;

inline constexpr std::array<NamedRange, kClusters> kOtherRanges = {{
    {0x1200000000, 0xc0000000, 0x34c0000, "preproc0"},
    {0x5200000000, 0xc4000000, 0x34c0000, "preproc1"},
    {kDie + 0x1200000000, 0xc8000000, 0x34c0000, "preproc2"},
    {kDie + 0x5200000000, 0xcc000000, 0x34c0000, "preproc3"},
}};

// --- memory ---
// Windows of 64 GiB, of which a family uses the first `bytes`.
constexpr std::array<nrtp_hbm_channel, 4> hbm(std::uint64_t bytes) {
  return {{
      {0x0, bytes, 0x0},
      {0x4000000000, bytes, 0x1000000000},
      {kDie, bytes, 0x2000000000},
      {kDie + 0x4000000000, bytes, 0x3000000000},
  }};
}

constexpr nrtp_arch_geometry geometry(const nrtp_hbm_channel* channels,
                                      std::uint64_t sbuf_partition_bytes) {
  nrtp_arch_geometry g{};
  g.size = sizeof g;
  g.dies = 2;
  g.sengs = kClusters;
  g.tpb_per_seng = 2;
  g.tpbs = kCores;
  g.tpb_per_hbm = 2;
  g.topsps = kTopsps;
  g.engines = kEngines;
  g.q7_per_core = 8;
  g.n_hbm = 4;
  g.hbm = channels;
  g.hbm_reserved_low = 0x1000000;
  g.sbuf_partitions = 128;
  g.psum_partitions = 128;
  g.sbuf_partition_stride = 0x40000;
  g.sbuf_partition_bytes = sbuf_partition_bytes;
  g.sbuf_window_bytes = kTileSplit;
  g.psum_partition_stride = 0x8000;  // inferred: 128 of them fill the window
  g.psum_partition_bytes = 0x4000;
  g.psum_bank_bytes = 0x800;
  g.psum_local_base = kTileSplit;
  g.psum_window_bytes = 0x400000;
  g.psum_banks = 8;
  g.semaphores = 256;
  g.events = 256;
  g.nq_hw_queues = 10;
  g.nq_entry_bytes = 16;
  g.error_queue = 2;
  g.status_queue_first = 4;
  g.lnc_mask = 3;
  g.lnc_default = 2;
  g.dma_per_core = kDmaPerCore;
  g.dma_total = kFirstHostEngine + kHostEngines;
  g.dma_queues_per_engine = 16;
  g.host_window_base = 0x400000000000;
  g.emulator_revision = 0xF0;
  g.hw_revision_max = 0xEF;
  g.emulator_revision_max = 0xF9;
  return g;
}

// device_kind: suffix of the device generation in sysfs.
constexpr nrtp_product product(const char* name, const char* silicon, std::uint32_t pci_device,
                               std::uint32_t devices, std::uint64_t hbm_bytes, std::uint32_t family,
                               std::uint32_t size, std::uint32_t device_kind) {
  constexpr std::uint32_t kAmazon = 0x1D0F;
  return {.name = name,
          .silicon = silicon,
          .pci_vendor = kAmazon,
          .pci_device = pci_device,
          .devices = devices,
          .cores = kCores,
          .hbm_channel_bytes = hbm_bytes,
          .instance_family = family,
          .instance_size = size,
          .device_kind = device_kind,
          .topology = devices > 1 ? 1u : 0u};
}

// --- descriptor generators: NX registers of a program switch ---
inline constexpr std::uint32_t kPool = engine_bit(NRTP_ENGINE_POOL);
inline constexpr std::array<NxWrite, 6> kNxSetup = {{
    {kPool, 0x1500, NxValue::kSoftwareQueues},
    {kPool, 0x14e0, NxValue::kCarveOut},
    {kAllEngines, 0x13a0, NxValue::kEngineMask},
    {kAllEngines, 0x13c0, NxValue::kOwnQueues},
    {kAllEngines, 0x13e0, NxValue::kAllQueues},
    {kAllEngines, 0x14c0, NxValue::kFeatureFlags},
}};
inline constexpr std::array<NxClear, 3> kNxClear = {{
    {kPool, 0x1500, 0x14e0},
    {kAllEngines, 0x13a0, 0x13c0},
    {kAllEngines, 0x13e0, 0},
}};

// Everything above; the family adds its name, ids, memory and constants.
constexpr ArchFacts facts(const nrtp_arch_geometry* geometry_of_family,
                          std::span<const TileBlock> blocks) {
  return {
      .name = nullptr,
      .arch_type = 0,
      .geometry = geometry_of_family,
      .cores = kCoreFacts,
      .tile_split = kTileSplit,
      .tile_high = kTileHigh,
      .tile_bytes = kTileBytes,
      .tile_bar0 = kTileBar0,
      .tile_blocks = blocks,
      .sync_local = kSyncLocal,
      .sequencer_local = kSequencerLocal,
      .nx_offset = kNxOffset,
      .nx_coretype = {},
      .q7_coretype = 0,
      .topsp_coretype = 0,
      .topsps = kTopspFacts,
      .topsp_bytes = kTopspBytes,
      .topsp_register_bytes = kIoTopspStride,
      .windows = kWindows,
      .dma = kDmaEngines,
      .first_host_engine = kFirstHostEngine,
      .dma_stride = kDmaStride,
      .dma_misc_bytes = kDmaMiscBytes,
      .csr_bytes = kCsrBytes,
      .misc_ram_bytes = kMiscRamBytes,
      .other_ranges = kOtherRanges,
      .max_tx_per_packet = 65,
      .max_rx_per_packet = 60,
      .dma_flags = NRTP_DMA_STRONG_ORDER_WRITE | NRTP_DMA_CCE_REPLICATION |
                   NRTP_DMA_TRANSPOSE_FLUSH | NRTP_DMA_PACK_4K,
      .form_default = NRTP_FORM_2_30,
      .form_mask = NRTP_FORM_BIT_2_27 | NRTP_FORM_BIT_2_30,
      .caps = {},
      .event_const = {},
      .rings = {.exec = 5, .act_tables = 9, .dve_tables = 10},
      .nx_start_ctrl = 0x4,
      .nx_start_addr_lo = 0x1060,
      .nx_start_addr_hi = 0x1080,
      .steps = {.nx_setup = kNxSetup,
                .nx_clear = kNxClear,
                .round_mode = {0, 0x210, 0x110, 0x310, 0},
                .feature_flags = {4, 4, 4, 5, 4},
                .semaphores_by_range = true,
                .library = true,
                .indirect_flag = 0,
                .misc_ram_save = 0},
  };
}

// Core types of a family's microcode block: its first number and the order ACT,
// DVE, POOL, PE, SP, TopSP, Q7.
constexpr void set_coretypes(ArchFacts& f, std::uint32_t first) {
  f.nx_coretype = {first + 3, first, first + 2, first + 1, first + 4};
  f.topsp_coretype = first + 5;
  f.q7_coretype = first + 6;
}

}  // namespace opennrt::arch_common::split
