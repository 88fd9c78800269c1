// SPDX-License-Identifier: Apache-2.0
//
// What a silicon family is made of, as data. A plugin fills in one ArchFacts
// object; the functions of this library answer the arch table from it. All
// addresses are device addresses unless a name says otherwise.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "opennrt/arch.h"

namespace opennrt::arch_common {

inline constexpr std::uint64_t kNone = UINT64_MAX;  // "no such address"
inline constexpr std::uint32_t kEngines = 5;        // PE, ACT, POOL, DVE, SP
inline constexpr std::uint32_t kAllEngines = 0x1F;
constexpr std::uint32_t engine_bit(std::uint32_t engine) { return 1u << engine; }

// A block at a fixed place of every core's tile.
struct TileBlock {
  std::uint64_t begin, bytes;  // tile-local
  std::uint32_t kind;          // enum nrtp_addr_kind
  std::uint32_t unit;          // engine, where the kind has one
  bool tile_local;             // class local = address in the tile, not offset in the block
};

struct CoreFacts {
  std::uint64_t tile;
  std::uint64_t csr, notific, broadcast, misc_ram;
  std::uint32_t hbm;
  std::uint32_t host_engine, host_queue;  // the driver's own copies
};

struct DmaEngineFacts {
  std::uint64_t udma, misc;
  std::uint32_t core;  // first core it serves
};

struct TopspFacts {
  std::uint64_t device, bar0;
  std::uint64_t registers;  // register block, kNone = not known
};

// A range of register space and its place in BAR 0.
struct RegisterWindow {
  std::uint64_t device, bar0, bytes;
};

struct NamedRange {
  std::uint64_t device, bar0, bytes;
  const char* name;
};

// One NX register that a program switch programs or clears.
enum class NxValue : std::uint8_t {
  kZero,
  kSoftwareQueues,  // software descriptor generator: queue mask << 16 | DMA engine mask
  kCarveOut,        // its scratch in SBUF: bytes / 16 << 16 | offset / 16
  kEngineMask,      // DMA engines of the engine's own hardware generator
  kOwnQueues,
  kAllQueues,  // of all hardware generators of the core
  kFeatureFlags,
};
struct NxWrite {
  std::uint32_t engines;  // bit = engine
  std::uint32_t reg;      // offset in the NX block
  NxValue value;
};
struct NxClear {
  std::uint32_t engines;
  std::uint32_t first, second;  // second 0 = a single write
};

struct StepFacts {
  std::span<const NxWrite> nx_setup;
  std::span<const NxClear> nx_clear;
  std::array<std::uint32_t, kEngines> round_mode;     // offsets in the CSR block, 0 = none
  std::array<std::uint32_t, kEngines> feature_flags;  // NxValue::kFeatureFlags
  bool semaphores_by_range;     // one record clears a range; else one record each
  bool library;                 // POOL library records of form 2.30
  std::uint32_t indirect_flag;  // NX register of POOL: an indirect DMA left its bounds; 0 = none
  std::uint32_t misc_ram_save;  // where POOL keeps register 0 meanwhile, + 4 * core
};

struct RingFacts {  // index among the core's DMA engines, all on queue 14
  std::uint32_t exec, act_tables, dve_tables;
};

struct ArchFacts {
  const char* name;
  std::uint32_t arch_type;
  const nrtp_arch_geometry* geometry;
  std::span<const CoreFacts> cores;
  // Tile-local addresses from tile_split on have tile_high added.
  std::uint64_t tile_split, tile_high, tile_bytes, tile_bar0;
  std::span<const TileBlock> tile_blocks;
  std::uint64_t sync_local;
  std::array<std::uint64_t, kEngines> sequencer_local;
  std::uint64_t nx_offset;  // NX registers inside a sequencer block
  std::array<std::uint32_t, kEngines> nx_coretype;
  std::uint32_t q7_coretype, topsp_coretype;
  std::span<const TopspFacts> topsps;
  std::uint64_t topsp_bytes, topsp_register_bytes;
  std::span<const RegisterWindow> windows;
  std::span<const DmaEngineFacts> dma;
  std::uint32_t first_host_engine;
  std::uint64_t dma_stride;      // between the windows of neighbouring engines of a core
  std::uint64_t dma_misc_bytes;  // register block beside each window
  std::uint64_t csr_bytes, misc_ram_bytes;
  std::span<const NamedRange> other_ranges;  // register windows without a decoder
  std::uint32_t max_tx_per_packet, max_rx_per_packet;
  std::uint32_t dma_flags;  // enum nrtp_dma_flags
  std::uint32_t form_default, form_mask;
  std::array<std::uint8_t, NRTP_CAPS> caps;
  std::array<std::uint64_t, 2> event_const;  // addresses that read 0 and 1
  RingFacts rings;
  std::uint32_t nx_start_ctrl, nx_start_addr_lo, nx_start_addr_hi;
  StepFacts steps;
};

inline constexpr std::uint64_t kNotificBytes = 0x1000;
inline constexpr std::uint32_t kRuntimeQueue = 14;  // instruction fetch and runtime rings
inline constexpr std::uint32_t kModelQueues = 14;   // 0..13; 15 belongs to the collectives

// Core index that this product really has.
inline bool valid_core(const ArchFacts& facts, const nrtp_product* product, std::uint32_t core) {
  return product != nullptr && core < facts.cores.size() && core < product->cores;
}

}  // namespace opennrt::arch_common
