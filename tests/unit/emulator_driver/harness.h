// SPDX-License-Identifier: Apache-2.0
//
// A machine with the real device behind it, and processes that talk to it.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "device/device.h"
#include "driver/abi.h"
#include "driver/machine.h"

extern "C" const nrtp_arch_plugin* nrtp_arch_query(uint32_t, uint32_t);

namespace opennrt::emu::test {

inline constexpr std::uint64_t kMiB = 1 << 20, kGiB = 1 << 30;
inline constexpr std::uint64_t kLowAddress = 0x1000, kKernelAddress = 0xFFFF888000000000;

inline const nrtp_product* product(const char* name) {
  const nrtp_arch_plugin* arch = nrtp_arch_query(1, 0);
  for (std::uint32_t i = 0; i < arch->n_products; ++i) {
    const auto* p = reinterpret_cast<const nrtp_product*>(
        reinterpret_cast<const char*>(arch->products) + std::size_t{i} * arch->product_stride);
    if (std::strcmp(p->name, name) == 0) return p;
  }
  return nullptr;
}

inline MachineConfig default_config() {
  MachineConfig config;
  config.arch = nrtp_arch_query(1, 0);
  config.product = product("trn1.2xlarge");
  config.hbm_bytes = 2 * kGiB;
  config.host_bytes = 256 * kMiB;
  config.make_device = &Device::create;
  return config;
}

struct AllocOptions {
  bool host = false;
  std::uint32_t type = 9, core = 0, channel = 0;
  std::uint64_t align = 0;
};

// A process with its descriptors. Arguments go through the plain in-process
// access unless `checked` says otherwise.
class Process {
 public:
  Process(Machine& machine, std::uint32_t pid) : machine_(machine) { client_.pid = pid; }
  int open(std::uint32_t flags = 2, const char* path = "/dev/neuron0") {
    return machine_.open(client_, path, flags);
  }
  int close(int fd) { return machine_.close(client_, fd); }
  template <typename T>
  std::int64_t call(int fd, std::uint32_t request, T& argument) {
    DirectMemory memory;
    return machine_.ioctl(client_, memory, fd, request,
                          reinterpret_cast<std::uintptr_t>(&argument));
  }
  std::int64_t raw(int fd, std::uint32_t request, std::uint64_t argument, UserMemory& memory) {
    return machine_.ioctl(client_, memory, fd, request, argument);
  }
  std::int64_t alloc(int fd, std::uint64_t bytes, std::uint64_t* handle, AllocOptions o = {}) {
    abi::MemAllocV2MemType64 a;
    a.size = bytes;
    a.align = o.align;
    a.host_memory = o.host;
    a.mem_type = o.type;
    a.nc_id = o.core;
    a.dram_channel = o.channel;
    a.mem_handle = reinterpret_cast<std::uintptr_t>(handle);
    return call(fd, abi::kMemAllocV2mt64, a);
  }
  std::int64_t free(int fd, std::uint64_t handle) {
    abi::MemFree a;
    a.mem_handle = handle;
    return call(fd, abi::kMemFree, a);
  }
  std::uint64_t pa(int fd, std::uint64_t handle) {
    std::uint64_t pa = 0;
    abi::MemGetPa a;
    a.mem_handle = handle;
    a.pa = reinterpret_cast<std::uintptr_t>(&pa);
    return call(fd, abi::kMemGetPa, a) == 0 ? pa : UINT64_MAX;
  }
  std::int64_t copy(int fd, std::uint64_t handle, const void* buffer, std::uint64_t bytes,
                    std::uint64_t offset, bool to_device) {
    abi::MemBufCopy64 a;
    a.mem_handle = handle;
    a.buffer = reinterpret_cast<std::uintptr_t>(buffer);
    a.size = bytes;
    a.offset = offset;
    a.copy_to_mem_handle = to_device;
    return call(fd, abi::kMemBufCopy64, a);
  }
  int mmap(int fd, std::uint64_t bytes, std::uint32_t prot, std::uint64_t offset, void** out) {
    return machine_.mmap(client_, fd, bytes, prot, offset, out);
  }
  int munmap(void* address, std::uint64_t bytes) {
    return machine_.munmap(client_, address, bytes);
  }
  const Client& client() const { return client_; }

 private:
  Machine& machine_;
  Client client_;
};

class DriverTest : public ::testing::Test {
 protected:
  void build(const MachineConfig& config) {
    std::string error;
    machine = Machine::create(config, &error);
    ASSERT_TRUE(machine) << error;
  }
  void SetUp() override { build(default_config()); }
  Process process(std::uint32_t pid) { return Process(*machine, pid); }
  std::unique_ptr<Machine> machine;
};

}  // namespace opennrt::emu::test
