// SPDX-License-Identifier: Apache-2.0
//
// Device memory ("dmem"): pieces of memory the driver hands out, in HBM or in
// host memory that the device reaches through its host window. A Dmem is held
// by shared pointer and gives its memory back with the last reference; an
// Allocator lists what is alive, so that tear-down can take back everything
// even while somebody still holds a reference (it then refers to nothing).
//
// Threading: everything may be called from any thread, except that
// Allocator::release_all() must not race with copies of its memory.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"
#include "nds/process_store.h"
#include "opennrt/ndl.h"
#include "tdrv/memory_accounting.h"
#include "tdrv/tdrv.h"

namespace opennrt::tdrv {

// Driver results as status codes: ENOMEM -> NRT_RESOURCE, EINVAL -> NRT_INVALID,
// EBUSY -> NRT_EXEC_NC_BUSY, everything else NRT_FAILURE.
NRT_STATUS status_of_errno(int negative_errno);

// Per device: the driver handle, staging buffers and accounting of all memory
// on it. Outlives tear-down as long as memory refers to it.
class MemoryPool {
 public:
  static constexpr std::uint32_t kMaxCores = 8;

  MemoryPool(const nrtp_ndl_ops* ndl, void* ctx, std::uint64_t dev, std::uint32_t index,
             std::shared_ptr<nds::ProcessStore> store = nullptr)
      : ndl_(ndl), ctx_(ctx), dev_(dev), index_(index), store_(std::move(store)) {}

  const nrtp_ndl_ops& ndl() const { return *ndl_; }
  void* ctx() const { return ctx_; }
  std::uint64_t dev() const { return dev_; }
  std::uint32_t device_index() const { return index_; }
  MemoryAccounting& accounting() { return accounting_; }
  void account(const MemoryEvent& event, std::string_view hint);
  // Process-local logical core of a core of the device, for traces; 0 unless set.
  void set_logical_core(std::uint32_t core, std::uint32_t logical) {
    logical_core_[core % kMaxCores] = logical;
  }
  std::uint32_t logical_core(std::uint32_t core) const { return logical_core_[core % kMaxCores]; }
  // Large copies by the driver itself, which on a software device is one memcpy;
  // staging would be two. To be set before the first copy.
  void let_driver_copy() { driver_copies_ = true; }

 private:
  friend class Dmem;
  friend class Allocator;
  // Host buffer of one core for staged copies; its lock is held for a whole copy.
  struct Bounce {
    std::mutex mutex;
    bool asked = false;
    nrtp_ndl_copy_buf buffer{};  // va NULL: the plugin has none, copy.in/out is used
  };
  // The staging buffer of the core, asked for once. Under the bounce lock.
  const nrtp_ndl_copy_buf& ask_buffer(Bounce& bounce, std::uint32_t core);
  Bounce& bounce(std::uint32_t core) { return bounce_[core % kMaxCores]; }

  const nrtp_ndl_ops* ndl_;
  void* ctx_;
  std::uint64_t dev_;
  std::uint32_t index_;
  std::atomic<bool> no_alignment_{false};  // the driver cannot align: we do
  std::atomic<bool> no_copy_{false};       // copy.copy is missing
  bool driver_copies_ = false;
  const std::shared_ptr<nds::ProcessStore> store_;  // may be NULL
  MemoryAccounting accounting_;
  std::array<std::uint32_t, kMaxCores> logical_core_{};
  Bounce bounce_[kMaxCores];
};

class Allocator;

class Dmem {
 public:
  ~Dmem();
  Dmem(const Dmem&) = delete;
  Dmem& operator=(const Dmem&) = delete;

  std::uint64_t size() const { return size_; }
  // Device address of byte 0.
  std::uint64_t address() const { return pa_ + align_offset_; }
  Location location() const { return location_; }
  Usage usage() const { return usage_; }
  std::uint32_t channel() const { return channel_; }
  std::uint32_t core() const { return core_; }
  std::uint64_t handle() const { return handle_; }
  std::uint64_t align_offset() const { return align_offset_; }
  // False once tear-down has taken the memory back.
  bool alive() const { return handle_ != 0; }
  MemoryPool& pool() const { return *pool_; }

