// SPDX-License-Identifier: Apache-2.0
//
// A system port that forwards every call to another port plugin and appends one
// line per call to a file: the name, an argument, the result. The argument of a
// request is its code. recording.h reads the file.
//
//   OPENNRT_RECORDER_TARGET  library of the port to forward to
//   OPENNRT_RECORDER_FILE    file to append to
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "opennrt/port.h"

namespace {

struct Recorder {
  const nrtp_sys_port* target = nullptr;
  void* target_ctx = nullptr;
  int file = -1;
};

void record(const Recorder& r, const char* call, unsigned argument, long long result) {
  char line[64];
  const int n = std::snprintf(line, sizeof line, "%s %u %lld\n", call, argument, result);
  if (write(r.file, line, static_cast<std::size_t>(n)) != n) std::abort();  // the test is void
}

Recorder& self(void* ctx) { return *static_cast<Recorder*>(ctx); }

int attach(const nrtp_host* host, void** ctx) {
  const char* library = std::getenv("OPENNRT_RECORDER_TARGET");
  const char* file = std::getenv("OPENNRT_RECORDER_FILE");
  if (library == nullptr || file == nullptr) return -EINVAL;
  void* handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return -ENOENT;
  auto query = reinterpret_cast<nrtp_port_query_fn>(dlsym(handle, NRTP_PORT_QUERY_SYMBOL));
  if (query == nullptr) return -EINVAL;
  auto r = std::make_unique<Recorder>();
  r->target = query(NRTP_PORT_ABI_MAJOR, NRTP_PORT_ABI_MINOR);
  if (r->target == nullptr) return -EINVAL;
  r->file = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (r->file < 0) return -EINVAL;
  if (const int rc = r->target->attach(host, &r->target_ctx); rc != 0) {
    close(r->file);
    return rc;
  }
  *ctx = r.release();
  return 0;
}

void detach(void* ctx) {
  Recorder& r = self(ctx);
  r.target->detach(r.target_ctx);
  close(r.file);
  delete &r;
}

int port_open(void* ctx, const char* path, uint32_t flags) {
  const int fd = self(ctx).target->open(self(ctx).target_ctx, path, flags);
  record(self(ctx), "open", flags, fd);
  return fd;
}
int port_close(void* ctx, int fd) {
  record(self(ctx), "close", 0, 0);
  return self(ctx).target->close(self(ctx).target_ctx, fd);
}
int64_t port_ioctl(void* ctx, int fd, uint32_t request, uintptr_t arg) {
  const int64_t result = self(ctx).target->ioctl(self(ctx).target_ctx, fd, request, arg);
  record(self(ctx), "ioctl", request, result);
  return result;
}
int port_mmap(void* ctx, int fd, uint64_t bytes, uint32_t prot, uint64_t offset, void** out) {
  record(self(ctx), "mmap", prot, 0);
  return self(ctx).target->mmap(self(ctx).target_ctx, fd, bytes, prot, offset, out);
}
int port_munmap(void* ctx, void* addr, uint64_t bytes) {
  record(self(ctx), "munmap", 0, 0);
  return self(ctx).target->munmap(self(ctx).target_ctx, addr, bytes);
}
int port_exists(void* ctx, const char* path) {
  return self(ctx).target->exists(self(ctx).target_ctx, path);
}
int64_t port_read_text(void* ctx, const char* path, char* buf, size_t n) {
  return self(ctx).target->read_text(self(ctx).target_ctx, path, buf, n);
}
uint64_t port_now_us(void* ctx) { return self(ctx).target->now_us(self(ctx).target_ctx); }
void port_sleep_us(void* ctx, uint32_t us) { self(ctx).target->sleep_us(self(ctx).target_ctx, us); }
int64_t port_control(void* ctx, const char* request, char* reply, size_t n) {
  return self(ctx).target->control(self(ctx).target_ctx, request, reply, n);
}

constexpr nrtp_sys_port kPort = {
    NRTP_HEAD_INIT(nrtp_sys_port, PORT, OPENNRT_VERSION),
    "recorder",
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

}  // namespace

extern "C" NRTP_EXPORT const nrtp_sys_port* nrtp_port_query(uint32_t host_major, uint32_t) {
  return host_major == NRTP_PORT_ABI_MAJOR ? &kPort : nullptr;
}
