// SPDX-License-Identifier: Apache-2.0
//
// The machine behind the served names. Results are >= 0 or -errno.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace opennrt::emu::preload {

class Backend {
 public:
  // What a child needs to go on with the descriptors; plain data, and a kernel
  // descriptor (-1: none) that must stay open until adopt.
  struct Handover {
    std::uint64_t id[2] = {0, 0};
    int hold = -1;
  };

  virtual ~Backend() = default;
  virtual int open(const char* path, std::uint32_t access) = 0;
  virtual int close(int descriptor) = 0;
  virtual int duplicate(int descriptor) = 0;
  virtual std::int64_t ioctl(int descriptor, std::uint32_t request, std::uint64_t argument) = 0;
  virtual int mmap(int descriptor, std::uint64_t bytes, std::uint32_t prot, std::uint64_t offset,
                   void* address, void** out) = 0;
  virtual int munmap(void* address, std::uint64_t bytes) = 0;
  virtual std::int64_t read_text(const char* path, char* buffer, std::size_t bytes) = 0;
  virtual std::int64_t write_text(const char* path, const char* text, std::size_t bytes) = 0;
  virtual int prepare(Handover* out) = 0;
  virtual int adopt(const Handover& handover) = 0;
  virtual void cancel(const Handover& handover) = 0;
};

// Connects to the daemon of the launch. nullptr with *error.
Backend* connect_backend(const char* socket, std::string* error);

}  // namespace opennrt::emu::preload
