// SPDX-License-Identifier: Apache-2.0
//
// Open devices and the mappings that belong to them.
#include <algorithm>
#include <cerrno>
#include <new>

#include "ndl-common/context.h"

namespace opennrt::ndl {
namespace {

// Blocks and resources of kResourceInfo.
enum Block : uint32_t { kBlockHbm = 2 };
enum Resource : uint32_t { kResourceSemaphore = 0, kResourceAll = 1 };

void fill_info(const ndl_device_info& from, nrtp_ndl_device_info* out) {
  *out = {};
  out->arch = from.arch;
  out->revision = from.revision;
  // The driver writes only as many entries as it counts.
  out->n_connected = std::min<uint32_t>(from.n_connected, 8);
  std::copy_n(from.connected, out->n_connected, out->connected);
  std::copy_n(from.bar_address, 2, out->bar_address);
  std::copy_n(from.bar_size, 2, out->bar_size);
}

}  // namespace

int Context::open_device(uint32_t index, uint64_t* out_dev,
                         nrtp_ndl_device_info* out_info) noexcept {
  if (index >= kMaxDevices) {
    log.error("device index %u: the driver numbers devices 0 to %u", index, kMaxDevices - 1);
    return -EINVAL;
  }
  const int fd = port->open(port_ctx, DevicePath(index).text, NRTP_OPEN_READ_WRITE);
  if (fd < 0) return open_failed(index, fd);
  ndl_device_info info{};
  int error = request<kDeviceInfo>({fd, index}, info);
  if (error)
    log.error("/dev/neuron%u: the driver does not describe the device: %s", index,
              ErrnoName(error).text);
  uint32_t slot = 0;
  Device* device = error ? nullptr : devices.reserve(&slot);
  if (!device) {
    port->close(port_ctx, fd);
    return error ? error : -ENOMEM;
  }
  device->fd = fd;
  device->index = index;
  device->arch = info.arch;
  device->bar_base = info.bar_address[0];
  device->bar_bytes = info.bar_size[0];
  if (out_info) fill_info(info, out_info);
  *out_dev = devices.publish(slot);
  return 0;
}

int Context::close_device(uint64_t dev) noexcept {
  Device* device = devices.find(dev);
  if (!device) return -EINVAL;
  queues.for_each([&](uint64_t nq, Queue& queue) {
    if (queue.device.load(std::memory_order_acquire) == dev) destroy_queue(nq);
  });
  // What the caller left behind goes too; nobody could name it any more.
  memories.for_each([&](uint64_t mem, Memory& memory) {
    if (memory.device.load(std::memory_order_acquire) == dev)
      free_memory(mem, static_cast<Owner>(memory.owner.load(std::memory_order_acquire)));
  });
  if (!devices.claim(dev)) return -EINVAL;
  {
    const std::lock_guard guard(device->lock);
    for (nrtp_ndl_copy_buf& buffer : device->copy_buffers) buffer = {};
    while (Mapping* mapping = device->mappings) {
      device->mappings = mapping->next;
      port->munmap(port_ctx, mapping->va, mapping->bytes);
      if (mapping->kind == Mapping::Kind::kDataStore) {
        ndl_data_store arg{};
        arg.pid = static_cast<int32_t>(mapping->key[0]);
        request<kDataStoreRelease>({device->fd, device->index}, arg);
      }
      delete mapping;
    }
  }
  const int error = port->close(port_ctx, device->fd);
  device->fd = -1;
  devices.release(decltype(devices)::index_of(dev));
  return error < 0 ? error : 0;
}

int Context::map_region(Device& device, uint32_t block, uint32_t block_id, uint32_t resource,
                        void** out_va, uint64_t* out_bytes) noexcept {
  const std::lock_guard guard(device.lock);
  const uint32_t key[3] = {block, block_id, resource};
  for (const Mapping* m = device.mappings; m; m = m->next)
    if (m->kind == Mapping::Kind::kRegion && std::equal(key, key + 3, m->key)) {
      *out_va = m->va;
      *out_bytes = m->bytes;
      return 0;
    }
  ndl_resource arg{};
  arg.block = block;
  arg.block_id = block_id;
  arg.resource = resource;
  int error = request<kResourceInfo>({device.fd, device.index}, arg);
  if (error) return block == kBlockHbm && error == -EINVAL ? -ENOENT : error;
  auto* mapping = new (std::nothrow)
      Mapping{Mapping::Kind::kRegion, {block, block_id, resource}, nullptr, arg.bytes, nullptr};
  if (!mapping) return -ENOMEM;
  // The driver maps whole blocks read-only; semaphores change by request only.
  const bool writable =
      block == kBlockHbm || (resource != kResourceSemaphore && resource != kResourceAll);
  error = port->mmap(port_ctx, device.fd, arg.bytes,
                     writable ? NRTP_PROT_READ | NRTP_PROT_WRITE : NRTP_PROT_READ, arg.offset,
                     &mapping->va);
  if (error < 0) {
    delete mapping;
    return error;
  }
  mapping->next = device.mappings;
  device.mappings = mapping;
  *out_va = mapping->va;
  *out_bytes = mapping->bytes;
  return 0;
}

int Context::open_data_store(Device& device, int32_t pid, void** out_va,
                             uint64_t* out_bytes) noexcept {
  auto* mapping = new (std::nothrow)
      Mapping{Mapping::Kind::kDataStore, {static_cast<uint32_t>(pid), 0, 0}, nullptr, 0, nullptr};
  if (!mapping) return -ENOMEM;
  const Target target{device.fd, device.index};
  ndl_data_store arg{};
  arg.pid = pid;
  int error = request<kDataStoreAcquire>(target, arg);
  if (!error) {
    mapping->bytes = arg.bytes;
    error = port->mmap(port_ctx, device.fd, arg.bytes, NRTP_PROT_READ | NRTP_PROT_WRITE, arg.cookie,
                       &mapping->va);
    if (error < 0) request<kDataStoreRelease>(target, arg);
  }
  if (error < 0) {
    delete mapping;
    return error;
  }
  const std::lock_guard guard(device.lock);
  mapping->next = device.mappings;
  device.mappings = mapping;
  *out_va = mapping->va;
  *out_bytes = mapping->bytes;
  return 0;
}

int Context::close_data_store(Device& device, int32_t pid, const void* va,
                              uint64_t bytes) noexcept {
  Mapping* found = nullptr;
  {
    const std::lock_guard guard(device.lock);
    for (Mapping** link = &device.mappings; *link && !found; link = &(*link)->next) {
      Mapping* m = *link;
      if (m->kind == Mapping::Kind::kDataStore && m->va == va && m->bytes == bytes &&
          m->key[0] == static_cast<uint32_t>(pid)) {
        *link = m->next;
        found = m;
        break;
      }
    }
  }
  if (!found) return -EINVAL;
  port->munmap(port_ctx, found->va, found->bytes);
  delete found;
  ndl_data_store arg{};
  arg.pid = pid;
  return request<kDataStoreRelease>({device.fd, device.index}, arg);
}

int Context::adopt_queue(uint64_t dev, const Device& device, uint64_t driver_handle,
                         uint64_t cookie, const nrtp_ndl_nq_config& config,
                         uint64_t* out_nq) noexcept {
  uint32_t slot = 0;
  Queue* queue = queues.reserve(&slot);
  if (!queue) return -ENOMEM;
  uint64_t mem = 0;
  const int32_t hbm = config.host_memory ? -1 : static_cast<int32_t>(config.channel);
  if (const int error = adopt_memory(dev, device, driver_handle, config.bytes, cookie,
                                     Owner::kQueue, false, hbm, &mem)) {
    queues.release(slot);
    return error;
  }
  queue->device.store(dev, std::memory_order_release);
  queue->mem.store(mem, std::memory_order_release);
  queue->bytes.store(config.bytes, std::memory_order_release);
  *out_nq = queues.publish(slot);
  return 0;
}

int Context::destroy_queue(uint64_t nq) noexcept {
  Queue* queue = queues.claim(nq);
  if (!queue) return -EINVAL;
  const uint64_t mem = queue->mem.load(std::memory_order_acquire);
  queues.release(decltype(queues)::index_of(nq));
  // The driver keeps the queue until its core is reset; only the mapping is ours.
  return free_memory(mem, Owner::kQueue);
}

}  // namespace opennrt::ndl
