// SPDX-License-Identifier: Apache-2.0
//
// What stands behind the ndl_* functions of ndl/ndl.h: programs that look into
// the symbol table of this library find and call them. They use a driver layer
// of their own, opened at the first call and kept, and work with and without an
// initialised runtime. In a forked child all answer -EACCES.
//
// The pointers and numbers handed out are checked before they are used; one that
// was not handed out, or has been given back, is -EINVAL.
#pragma once

#include <sys/types.h>

#include <cerrno>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <unordered_map>

#include "book/driver.h"
#include "ndl/ndl.h"

namespace opennrt::api {

class NdlGateway {
 public:
  struct Device {
    std::uint64_t handle = 0;  // of the driver layer
    std::uint32_t index = 0;
    std::unique_ptr<std::max_align_t[]> storage;  // the ndl_device_t
  };
  struct Queue {
    std::uint64_t handle = 0;
    std::unique_ptr<ndl_notification_context_t> context;
  };

  // nullptr and *error set: no driver can be opened here.
  static NdlGateway* get(int* error) noexcept;

  bool forked() const noexcept;
  const nrtp_ndl_ops& ops() const { return own_.driver->ndl(); }
  void* ctx() const { return own_.driver->ctx(); }

  // 0 or -errno.
  int open(std::uint32_t index, const ndl_device_init_param_t* params, ndl_device_t** out);
  int close(ndl_device_t* device);
  int handle_of(const ndl_device_t* device, std::uint64_t* out);
  // Of the open device with that index, or of one opened for such calls.
  int handle_at(int index, std::uint64_t* out);
  void close_cached();

  // Takes memory of the driver layer in; *out is what the caller gets.
  int adopt(ndl_device_t* device, const ndl_mem_info_t& info, std::uint64_t* out);
  int memory_of(std::uint64_t handle, ndl_mem_info_t* out);
  int forget(std::uint64_t handle);
  void note_mapping(std::uint64_t handle, void* va);
  int copy_buffer(ndl_device_t* device, std::uint32_t core, ndl_copy_buf_t** out);

  int adopt_queue(std::uint64_t handle, const ndl_notification_context_t& context,
                  std::uint64_t* out);
  // out_context may be null.
  int queue_of(std::uint64_t number, std::uint64_t* out_handle,
               ndl_notification_context_t* out_context = nullptr);
  int forget_queue(std::uint64_t number);

 private:
  NdlGateway() = default;

  pid_t pid_ = 0;
  struct Own {
    std::unique_ptr<book::Driver> driver;
    std::uint64_t hbm_bytes = 0;
  } own_;
  std::mutex mutex_;  // guards all below
  std::unordered_map<const ndl_device_t*, Device> devices_;
  std::unordered_map<std::uint32_t, std::uint64_t> cached_;  // by index
  std::unordered_map<std::uint64_t, std::unique_ptr<ndl_mem_info_t>> memories_;
  std::unordered_map<std::uint64_t, Queue> queues_;
};

// The frame of every function: gateway, fork, no exception.
template <typename Body>
int on_ndl(Body&& body) noexcept {
  int error = 0;
  NdlGateway* gateway = NdlGateway::get(&error);
  if (gateway == nullptr) return error;
  if (gateway->forked()) return -EACCES;
  try {
    return body(*gateway);
  } catch (const std::bad_alloc&) {
    return -ENOMEM;
  } catch (...) {
    return -EIO;
  }
}

// body(ops, ctx, device handle)
template <typename Body>
int on_ndl_device(const ndl_device_t* device, Body&& body) noexcept {
  return on_ndl([&](NdlGateway& g) {
    std::uint64_t handle = 0;
    const int error = g.handle_of(device, &handle);
    return error != 0 ? error : body(g.ops(), g.ctx(), handle);
  });
}

// The same for functions that name a device by its index.
template <typename Body>
int on_ndl_index(int index, Body&& body) noexcept {
  return on_ndl([&](NdlGateway& g) {
    std::uint64_t handle = 0;
    const int error = g.handle_at(index, &handle);
    return error != 0 ? error : body(g.ops(), g.ctx(), handle);
  });
}

// body(ops, ctx, memory handle of the driver layer)
template <typename Body>
int on_ndl_memory(std::uint64_t memory, Body&& body) noexcept {
  return on_ndl([&](NdlGateway& g) {
    ndl_mem_info_t info;
    const int error = g.memory_of(memory, &info);
    return error != 0 ? error : body(g.ops(), g.ctx(), std::uint64_t{info.driver_handle});
  });
}

}  // namespace opennrt::api
