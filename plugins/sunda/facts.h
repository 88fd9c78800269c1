// SPDX-License-Identifier: Apache-2.0
//
// What sunda (NeuronCore-v2: Trainium1, Inferentia2) is made of. Unless a line
// says otherwise the number is from aws-neuron-driver 2.24.7.0 or from the
// device images of real runs (runtimes 2.23, 2.25; core 0).
#pragma once

#include <array>
#include <cstdint>

#include "arch-common/facts.h"

namespace opennrt::sunda {

using arch_common::engine_bit;
using arch_common::kAllEngines;
using arch_common::kEngines;

inline constexpr std::uint32_t kCores = 2;
inline constexpr std::uint32_t kTopsps = 6;

// --- HBM: one channel per core, packed in BAR 4 ---
inline constexpr std::uint64_t kHbmChannelBytes = 0x400000000;  // 16 GiB
inline constexpr std::array<nrtp_hbm_channel, 2> kHbm = {{
    {0, kHbmChannelBytes, 0},
    {0x1000000000, kHbmChannelBytes, kHbmChannelBytes},
}};

// --- tiles ---
inline constexpr std::uint64_t kTile = 0xfffc0000000;
inline constexpr std::uint64_t kTileBytes = 0x4000000;
inline constexpr std::uint64_t kTopspDevice = 0xfffd0000000;
inline constexpr std::uint64_t kTopspBar0 = 0x10000000;
inline constexpr std::uint64_t kTopspBytes = 0x400000;

// --- inside a core's tile ---
inline constexpr std::uint64_t kSbufWindow = 0x2000000;
inline constexpr std::uint64_t kPsumWindow = 0x400000;
inline constexpr std::uint64_t kSyncLocal = 0x2700000;
// Sequencer blocks of PE, ACT, POOL, DVE, SP.
inline constexpr std::array<std::uint64_t, kEngines> kSequencerLocal = {
    0x2600000, 0x2400000, 0x2900000, 0x2b00000, 0x2800000};
inline constexpr std::uint64_t kSequencerBytes = 0x80000;  // up to the next known block
// Table memories. Their places are not published; ours, used by the software
// device only.
inline constexpr std::uint64_t kActTablesLocal = 0x2500000;
inline constexpr std::uint64_t kActTablesBytes = 0x100000;
inline constexpr std::uint64_t kDveTablesLocal = 0x2b80000;
inline constexpr std::uint64_t kDveTablesBytes = 0x8000;

constexpr arch_common::TileBlock sequencer(std::uint32_t engine) {
  return {kSequencerLocal[engine], kSequencerBytes, NRTP_ADDR_ENGINE, engine, false};
}
inline constexpr std::array<arch_common::TileBlock, 10> kTileBlocks = {{
    {0, kSbufWindow, NRTP_ADDR_SBUF, 0, false},
    {kSbufWindow, kPsumWindow, NRTP_ADDR_PSUM, 0, false},
    sequencer(NRTP_ENGINE_ACT),
    {kActTablesLocal, kActTablesBytes, NRTP_ADDR_TABLE, NRTP_ENGINE_ACT, true},
    sequencer(NRTP_ENGINE_PE),
    {kSyncLocal, 0x2000, NRTP_ADDR_SYNC, 0, false},
    sequencer(NRTP_ENGINE_SP),
    sequencer(NRTP_ENGINE_POOL),
    sequencer(NRTP_ENGINE_DVE),
    {kDveTablesLocal, kDveTablesBytes, NRTP_ADDR_TABLE, NRTP_ENGINE_DVE, true},
}};

// --- APB space: all register blocks; those of core 1 at a distance ---
inline constexpr std::uint64_t kApb = 0xffff0000000;
inline constexpr std::uint64_t kApbBar0 = 0x30000000;
inline constexpr std::uint64_t kApbBytes = 0x10000000;
inline constexpr std::uint64_t kCoreStride = 0x700000;
inline constexpr std::uint64_t kUdmaStride = 0x40000;  // engine windows start at 0
inline constexpr std::uint64_t kSdma = 0x400000;
inline constexpr std::uint64_t kSdmaStride = 0x7000;
inline constexpr std::uint64_t kTpbTop = 0x530000;
inline constexpr std::uint64_t kTpbTopBytes = 0x4000;
inline constexpr std::uint64_t kTpbCsr = 0x534000;
inline constexpr std::uint64_t kTpbNotific = 0x535000;
inline constexpr std::uint64_t kBroadcast = 0x1000000;  // core 1 by the distance: inferred
// Host engines: 32 (D2H, core 0) and 33 (H2D, core 1).
inline constexpr std::array<std::uint64_t, kCores> kHostUdma = {0x600000, 0xd00000};
inline constexpr std::array<std::uint64_t, kCores> kHostSdma = {0x640000, 0xd40000};
inline constexpr std::uint64_t kTopspApb = 0xe00000;
inline constexpr std::uint64_t kTopspApbBytes = 0x40000;
inline constexpr std::uint64_t kMiscRam = 0xfa0000;
inline constexpr std::uint64_t kMiscRamBytes = 0x10000;

inline constexpr std::array<arch_common::RegisterWindow, 1> kWindows = {{
    {kApb, kApbBar0, kApbBytes},
}};
inline constexpr std::array<arch_common::NamedRange, kCores> kOtherRanges = {{
    {kApb + kTpbTop, kApbBar0 + kTpbTop, kTpbTopBytes, "tpb0_top"},
    {kApb + kCoreStride + kTpbTop, kApbBar0 + kCoreStride + kTpbTop, kTpbTopBytes, "tpb1_top"},
}};

inline constexpr std::uint32_t kDmaPerCore = 16;
inline constexpr std::uint32_t kFirstHostEngine = kCores * kDmaPerCore;

constexpr std::array<arch_common::CoreFacts, kCores> make_cores() {
  std::array<arch_common::CoreFacts, kCores> out{};
  for (std::uint32_t core = 0; core < kCores; ++core) {
    const std::uint64_t apb = kApb + core * kCoreStride;
    out[core] = {.tile = kTile + core * kTileBytes,
                 .csr = apb + kTpbCsr,
                 .notific = apb + kTpbNotific,
                 .broadcast = apb + kBroadcast,
                 .misc_ram = kApb + kMiscRam,  // one for the device
                 .hbm = core,
                 .host_engine = kFirstHostEngine + core,
                 .host_queue = 0};
  }
  return out;
}
inline constexpr auto kCoreFacts = make_cores();

constexpr auto make_dma_engines() {
  std::array<arch_common::DmaEngineFacts, kFirstHostEngine + kCores> out{};
  for (std::uint32_t core = 0; core < kCores; ++core) {
    const std::uint64_t apb = kApb + core * kCoreStride;
    for (std::uint32_t i = 0; i < kDmaPerCore; ++i) {
      out[core * kDmaPerCore + i] = {apb + i * kUdmaStride, apb + kSdma + i * kSdmaStride, core};
    }
    out[kFirstHostEngine + core] = {kApb + kHostUdma[core], kApb + kHostSdma[core], core};
  }
  return out;
}
inline constexpr auto kDmaEngines = make_dma_engines();

constexpr std::array<arch_common::TopspFacts, kTopsps> make_topsps() {
  std::array<arch_common::TopspFacts, kTopsps> out{};
  for (std::uint32_t id = 0; id < kTopsps; ++id) {
    out[id] = {kTopspDevice + id * kTopspBytes, kTopspBar0 + id * kTopspBytes,
               kApb + kTopspApb + id * kTopspApbBytes};
  }
  return out;
}
inline constexpr auto kTopspFacts = make_topsps();

inline constexpr nrtp_arch_geometry kGeometry = {
    .size = sizeof(nrtp_arch_geometry),
    .dies = 1,
    .sengs = 2,
    .tpb_per_seng = 1,
    .tpbs = kCores,
    .tpb_per_hbm = 1,
    .topsps = kTopsps,
    .engines = kEngines,
    .q7_per_core = 8,
    .n_hbm = kHbm.size(),
    .hbm = kHbm.data(),
    .hbm_reserved_low = 0x1000000,
    .sbuf_partitions = 128,
    .psum_partitions = 128,
    .sbuf_partition_stride = 0x40000,
    .sbuf_partition_bytes = 0x30000,
    .sbuf_window_bytes = kSbufWindow,
    .psum_partition_stride = 0x8000,  // inferred: 128 of them fill the window
    .psum_partition_bytes = 0x4000,
    .psum_bank_bytes = 0x800,
    .psum_local_base = kSbufWindow,
    .psum_window_bytes = kPsumWindow,
    .psum_banks = 8,
    .semaphores = 256,
    .events = 256,
    .nq_hw_queues = 10,
    .nq_entry_bytes = 16,
    .error_queue = 2,
    .status_queue_first = 4,
    .lnc_mask = 1,
    .lnc_default = 1,
    .dma_per_core = kDmaPerCore,
    .dma_total = kDmaEngines.size(),
    .dma_queues_per_engine = 16,
    .host_window_base = 0x100000000000,
    .emulator_revision = 0xF0,
    .hw_revision_max = 0xEF,
    .emulator_revision_max = 0xF9,
};

// --- NX registers, relative to the NX block ---
inline constexpr std::uint32_t kPool = engine_bit(NRTP_ENGINE_POOL);
inline constexpr std::uint32_t kNxPoolCtrl0 = 0x800;
inline constexpr std::uint32_t kNxPoolCtrl1 = 0x24;
inline constexpr std::uint32_t kNxDgeCtrl = 0x20;
inline constexpr std::array<arch_common::NxWrite, 3> kNxSetup = {{
    {kPool, kNxPoolCtrl0, arch_common::NxValue::kZero},
    {kPool, kNxPoolCtrl1, arch_common::NxValue::kZero},
    {kAllEngines, kNxDgeCtrl, arch_common::NxValue::kZero},
}};
inline constexpr std::array<arch_common::NxClear, 1> kNxClear = {{
    {kPool, kNxPoolCtrl0, kNxPoolCtrl1},
}};

constexpr std::array<std::uint8_t, NRTP_CAPS> make_caps() {
  std::array<std::uint8_t, NRTP_CAPS> caps{};
  caps[NRTP_CAP_DMA_INDIRECT1D_BOUND_CHECK] = 1;
  return caps;
}

inline constexpr arch_common::ArchFacts kFacts = {
    .name = "sunda",
    .arch_type = 2,
    .geometry = &kGeometry,
    .cores = kCoreFacts,
    .tile_split = 0,
    .tile_high = 0,
    .tile_bytes = kTileBytes,
    .tile_bar0 = 0,
    .tile_blocks = kTileBlocks,
    .sync_local = kSyncLocal,
    .sequencer_local = kSequencerLocal,
    .nx_offset = 0x60000,
    .nx_coretype = {3, 0, 2, 1, 4},
    .q7_coretype = 6,
    .topsp_coretype = 5,
    .topsps = kTopspFacts,
    .topsp_bytes = kTopspBytes,
    .topsp_register_bytes = kTopspApbBytes,
    .windows = kWindows,
    .dma = kDmaEngines,
    .first_host_engine = kFirstHostEngine,
    .dma_stride = kUdmaStride,
    .dma_misc_bytes = kSdmaStride,
    .csr_bytes = 0x1000,
    .misc_ram_bytes = kMiscRamBytes,
    .other_ranges = kOtherRanges,
    .max_tx_per_packet = 128,
    .max_rx_per_packet = 128,
    .dma_flags = 0,
    .form_default = NRTP_FORM_2_25,
    .form_mask = NRTP_FORM_BIT_2_25 | NRTP_FORM_BIT_2_27,
    .caps = make_caps(),
    .event_const = {0x2000000000, 0x2000000004},
    // ACT has no sample on this family: the order exec, ACT, DVE of the next one.
    .rings = {.exec = 9, .act_tables = 10, .dve_tables = 11},
    .nx_start_ctrl = 0x10,
    .nx_start_addr_lo = 0x14,  // ours: not published
    .nx_start_addr_hi = 0x18,  // ours: not published
    .steps = {.nx_setup = kNxSetup,
              .nx_clear = kNxClear,
              .round_mode = {0, 0x210, 0x110, 0x310, 0},
              .feature_flags = {},
              .semaphores_by_range = false,
              .library = false,
              .indirect_flag = 0x848,
              // The first word is core 0's as observed, the next core 1's (ours).
              .misc_ram_save = 0xC8},
};

extern const nrtp_arch_driver kDriver;
extern const nrtp_arch_fabric kFabric;
extern const nrtp_arch_tables kTables;
extern const nrtp_arch_timing kTiming;

}  // namespace opennrt::sunda
