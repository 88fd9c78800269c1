// SPDX-License-Identifier: Apache-2.0
#include "tdrv/device_node.h"

#include <cstring>

#include "log/log.h"

namespace opennrt::tdrv {
namespace {

int plugin_status(const Status& status) {
  switch (status.code()) {
    case NRT_SUCCESS:
      return NRTP_OK;
    case NRT_INVALID:
      return NRTP_INVALID;
    case NRT_RESOURCE:
      return NRTP_RESOURCE;
    case NRT_TIMEOUT:
      return NRTP_TIMEOUT;
    case NRT_HW_ERROR:
      return NRTP_HW_ERROR;
    default:
      return NRTP_FAILURE;
  }
}

// Nothing may leave a service but a status.
template <typename F>
int guarded(F body) {
  try {
    const Status status = body();
    if (!status.is_ok()) ONRT_LOG(kTdrv, kError, "arch plugin service: {}", status.message());
    return plugin_status(status);
  } catch (const std::bad_alloc&) {
    return NRTP_RESOURCE;
  } catch (...) {
    return NRTP_FAILURE;
  }
}

}  // namespace

DeviceNode::DeviceNode(const Bindings& bindings, std::uint32_t index)
    : bindings_(bindings),
      index_(index),
      store_(std::make_shared<nds::ProcessStore>(bindings.ndl, bindings.ndl_ctx)) {
  hal_.ndl = bindings.ndl;
  hal_.ctx = bindings.ndl_ctx;
  hal_.index = index;
}

DeviceNode::~DeviceNode() {
  detach_arch();
  close();
}

Status DeviceNode::open(const nds::Process& process) {
  nrtp_ndl_device_info info{};
  const int rc = bindings_.ndl->device->open(bindings_.ndl_ctx, index_, &hal_.handle, &info);
  if (rc != 0) {
    return Status::make(rc == -EBUSY ? NRT_EXEC_NC_BUSY : NRT_FAILURE,
                        "opening device {} failed: {}", index_, std::strerror(-rc));
  }
  open_ = true;
  if (info.arch != bindings_.arch->arch_type) {
    const std::uint32_t found = info.arch;
    close();
    return Status::invalid("device {} is arch {}, but this process runs arch {} ({})", index_,
                           found, bindings_.arch->arch_type, bindings_.arch->name);
  }
  // Before the first memory, so that all of it is counted.
  store_->open(hal_.handle, index_);
  store_->describe(process);
  pool_ =
      std::make_shared<MemoryPool>(bindings_.ndl, bindings_.ndl_ctx, hal_.handle, index_, store_);
  if (bindings_.platform == NRTP_PLATFORM_EMULATOR) pool_->let_driver_copy();
  return Status::ok();
}

void DeviceNode::close() {
  if (!open_) return;
  open_ = false;
  store_->close();
  const int rc = bindings_.ndl->device->close(bindings_.ndl_ctx, hal_.handle);
  if (rc != 0) ONRT_LOG(kTdrv, kWarn, "closing device {}: {}", index_, std::strerror(-rc));
}

std::optional<nrtp_ndl_memory_errors> DeviceNode::memory_errors() const {
  const nrtp_ndl_misc& misc = *bindings_.ndl->misc;
  nrtp_ndl_memory_errors errors{};
  if (misc.memory_errors == nullptr ||
      misc.memory_errors(bindings_.ndl_ctx, hal_.handle, &errors) != 0)
    return std::nullopt;
  return errors;
}

Status DeviceNode::reset(std::uint32_t core_mask) {
  const nrtp_ndl_life& life = *bindings_.ndl->life;
  std::uint32_t request = 0;
  int rc = life.reset(bindings_.ndl_ctx, hal_.handle, core_mask, &request);
  std::uint32_t ready = 0;
  if (rc == 0) rc = life.ready(bindings_.ndl_ctx, hal_.handle, request, &ready);
  if (rc != 0) {
    return Status::make(status_of_errno(rc), "device {}: resetting cores {:#x} failed: {}", index_,
                        core_mask, std::strerror(-rc));
  }
  if (ready != 1) {
    return Status::failure("device {}: cores {:#x} did not become ready after a reset", index_,
                           core_mask);
  }
  return Status::ok();
}

Status DeviceNode::register_regions() {
  hal_.csr.clear();
  std::uint32_t n = 0;
  const nrtp_csr_region* regions = bindings_.arch->address->csr_regions(bindings_.product, &n);
  for (std::uint32_t i = 0; i < n; ++i) {
    ONRT_TRY(hal_.csr.add(regions[i].bar0, regions[i].bytes, regions[i].name));
  }
  return Status::ok();
}

Status DeviceNode::attach_arch() {
  services_ = {.size = sizeof(services_),
               .device_index = index_,
               .platform = bindings_.platform,
               .reserved = 0,
               .product = bindings_.product,
               .dev = this,
               .reg_read32 = service_reg_read,
               .reg_write32 = service_reg_write,
               .dmem_alloc = service_alloc,
               .dmem_free = service_free,
               .dmem_pa = service_pa,
               .dmem_copyin = service_copyin};
  const int rc = bindings_.arch->attach(bindings_.host, &services_, &arch_context_);
  if (rc != NRTP_OK) {
    return Status::make(static_cast<NRT_STATUS>(rc), "arch {}: attaching device {} failed",
                        bindings_.arch->name, index_);
  }
  attached_ = true;
  return Status::ok();
}

void DeviceNode::detach_arch() {
  if (attached_) {
    attached_ = false;
    bindings_.arch->detach(arch_context_);
  }
  std::map<std::uint64_t, DmemPtr> left;
  {
    const std::lock_guard lock(services_mutex_);
    left.swap(service_memory_);
  }
}

Status DeviceNode::call_hal(const char* what, std::uint32_t core,
                            int (*hook)(void*, std::uint32_t)) const {
  if (hook == nullptr) return Status::ok();
  const int rc = hook(arch_context_, core);
  if (rc == NRTP_OK) return Status::ok();
  return Status::failure("[ND {}][NC {}] arch {}: {} failed with status {}", index_, core,
                         bindings_.arch->name, what, rc);
}

int DeviceNode::service_reg_read(void* dev, std::uint64_t bar0, std::uint32_t* out,
                                 std::uint32_t n) {
  return guarded(
      [&] { return al_reg_read32_array(static_cast<DeviceNode*>(dev)->hal_, bar0, {out, n}); });
}

int DeviceNode::service_reg_write(void* dev, std::uint64_t bar0, const std::uint32_t* values,
                                  std::uint32_t n) {
  return guarded(
      [&] { return al_reg_write32_array(static_cast<DeviceNode*>(dev)->hal_, bar0, {values, n}); });
}

int DeviceNode::service_alloc(void* dev, std::uint32_t core, std::uint64_t bytes,
                              std::uint64_t align, std::uint32_t location, std::uint32_t usage,
                              std::uint64_t* out) {
  return guarded([&]() -> Status {
    auto& self = *static_cast<DeviceNode*>(dev);
    if (location != 1 && location != 2) return Status::invalid("memory location {}", location);
    const std::uint32_t channel =
        self.bindings_.arch->address->default_hbm(self.bindings_.product, core);
    auto allocator = Allocator::make(self.pool_, core, channel, "arch plugin");
    ONRT_ASSIGN(
        DmemPtr memory,
        allocator->allocate({.bytes = bytes,
                             .alignment = align,
                             .location = static_cast<Location>(location),
                             .usage = usage < kUsages ? static_cast<Usage>(usage) : Usage::kGeneric,
                             .hint = "arch plugin"}));
    const std::lock_guard lock(self.services_mutex_);
    *out = self.next_service_handle_++;
    self.service_memory_[*out] = std::move(memory);
    return Status::ok();
  });
}

DmemPtr DeviceNode::service_memory(std::uint64_t handle) {
  const std::lock_guard lock(services_mutex_);
  const auto found = service_memory_.find(handle);
  return found == service_memory_.end() ? nullptr : found->second;
}

int DeviceNode::service_free(void* dev, std::uint64_t handle) {
  return guarded([&]() -> Status {
    auto& self = *static_cast<DeviceNode*>(dev);
    DmemPtr memory;
    const std::lock_guard lock(self.services_mutex_);
    const auto found = self.service_memory_.find(handle);
    if (found == self.service_memory_.end()) {
      return Status::invalid("memory handle {} is not known", handle);
    }
    memory = std::move(found->second);
    self.service_memory_.erase(found);
    return Status::ok();
  });
}

int DeviceNode::service_pa(void* dev, std::uint64_t handle, std::uint64_t* out) {
  return guarded([&]() -> Status {
    const DmemPtr memory = static_cast<DeviceNode*>(dev)->service_memory(handle);
    if (!memory) return Status::invalid("memory handle {} is not known", handle);
    *out = memory->address();
    return Status::ok();
  });
}

int DeviceNode::service_copyin(void* dev, std::uint64_t handle, std::uint64_t offset,
                               const void* src, std::uint64_t bytes) {
  return guarded([&]() -> Status {
    const DmemPtr memory = static_cast<DeviceNode*>(dev)->service_memory(handle);
    if (!memory) return Status::invalid("memory handle {} is not known", handle);
    return memory->copy_in(offset, src, bytes);
  });
}

}  // namespace opennrt::tdrv
