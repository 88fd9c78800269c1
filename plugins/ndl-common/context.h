// SPDX-License-Identifier: Apache-2.0
//
// State of one attach: descriptors, the objects behind the handles, what the
// driver said about itself. on_context(), on_device() and on_memory() are the
// first statement of every operation: they refuse null contexts, forked
// children and handles that are stale or not ours.
#pragma once

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <mutex>

#include "ndl-common/descriptors.h"
#include "ndl-common/fork_guard.h"
#include "ndl-common/log.h"
#include "ndl-common/requests.h"
#include "ndl-common/slot_table.h"
#include "opennrt/ndl.h"

namespace opennrt::ndl {

class Context;
struct Target;

// In what the plugins differ below the operations.
struct Policy {
  const char* name;  // "ndl-kernel"
  // Whether a driver without the current features and requests can be driven:
  // probe then says what it lacks instead of refusing it.
  bool drives_older;
  // Send the request with the older forms the driver has; null: the newest form
  // and nothing else. 0 or -errno.
  int (*alloc)(Context& ndl, const Target& target, ndl_mem_alloc_v2mt64& arg) noexcept;
  int (*board_info)(Context& ndl, ndl_board_info* out) noexcept;
};

// Who frees a memory object.
enum class Owner : uint32_t { kCaller, kQueue, kDevice };

// Device or host memory of the driver. All members change while other threads
// may hold the handle, so all are atomics loaded with acquire order.
struct Memory {
  std::atomic<uint64_t> device{0};  // handle
  std::atomic<uint64_t> driver_handle{0};
  std::atomic<uint64_t> bytes{0};       // rounded to pages, what mmap wants
  std::atomic<uint64_t> pa{0};          // kNoCookie: not asked yet
  std::atomic<uint64_t> cookie{0};      // kNoCookie: not asked yet
  std::atomic<uint32_t> owner{0};       // Owner
  std::atomic<uint32_t> open_ended{0};  // 1: a variable may run past the chunk
  std::atomic<int32_t> hbm{-1};         // channel; -1: host memory
  // The mapping; written under Context::map_lock().
  std::atomic<void*> va{nullptr};
  std::atomic<uint64_t> mapped_bytes{0};
};

struct Queue {
  std::atomic<uint64_t> device{0};  // handle
  std::atomic<uint64_t> mem{0};     // handle
  std::atomic<uint32_t> bytes{0};
};

// A mapping that belongs to the device: register window or data store.
struct Mapping {
  enum class Kind : uint32_t { kRegion, kDataStore };
  Kind kind;
  uint32_t key[3];  // block, block id, resource; or pid
  void* va;
  uint64_t bytes;
  Mapping* next;
};

// An open device. Plain members are written only by open and close, which the
// caller keeps apart from every other use of the device.
struct Device {
  int fd = -1;
  uint32_t index = 0;
  uint32_t arch = 0;
  uint64_t bar_base = 0, bar_bytes = 0;  // BAR 0
  std::mutex lock;                       // guards all below
  Mapping* mappings = nullptr;
  nrtp_ndl_copy_buf copy_buffers[kMaxCoresPerDevice] = {};
};

inline constexpr uint64_t kPageBytes = 4096;
inline constexpr uint64_t kCopyBufferBytes = 2097152;

// What the driver says about itself.
struct DriverFacts {
  uint32_t window_min, window_max;
  uint32_t arch, revision;  // arch 0: not known
  uint64_t features;
};

// A descriptor and the device it belongs to, for the log.
struct Target {
  int fd;
  uint32_t index;
};

class Context {
 public:
  Context(const nrtp_host* host, const nrtp_sys_port* port, void* port_ctx,
          const Policy& policy) noexcept;
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context();

  bool forked() const noexcept {
    return fork_generation_ != g_fork_generation.load(std::memory_order_relaxed);
  }

  // --- gateways: 0 or -errno. The argument's type is checked against the
  // table of requests.
  template <uint32_t kCode, typename Arg>
  int request(Target target, Arg& arg) const noexcept {
    static_assert(find_request(kCode) != nullptr);
    static_assert(find_request(kCode)->arg_bytes == sizeof(Arg));
    return request(target, kCode, &arg);
  }
  int request(Target target, uint32_t code, void* arg) const noexcept;
  // On the cached descriptor of a device.
  template <uint32_t kCode, typename Arg>
  int device_request(uint32_t index, Arg& arg) noexcept {
    const int fd = descriptors.device(index);
    return fd < 0 ? open_failed(index, fd) : request<kCode>({fd, index}, arg);
  }
  template <uint32_t kCode, typename Arg>
  int misc_request(Arg& arg) noexcept {
    Target target{};
    target.fd = descriptors.misc(&target.index);
    return target.fd < 0 ? open_failed(target.index, target.fd) : request<kCode>(target, arg);
  }
  // On a descriptor opened for this one call: an attachment that stays would take
  // one of the few there are on a device the caller may never use.
  template <uint32_t kCode, typename Arg>
  int brief_device_request(uint32_t index, Arg& arg) const noexcept {
    const int fd = port->open(port_ctx, DevicePath(index).text, NRTP_OPEN_READ);
    // -EINVAL is a device that is broken; from here on it means no such request.
    if (fd < 0) return fd == -EINVAL ? -ENODEV : fd;
    const int error = request<kCode>({fd, index}, arg);
    port->close(port_ctx, fd);
    return error;
  }
  // Says what to do about a node that could not be opened; returns `error`.
  int open_failed(uint32_t index, int error) const noexcept;

