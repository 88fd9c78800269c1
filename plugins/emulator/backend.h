// SPDX-License-Identifier: Apache-2.0
//
// What the port asks: a machine in this process, or the one of all processes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "opennrt/plugin.h"

namespace opennrt::emu {

// Results as those of nrtp_sys_port. No call throws but for want of memory.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual int open(const char* path, std::uint32_t flags) = 0;
  virtual int close(int fd) = 0;
  virtual std::int64_t ioctl(int fd, std::uint32_t request, std::uintptr_t arg) = 0;
  virtual int mmap(int fd, std::uint64_t bytes, std::uint32_t prot, std::uint64_t offset,
                   void** out) = 0;
  virtual int munmap(void* address, std::uint64_t bytes) = 0;
  virtual int exists(const char* path) = 0;
  virtual std::int64_t read_text(const char* path, char* buffer, std::size_t n) = 0;
  virtual void sleep_us(std::uint32_t us) = 0;
  virtual int control(const char* request, std::string* reply) = 0;
  // Called once, before the end, in the process that made it.
  virtual void finish() {}
  // False in a forked child, which must leave it alone.
  virtual bool mine() const = 0;
};

// nullptr: *error.
std::unique_ptr<Backend> make_local_backend(const nrtp_host* host, std::string* error);
std::unique_ptr<Backend> make_remote_backend(const nrtp_host* host, std::string* error);

}  // namespace opennrt::emu
