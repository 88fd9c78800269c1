// SPDX-License-Identifier: Apache-2.0
//
// The processes of a recording: played in this process, or as processes of their
// own that use the machine through the daemon's socket.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "driver/machine.h"

namespace opennrt::replay {

class Agent {
 public:
  virtual ~Agent() = default;
  virtual std::uint32_t pid() const = 0;
  // As the members of emu::Machine with the same names.
  virtual int open(const std::string& path, std::uint32_t flags) = 0;
  virtual int close(int fd) = 0;
  virtual int duplicate(int fd) = 0;
  virtual std::int64_t ioctl(int fd, std::uint32_t request, std::uint64_t arg) = 0;
  virtual int mmap(int fd, std::uint64_t bytes, std::uint32_t prot, std::uint64_t offset,
                   std::uint64_t* address) = 0;
  virtual int munmap(std::uint64_t address, std::uint64_t bytes) = 0;
  // Memory of the process. 0 or -EFAULT.
  virtual int load(std::uint64_t address, void* out, std::size_t bytes) = 0;
  virtual int store(std::uint64_t address, const void* in, std::size_t bytes) = 0;
  virtual std::int64_t read_text(const std::string& path, char* out, std::size_t bytes) = 0;
  virtual std::int64_t write_text(const std::string& path, const std::string& text) = 0;
  // descriptors: the parent's, in the order of opening; become the child's.
  virtual std::unique_ptr<Agent> fork(std::uint32_t pid, std::vector<int>* descriptors) = 0;
  // The process ends, and the driver has noticed.
  virtual void end() = 0;
};

class Transport {
 public:
  virtual ~Transport() = default;
  // pid: where the transport can choose it.
  virtual std::unique_ptr<Agent> start(std::uint32_t pid) = 0;
};

std::unique_ptr<Transport> make_local(emu::Machine& machine);

// --- daemon: processes are forked from one that is made first, before any thread
// and before anything is open. False: cannot be.
bool start_nursery();
// programs: each is an unmodified program (program.cpp) with the preloaded library.
std::unique_ptr<Transport> make_remote(emu::Machine& machine, bool programs, std::string* error);

}  // namespace opennrt::replay
