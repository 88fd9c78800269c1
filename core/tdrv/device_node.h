// SPDX-License-Identifier: Apache-2.0
//
// One open device: driver handle, register access, memory pool and the services
// its arch plugin gets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "base/status.h"
#include "hal/hal.h"
#include "nds/process_store.h"
#include "tdrv/dmem.h"
#include "tdrv/shared_weights.h"
#include "tdrv/tdrv.h"

namespace opennrt::tdrv {

// The member of an optional group, or NULL when the group or the member is
// absent or lies outside the size the plugin was built with.
#define ONRT_ARCH_MEMBER(type, group, member)                                              \
  ((group) != nullptr && offsetof(type, member) + sizeof((group)->member) <= (group)->size \
       ? (group)->member                                                                   \
       : nullptr)

class DeviceNode {
 public:
  DeviceNode(const Bindings& bindings, std::uint32_t index);
  ~DeviceNode();
  DeviceNode(const DeviceNode&) = delete;
  DeviceNode& operator=(const DeviceNode&) = delete;

  // process: shown to monitoring programs.
  Status open(const nds::Process& process);
  void close();
  // Resets the cores of the mask and waits until the driver reports them ready.
  Status reset(std::uint32_t core_mask);
  Status register_regions();
  Status attach_arch();
  void detach_arch();

  std::uint32_t index() const { return index_; }
  const Bindings& bindings() const { return bindings_; }
  hal::Device& hal() { return hal_; }
  const std::shared_ptr<MemoryPool>& pool() const { return pool_; }
  nds::ProcessStore& store() const { return *store_; }
  WeightRegistry& weights() { return weights_; }
  std::uint64_t handle() const { return hal_.handle; }
  void* arch_context() const { return arch_context_; }

  // What the driver has counted; nullopt: it does not tell. Not for the path of
  // an execution that ends.
  std::optional<nrtp_ndl_memory_errors> memory_errors() const;

  // Arch hooks by name; an absent hook succeeds.
  Status call_hal(const char* what, std::uint32_t core, int (*hook)(void*, std::uint32_t)) const;

 private:
  static int service_reg_read(void* dev, std::uint64_t bar0, std::uint32_t* out, std::uint32_t n);
  static int service_reg_write(void* dev, std::uint64_t bar0, const std::uint32_t* values,
                               std::uint32_t n);
  static int service_alloc(void* dev, std::uint32_t core, std::uint64_t bytes, std::uint64_t align,
                           std::uint32_t location, std::uint32_t usage, std::uint64_t* out);
  static int service_free(void* dev, std::uint64_t handle);
  static int service_pa(void* dev, std::uint64_t handle, std::uint64_t* out);
  static int service_copyin(void* dev, std::uint64_t handle, std::uint64_t offset, const void* src,
                            std::uint64_t bytes);
  DmemPtr service_memory(std::uint64_t handle);

  Bindings bindings_;
  std::uint32_t index_;
  bool open_ = false, attached_ = false;
  hal::Device hal_;
  std::shared_ptr<nds::ProcessStore> store_;  // the pool has it too
  std::shared_ptr<MemoryPool> pool_;
  WeightRegistry weights_;
  nrtp_host_dev services_{};
  void* arch_context_ = nullptr;
  std::mutex services_mutex_;                        // guards the two below
  std::map<std::uint64_t, DmemPtr> service_memory_;  // memory of the arch plugin
  std::uint64_t next_service_handle_ = 1;
};

}  // namespace opennrt::tdrv
