// SPDX-License-Identifier: Apache-2.0
//
// Allocation and queries of memory chunks.
#include <cerrno>
#include <vector>

#include "driver/operations.h"

namespace opennrt::emu {

namespace {

constexpr std::uint32_t kUnknownHost = 0, kUnknownDevice = 7;  // mem_type without a category
constexpr std::uint32_t kContiguous = 19;

std::int64_t allocate_for(Call& call, Machine::AllocRequest request, std::uint64_t handle_pointer) {
  request.owner = call.client.pid;
  // To a driver without the feature the type is one it does not know.
  if (request.mem_type == kContiguous && !(call.machine.features() >> kContiguousBit & 1))
    request.mem_type = kUnknownDevice;
  std::uint64_t handle = 0, sequence = 0;
  {
    std::lock_guard lock(call.node.mutex);
    // The driver checks this for some forms only and faults in the others.
    if (!call.node.find_attached(call.client.pid)) return -EACCES;
    Chunk* chunk = nullptr;
    if (int r = call.machine.allocate(call.node, request, &chunk)) return r;
    handle = chunk->handle;
    sequence = chunk->sequence;
  }
  if (call.memory.write_now(handle_pointer, &handle, sizeof handle) == 0) return 0;
  std::lock_guard lock(call.node.mutex);
  Chunk* chunk = call.node.handles.find(handle);
  // Somebody may have freed it already, and another chunk have its number.
  if (chunk && chunk->sequence == sequence) call.machine.free_chunk(call.node, chunk);
  return -EFAULT;
}

template <typename T>
Machine::AllocRequest common(const T& a) {
  Machine::AllocRequest request;
  request.bytes = a.size;
  request.host = a.host_memory != 0;
  request.channel = a.dram_channel;
  request.core = a.nc_id;
  request.mem_type = request.host ? kUnknownHost : kUnknownDevice;
  return request;
}

}  // namespace

std::int64_t mem_alloc(Call& call, abi::MemAlloc& a) {
  return allocate_for(call, common(a), a.mem_handle);
}

std::int64_t mem_alloc_v2(Call& call, abi::MemAllocV2& a) {
  Machine::AllocRequest request = common(a);
  request.align = a.align;
  return allocate_for(call, request, a.mem_handle);
}

std::int64_t mem_alloc_v2mt(Call& call, abi::MemAllocV2MemType& a) {
  Machine::AllocRequest request = common(a);
  request.align = a.align;
  request.mem_type = a.mem_type;
  return allocate_for(call, request, a.mem_handle);
}

std::int64_t mem_alloc_v2mt64(Call& call, abi::MemAllocV2MemType64& a) {
  Machine::AllocRequest request = common(a);
  request.align = a.align;
  request.mem_type = a.mem_type;
  return allocate_for(call, request, a.mem_handle);
}

std::int64_t mem_free(Call& call, abi::MemFree& a) {
  std::lock_guard lock(call.node.mutex);
  Chunk* chunk = call.node.handles.find(a.mem_handle);
  if (!chunk) return -EINVAL;
  // Memory of the driver itself only loses its handle.
  if (chunk->driver_owned) {
    call.node.handles.remove(a.mem_handle);
    chunk->handle = 0;
    return 0;
  }
  if (chunk->lifespan == Lifespan::kDevice)
    for (auto* table : {&call.node.core_queues, &call.node.topsp_queues})
      for (auto& queues : *table)
        for (Chunk*& queue : queues)
          if (queue == chunk) queue = nullptr;
  call.machine.free_chunk(call.node, chunk);
  return 0;
}

std::int64_t mem_get_pa(Call& call, abi::MemGetPa& a) {
  std::uint64_t pa = 0;
  {
    std::lock_guard lock(call.node.mutex);
    const Chunk* chunk = call.node.handles.find(a.mem_handle);
    if (!chunk) return -EINVAL;
    pa = chunk->pa;
  }
  return call.memory.write(a.pa, &pa, sizeof pa);
}

std::int64_t mem_get_info(Call& call, abi::MemGetInfo& a) {
  std::uint64_t pa = 0;
  {
    std::lock_guard lock(call.node.mutex);
    const Chunk* chunk = call.node.handles.find(a.mem_handle);
    if (!chunk) return -EINVAL;
    pa = chunk->pa;
  }
  if (int r = call.memory.write(a.pa, &pa, sizeof pa)) return r;
  return a.mmap_offset ? call.memory.write(a.mmap_offset, &pa, sizeof pa) : 0;
}

std::int64_t mem_get_extended_info(Call& call, abi::MemGetExtendedInfo& a) {
  {
    std::lock_guard lock(call.node.mutex);
    const Chunk* chunk = call.node.handles.find(a.mem_handle);
    if (!chunk) return EINVAL;  // positive in every driver version
    a.host_memory = chunk->host() ? 1 : 0;
    a.mmap_offset = a.pa = chunk->pa;
    a.pid = chunk->owner;
    a.size = chunk->bytes;
    a.version = 1;
  }
  return call.reply(a);
}

std::int64_t mem_mc_info(Call& call, abi::MemGetMcMmapInfo& a) {
  {
    std::lock_guard lock(call.node.mutex);
    const Chunk* chunk = call.node.find_chunk(a.pa);
    if (!chunk) return -ENOMEM;
    a.mmap_offset = chunk->pa;
    a.size = chunk->bytes;
  }
  return call.reply(a);
}

std::int64_t mem_mc_info_v2(Call& call, abi::MemGetMcMmapInfoV2& a) {
  {
    std::lock_guard lock(call.node.mutex);
    Chunk* chunk = call.node.find_chunk(a.pa);
    if (!chunk) return -ENOMEM;
    if (chunk->handle == 0) chunk->handle = call.node.handles.add(chunk);
    if (chunk->handle == 0) return -ENOMEM;  // no number is left
    a.mmap_offset = chunk->pa;
    a.size = chunk->bytes;
    a.mem_handle = chunk->handle;
  }
  return call.reply(a);
}

std::int64_t resource_mmap_info(Call& call, abi::ResourceMmapInfo& a) {
  for (const nrtp_driver_map& map : call.machine.facts().special) {
    if (a.block != map.block || a.block_id != map.id || a.resource != map.resource) continue;
    // Whole HBMs can be mapped since 2.20.28.0.
    if (map.block == NRTP_DRIVER_HBM && !call.machine.at_least(kDriver2_20)) break;
    a.offset = map.device;
    a.size = map.bytes;
    return call.reply(a);
  }
  return -EINVAL;
}

std::int64_t dump_mem_chunks(Call& call, abi::DumpMemChunks& a) {
  std::vector<abi::MemChunkInfo> list;
  {
    std::lock_guard lock(call.node.mutex);
    for (const auto& [pa, chunk] : call.node.chunks) {
      if (chunk->host() || chunk->channel != a.hbm_index) continue;
      abi::MemChunkInfo info;
      info.pa = chunk->pa;
      info.size = chunk->bytes;
      info.mem_type = chunk->mem_type;
      list.push_back(info);
    }
  }
  a.num_entries_out = static_cast<std::uint32_t>(list.size());
  if (int r = call.reply(a)) return r;
  if (a.num_entries_in < list.size()) return -EAGAIN;
  return call.memory.write(a.data, list.data(), list.size() * sizeof list[0]);
}

std::int64_t va_placement(Call& call, abi::GetVaPlacement& a) {
  Machine::Mapping mapping;
  const bool found =
      call.machine.find_mapping(call.client.pid, a.va, &mapping) && mapping.channel >= 0;
  a.device_index = found ? static_cast<std::int32_t>(mapping.node->index) : -1;
  a.hbm_index = found ? mapping.channel : -1;
  if (int r = call.reply(a)) return r;
  return found ? 0 : -ENXIO;
}

// The descriptor is one of the backing memory. Its offsets are those of the
// backing, not of the mapping.
std::int64_t dmabuf_fd(Call& call, abi::DmabufFd& a) {
  Machine::Mapping mapping;
  if (!call.machine.find_mapping(call.client.pid, a.va, &mapping)) return -EINVAL;
  return call.memory.give_descriptor(*mapping.region, a.fd);
}

}  // namespace opennrt::emu
