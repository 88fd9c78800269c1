// SPDX-License-Identifier: Apache-2.0
//
// Where things are on sunda (NeuronCore-v2: Trainium1, Inferentia2). Unless a
// line says otherwise the number is from aws-neuron-driver 2.24.7.0 or from the
// device images of real runs (runtimes 2.23, 2.25).
#pragma once

#include <array>
#include <cstdint>

#include "opennrt/arch.h"

namespace opennrt::sunda {

inline constexpr std::uint32_t kCores = 2;
inline constexpr std::uint32_t kEngines = 5;
inline constexpr std::uint32_t kTopsps = 6;

// --- HBM: one channel per core, packed in BAR 4 ---
inline constexpr std::uint32_t kHbmChannels = 2;
inline constexpr std::uint64_t kHbmChannelBytes = 0x400000000;  // 16 GiB
inline constexpr std::uint64_t kHbmChannelStride = 0x1000000000;

// --- tiles ---
inline constexpr std::uint64_t kTpbDevice = 0xfffc0000000;
inline constexpr std::uint64_t kTpbBar0 = 0;
inline constexpr std::uint64_t kTpbStride = 0x4000000;
inline constexpr std::uint64_t kTopspDevice = 0xfffd0000000;
inline constexpr std::uint64_t kTopspBar0 = 0x10000000;
inline constexpr std::uint64_t kTopspStride = 0x400000;

// --- inside a core's tile ---
inline constexpr std::uint64_t kSbufLocal = 0;
inline constexpr std::uint64_t kSbufWindow = 0x2000000;
inline constexpr std::uint64_t kPsumLocal = 0x2000000;
inline constexpr std::uint64_t kPsumWindow = 0x400000;
inline constexpr std::uint64_t kSyncLocal = 0x2700000;
// Sequencer blocks by engine (PE, ACT, POOL, DVE, SP).
inline constexpr std::array<std::uint64_t, kEngines> kSequencerLocal = {
    0x2600000, 0x2400000, 0x2900000, 0x2b00000, 0x2800000};
inline constexpr std::uint64_t kSequencerBytes = 0x80000;  // up to the next known block
inline constexpr std::uint64_t kNxOffset = 0x60000;        // NX registers inside a sequencer block
// Table memories. Their places are not published; ours, used by the software
// device only.
inline constexpr std::uint64_t kActTablesLocal = 0x2500000;
inline constexpr std::uint64_t kActTablesBytes = 0x100000;
inline constexpr std::uint64_t kDveTablesLocal = 0x2b80000;
inline constexpr std::uint64_t kDveTablesBytes = 0x8000;

// --- NX registers, relative to the NX block ---
inline constexpr std::uint64_t kNxStartCtrl = 0x10;
inline constexpr std::uint64_t kNxStartAddrLo = 0x14;  // ours: not published
inline constexpr std::uint64_t kNxStartAddrHi = 0x18;  // ours: not published
inline constexpr std::uint64_t kNxPoolCtrl0 = 0x800;   // POOL only
inline constexpr std::uint64_t kNxPoolCtrl1 = 0x24;    // POOL only
inline constexpr std::uint64_t kNxDgeCtrl = 0x20;
inline constexpr std::uint64_t kNxIndirectFlag = 0x848;  // POOL: an indirect DMA left its bounds

// --- APB space: register blocks; offsets below are relative to it ---
inline constexpr std::uint64_t kApbDevice = 0xffff0000000;
inline constexpr std::uint64_t kApbBar0 = 0x30000000;
inline constexpr std::uint64_t kCoreApbStride = 0x700000;  // of the blocks each core has
inline constexpr std::uint64_t kUdmaStride = 0x40000;      // engine windows start at 0
inline constexpr std::uint64_t kSdmaApb = 0x400000;
inline constexpr std::uint64_t kSdmaStride = 0x7000;
inline constexpr std::uint64_t kSdmaNotific = 0x1000;  // inside an engine's sdma block
inline constexpr std::uint64_t kTpbTopApb = 0x530000;
inline constexpr std::uint64_t kTpbTopBytes = 0x4000;
inline constexpr std::uint64_t kTpbCsrApb = 0x534000;
inline constexpr std::uint64_t kTpbCsrBytes = 0x1000;
inline constexpr std::uint64_t kTpbNotificApb = 0x535000;
inline constexpr std::uint64_t kTpbNotificBytes = 0x1000;
// Host engines: 32 (D2H, core 0) and 33 (H2D, core 1).
inline constexpr std::array<std::uint64_t, kCores> kHostUdmaApb = {0x600000, 0xd00000};
inline constexpr std::array<std::uint64_t, kCores> kHostSdmaApb = {0x640000, 0xd40000};
inline constexpr std::uint64_t kTopspApb = 0xe00000;
inline constexpr std::uint64_t kTopspApbStride = 0x40000;
inline constexpr std::uint64_t kMiscRamApb = 0xfa0000;
inline constexpr std::uint64_t kMiscRamBytes = 0x10000;
inline constexpr std::uint64_t kBroadcastApb = 0x1000000;  // core 1 by the stride: inferred

// Round-mode registers in the tpb_csr block; 0 = this engine has none.
inline constexpr std::array<std::uint64_t, kEngines> kRoundMode = {0, 0x210, 0x110, 0x310, 0};

// --- DMA ---
inline constexpr std::uint32_t kDmaPerCore = 16;
inline constexpr std::uint32_t kDmaTotal = 34;
inline constexpr std::uint32_t kFirstHostEngine = 32;
inline constexpr std::uint32_t kRuntimeQueue = 14;  // instruction fetch and runtime rings
inline constexpr std::uint32_t kModelQueues = 14;   // 0..13; 15 belongs to the collectives

// --- special addresses ---
inline constexpr std::array<std::uint64_t, 2> kEventConst = {0x2000000000, 0x2000000004};
inline constexpr std::uint64_t kHostWindow = 0x100000000000;

// Core index that this product really has.
inline bool valid_core(const nrtp_product* product, std::uint32_t core) {
  return product != nullptr && core < kCores && core < product->cores;
}

extern const nrtp_arch_geometry kGeometry;
extern const nrtp_arch_address kAddress;
extern const nrtp_arch_dma kDma;
extern const nrtp_arch_ib kIb;
extern const nrtp_arch_tables kTables;
extern const nrtp_arch_hal kHal;
extern const nrtp_arch_fabric kFabric;
extern const nrtp_arch_timing kTiming;

int attach(const nrtp_host* host, const nrtp_host_dev* dev, void** ctx);
void detach(void* ctx);

// One record against the instruction table of this arch.
int validate_inst(std::uint32_t engine, const std::uint8_t in[64], nrtp_diag* out);
// A finished image: every record, and no pseudo-instruction left.
int validate_image(std::uint32_t engine, const std::uint8_t* image, std::uint64_t bytes,
                   nrtp_diag* out);

}  // namespace opennrt::sunda
