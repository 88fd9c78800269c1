// SPDX-License-Identifier: Apache-2.0
#include "plugin/libc_port/libc_port.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

namespace opennrt::plugin {
namespace {

// The port has no state, but a context that is not null is easier to check.
constexpr int kContext = 0;

int port_attach(const nrtp_host* host, void** ctx) {
  (void)host;
  if (!ctx) return -EINVAL;
  *ctx = const_cast<int*>(&kContext);
  return 0;
}

void port_detach(void* ctx) { (void)ctx; }

int open_retrying(const char* path, int flags) {
  int fd;
  do {
    fd = ::open(path, flags | O_CLOEXEC);
  } while (fd < 0 && errno == EINTR);
  if (fd >= 0 && fd <= STDERR_FILENO) {
    // A process without standard streams: what it prints must not reach a device.
    const int low = fd;
    fd = fcntl(low, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    const int reason = errno;
    ::close(low);
    errno = reason;
  }
  return fd < 0 ? -errno : fd;
}

int port_open(void* ctx, const char* path, uint32_t flags) {
  (void)ctx;
  constexpr int kModes[] = {O_RDONLY, O_WRONLY, O_RDWR};
  if (!path || flags > NRTP_OPEN_READ_WRITE) return -EINVAL;
  return open_retrying(path, kModes[flags]);
}

// Not retried after EINTR: the descriptor is gone either way.
int port_close(void* ctx, int fd) {
  (void)ctx;
  return ::close(fd) == 0 ? 0 : -errno;
}

int64_t port_ioctl(void* ctx, int fd, uint32_t request, uintptr_t arg) {
  (void)ctx;
  const int result = ::ioctl(fd, request, arg);
  return result == -1 ? -errno : result;
}

int port_mmap(void* ctx, int fd, uint64_t bytes, uint32_t prot, uint64_t offset, void** out) {
  (void)ctx;
  if (!out || offset > INT64_MAX || (prot & ~(NRTP_PROT_READ | NRTP_PROT_WRITE))) return -EINVAL;
  const int access =
      ((prot & NRTP_PROT_READ) ? PROT_READ : 0) | ((prot & NRTP_PROT_WRITE) ? PROT_WRITE : 0);
  void* va = ::mmap(nullptr, bytes, access, MAP_SHARED, fd, static_cast<off_t>(offset));
  if (va == MAP_FAILED) return -errno;
  *out = va;
  return 0;
}

int port_munmap(void* ctx, void* addr, uint64_t bytes) {
  (void)ctx;
  return ::munmap(addr, bytes) == 0 ? 0 : -errno;
}

int port_exists(void* ctx, const char* path) {
  (void)ctx;
  if (!path) return -EINVAL;
  if (::access(path, F_OK) == 0) return 1;
  return errno == ENOENT || errno == ENOTDIR ? 0 : -errno;
}

int64_t port_read_text(void* ctx, const char* path, char* buf, size_t n) {
  (void)ctx;
  if (!path || !buf || !n) return -EINVAL;
  const int fd = open_retrying(path, O_RDONLY);
  if (fd < 0) return fd;
  size_t length = 0;
  int64_t result = 0;
  while (length < n) {
    const ssize_t got = ::read(fd, buf + length, n - length);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) result = -errno;
    if (got <= 0) break;
    length += static_cast<size_t>(got);
  }
  ::close(fd);
  if (length < n) buf[length] = '\0';
  return result < 0 ? result : static_cast<int64_t>(length);
}

uint64_t port_now_us(void* ctx) {
  (void)ctx;
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000 + static_cast<uint64_t>(now.tv_nsec) / 1000;
}

// A sleep costs at least 50 us of wake-up latency, so a shorter wait spins
// and, after a moment, lets others run.
void port_sleep_us(void* ctx, uint32_t us) {
  constexpr uint32_t kShortestSleep = 50;
  constexpr uint32_t kSpin = 5;
  if (us >= kShortestSleep) {
    const timespec wait{static_cast<time_t>(us / 1'000'000),
                        static_cast<long>(us % 1'000'000) * 1000};
    ::clock_nanosleep(CLOCK_MONOTONIC, 0, &wait, nullptr);
    return;
  }
  const uint64_t start = port_now_us(ctx);
  for (;;) {
    const uint64_t elapsed = port_now_us(ctx) - start;
    if (elapsed >= us) return;
    if (elapsed >= kSpin) ::sched_yield();
  }
}

constexpr nrtp_sys_port kPort = {
    .head = NRTP_HEAD_INIT(nrtp_sys_port, PORT, OPENNRT_VERSION),
    .name = "libc",
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
    .control = nullptr,
};

}  // namespace

const nrtp_sys_port* libc_port() { return &kPort; }

}  // namespace opennrt::plugin
