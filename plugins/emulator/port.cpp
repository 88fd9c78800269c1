// SPDX-License-Identifier: Apache-2.0
#include "port.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <string>

#include "backend.h"
#include "port_config.h"

namespace opennrt::emu {

namespace {

struct Port {
  std::unique_ptr<Backend> backend;
  const nrtp_host* host = nullptr;
  std::uint32_t attaches = 0;
};

std::mutex port_mutex;
Port* process_port = nullptr;

// No exception crosses the boundary.
template <typename F>
auto guarded(F f) -> decltype(f()) {
  try {
    return f();
  } catch (const std::bad_alloc&) {
    return static_cast<decltype(f())>(-ENOMEM);
  } catch (...) {
    return static_cast<decltype(f())>(-EIO);
  }
}

Port* from(void* ctx) { return static_cast<Port*>(ctx); }

int build_port(const nrtp_host* host, std::unique_ptr<Port>* out) {
  auto port = std::make_unique<Port>();
  port->host = host;
  std::string error;
  bool one_for_all = false;
  if (read_scope(host, &one_for_all, &error))
    port->backend =
        one_for_all ? make_remote_backend(host, &error) : make_local_backend(host, &error);
  if (!port->backend) {
    host->log(host->self, NRTP_LOG_ERROR, "EMU", error.c_str());
    return -EINVAL;
  }
  *out = std::move(port);
  return 0;
}

int port_attach(const nrtp_host* host, void** ctx) {
  return guarded([&] {
    std::lock_guard lock(port_mutex);
    // A machine inherited over fork belongs to the parent; it is left alone.
    if (process_port && !process_port->backend->mine()) process_port = nullptr;
    if (!process_port) {
      std::unique_ptr<Port> port;
      if (int r = build_port(host, &port)) return r;
      process_port = port.release();
    }
    ++process_port->attaches;
    *ctx = process_port;
    return 0;
  });
}

void port_detach(void* ctx) {
  std::lock_guard lock(port_mutex);
  Port* port = from(ctx);
  if (!port || !port->backend->mine() || --port->attaches > 0) return;
  if (process_port == port) process_port = nullptr;
  guarded([&] {
    port->backend->finish();
    return 0;
  });
  delete port;
}

int port_open(void* ctx, const char* path, std::uint32_t flags) {
  if (!path) return -EFAULT;
  return guarded([&] { return from(ctx)->backend->open(path, flags); });
}

int port_close(void* ctx, int fd) {
  return guarded([&] { return from(ctx)->backend->close(fd); });
}

std::int64_t port_ioctl(void* ctx, int fd, std::uint32_t request, std::uintptr_t arg) {
  return guarded([&] { return from(ctx)->backend->ioctl(fd, request, arg); });
}

int port_mmap(void* ctx, int fd, std::uint64_t bytes, std::uint32_t prot, std::uint64_t offset,
              void** out) {
  return guarded([&] { return from(ctx)->backend->mmap(fd, bytes, prot, offset, out); });
}

int port_munmap(void* ctx, void* address, std::uint64_t bytes) {
  return guarded([&] { return from(ctx)->backend->munmap(address, bytes); });
}

int port_exists(void* ctx, const char* path) {
  if (!path) return -EFAULT;
  return guarded([&] { return from(ctx)->backend->exists(path); });
}

std::int64_t port_read_text(void* ctx, const char* path, char* buffer, std::size_t n) {
  if (!path || (!buffer && n != 0)) return -EFAULT;
  return guarded([&] { return from(ctx)->backend->read_text(path, buffer, n); });
}

std::uint64_t port_now_us(void* ctx) {
  const nrtp_host* host = from(ctx)->host;
  return host->now_ns(host->self) / 1000;
}

void port_sleep_us(void* ctx, std::uint32_t us) {
  guarded([&] {
    from(ctx)->backend->sleep_us(us);
    return 0;
  });
}

std::int64_t port_control(void* ctx, const char* request, char* reply, std::size_t n) {
  return guarded([&]() -> std::int64_t {
    std::string text;
    if (const int r = from(ctx)->backend->control(request, &text)) return r;
    if (reply && n != 0) {
      const std::size_t copied = std::min(text.size(), n - 1);
      std::memcpy(reply, text.data(), copied);
      reply[copied] = '\0';
    }
    return static_cast<std::int64_t>(text.size());
  });
}

const nrtp_sys_port kPort = {
    .head = NRTP_HEAD_INIT(nrtp_sys_port, PORT, OPENNRT_VERSION),
    .name = "emulator",
    .attach = port_attach,
    .detach = port_detach,
    .open = port_open,
    .close = port_close,
    .ioctl = port_ioctl,
    .mmap = port_mmap,
    .munmap = port_munmap,
    .exists = port_exists,
    .read_text = port_read_text,
    .now_us = port_now_us,
    .sleep_us = port_sleep_us,
    .control = port_control,
};

}  // namespace

const nrtp_sys_port* port_table(std::uint32_t host_major) {
  return host_major == NRTP_ABI_MAJOR ? &kPort : nullptr;
}

}  // namespace opennrt::emu
