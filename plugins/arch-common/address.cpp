// SPDX-License-Identifier: Apache-2.0
#include "arch-common/address.h"

#include <algorithm>

#include "arch-common/sync_block.h"

namespace opennrt::arch_common {
namespace {

std::uint64_t channel_bytes(const nrtp_product* product, const nrtp_hbm_channel& channel) {
  return std::min(product->hbm_channel_bytes, channel.bytes);
}

}  // namespace

std::uint64_t local_to_device(const ArchFacts& f, const nrtp_product* product, std::uint32_t core,
                              std::uint64_t local) {
  if (!valid_core(f, product, core) || local >= f.tile_bytes) return kNone;
  return tile_to_device(f, core, local);
}

std::uint64_t local_to_bar0(const ArchFacts& f, const nrtp_product* product, std::uint32_t core,
                            std::uint64_t local) {
  if (!valid_core(f, product, core) || local >= f.tile_bytes) return kNone;
  return f.tile_bar0 + core * f.tile_bytes + local;
}

std::uint64_t event_addr(const ArchFacts& f, const nrtp_product* product, std::uint32_t core,
                         std::uint32_t event) {
  const std::uint64_t offset = event_offset(event);
  return offset == kNone ? kNone : local_to_device(f, product, core, f.sync_local + offset);
}

std::uint64_t sem_addr(const ArchFacts& f, const nrtp_product* product, std::uint32_t core,
                       std::uint32_t sem, std::uint32_t op) {
  const std::uint64_t offset = semaphore_offset(sem, op);
  return offset == kNone ? kNone : local_to_device(f, product, core, f.sync_local + offset);
}

std::uint64_t nx_local(const ArchFacts& f, std::uint32_t engine) {
  return engine < kEngines ? f.sequencer_local[engine] + f.nx_offset : kNone;
}

std::uint64_t hbm_to_bar4(const ArchFacts& f, const nrtp_product* product, std::uint64_t pa,
                          std::uint64_t bytes) {
  if (product == nullptr) return kNone;
  for (std::uint32_t i = 0; i < f.geometry->n_hbm; ++i) {
    const nrtp_hbm_channel& channel = f.geometry->hbm[i];
    const std::uint64_t offset = pa - channel.base;
    if (pa < channel.base || offset >= channel_bytes(product, channel)) continue;
    return bytes <= channel_bytes(product, channel) - offset ? channel.bar4 + offset : kNone;
  }
  return kNone;
}

int cores_of_hbm(const ArchFacts& f, const nrtp_product* product, std::uint32_t hbm,
                 std::uint32_t* out, std::uint32_t* inout_n) {
  if (product == nullptr || inout_n == nullptr || hbm >= f.geometry->n_hbm) return NRTP_INVALID;
  const std::uint32_t capacity = *inout_n;
  if (capacity != 0 && out == nullptr) return NRTP_INVALID;
  std::uint32_t count = 0;
  for (std::uint32_t core = 0; valid_core(f, product, core); ++core) {
    if (f.cores[core].hbm != hbm) continue;
    if (count < capacity) out[count] = core;
    ++count;
  }
  *inout_n = count;
  return count <= capacity ? NRTP_OK : NRTP_RESOURCE;
}

int coretype(const ArchFacts& f, const nrtp_product* product, std::uint32_t engine,
             std::uint32_t* out_nx, std::uint32_t* out_q7, std::uint32_t* out_topsp) {
  if (product == nullptr || engine >= kEngines) return NRTP_INVALID;
  if (out_nx != nullptr) *out_nx = f.nx_coretype[engine];
  if (out_q7 != nullptr) *out_q7 = f.q7_coretype;
  if (out_topsp != nullptr) *out_topsp = f.topsp_coretype;
  return NRTP_OK;
}

int classify(const ArchFacts& f, std::span<const Block> blocks, const nrtp_product* product,
             std::uint64_t pa, nrtp_addr_class* out) {
  if (product == nullptr || out == nullptr) return NRTP_INVALID;
  nrtp_addr_class result{};
  result.size = sizeof result;
  for (std::uint32_t i = 0; i < f.geometry->n_hbm; ++i) {
    const nrtp_hbm_channel& channel = f.geometry->hbm[i];
    const std::uint64_t bytes = channel_bytes(product, channel);
    if (pa < channel.base || pa - channel.base >= bytes) continue;
    result.kind = NRTP_ADDR_HBM;
    result.unit = i;
    result.local = pa - channel.base;
    result.bytes_left = bytes - result.local;
    *out = result;
    return NRTP_OK;
  }
  auto block = std::upper_bound(blocks.begin(), blocks.end(), pa,
                                [](std::uint64_t at, const Block& b) { return at < b.device; });
  if (block == blocks.begin()) return NRTP_INVALID;
  --block;
  const std::uint64_t offset = pa - block->device;
  if (offset >= block->bytes || block->core >= product->cores) return NRTP_INVALID;
  result.kind = block->kind;
  result.core = block->core;
  result.unit = block->unit;
  if (block->kind == NRTP_ADDR_UDMA || block->kind == NRTP_ADDR_UDMA_BCAST) {
    udma_decode(offset, &result);
  } else {
    // A constant reads the same at each of its bytes.
    result.local = block->local + (block->kind == NRTP_ADDR_CONST ? 0 : offset);
    result.bytes_left = block->bytes - offset;
  }
  *out = result;
  return NRTP_OK;
}

std::uint64_t bar0_to_device(std::span<const nrtp_csr_region> regions, const nrtp_product* product,
                             std::uint64_t bar0) {
  if (product == nullptr) return kNone;
  auto region =
      std::upper_bound(regions.begin(), regions.end(), bar0,
                       [](std::uint64_t at, const nrtp_csr_region& r) { return at < r.bar0; });
  if (region == regions.begin()) return kNone;
  --region;
  return bar0 - region->bar0 < region->bytes ? region->device + (bar0 - region->bar0) : kNone;
}

}  // namespace opennrt::arch_common