  // CPU address of byte 0; mapped on first use, unmapped with the memory.
  Result<void*> map();
  // Ranges outside the memory: NRT_INVALID. Zero bytes succeed.
  Status copy_in(std::uint64_t offset, const void* source, std::uint64_t bytes);
  Status copy_out(std::uint64_t offset, void* target, std::uint64_t bytes);
  Status set(std::uint64_t offset, std::uint8_t value, std::uint64_t bytes);
  // Between two pieces of memory of one device, without the CPU.
  static Status copy(Dmem& target, std::uint64_t target_offset, const Dmem& source,
                     std::uint64_t source_offset, std::uint64_t bytes);

 private:
  friend class Allocator;
  Dmem() = default;
  Status check(std::uint64_t offset, std::uint64_t bytes) const;
  Status failed(const char* what, std::uint64_t offset, std::uint64_t bytes, int rc) const;
  Status staged_in(std::uint64_t offset, const char* source, std::uint64_t bytes);
  Status staged_out(std::uint64_t offset, char* target, std::uint64_t bytes);
  Status transfer(std::uint64_t src, std::uint64_t dst, std::uint64_t src_offset,
                  std::uint64_t dst_offset, std::uint64_t bytes) const;

  std::shared_ptr<MemoryPool> pool_;
  std::shared_ptr<Allocator> allocator_;
  Dmem* previous_ = nullptr;
  Dmem* next_ = nullptr;
  std::uint64_t handle_ = 0;
  std::uint64_t size_ = 0, allocated_ = 0;
  std::uint64_t pa_ = 0, align_offset_ = 0;
  std::atomic<void*> va_{nullptr};
  std::mutex map_mutex_;
  Location location_ = Location::kDevice;
  Usage usage_ = Usage::kGeneric;
  std::uint32_t channel_ = 0, core_ = 0;
  std::string hint_;
};

using DmemPtr = std::shared_ptr<Dmem>;

struct MemoryRequest {
  std::uint64_t bytes = 0;
  std::uint64_t alignment = 0;  // power of two; 0 = page
  Location location = Location::kDevice;
  Usage usage = Usage::kGeneric;
  std::string_view hint{};
};

// Everything one owner (a core or a model) has allocated.
class Allocator : public std::enable_shared_from_this<Allocator> {
 public:
  static std::shared_ptr<Allocator> make(std::shared_ptr<MemoryPool> pool, std::uint32_t core,
                                         std::uint32_t channel, std::string name);
  ~Allocator() = default;

  // NRT_INVALID: size 0, alignment no power of two, a usage that host memory
  // cannot have. NRT_RESOURCE: out of memory, with the usage in the message.
  Result<DmemPtr> allocate(const MemoryRequest& request);
  // Takes back all memory that is still listed, whoever refers to it.
  void release_all();
  std::size_t live() const;
  // Bytes and pieces that are alive, by place and NDS_DMA_MEM_USAGE_SLOT_*.
  nds_model_node_mem_usage_info_t usage() const;
  // The live memory that is mapped around the address, if there is one.
  std::optional<MappedMemory> mapped(const void* address) const;
  std::uint32_t core() const { return core_; }
  std::uint32_t channel() const { return channel_; }
  const std::shared_ptr<MemoryPool>& pool() const { return pool_; }

 private:
  friend class Dmem;
  Allocator(std::shared_ptr<MemoryPool> pool, std::uint32_t core, std::uint32_t channel,
            std::string name)
      : pool_(std::move(pool)), core_(core), channel_(channel), name_(std::move(name)) {}
  void release_locked(Dmem& memory);

  std::shared_ptr<MemoryPool> pool_;
  std::uint32_t core_, channel_;
  std::string name_;
  mutable std::mutex mutex_;  // guards the list
  Dmem* first_ = nullptr;
  Dmem* last_ = nullptr;
};

}  // namespace opennrt::tdrv
