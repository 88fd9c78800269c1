// SPDX-License-Identifier: Apache-2.0
//
// Stands in for the kernel in a program that is linked with it: the linker sends
// the program's open, ioctl, mmap and the like here (--wrap), its source is not
// touched.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>

// The kernel's.
extern "C" {
int __real_usleep(unsigned);
pid_t __real_fork();
pid_t __real_waitpid(pid_t, int*, int);
}

namespace opennrt::emu::test {

// A machine as one process sees it. Results >= 0 or -errno; descriptors are
// numbers that no kernel gives.
class Machinery {
 public:
  virtual ~Machinery() = default;
  virtual int open(const char* path, std::uint32_t access) = 0;
  virtual int close(int fd) = 0;
  virtual std::int64_t ioctl(int fd, std::uint32_t request, std::uint64_t argument) = 0;
  virtual int mmap(int fd, std::uint64_t bytes, std::uint32_t prot, std::uint64_t offset,
                   void** out) = 0;
  virtual int munmap(void* address, std::uint64_t bytes) = 0;  // -ENOENT: not of the machine
  virtual int exists(const char* path) = 0;
  virtual std::int64_t read_text(const char* path, char* buffer, std::size_t bytes) = 0;
  virtual void pause(unsigned us) = 0;
  // As fork and waitpid.
  virtual pid_t fork() = 0;
  virtual pid_t wait(pid_t child, int* status) = 0;
};

std::unique_ptr<Machinery> make_machinery();

}  // namespace opennrt::emu::test
