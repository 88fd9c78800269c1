// SPDX-License-Identifier: Apache-2.0
//
// A system port in front of the software device that fails or holds requests.
//
//   OPENNRT_FAULT_TARGET  library of the software device
#include "fault_port.h"

#include <dlfcn.h>

#include <cerrno>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <string>

#include "opennrt/port.h"

namespace {

struct State {
  std::mutex mutex;
  std::condition_variable changed;
  std::string failing, holding;
  int error = 0;
  unsigned good = 0;
  bool held = false;
  const nrtp_sys_port* target = nullptr;
  void* target_ctx = nullptr;
};

State& state() {
  static State* const one = new State;
  return *one;
}

thread_local int t_error = 0;  // of the request that is under way

bool stands_for(const std::string& name, const char* request) {
  return !name.empty() && std::string(request).compare(0, name.size(), name) == 0;
}

// The software device asks here before every request.
int ask(void*, const char* request) {
  State& s = state();
  std::unique_lock lock(s.mutex);
  if (stands_for(s.holding, request)) {
    s.holding.clear();
    s.held = true;
    s.changed.wait(lock, [&] { return !s.held; });
  }
  if (!stands_for(s.failing, request)) return NRTP_OK;
  if (s.good > 0) {
    --s.good;
    return NRTP_OK;
  }
  t_error = s.error;
  return NRTP_FAILURE;
}

nrtp_host host_with_faults;

int attach(const nrtp_host* host, void** ctx) {
  State& s = state();
  if (s.target == nullptr) {
    const char* library = std::getenv("OPENNRT_FAULT_TARGET");
    void* handle = library != nullptr ? dlopen(library, RTLD_NOW | RTLD_LOCAL) : nullptr;
    if (handle == nullptr) return -ENOENT;
    const auto query = reinterpret_cast<nrtp_port_query_fn>(dlsym(handle, NRTP_PORT_QUERY_SYMBOL));
    if (query == nullptr) return -EINVAL;
    s.target = query(NRTP_PORT_ABI_MAJOR, NRTP_PORT_ABI_MINOR);
    if (s.target == nullptr) return -EINVAL;
  }
  host_with_faults = *host;
  host_with_faults.fault = ask;
  *ctx = &s;
  return s.target->attach(&host_with_faults, &s.target_ctx);
}

void detach(void*) { state().target->detach(state().target_ctx); }

int port_open(void*, const char* path, uint32_t flags) {
  return state().target->open(state().target_ctx, path, flags);
}
int port_close(void*, int fd) { return state().target->close(state().target_ctx, fd); }
int64_t port_ioctl(void*, int fd, uint32_t request, uintptr_t arg) {
  t_error = 0;
  const int64_t result = state().target->ioctl(state().target_ctx, fd, request, arg);
  return t_error != 0 ? -t_error : result;
}
int port_mmap(void*, int fd, uint64_t bytes, uint32_t prot, uint64_t offset, void** out) {
  return state().target->mmap(state().target_ctx, fd, bytes, prot, offset, out);
}
int port_munmap(void*, void* address, uint64_t bytes) {
  return state().target->munmap(state().target_ctx, address, bytes);
}
int port_exists(void*, const char* path) {
  return state().target->exists(state().target_ctx, path);
}
int64_t port_read_text(void*, const char* path, char* buffer, size_t n) {
  return state().target->read_text(state().target_ctx, path, buffer, n);
}
uint64_t port_now_us(void*) { return state().target->now_us(state().target_ctx); }
void port_sleep_us(void*, uint32_t us) { state().target->sleep_us(state().target_ctx, us); }
int64_t port_control(void*, const char* request, char* reply, size_t n) {
  return state().target->control(state().target_ctx, request, reply, n);
}

constexpr nrtp_sys_port kPort = {
    NRTP_HEAD_INIT(nrtp_sys_port, PORT, OPENNRT_VERSION),
    "fault",
    attach,
    detach,
    port_open,
    port_close,
    port_ioctl,
    port_mmap,
    port_munmap,
    port_exists,
    port_read_text,
    port_now_us,
    port_sleep_us,
    port_control,
};

void fail(const char* request, int error, unsigned good) {
  const std::lock_guard lock(state().mutex);
  state().failing = request;
  state().error = error;
  state().good = good;
}

void hold(const char* request) {
  const std::lock_guard lock(state().mutex);
  state().holding = request;
}

bool is_held() {
  const std::lock_guard lock(state().mutex);
  return state().held;
}

void release() {
  const std::lock_guard lock(state().mutex);
  state().holding.clear();
  state().held = false;
  state().changed.notify_all();
}

void clear() {
  release();
  const std::lock_guard lock(state().mutex);
  state().failing.clear();
}

}  // namespace

extern "C" {

NRTP_EXPORT const nrtp_sys_port* nrtp_port_query(uint32_t host_major, uint32_t) {
  return host_major == NRTP_PORT_ABI_MAJOR ? &kPort : nullptr;
}

extern NRTP_EXPORT const opennrt::test::FaultPort opennrt_fault_port;
const opennrt::test::FaultPort opennrt_fault_port = {fail, hold, is_held, release, clear};
}