  // --- memory objects (memory.cpp)
  // 0 or -errno; the driver's memory is given back when that fails.
  int adopt_memory(uint64_t dev, const Device& device, uint64_t driver_handle, uint64_t bytes,
                   uint64_t cookie, Owner owner, bool open_ended, int32_t hbm,
                   uint64_t* out_mem) noexcept;
  int alloc_memory(uint64_t dev, const Device& device, ndl_mem_alloc_v2mt64& arg, Owner owner,
                   uint64_t* out_mem) noexcept;
  int free_memory(uint64_t mem, Owner by) noexcept;
  // bytes 0: the whole object.
  int map_memory(uint64_t mem, uint64_t bytes, void** out_va) noexcept;
  int unmap_memory(uint64_t mem) noexcept;
  // Device and HBM of an address that this context mapped.
  bool placement_of(const void* va, int32_t* out_device, int32_t* out_hbm) noexcept;
  int copy_buffer(uint64_t dev, Device& device, uint32_t core, nrtp_ndl_copy_buf* out) noexcept;

  // --- devices (device.cpp)
  int open_device(uint32_t index, uint64_t* out_dev, nrtp_ndl_device_info* out_info) noexcept;
  int close_device(uint64_t dev) noexcept;
  int map_region(Device& device, uint32_t block, uint32_t block_id, uint32_t resource,
                 void** out_va, uint64_t* out_bytes) noexcept;
  int open_data_store(Device& device, int32_t pid, void** out_va, uint64_t* out_bytes) noexcept;
  int close_data_store(Device& device, int32_t pid, const void* va, uint64_t bytes) noexcept;
  // A notification queue that the driver has set up. 0 or -errno; the driver
  // keeps the queue either way.
  int adopt_queue(uint64_t dev, const Device& device, uint64_t driver_handle, uint64_t cookie,
                  const nrtp_ndl_nq_config& config, uint64_t* out_nq) noexcept;
  int destroy_queue(uint64_t nq) noexcept;

  // --- the driver (facts.cpp)
  int read_version(nrtp_ndl_version* out) const noexcept;
  int read_facts(DriverFacts* out) noexcept;
  // Reads, judges and keeps the facts; logs one line when it refuses or when the
  // driver is older than current.
  int probe() noexcept;
  // Feature word, read from the driver at first use.
  int feature_word(uint64_t* out) noexcept;
  // Tells the caller and the log of something done the old way.
  void tell_incompatible(const char* text) const noexcept;

  const nrtp_host* const host;
  const nrtp_sys_port* const port;
  void* const port_ctx;
  const Policy policy;
  const Log log;
  Descriptors descriptors;
  SlotTable<Device, 64, 16> devices;
  SlotTable<Memory, 4096, 4096> memories;
  SlotTable<Queue, 1024, 1024> queues;
  std::atomic<uint64_t> features{0};  // valid after probe()
  std::atomic<bool> probed{false};
  std::atomic<void (*)(const char*)> soft_incompat{nullptr};
  std::atomic<uint64_t> old_forms{0};  // what the plugin does the old way; its own bits

 private:
  static constexpr uint32_t kMapLocks = 16;

  std::mutex& map_lock(uint64_t mem) noexcept {
    return map_locks_[decltype(memories)::index_of(mem) % kMapLocks];
  }
  void release_memory(Memory& memory, uint64_t mem) noexcept;
  void unmap_locked(Memory& memory) noexcept;

  // What of the current driver is missing, as words.
  struct Missing {
    char text[320] = "";
    bool any() const { return text[0] != '\0'; }
  };
  Missing missing(uint64_t feature_bits) noexcept;

  std::atomic<uint64_t> word_{0};  // valid with word_known_
  std::atomic<bool> word_known_{false};
  const uint32_t fork_generation_;
  std::mutex map_locks_[kMapLocks];
};

struct OnContext {
  int error;
  Context* ndl;
};
OnContext on_context(void* ctx) noexcept;

struct OnDevice {
  int error;
  Context* ndl;
  Device* device;
  uint64_t dev;

  // On the descriptor of the handle.
  template <uint32_t kCode, typename Arg>
  int request(Arg& arg) const noexcept {
    return ndl->request<kCode>({device->fd, device->index}, arg);
  }
  // On the cached descriptor.
  template <uint32_t kCode, typename Arg>
  int cached_request(Arg& arg) const noexcept {
    return ndl->device_request<kCode>(device->index, arg);
  }
};
OnDevice on_device(void* ctx, uint64_t dev) noexcept;

struct OnMemory {
  int error;
  Context* ndl;
  Device* device;
  Memory* memory;
  uint64_t mem, dev, driver_handle, bytes;
  Owner owner;
  bool open_ended;

  template <uint32_t kCode, typename Arg>
  int request(Arg& arg) const noexcept {
    return ndl->request<kCode>({device->fd, device->index}, arg);
  }
  // Whether the range lies inside the object. Drivers up to 2.25.4.0 let the
  // sum wrap.
  bool holds(uint64_t offset, uint64_t count) const noexcept {
    if (count > UINT64_MAX - offset) return false;
    return open_ended || offset + count <= bytes;
  }
};
OnMemory on_memory(void* ctx, uint64_t mem) noexcept;

constexpr uint64_t round_to_page(uint64_t bytes) {
  return (bytes + kPageBytes - 1) & ~(kPageBytes - 1);
}

}  // namespace opennrt::ndl
