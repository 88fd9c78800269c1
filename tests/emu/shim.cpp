// SPDX-License-Identifier: Apache-2.0
#include "shim.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstring>

extern "C" {
int __real_open(const char*, int, ...);
int __real_close(int);
int __real_ioctl(int, unsigned long, ...);
void* __real_mmap(void*, size_t, int, int, int, off_t);
int __real_munmap(void*, size_t);
int __real_access(const char*, int);
}

namespace {

using opennrt::emu::test::Machinery;

constexpr int kFirst = 1 << 20;  // descriptors of the machine

Machinery* made = nullptr;

// What it calls itself while it is made is the kernel's.
Machinery& machine() {
  if (!made) made = opennrt::emu::test::make_machinery().release();
  return *made;
}

bool node(const char* path) { return std::strncmp(path, "/dev/neuron", 11) == 0; }
bool attribute(const char* path) {
  return std::strncmp(path, "/sys/module/neuron/", 19) == 0 ||
         std::strncmp(path, "/sys/class/neuron_device/", 25) == 0;
}

int give(std::int64_t result) {
  if (result >= 0) return static_cast<int>(result);
  errno = static_cast<int>(-result);
  return -1;
}

}  // namespace

extern "C" {

int __wrap_open(const char* path, int flags, ...) {
  if (node(path)) return give(machine().open(path, static_cast<std::uint32_t>(flags & O_ACCMODE)));
  if (!attribute(path)) return __real_open(path, flags);
  char text[4096];
  const std::int64_t n = machine().read_text(path, text, sizeof text);
  if (n < 0) return give(n);
  const int fd = memfd_create("attribute", 0);
  return pwrite(fd, text, static_cast<size_t>(n), 0) == n ? fd : -1;
}

int __wrap_close(int fd) { return fd >= kFirst ? give(machine().close(fd)) : __real_close(fd); }

int __wrap_ioctl(int fd, unsigned long request, ...) {
  va_list list;
  va_start(list, request);
  const auto argument = va_arg(list, unsigned long);
  va_end(list);
  if (fd < kFirst) return __real_ioctl(fd, request, argument);
  return give(machine().ioctl(fd, static_cast<std::uint32_t>(request), argument));
}

void* __wrap_mmap(void* address, size_t bytes, int prot, int flags, int fd, off_t offset) {
  if (fd < kFirst) return __real_mmap(address, bytes, prot, flags, fd, offset);
  void* out = nullptr;
  const std::uint32_t rights =
      ((prot & PROT_READ) != 0 ? 1u : 0u) | ((prot & PROT_WRITE) != 0 ? 2u : 0u);
  const int result = machine().mmap(fd, bytes, rights, static_cast<std::uint64_t>(offset), &out);
  return result == 0 ? out : (give(result), MAP_FAILED);
}

int __wrap_munmap(void* address, size_t bytes) {
  const int result = made ? made->munmap(address, bytes) : -ENOENT;
  return result == -ENOENT ? __real_munmap(address, bytes) : give(result);
}

int __wrap_access(const char* path, int mode) {
  if (!node(path) && !attribute(path)) return __real_access(path, mode);
  return machine().exists(path) == 1 ? 0 : give(-ENOENT);
}

int __wrap_usleep(unsigned us) {
  if (!made) return __real_usleep(us);
  made->pause(us);
  return 0;
}

pid_t __wrap_fork() { return made ? made->fork() : __real_fork(); }
pid_t __wrap_waitpid(pid_t child, int* status, int options) {
  return made ? made->wait(child, status) : __real_waitpid(child, status, options);
}
}
