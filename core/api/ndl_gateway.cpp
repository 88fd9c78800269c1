// SPDX-License-Identifier: Apache-2.0
#include "api/ndl_gateway.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "api/session.h"
#include "api/state.h"
#include "log/log.h"

namespace opennrt::api {
namespace {

std::atomic<NdlGateway*> g_gateway{nullptr};

std::uint64_t number(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

}  // namespace

NdlGateway* NdlGateway::get(int* error) noexcept {
  if (NdlGateway* gateway = g_gateway.load(std::memory_order_acquire)) return gateway;
  *error = -EACCES;
  if (state() == State::kChild) return nullptr;
  static std::mutex opening;
  const std::lock_guard lock(opening);
  if (NdlGateway* gateway = g_gateway.load(std::memory_order_acquire)) return gateway;
  *error = -ENODEV;
  try {
    auto own = own_driver();
    if (!own.is_ok()) {
      ONRT_LOG(kNrt, kError, "{}", own.status().message());
      return nullptr;
    }
    std::unique_ptr<NdlGateway> gateway(new NdlGateway);
    gateway->pid_ = getpid();
    gateway->own_ = {std::move(own->driver), own->hbm_bytes};
    // Kept until the process ends: what it handed out points into it.
    g_gateway.store(gateway.get(), std::memory_order_release);
    return gateway.release();
  } catch (const std::bad_alloc&) {
    *error = -ENOMEM;
  } catch (...) {
    *error = -EIO;
  }
  return nullptr;
}

bool NdlGateway::forked() const noexcept { return getpid() != pid_; }

// --- devices

int NdlGateway::open(std::uint32_t index, const ndl_device_init_param_t* params,
                     ndl_device_t** out) {
  Device opened;
  nrtp_ndl_device_info info{};
  if (const int error = ops().device->open(ctx(), index, &opened.handle, &info)) return error;
  opened.index = index;
  const std::size_t bytes = sizeof(ndl_device_t) + sizeof(ndl_device_context_t);
  const std::size_t units = (bytes + sizeof(std::max_align_t) - 1) / sizeof(std::max_align_t);
  opened.storage = std::make_unique<std::max_align_t[]>(units);
  auto* device = new (opened.storage.get()) ndl_device_t{};
  device->device_index = static_cast<std::uint8_t>(index);
  device->device_type = static_cast<std::uint8_t>(info.arch);
  device->device_revision = static_cast<std::uint16_t>(info.revision);
  device->connected_device_count = static_cast<std::uint8_t>(std::min(info.n_connected, 8u));
  for (std::uint32_t i = 0; i < device->connected_device_count; ++i)
    device->connected_devices[i] = static_cast<std::uint8_t>(info.connected[i]);
  std::copy_n(info.bar_address, 2, device->csr_base);
  std::copy_n(info.bar_size, 2, device->csr_size);
  device->hbm_size = own_.hbm_bytes;
  // Descriptors stay in the driver layer.
  const ndl_device_context_t context = {-1};
  std::memcpy(device->context, &context, sizeof context);
  if (params != nullptr && params->map_hbm)
    for (std::uint32_t hbm = 0; hbm < MAX_HBM_PER_DEVICE; ++hbm) {
      void* va = nullptr;
      std::uint64_t size = 0;
      const int error = ops().reg->hbm_va(ctx(), opened.handle, hbm, &va, &size);
      if (error == -ENOENT) break;  // no more, or none on this silicon
      if (error != 0) {
        ops().device->close(ctx(), opened.handle);
        return error;
      }
      device->hbm_va[device->hbm_va_cnt++] = va;
      device->hbm_size = size;
    }
  const std::lock_guard lock(mutex_);
  devices_.emplace(device, std::move(opened));
  *out = device;
  return 0;
}

int NdlGateway::close(ndl_device_t* device) {
  Device closing;
  {
    const std::lock_guard lock(mutex_);
    const auto found = devices_.find(device);
    if (found == devices_.end()) return -EINVAL;
    closing = std::move(found->second);
    devices_.erase(found);
    // The driver layer frees what the device still has.
    std::erase_if(
        queues_, [&](const auto& item) { return item.second.context->mem_info->device == device; });
    std::erase_if(memories_, [&](const auto& item) { return item.second->device == device; });
    for (ndl_copy_buf_t& buffer : device->cpy_bufs)
      if (buffer.mmap_va != nullptr) pthread_mutex_destroy(&buffer.lock);
  }
  return ops().device->close(ctx(), closing.handle);
}

int NdlGateway::handle_of(const ndl_device_t* device, std::uint64_t* out) {
  const std::lock_guard lock(mutex_);
  const auto found = devices_.find(device);
  if (found == devices_.end()) return -EINVAL;
  *out = found->second.handle;
  return 0;
}

int NdlGateway::handle_at(int index, std::uint64_t* out) {
  if (index < 0 || index >= MAX_NEURON_DEVICE_COUNT) return -EINVAL;
  const auto wanted = static_cast<std::uint32_t>(index);
  const std::lock_guard lock(mutex_);
  for (const auto& [pointer, device] : devices_)
    if (device.index == wanted) {
      *out = device.handle;
      return 0;
    }
  std::uint64_t& cached = cached_[wanted];
  if (cached == 0)
    if (const int error = ops().device->open(ctx(), wanted, &cached, nullptr)) {
      cached_.erase(wanted);
      return error;
    }
  *out = cached;
  return 0;
}

void NdlGateway::close_cached() {
  const std::lock_guard lock(mutex_);
  for (const auto& [index, handle] : cached_) ops().device->close(ctx(), handle);
  cached_.clear();
  ops().device->close_all(ctx());
}

// --- memory

int NdlGateway::adopt(ndl_device_t* device, const ndl_mem_info_t& info, std::uint64_t* out) {
  auto kept = std::make_unique<ndl_mem_info_t>(info);
  kept->device = device;
  const std::uint64_t handle = number(kept.get());
  const std::lock_guard lock(mutex_);
  memories_.emplace(handle, std::move(kept));
  *out = handle;
  return 0;
}

int NdlGateway::memory_of(std::uint64_t handle, ndl_mem_info_t* out) {
  const std::lock_guard lock(mutex_);
  const auto found = memories_.find(handle);
  if (found == memories_.end()) return -EINVAL;
  *out = *found->second;
  return 0;
}

int NdlGateway::forget(std::uint64_t handle) {
  const std::lock_guard lock(mutex_);
  return memories_.erase(handle) != 0 ? 0 : -EINVAL;
}

void NdlGateway::note_mapping(std::uint64_t handle, void* va) {
  const std::lock_guard lock(mutex_);
  const auto found = memories_.find(handle);
  if (found != memories_.end()) found->second->mmap_va = va;
}

int NdlGateway::copy_buffer(ndl_device_t* device, std::uint32_t core, ndl_copy_buf_t** out) {
  std::uint64_t handle = 0;
  if (const int error = handle_of(device, &handle)) return error;
  if (core >= MAX_NC_PER_DEVICE) return -EINVAL;
  nrtp_ndl_copy_buf buffer{};
  if (const int error = ops().mem->copy_buf(ctx(), handle, core, &buffer)) return error;
  auto info = std::make_unique<ndl_mem_info_t>();
  info->device = device;
  info->driver_handle = buffer.mem;
  info->size = buffer.bytes;
  info->host_memory = 1;
  info->nc_id = static_cast<int>(core);
  info->mmap_va = buffer.va;
  const std::lock_guard lock(mutex_);
  if (devices_.find(device) == devices_.end()) return -EINVAL;
  ndl_copy_buf_t& kept = device->cpy_bufs[core];
  if (kept.mmap_va == nullptr) {  // the same one for every caller
    if (const int error = pthread_mutex_init(&kept.lock, nullptr)) return -error;
    kept.mem_handle = number(info.get());
    kept.mmap_va = buffer.va;
    memories_.emplace(kept.mem_handle, std::move(info));
  }
  *out = &kept;
  return 0;
}

// --- notification queues

int NdlGateway::adopt_queue(std::uint64_t handle, const ndl_notification_context_t& context,
                            std::uint64_t* out) {
  std::uint64_t memory = 0;
  if (const int error = ops().nq->handle(ctx(), handle, &memory)) return error;
  auto info = std::make_unique<ndl_mem_info_t>();
  info->device = context.mem_info->device;
  info->driver_handle = memory;
  info->size = context.size;
  info->host_memory = context.mem_info->host_memory;
  info->nc_id = context.nq_dev_id;
  Queue queue{handle, std::make_unique<ndl_notification_context_t>(context)};
  queue.context->mem_info = info.get();
  queue.context->mem_handle = number(info.get());
  const std::uint64_t key = number(queue.context.get());
  const std::lock_guard lock(mutex_);
  memories_.emplace(queue.context->mem_handle, std::move(info));
  queues_.emplace(key, std::move(queue));
  *out = key;
  return 0;
}

int NdlGateway::queue_of(std::uint64_t key, std::uint64_t* out_handle,
                         ndl_notification_context_t* out_context) {
  const std::lock_guard lock(mutex_);
  const auto found = queues_.find(key);
  if (found == queues_.end()) return -EINVAL;
  *out_handle = found->second.handle;
  if (out_context != nullptr) *out_context = *found->second.context;
  return 0;
}

int NdlGateway::forget_queue(std::uint64_t key) {
  const std::lock_guard lock(mutex_);
  const auto found = queues_.find(key);
  if (found == queues_.end()) return -EINVAL;
  memories_.erase(found->second.context->mem_handle);
  queues_.erase(found);
  return 0;
}

}  // namespace opennrt::api
