// SPDX-License-Identifier: Apache-2.0
#include "driver/user_memory.h"

#include <fcntl.h>
#include <sys/uio.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "device/memory.h"

namespace opennrt::emu {

namespace {

// vm.mmap_min_addr of every distribution; nothing a caller owns lies below.
constexpr std::uint64_t kLowest = 0x10000;
constexpr std::uint64_t kKernelHalf = 1ull << 47;

void* pointer(std::uint64_t address) {
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(address));
}

}  // namespace

bool UserMemory::plausible(std::uint64_t address, std::size_t bytes) {
  return address >= kLowest && address < kKernelHalf && bytes <= kKernelHalf - address;
}

int UserMemory::copy_in(Region& region, std::uint64_t offset, std::uint64_t address,
                        std::size_t bytes) {
  return read(address, region.data() + offset, bytes);
}

int UserMemory::copy_out(Region& region, std::uint64_t offset, std::uint64_t address,
                         std::size_t bytes) {
  return write(address, region.data() + offset, bytes);
}

int UserMemory::give_descriptor(const Region& region, std::uint64_t address) {
  std::int32_t fd = 0;
  // Proves the pointer before a descriptor exists that nobody would close.
  if (read(address, &fd, sizeof fd) != 0) return -EFAULT;
  fd = fcntl(region.fd(), F_DUPFD_CLOEXEC, 0);
  if (fd < 0) return -errno;
  return write(address, &fd, sizeof fd);
}

int DirectMemory::read(std::uint64_t address, void* out, std::size_t bytes) {
  if (bytes == 0) return 0;
  if (!plausible(address, bytes)) return -EFAULT;
  std::memcpy(out, pointer(address), bytes);
  return 0;
}

int DirectMemory::write(std::uint64_t address, const void* in, std::size_t bytes) {
  if (bytes == 0) return 0;
  if (!plausible(address, bytes)) return -EFAULT;
  std::memcpy(pointer(address), in, bytes);
  return 0;
}

void* DirectMemory::direct(std::uint64_t address, std::size_t bytes) {
  return plausible(address, bytes) ? pointer(address) : nullptr;
}

int CheckedMemory::read(std::uint64_t address, void* out, std::size_t bytes) {
  if (bytes == 0) return 0;
  if (!plausible(address, bytes)) return -EFAULT;
  iovec local{out, bytes}, remote{pointer(address), bytes};
  return process_vm_readv(pid_, &local, 1, &remote, 1, 0) == static_cast<ssize_t>(bytes) ? 0
                                                                                         : -EFAULT;
}

int CheckedMemory::write(std::uint64_t address, const void* in, std::size_t bytes) {
  if (bytes == 0) return 0;
  if (!plausible(address, bytes)) return -EFAULT;
  iovec local{const_cast<void*>(in), bytes}, remote{pointer(address), bytes};
  return process_vm_writev(pid_, &local, 1, &remote, 1, 0) == static_cast<ssize_t>(bytes) ? 0
                                                                                          : -EFAULT;
}

}  // namespace opennrt::emu
