// SPDX-License-Identifier: Apache-2.0
//
// Allocation and look-up of memory on older drivers.
#include <cerrno>

#include "detect.h"

namespace opennrt::ndl::compat {

int alloc_memory(Context& ndl, const Target& target, ndl_mem_alloc_v2mt64& arg) noexcept {
  uint64_t word = 0;
  if (const int error = ndl.feature_word(&word)) return error;
  const auto has = [&](uint32_t bit) { return (word >> bit & 1) != 0; };
  // To a driver without the feature the type means nothing, and the object
  // would not be what the caller takes it for.
  if (arg.type == NRTP_MEM_CONTIGUOUS_SCRATCHPAD_DEVICE && !has(NRTP_FEATURE_CONTIGUOUS_SCRATCHPAD))
    return -EINVAL;
  if (has(NRTP_FEATURE_MEM_ALLOC64)) return ndl.request<kMemAllocV2Mt64>(target, arg);
  // The field is 64 bits wide, but nothing beyond 4 GiB could be copied.
  if (arg.bytes > UINT32_MAX) {
    ndl.log.debug("neuron%u: %llu bytes of memory: this driver takes less than 4 GiB at once",
                  target.index, static_cast<unsigned long long>(arg.bytes));
    return -EINVAL;
  }
  if (has(NRTP_FEATURE_MEM_ALLOC_TYPE)) {
    ndl_mem_alloc_v2mt old{};
    old.bytes = arg.bytes;
    old.align = arg.align;
    old.host = arg.host;
    old.channel = arg.channel;
    old.region = arg.region;
    old.core = arg.core;
    old.type = arg.type;
    old.out_handle = arg.out_handle;
    return ndl.request<kMemAllocV2Mt>(target, old);
  }
  ndl_mem_alloc_v2 old{};
  old.bytes = arg.bytes;
  old.align = arg.align;
  old.host = arg.host;
  old.channel = arg.channel;
  old.region = arg.region;
  old.core = arg.core;
  old.out_handle = arg.out_handle;
  return ndl.request<kMemAllocV2>(target, old);
}

namespace {

int mc_info(void* ctx, uint64_t dev, uint64_t pa, uint64_t* out_mmap_offset, uint64_t* out_bytes,
            uint64_t* out_driver_handle) noexcept {
  const OnDevice at = on_device(ctx, dev);
  if (at.error) return at.error;
  if (!is_old(*at.ndl, Op::kChunkInfo)) {
    const int error = kMemOps.mc_info(ctx, dev, pa, out_mmap_offset, out_bytes, out_driver_handle);
    if (error != -EINVAL) return error;
  }
  ndl_chunk_info_v1 old{};
  old.pa = pa;
  if (const int error = at.request<kChunkInfoV1>(old)) return error;
  latch(*at.ndl, Op::kChunkInfo);
  if (out_mmap_offset) *out_mmap_offset = old.cookie;
  if (out_bytes) *out_bytes = old.bytes;
  if (out_driver_handle) *out_driver_handle = 0;
  return 0;
}

int dmabuf_fd(void* ctx, uint64_t va, uint64_t bytes, int* out_fd) noexcept {
  const OnContext at = on_context(ctx);
  if (at.error) return at.error;
  bool has = false;
  if (const int error = has_feature(*at.ndl, NRTP_FEATURE_DMABUF, &has)) return error;
  return has ? kMemOps.dmabuf_fd(ctx, va, bytes, out_fd) : -EINVAL;
}

int va_placement(void* ctx, const void* va, int32_t* out_device, int32_t* out_hbm) noexcept {
  const OnContext at = on_context(ctx);
  if (at.error) return at.error;
  if (!out_device || !out_hbm) return -EINVAL;
  if (!is_old(*at.ndl, Op::kPlacement)) {
    const int error = kMemOps.va_placement(ctx, va, out_device, out_hbm);
    if (error != -EINVAL) return error;
  }
  if (!at.ndl->placement_of(va, out_device, out_hbm)) {
    *out_device = *out_hbm = -1;
    return -ENXIO;
  }
  latch(*at.ndl, Op::kPlacement);
  return 0;
}

}  // namespace

nrtp_ndl_mem mem_ops() noexcept {
  nrtp_ndl_mem group = kMemOps;
  group.mc_info = mc_info;
  group.dmabuf_fd = dmabuf_fd;
  group.va_placement = va_placement;
  return group;
}

}  // namespace opennrt::ndl::compat
