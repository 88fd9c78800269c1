// SPDX-License-Identifier: Apache-2.0
#include "port.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <memory>
#include <mutex>
#include <new>
#include <string>

#include "control.h"
#include "device/device.h"
#include "driver/machine.h"
#include "opennrt/whole_file.hpp"
#include "port_config.h"

namespace opennrt::emu {

namespace {

// Records per sleep_us: long enough to amortise the call, short enough for the
// waiter to look at its clock.
constexpr std::uint64_t kRunRecords = 4096;
constexpr std::uint32_t kIdleSleepUs = 50;

// The process as the driver sees it. The page is emptied in a forked child, so
// that the child is told apart without a system call per request.
struct Identity {
  std::atomic<std::uint32_t> pid;
  std::uint64_t start_time;
};

std::uint64_t process_start_time() {
  std::FILE* file = std::fopen("/proc/self/stat", "re");
  if (!file) return 0;
  char text[1024];
  const std::size_t n = std::fread(text, 1, sizeof text - 1, file);
  std::fclose(file);
  text[n] = '\0';
  // Field 22; the name in field 2 may hold anything, so count from its end.
  const char* p = std::strrchr(text, ')');
  if (!p) return 0;
  unsigned long long start = 0;
  if (std::sscanf(
          p + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
          &start) != 1)
    return 0;
  return start;
}

struct Port {
  std::unique_ptr<Machine> machine;
  const nrtp_host* host = nullptr;
  Identity* identity = nullptr;
  std::uint32_t owner = 0;  // pid that made the machine
  std::uint32_t uid = 0;
  std::uint32_t attaches = 0;

  ~Port() {
    if (identity) munmap(identity, sizeof *identity);
  }
  // False in a forked child: it must not touch the machine of its parent.
  bool client(Client* out) const {
    if (identity->pid.load(std::memory_order_relaxed) != owner) return false;
    *out = Client{owner, identity->start_time, uid};
    return true;
  }
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
  port->owner = static_cast<std::uint32_t>(getpid());
  port->uid = static_cast<std::uint32_t>(getuid());
  void* page =
      mmap(nullptr, sizeof(Identity), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return -ENOMEM;
  port->identity = new (page) Identity{};
  madvise(page, sizeof(Identity), MADV_WIPEONFORK);
  port->identity->pid.store(port->owner, std::memory_order_relaxed);
  port->identity->start_time = process_start_time();

  MachineConfig config;
  config.make_device = &Device::create;
  std::string error;
  if (read_machine_config(host, &config, &error)) port->machine = Machine::create(config, &error);
  if (!port->machine) {
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
    Client client;
    if (process_port && !process_port->client(&client)) process_port = nullptr;
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

// emulator.report: complete under its name, or absent.
void write_report(Port& port) {
  const std::string& path = port.machine->config().report;
  if (path.empty()) return;
  const std::string text = report_text(*port.machine);
  WholeFile file;
  int error = file.create(path);
  if (error == 0) error = file.write(text.data(), text.size());
  if (error == 0) error = file.commit();
  if (error == 0) return;
  const std::string message = "emulator.report " + path + ": " + std::strerror(error);
  port.host->log(port.host->self, NRTP_LOG_ERROR, "EMU", message.c_str());
}

void port_detach(void* ctx) {
  std::lock_guard lock(port_mutex);
  Port* port = from(ctx);
  Client client;
  if (!port || !port->client(&client) || --port->attaches > 0) return;
  if (process_port == port) process_port = nullptr;
  guarded([&] {
    write_report(*port);
    return 0;
  });
  delete port;
}

int port_open(void* ctx, const char* path, std::uint32_t flags) {
  return guarded([&] {
    Client client;
    if (!from(ctx)->client(&client)) return -EACCES;
    return from(ctx)->machine->open(client, path, flags);
  });
}

int port_close(void* ctx, int fd) {
  return guarded([&] {
    Client client;
    if (!from(ctx)->client(&client)) return -EACCES;
    return from(ctx)->machine->close(client, fd);
  });
}

std::int64_t port_ioctl(void* ctx, int fd, std::uint32_t request, std::uintptr_t arg) {
  return guarded([&]() -> std::int64_t {
    Client client;
    if (!from(ctx)->client(&client)) return -EACCES;
    DirectMemory memory;
    return from(ctx)->machine->ioctl(client, memory, fd, request, arg);
  });
}

int port_mmap(void* ctx, int fd, std::uint64_t bytes, std::uint32_t prot, std::uint64_t offset,
              void** out) {
  return guarded([&] {
    Client client;
    if (!from(ctx)->client(&client)) return -EACCES;
    return from(ctx)->machine->mmap(client, fd, bytes, prot, offset, out);
  });
}

int port_munmap(void* ctx, void* address, std::uint64_t bytes) {
  return guarded([&] {
    Client client;
    if (!from(ctx)->client(&client)) return -EACCES;
    return from(ctx)->machine->munmap(client, address, bytes);
  });
}

int port_exists(void* ctx, const char* path) {
  return guarded([&] { return from(ctx)->machine->exists(path); });
}

std::int64_t port_read_text(void* ctx, const char* path, char* buffer, std::size_t n) {
  return guarded([&]() -> std::int64_t { return from(ctx)->machine->read_text(path, buffer, n); });
}

std::uint64_t port_now_us(void* ctx) {
  const nrtp_host* host = from(ctx)->host;
  return host->now_ns(host->self) / 1000;
}

void port_sleep_us(void* ctx, std::uint32_t us) {
  Port* port = from(ctx);
  Client client;
  if (!port->client(&client)) return;
  const bool ran = guarded([&] { return port->machine->run(kRunRecords) ? 1 : 0; }) == 1;
  if (ran) return;
  const timespec pause{0, static_cast<long>(us < kIdleSleepUs ? us : kIdleSleepUs) * 1000};
  nanosleep(&pause, nullptr);
}

std::int64_t port_control(void* ctx, const char* request, char* reply, std::size_t n) {
  return guarded([&]() -> std::int64_t {
    Client client;
    if (!from(ctx)->client(&client)) return -EACCES;
    std::string text;
    if (const int r = control(*from(ctx)->machine, request, &text)) return r;
    if (reply && n != 0) {
      const std::size_t copied = std::min(text.size(), n - 1);
      std::memcpy(reply, text.data(), copied);
      reply[copied] = '\0';
    }
    return static_cast<std::int64_t>(text.size());
  });
}

const nrtp_sys_port kPort = {
    .head = {.size = sizeof(nrtp_sys_port),
             .magic = NRTP_MAGIC,
             .kind = NRTP_KIND_PORT,
             .abi_major = NRTP_PORT_ABI_MAJOR,
             .abi_minor = NRTP_PORT_ABI_MINOR,
             .host_minor_min = 0,
             .build = "san=" OPENNRT_BUILD_SAN ";version=" OPENNRT_VERSION,
             .host_features_required = 0},
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
