// SPDX-License-Identifier: Apache-2.0
//
// Device addresses, BAR 0 offsets and their inverse.
#include <algorithm>

#include "arch-common/sync_block.h"
#include "arch-common/udma.h"
#include "csr_regions.h"
#include "layout.h"

namespace opennrt::sunda {
namespace {

constexpr std::uint64_t kNone = UINT64_MAX;

// A block at a fixed place of a core's tile.
struct TileBlock {
  std::uint64_t begin, bytes;
  std::uint32_t kind, unit;
  bool tile_local;  // local = address in the tile instead of offset in the block
};

constexpr std::array<TileBlock, 10> kTileBlocks = {{
    {kSbufLocal, kSbufWindow, NRTP_ADDR_SBUF, 0, false},
    {kPsumLocal, kPsumWindow, NRTP_ADDR_PSUM, 0, false},
    {kSequencerLocal[NRTP_ENGINE_ACT], kSequencerBytes, NRTP_ADDR_ENGINE, NRTP_ENGINE_ACT, false},
    {kActTablesLocal, kActTablesBytes, NRTP_ADDR_TABLE, NRTP_ENGINE_ACT, true},
    {kSequencerLocal[NRTP_ENGINE_PE], kSequencerBytes, NRTP_ADDR_ENGINE, NRTP_ENGINE_PE, false},
    {kSyncLocal, arch_common::kSyncBlockBytes, NRTP_ADDR_SYNC, 0, false},
    {kSequencerLocal[NRTP_ENGINE_SP], kSequencerBytes, NRTP_ADDR_ENGINE, NRTP_ENGINE_SP, false},
    {kSequencerLocal[NRTP_ENGINE_POOL], kSequencerBytes, NRTP_ADDR_ENGINE, NRTP_ENGINE_POOL, false},
    {kSequencerLocal[NRTP_ENGINE_DVE], kSequencerBytes, NRTP_ADDR_ENGINE, NRTP_ENGINE_DVE, false},
    {kDveTablesLocal, kDveTablesBytes, NRTP_ADDR_TABLE, NRTP_ENGINE_DVE, true},
}};

std::uint64_t local_to_device(const nrtp_product* product, std::uint32_t core,
                              std::uint64_t local) {
  if (!valid_core(product, core) || local >= kTpbStride) return kNone;
  return kTpbDevice + core * kTpbStride + local;
}

std::uint64_t local_to_bar0(const nrtp_product* product, std::uint32_t core, std::uint64_t local) {
  if (!valid_core(product, core) || local >= kTpbStride) return kNone;
  return kTpbBar0 + core * kTpbStride + local;
}

std::uint64_t topsp_device(const nrtp_product* product, std::uint32_t id) {
  if (product == nullptr || id >= kTopsps) return kNone;
  return kTopspDevice + id * kTopspStride;
}

std::uint64_t topsp_bar0(const nrtp_product* product, std::uint32_t id) {
  if (product == nullptr || id >= kTopsps) return kNone;
  return kTopspBar0 + id * kTopspStride;
}

std::uint64_t event_addr(const nrtp_product* product, std::uint32_t core, std::uint32_t event) {
  const std::uint64_t offset = arch_common::event_offset(event);
  return offset == kNone ? kNone : local_to_device(product, core, kSyncLocal + offset);
}

std::uint64_t sem_addr(const nrtp_product* product, std::uint32_t core, std::uint32_t sem,
                       std::uint32_t op) {
  const std::uint64_t offset = arch_common::semaphore_offset(sem, op);
  return offset == kNone ? kNone : local_to_device(product, core, kSyncLocal + offset);
}

std::uint64_t channel_bytes(const nrtp_product* product) {
  return std::min(product->hbm_channel_bytes, kHbmChannelBytes);
}

std::uint64_t hbm_to_bar4(const nrtp_product* product, std::uint64_t pa, std::uint64_t bytes) {
  if (product == nullptr) return kNone;
  for (std::uint32_t i = 0; i < kHbmChannels; ++i) {
    const nrtp_hbm_channel& channel = kGeometry.hbm[i];
    const std::uint64_t offset = pa - channel.base;
    if (pa < channel.base || offset >= channel_bytes(product)) continue;
    return bytes <= channel_bytes(product) - offset ? channel.bar4 + offset : kNone;
  }
  return kNone;
}

std::uint32_t default_hbm(const nrtp_product* product, std::uint32_t core) {
  return valid_core(product, core) ? core : UINT32_MAX;
}

int cores_of_hbm(const nrtp_product* product, std::uint32_t hbm, std::uint32_t* out,
                 std::uint32_t* inout_n) {
  if (product == nullptr || inout_n == nullptr || hbm >= kHbmChannels) return NRTP_INVALID;
  const std::uint32_t count = valid_core(product, hbm) ? 1 : 0;
  const std::uint32_t capacity = *inout_n;
  if (capacity != 0 && out == nullptr) return NRTP_INVALID;
  *inout_n = count;
  if (capacity < count) return NRTP_RESOURCE;
  if (count != 0) out[0] = hbm;
  return NRTP_OK;
}

int classify_tile(std::uint64_t offset, nrtp_addr_class* out) {
  out->core = static_cast<std::uint32_t>(offset / kTpbStride);
  const std::uint64_t local = offset % kTpbStride;
  for (const TileBlock& block : kTileBlocks) {
    if (local < block.begin || local - block.begin >= block.bytes) continue;
    out->kind = block.kind;
    out->unit = block.unit;
    out->local = block.tile_local ? local : local - block.begin;
    out->bytes_left = block.bytes - (local - block.begin);
    return NRTP_OK;
  }
  return NRTP_INVALID;
}

void set_block(nrtp_addr_class* out, std::uint32_t kind, std::uint64_t offset,
               std::uint64_t bytes) {
  out->kind = kind;
  out->local = offset;
  out->bytes_left = bytes - offset;
}

// True when [begin, begin + bytes) holds `at`; then *offset is the place in it.
bool inside(std::uint64_t at, std::uint64_t begin, std::uint64_t bytes, std::uint64_t* offset) {
  if (at < begin || at - begin >= bytes) return false;
  *offset = at - begin;
  return true;
}

// Blocks that every core has, `at` relative to the core's first block.
int classify_core_apb(std::uint32_t core, std::uint64_t at, nrtp_addr_class* out) {
  std::uint64_t offset = 0;
  out->core = core;
  if (inside(at, 0, kDmaPerCore * kUdmaStride, &offset)) {
    out->kind = NRTP_ADDR_UDMA;
    out->unit = core * kDmaPerCore + static_cast<std::uint32_t>(offset / kUdmaStride);
    arch_common::udma_decode(offset % kUdmaStride, out);
    return NRTP_OK;
  }
  if (inside(at, kSdmaApb, kDmaPerCore * kSdmaStride, &offset)) {
    out->unit = core * kDmaPerCore + static_cast<std::uint32_t>(offset / kSdmaStride);
    set_block(out, NRTP_ADDR_SDMA_MISC, offset % kSdmaStride, kSdmaStride);
    return NRTP_OK;
  }
  if (inside(at, kTpbCsrApb, kTpbCsrBytes, &offset)) {
    set_block(out, NRTP_ADDR_TPB_CSR, offset, kTpbCsrBytes);
    return NRTP_OK;
  }
  if (inside(at, kTpbNotificApb, kTpbNotificBytes, &offset)) {
    set_block(out, NRTP_ADDR_NOTIFIC, offset, kTpbNotificBytes);
    return NRTP_OK;
  }
  if (inside(at, kBroadcastApb, arch_common::kUdmaWindowBytes, &offset)) {
    out->kind = NRTP_ADDR_UDMA_BCAST;
    out->unit = 0xFF;
    arch_common::udma_decode(offset, out);
    return NRTP_OK;
  }
  return NRTP_INVALID;
}

int classify_apb(const nrtp_product* product, std::uint64_t at, nrtp_addr_class* out) {
  std::uint64_t offset = 0;
  for (std::uint32_t core = 0; core < kCores; ++core) {
    if (inside(at, kHostUdmaApb[core], kUdmaStride, &offset)) {
      out->kind = NRTP_ADDR_UDMA;
      out->core = core;
      out->unit = kFirstHostEngine + core;
      arch_common::udma_decode(offset, out);
      return NRTP_OK;
    }
    if (inside(at, kHostSdmaApb[core], kSdmaStride, &offset)) {
      out->core = core;
      out->unit = kFirstHostEngine + core;
      set_block(out, NRTP_ADDR_SDMA_MISC, offset, kSdmaStride);
      return NRTP_OK;
    }
  }
  if (inside(at, kMiscRamApb, kMiscRamBytes, &offset)) {
    set_block(out, NRTP_ADDR_MISC_RAM, offset, kMiscRamBytes);
    return NRTP_OK;
  }
  for (std::uint32_t core = kCores; core-- > 0;) {
    if (at < core * kCoreApbStride || !valid_core(product, core)) continue;
    if (classify_core_apb(core, at - core * kCoreApbStride, out) == NRTP_OK) return NRTP_OK;
  }
  return NRTP_INVALID;
}

int classify_into(const nrtp_product* product, std::uint64_t pa, nrtp_addr_class* out) {
  std::uint64_t offset = 0;
  for (std::uint32_t i = 0; i < kHbmChannels; ++i) {
    if (inside(pa, kGeometry.hbm[i].base, channel_bytes(product), &offset)) {
      out->unit = i;
      set_block(out, NRTP_ADDR_HBM, offset, channel_bytes(product));
      return NRTP_OK;
    }
  }
  if (inside(pa, kTpbDevice, std::min(product->cores, kCores) * kTpbStride, &offset)) {
    return classify_tile(offset, out);
  }
  if (inside(pa, kTopspDevice, kTopsps * kTopspStride, &offset)) {
    out->unit = static_cast<std::uint32_t>(offset / kTopspStride);
    set_block(out, NRTP_ADDR_TOPSP, offset % kTopspStride, kTopspStride);
    return NRTP_OK;
  }
  if (pa >= kApbDevice && pa < kHostWindow) return classify_apb(product, pa - kApbDevice, out);
  if (inside(pa, kHostWindow, kHostWindow, &offset)) {
    set_block(out, NRTP_ADDR_HOST, offset, kHostWindow);
    return NRTP_OK;
  }
  for (std::uint32_t value = 0; value < kEventConst.size(); ++value) {
    if (pa != kEventConst[value]) continue;
    out->kind = NRTP_ADDR_CONST;
    out->local = value;
    out->bytes_left = 4;
    return NRTP_OK;
  }
  return NRTP_INVALID;
}

int classify(const nrtp_product* product, std::uint64_t pa, nrtp_addr_class* out) {
  if (product == nullptr || out == nullptr) return NRTP_INVALID;
  nrtp_addr_class result{};
  result.size = sizeof result;
  const int status = classify_into(product, pa, &result);
  if (status == NRTP_OK) *out = result;
  return status;
}

std::uint64_t bar0_to_device(const nrtp_product* product, std::uint64_t bar0) {
  std::uint32_t n = 0;
  const nrtp_csr_region* regions = csr_regions(product, &n);
  if (regions == nullptr) return kNone;
  const nrtp_csr_region* end = regions + n;
  const nrtp_csr_region* next = std::upper_bound(
      regions, end, bar0,
      [](std::uint64_t at, const nrtp_csr_region& region) { return at < region.bar0; });
  if (next == regions) return kNone;
  const nrtp_csr_region& region = *(next - 1);
  return bar0 - region.bar0 < region.bytes ? region.device + (bar0 - region.bar0) : kNone;
}

int coretype(const nrtp_product* product, std::uint32_t engine, std::uint32_t* out_nx,
             std::uint32_t* out_q7, std::uint32_t* out_topsp) {
  // Microcode core types, by engine; the numbering is another permutation.
  constexpr std::array<std::uint32_t, kEngines> kNx = {3, 0, 2, 1, 4};
  if (product == nullptr || engine >= kEngines) return NRTP_INVALID;
  if (out_nx != nullptr) *out_nx = kNx[engine];
  if (out_q7 != nullptr) *out_q7 = 6;
  if (out_topsp != nullptr) *out_topsp = 5;
  return NRTP_OK;
}

std::uint64_t nx_device(const nrtp_product* product, std::uint32_t core, std::uint32_t engine) {
  if (engine >= kEngines) return kNone;
  return local_to_device(product, core, kSequencerLocal[engine] + kNxOffset);
}

std::uint64_t nx_bar0(const nrtp_product* product, std::uint32_t core, std::uint32_t engine) {
  if (engine >= kEngines) return kNone;
  return local_to_bar0(product, core, kSequencerLocal[engine] + kNxOffset);
}

std::uint64_t tpb_csr_device(const nrtp_product* product, std::uint32_t core) {
  if (!valid_core(product, core)) return kNone;
  return kApbDevice + core * kCoreApbStride + kTpbCsrApb;
}

// One RAM for the device.
std::uint64_t misc_ram_device(const nrtp_product* product, std::uint32_t core) {
  return valid_core(product, core) ? kApbDevice + kMiscRamApb : kNone;
}

std::uint64_t notific_bar0(const nrtp_product* product, std::uint32_t core) {
  if (!valid_core(product, core)) return kNone;
  return kApbBar0 + core * kCoreApbStride + kTpbNotificApb;
}

}  // namespace

constinit const nrtp_arch_address kAddress = {
    .size = sizeof(nrtp_arch_address),
    .reserved = 0,
    .local_to_device = local_to_device,
    .local_to_bar0 = local_to_bar0,
    .topsp_device = topsp_device,
    .topsp_bar0 = topsp_bar0,
    .event_addr = event_addr,
    .sem_addr = sem_addr,
    .hbm_to_bar4 = hbm_to_bar4,
    .default_hbm = default_hbm,
    .cores_of_hbm = cores_of_hbm,
    .classify = classify,
    .bar0_to_device = bar0_to_device,
    .csr_regions = csr_regions,
    .coretype = coretype,
    .nx_device = nx_device,
    .nx_bar0 = nx_bar0,
    .tpb_csr_device = tpb_csr_device,
    .misc_ram_device = misc_ram_device,
    .notific_bar0 = notific_bar0,
};

}  // namespace opennrt::sunda
