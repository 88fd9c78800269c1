// SPDX-License-Identifier: Apache-2.0
//
// ndl/ndl.h: memory and copies.
#include <cstddef>
#include <vector>

#include "api/ndl_gateway.h"

using namespace opennrt::api;

namespace {

constexpr std::uint64_t kPage = 4096;

// Memory just allocated becomes the caller's; given back when that fails.
int hand_out(NdlGateway& g, ndl_device_t* device, std::uint64_t memory, ndl_mem_info_t info,
             std::uint64_t* out) {
  info.driver_handle = memory;
  info.size = (info.size + kPage - 1) / kPage * kPage;
  std::uint64_t pa = 0;
  int error = g.ops().mem->get_pa(g.ctx(), memory, &pa);
  info.pa = info.mmap_offset = pa;  // the driver's cookie is the address
  if (error == 0) error = g.adopt(device, info, out);
  if (error != 0) g.ops().mem->free(g.ctx(), memory);
  return error;
}

template <typename Map>
int map_memory(std::uint64_t memory, void** va, Map&& map) {
  return on_ndl([&](NdlGateway& g) {
    ndl_mem_info_t info;
    if (const int error = g.memory_of(memory, &info)) return error;
    if (va == nullptr) return -EINVAL;
    if (const int error = map(*g.ops().mem, g.ctx(), info.driver_handle)) return error;
    g.note_mapping(memory, *va);
    return 0;
  });
}

// Both ends of a copy.
template <typename Copy>
int on_two(std::uint64_t src, std::uint64_t dst, Copy&& copy) {
  return on_ndl([&](NdlGateway& g) {
    ndl_mem_info_t from, to;
    if (const int error = g.memory_of(src, &from)) return error;
    if (const int error = g.memory_of(dst, &to)) return error;
    return copy(*g.ops().copy, g.ctx(), from.driver_handle, to.driver_handle);
  });
}

}  // namespace

