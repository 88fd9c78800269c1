// SPDX-License-Identifier: Apache-2.0
//
// Memory objects: allocation, the one mapping of each, copy buffers.
#include <algorithm>
#include <cerrno>

#include "ndl-common/context.h"

namespace opennrt::ndl {

int Context::adopt_memory(uint64_t dev, const Device& device, uint64_t driver_handle,
                          uint64_t bytes, uint64_t cookie, Owner owner, bool open_ended,
                          int32_t hbm, uint64_t* out_mem) noexcept {
  uint32_t index = 0;
  Memory* memory = memories.reserve(&index);
  if (!memory) {
    if (owner != Owner::kQueue) {  // the memory of a queue stays with the driver
      ndl_mem_free undo{driver_handle};
      request<kMemFree>({device.fd, device.index}, undo);
    }
    log.error("neuron%u: no room for another memory handle", device.index);
    return -ENOMEM;
  }
  memory->device.store(dev, std::memory_order_release);
  memory->driver_handle.store(driver_handle, std::memory_order_release);
  memory->bytes.store(round_to_page(bytes), std::memory_order_release);
  memory->pa.store(kNoCookie, std::memory_order_release);
  memory->cookie.store(cookie, std::memory_order_release);
  memory->owner.store(static_cast<uint32_t>(owner), std::memory_order_release);
  memory->open_ended.store(open_ended, std::memory_order_release);
  memory->hbm.store(hbm, std::memory_order_release);
  memory->va.store(nullptr, std::memory_order_release);
  memory->mapped_bytes.store(0, std::memory_order_release);
  *out_mem = memories.publish(index);
  return 0;
}

int Context::alloc_memory(uint64_t dev, const Device& device, ndl_mem_alloc_v2mt64& arg,
                          Owner owner, uint64_t* out_mem) noexcept {
  uint64_t driver_handle = 0;
  arg.out_handle = &driver_handle;
  const Target target{device.fd, device.index};
  const int error =
      policy.alloc ? policy.alloc(*this, target, arg) : request<kMemAllocV2Mt64>(target, arg);
  if (error) return error;
  return adopt_memory(dev, device, driver_handle, arg.bytes, kNoCookie, owner,
                      arg.type == NRTP_MEM_CONTIGUOUS_SCRATCHPAD_DEVICE,
                      arg.host ? -1 : static_cast<int32_t>(arg.channel), out_mem);
}

void Context::unmap_locked(Memory& memory) noexcept {
  // Always the whole mapping: the driver does not track parts.
  void* va = memory.va.load(std::memory_order_acquire);
  if (!va) return;
  port->munmap(port_ctx, va, memory.mapped_bytes.load(std::memory_order_acquire));
  memory.va.store(nullptr, std::memory_order_release);
  memory.mapped_bytes.store(0, std::memory_order_release);
}

void Context::release_memory(Memory& memory, uint64_t mem) noexcept {
  {
    const std::lock_guard guard(map_lock(mem));
    unmap_locked(memory);
  }
  memories.release(decltype(memories)::index_of(mem));
}

int Context::free_memory(uint64_t mem, Owner by) noexcept {
  const OnMemory at = on_memory(this, mem);
  if (at.error) return at.error;
  if (at.owner != by || !memories.claim(mem)) return -EINVAL;
  // Unmapped first: the driver may give the pages away at once.
  release_memory(*at.memory, mem);
  if (by == Owner::kQueue) return 0;
  ndl_mem_free arg{at.driver_handle};
  return at.request<kMemFree>(arg);
}

int Context::map_memory(uint64_t mem, uint64_t bytes, void** out_va) noexcept {
  const OnMemory at = on_memory(this, mem);
  if (at.error) return at.error;
  const uint64_t wanted = bytes ? round_to_page(bytes) : at.bytes;
  if (wanted < bytes) return -EINVAL;  // rounding wrapped
  const std::lock_guard guard(map_lock(mem));
  if (!memories.still(mem)) return -EINVAL;
  Memory& memory = *at.memory;
  if (void* va = memory.va.load(std::memory_order_acquire)) {
    if (wanted > memory.mapped_bytes.load(std::memory_order_acquire)) return -EINVAL;
    *out_va = va;
    return 0;
  }
  uint64_t cookie = memory.cookie.load(std::memory_order_acquire);
  if (cookie == kNoCookie) {
    uint64_t pa = 0;
    ndl_mem_info arg{at.driver_handle, &cookie, &pa};
    if (const int error = at.request<kMemGetInfo>(arg)) return error;
    memory.cookie.store(cookie, std::memory_order_release);
    memory.pa.store(pa, std::memory_order_release);
  }
  void* va = nullptr;
  const int error =
      port->mmap(port_ctx, at.device->fd, wanted, NRTP_PROT_READ | NRTP_PROT_WRITE, cookie, &va);
  if (error < 0) {
    log.debug("neuron%u: mapping %llu bytes of a memory object failed: %s", at.device->index,
              static_cast<unsigned long long>(wanted), ErrnoName(error).text);
    return error;
  }
  memory.mapped_bytes.store(wanted, std::memory_order_release);
  memory.va.store(va, std::memory_order_release);
  *out_va = va;
  return 0;
}

int Context::unmap_memory(uint64_t mem) noexcept {
  const OnMemory at = on_memory(this, mem);
  if (at.error) return at.error;
  const std::lock_guard guard(map_lock(mem));
  // The address of a copy buffer has been given out for good.
  if (at.owner == Owner::kDevice || !memories.still(mem) ||
      !at.memory->va.load(std::memory_order_acquire))
    return -EINVAL;
  unmap_locked(*at.memory);
  return 0;
}

bool Context::placement_of(const void* va, int32_t* out_device, int32_t* out_hbm) noexcept {
  constexpr uint32_t kBlockHbm = 2;
  bool found = false;
  const auto note = [&](const void* begin, uint64_t bytes, uint32_t device, int32_t hbm) {
    const uint64_t distance = reinterpret_cast<uintptr_t>(va) - reinterpret_cast<uintptr_t>(begin);
    if (!begin || distance >= bytes || hbm < 0) return;
    *out_device = static_cast<int32_t>(device);
    *out_hbm = hbm;
    found = true;
  };
  memories.for_each([&](uint64_t mem, Memory& memory) {
    const std::lock_guard guard(map_lock(mem));
    if (!memories.still(mem)) return;
    const Device* device = devices.find(memory.device.load(std::memory_order_acquire));
    if (device)
      note(memory.va.load(std::memory_order_acquire),
           memory.mapped_bytes.load(std::memory_order_acquire), device->index,
           memory.hbm.load(std::memory_order_acquire));
  });
  devices.for_each([&](uint64_t, Device& device) {
    const std::lock_guard guard(device.lock);
    for (const Mapping* m = device.mappings; m; m = m->next)
      if (m->kind == Mapping::Kind::kRegion && m->key[0] == kBlockHbm)
        note(m->va, m->bytes, device.index, static_cast<int32_t>(m->key[1]));
  });
  return found;
}

int Context::copy_buffer(uint64_t dev, Device& device, uint32_t core,
                         nrtp_ndl_copy_buf* out) noexcept {
  if (core >= kMaxCoresPerDevice) return -EINVAL;
  // Made at first use: memory below 4 GiB is scarce and most processes use few
  // cores. The lock is per device and not on the execute path.
  const std::lock_guard guard(device.lock);
  nrtp_ndl_copy_buf& buffer = device.copy_buffers[core];
  if (!buffer.mem) {
    ndl_mem_alloc_v2mt64 arg{};
    arg.bytes = kCopyBufferBytes;
    arg.host = 1;
    arg.core = core;
    arg.type = NRTP_MEM_MISC_HOST;
    uint64_t mem = 0;
    if (const int error = alloc_memory(dev, device, arg, Owner::kDevice, &mem)) return error;
    void* va = nullptr;
    if (const int error = map_memory(mem, 0, &va)) {
      free_memory(mem, Owner::kDevice);
      return error;
    }
    buffer = {mem, va, kCopyBufferBytes};
  }
  *out = buffer;
  return 0;
}

}  // namespace opennrt::ndl
