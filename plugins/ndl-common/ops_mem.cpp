// SPDX-License-Identifier: Apache-2.0
//
// Operations on memory.
#include <cerrno>

#include "ndl-common/ops.h"

namespace opennrt::ndl {
namespace {

int alloc(void* ctx, uint64_t dev, uint64_t bytes, uint64_t align, uint32_t host_memory,
          uint32_t channel, uint32_t region, uint32_t core, uint32_t mem_type,
          uint64_t* out_mem) noexcept {
  const OnDevice at = on_device(ctx, dev);
  if (at.error) return at.error;
  if (!out_mem) return -EINVAL;
  ndl_mem_alloc_v2mt64 arg{};
  arg.bytes = bytes;
  arg.align = align;
  arg.host = host_memory;
  arg.channel = channel;
  arg.region = region;
  arg.core = core;
  arg.type = mem_type;
  return at.ndl->alloc_memory(dev, *at.device, arg, Owner::kCaller, out_mem);
}

int alloc_contig(void* ctx, uint64_t dev, uint64_t bytes, uint32_t channel, uint32_t core,
                 uint64_t* out_mem) noexcept {
  return alloc(ctx, dev, bytes, 0, 0, channel, 0, core, NRTP_MEM_CONTIGUOUS_SCRATCHPAD_DEVICE,
               out_mem);
}

int free_mem(void* ctx, uint64_t mem) noexcept {
  const OnContext at = on_context(ctx);
  return at.error ? at.error : at.ndl->free_memory(mem, Owner::kCaller);
}

int get_pa(void* ctx, uint64_t mem, uint64_t* out_pa) noexcept {
  const OnMemory at = on_memory(ctx, mem);
  if (at.error) return at.error;
  if (!out_pa) return -EINVAL;
  uint64_t pa = at.memory->pa.load(std::memory_order_acquire);
  if (pa != kNoCookie && at.ndl->memories.still(mem)) {
    *out_pa = pa;
    return 0;
  }
  pa = 0;
  ndl_mem_pa arg{at.driver_handle, &pa};
  if (const int error = at.request<kMemGetPa>(arg)) return error;
  at.memory->pa.store(pa, std::memory_order_release);
  *out_pa = pa;
  return 0;
}

int map(void* ctx, uint64_t mem, void** out_va) noexcept {
  const OnContext at = on_context(ctx);
  if (at.error) return at.error;
  return out_va ? at.ndl->map_memory(mem, 0, out_va) : -EINVAL;
}

int map_contig(void* ctx, uint64_t mem, uint64_t bytes, void** out_va) noexcept {
  const OnContext at = on_context(ctx);
  if (at.error) return at.error;
  return out_va && bytes ? at.ndl->map_memory(mem, bytes, out_va) : -EINVAL;
}

int unmap(void* ctx, uint64_t mem) noexcept {
  const OnContext at = on_context(ctx);
  return at.error ? at.error : at.ndl->unmap_memory(mem);
}

int mc_info(void* ctx, uint64_t dev, uint64_t pa, uint64_t* out_mmap_offset, uint64_t* out_bytes,
            uint64_t* out_driver_handle) noexcept {
  const OnDevice at = on_device(ctx, dev);
  if (at.error) return at.error;
  ndl_chunk_info arg{};
  arg.pa = pa;
  if (const int error = at.request<kChunkInfo>(arg)) return error;
  if (out_mmap_offset) *out_mmap_offset = arg.cookie;
  if (out_bytes) *out_bytes = arg.bytes;
  if (out_driver_handle) *out_driver_handle = arg.handle;
  return 0;
}

int copy_buf(void* ctx, uint64_t dev, uint32_t core, nrtp_ndl_copy_buf* out) noexcept {
  const OnDevice at = on_device(ctx, dev);
  if (at.error) return at.error;
  return out ? at.ndl->copy_buffer(dev, *at.device, core, out) : -EINVAL;
}

int dmabuf_fd(void* ctx, uint64_t va, uint64_t bytes, int* out_fd) noexcept {
  const OnContext at = on_context(ctx);
  if (at.error) return at.error;
  if (!out_fd) return -EINVAL;
  int32_t fd = -1;
  ndl_dmabuf arg{va, bytes, &fd};
  if (const int error = at.ndl->misc_request<kDmabuf>(arg)) return error;
  *out_fd = fd;
  return 0;
}

int va_placement(void* ctx, const void* va, int32_t* out_device, int32_t* out_hbm) noexcept {
  const OnContext at = on_context(ctx);
  if (at.error) return at.error;
  if (!out_device || !out_hbm) return -EINVAL;
  ndl_va_placement arg{reinterpret_cast<uintptr_t>(va), -1, -1};
  const int error = at.ndl->misc_request<kVaPlacement>(arg);
  if (!error || error == -ENXIO) {
    *out_device = error ? -1 : arg.device;
    *out_hbm = error ? -1 : arg.hbm;
  }
  return error;
}

// out: entries of ndl_mem_chunk. -EAGAIN: *inout_count is the number needed.
int dump(void* ctx, uint64_t dev, uint32_t hbm, void* out, uint32_t* inout_count) noexcept {
  const OnDevice at = on_device(ctx, dev);
  if (at.error) return at.error;
  if (!inout_count || (!out && *inout_count)) return -EINVAL;
  ndl_mem_dump arg{};
  arg.hbm = hbm;
  arg.capacity = *inout_count;
  arg.chunks = static_cast<ndl_mem_chunk*>(out);
  const int error = at.request<kMemDump>(arg);
  if (!error || error == -EAGAIN) *inout_count = arg.count;
  return error;
}

}  // namespace

constexpr nrtp_ndl_mem kMemOps = {
    .size = sizeof(nrtp_ndl_mem),
    .reserved = 0,
    .alloc = alloc,
    .alloc_contig = alloc_contig,
    .free = free_mem,
    .get_pa = get_pa,
    .map = map,
    .map_contig = map_contig,
    .unmap = unmap,
    .mc_info = mc_info,
    .copy_buf = copy_buf,
    .dmabuf_fd = dmabuf_fd,
    .va_placement = va_placement,
    .dump = dump,
};

}  // namespace opennrt::ndl