extern "C" {

int ndl_memory_alloc(ndl_device_t* device, size_t size, uint64_t align, uint32_t host_memory,
                     uint32_t dram_channel, uint32_t dram_region, uint32_t nc_id,
                     uint32_t mem_alloc_type, uint64_t* mem_handle) {
  return on_ndl([&](NdlGateway& g) {
    std::uint64_t handle = 0, memory = 0;
    if (const int error = g.handle_of(device, &handle)) return error;
    if (mem_handle == nullptr) return -EINVAL;
    if (const int error =
            g.ops().mem->alloc(g.ctx(), handle, size, align, host_memory, dram_channel, dram_region,
                               nc_id, mem_alloc_type, &memory))
      return error;
    ndl_mem_info_t info{};
    info.size = size;
    info.align = static_cast<std::uint32_t>(align);
    info.host_memory = host_memory;
    info.nc_id = static_cast<int>(nc_id);
    return hand_out(g, device, memory, info, mem_handle);
  });
}

int ndl_alloc_contiguous_scratchpad(ndl_device_t* device, uint64_t size, uint32_t hbm_index,
                                    uint32_t nc_id, uint64_t* mem_handle) {
  return on_ndl([&](NdlGateway& g) {
    std::uint64_t handle = 0, memory = 0;
    if (const int error = g.handle_of(device, &handle)) return error;
    if (mem_handle == nullptr) return -EINVAL;
    if (const int error =
            g.ops().mem->alloc_contig(g.ctx(), handle, size, hbm_index, nc_id, &memory))
      return error;
    ndl_mem_info_t info{};
    info.size = size;
    info.nc_id = static_cast<int>(nc_id);
    return hand_out(g, device, memory, info, mem_handle);
  });
}

int ndl_memory_get_pa(uint64_t mem_handle, uint64_t* pa) {
  return on_ndl_memory(mem_handle, [&](const nrtp_ndl_ops& ops, void* ctx, std::uint64_t memory) {
    return ops.mem->get_pa(ctx, memory, pa);
  });
}

int ndl_memory_map(uint64_t mem_handle, void** va) {
  return map_memory(mem_handle, va, [&](const nrtp_ndl_mem& mem, void* ctx, std::uint64_t memory) {
    return mem.map(ctx, memory, va);
  });
}

int ndl_memory_map_contiguous_scratchpad(uint64_t mem_handle, void** va, uint64_t size) {
  return map_memory(mem_handle, va, [&](const nrtp_ndl_mem& mem, void* ctx, std::uint64_t memory) {
    return mem.map_contig(ctx, memory, size, va);
  });
}

int ndl_memory_unmap(uint64_t mem_handle) {
  return on_ndl([&](NdlGateway& g) {
    ndl_mem_info_t info;
    if (const int error = g.memory_of(mem_handle, &info)) return error;
    if (const int error = g.ops().mem->unmap(g.ctx(), info.driver_handle)) return error;
    g.note_mapping(mem_handle, nullptr);
    return 0;
  });
}

int ndl_memory_free(uint64_t mem_handle) {
  return on_ndl([&](NdlGateway& g) {
    ndl_mem_info_t info;
    if (const int error = g.memory_of(mem_handle, &info)) return error;
    const int error = g.ops().mem->free(g.ctx(), info.driver_handle);
    return error != 0 ? error : g.forget(mem_handle);
  });
}

int ndl_mem_get_mc_mmap_info(ndl_device_t* device, uint64_t pa, uint64_t* mmap_offset,
                             uint64_t* size, uint64_t* mem_handle) {
  return on_ndl_device(device, [&](const nrtp_ndl_ops& ops, void* ctx, std::uint64_t handle) {
    return ops.mem->mc_info(ctx, handle, pa, mmap_offset, size, mem_handle);
  });
}

int ndl_get_copy_buf(ndl_device_t* device, uint32_t nc_id, ndl_copy_buf_t** cpy_buf) {
  return on_ndl([&](NdlGateway& g) {
    return cpy_buf == nullptr ? -EINVAL : g.copy_buffer(device, nc_id, cpy_buf);
  });
}

int ndl_get_dmabuf_fd(uint64_t addr, uint64_t size, int* fd) {
  return on_ndl([&](NdlGateway& g) { return g.ops().mem->dmabuf_fd(g.ctx(), addr, size, fd); });
}

int ndl_get_va_placement(const void* va, int* device_index, int* hbm_index) {
  return on_ndl([&](NdlGateway& g) {
    return g.ops().mem->va_placement(g.ctx(), va, device_index, hbm_index);
  });
}

int ndl_dump_device_allocation_info(ndl_device_t* device, uint32_t hbm_index,
                                    struct neuron_ioctl_mem_chunk_info* data,
                                    uint32_t* num_entries) {
  return on_ndl_device(device, [&](const nrtp_ndl_ops& ops, void* ctx, std::uint64_t handle) {
    static_assert(sizeof *data == 24);
    return ops.mem->dump(ctx, handle, hbm_index, data, num_entries);
  });
}

// --- copies

int ndl_memory_buf_copyin(uint64_t mem_handle, void* buffer, uint64_t offset, size_t size) {
  return on_ndl_memory(mem_handle, [&](const nrtp_ndl_ops& ops, void* ctx, std::uint64_t memory) {
    return ops.copy->in(ctx, memory, offset, buffer, size);
  });
}

int ndl_memory_buf_copyout(uint64_t mem_handle, void* buffer, uint64_t offset, size_t size) {
  return on_ndl_memory(mem_handle, [&](const nrtp_ndl_ops& ops, void* ctx, std::uint64_t memory) {
    return ops.copy->out(ctx, memory, offset, buffer, size);
  });
}

int ndl_memory_buf_zerocopyin(uint64_t mem_handle, void* buffer, uint64_t offset, size_t size,
                              int qid, uint32_t bar4_wr_threshold) {
  return on_ndl_memory(mem_handle, [&](const nrtp_ndl_ops& ops, void* ctx, std::uint64_t memory) {
    return ops.copy->zc_in(ctx, memory, offset, buffer, size, qid, bar4_wr_threshold);
  });
}

int ndl_memory_buf_zerocopyout(uint64_t mem_handle, void* buffer, uint64_t offset, size_t size,
                               int qid) {
  return on_ndl_memory(mem_handle, [&](const nrtp_ndl_ops& ops, void* ctx, std::uint64_t memory) {
    return ops.copy->zc_out(ctx, memory, offset, buffer, size, qid);
  });
}

// direction: 0 to the device, 1 from it. All memory is of one device.
int ndl_memory_buf_batch_copy(neuron_memcpy_batch_t* batches, uint64_t num_batches,
                              uint32_t direction, int qid) {
  return on_ndl([&](NdlGateway& g) {
    if (batches == nullptr || num_batches == 0 || num_batches > UINT32_MAX) return -EINVAL;
    static_assert(sizeof(nrt_tensor_batch_op_t) == sizeof(nrtp_copy_op) &&
                  offsetof(nrt_tensor_batch_op_t, size) == offsetof(nrtp_copy_op, bytes) &&
                  offsetof(nrt_tensor_batch_op_t, buffer) == offsetof(nrtp_copy_op, buffer));
    std::vector<nrtp_copy_batch> list(num_batches);
    const ndl_device_t* device = nullptr;
    for (std::uint64_t i = 0; i < num_batches; ++i) {
      ndl_mem_info_t info;
      if (const int error = g.memory_of(batches[i].mem_handle, &info)) return error;
      device = info.device;
      list[i] = {info.driver_handle, batches[i].mem_handle_offset,
                 reinterpret_cast<const nrtp_copy_op*>(batches[i].ops_ptr), batches[i].num_ops,
                 batches[i].bar4_wr_threshold};
    }
    std::uint64_t handle = 0;
    if (const int error = g.handle_of(device, &handle)) return error;
    return g.ops().copy->batch(g.ctx(), handle, list.data(),
                               static_cast<std::uint32_t>(num_batches), direction, qid);
  });
}

int ndl_memory_copy(uint64_t src_mem_handle, uint64_t dst_mem_handle, uint64_t src_offset,
                    uint64_t dst_offset, size_t size) {
  return on_two(src_mem_handle, dst_mem_handle,
                [&](const nrtp_ndl_copy& copy, void* ctx, std::uint64_t src, std::uint64_t dst) {
                  return copy.copy(ctx, src, dst, src_offset, dst_offset, size);
                });
}

int ndl_memory_copy_as(uint64_t src_mem_handle, uint64_t dst_mem_handle, uint64_t src_offset,
                       uint64_t dst_offset, size_t size, uint64_t prefetch_addr, int* wait_handle) {
  return on_two(src_mem_handle, dst_mem_handle,
                [&](const nrtp_ndl_copy& copy, void* ctx, std::uint64_t src, std::uint64_t dst) {
                  return copy.copy_async(ctx, src, dst, src_offset, dst_offset, size, prefetch_addr,
                                         wait_handle);
                });
}

int ndl_memory_copy_as_wait(uint64_t mem_handle, int wait_handle) {
  return on_ndl_memory(mem_handle, [&](const nrtp_ndl_ops& ops, void* ctx, std::uint64_t memory) {
    return ops.copy->copy_wait(ctx, memory, wait_handle);
  });
}

int ndl_memset(const uint64_t addr, uint64_t offset, const int value, const size_t size) {
  return on_ndl_memory(addr, [&](const nrtp_ndl_ops& ops, void* ctx, std::uint64_t memory) {
    return ops.copy->set(ctx, memory, offset, static_cast<std::uint8_t>(value), size);
  });
}

int ndl_program_engine(ndl_device_t* device, uint32_t nc_id, uint64_t dst, void* buffer,
                       uint64_t offset, size_t size) {
  return on_ndl_device(device, [&](const nrtp_ndl_ops& ops, void* ctx, std::uint64_t handle) {
    return ops.copy->program_engine(ctx, handle, nc_id, dst, buffer, offset, size);
  });
}

}  // extern "C"
