// SPDX-License-Identifier: Apache-2.0
#include "remote/own_memory.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif

namespace opennrt::emu::remote {

namespace {

constexpr std::uint64_t kPage = 4096;
// Checked and copied in turns, so that what was looked at is still in the cache.
constexpr std::size_t kTurn = 2 << 20;
// From here on it is cheaper to look at the mappings than to bring in each page.
constexpr std::size_t kManyPages = 8 << 20;

void* pointer(std::uint64_t address) {
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(address));
}

ssize_t transfer(std::uint64_t address, void* local, std::size_t bytes, bool to_address) {
  iovec mine{local, bytes}, other{pointer(address), bytes};
  return to_address ? process_vm_writev(getpid(), &mine, 1, &other, 1, 0)
                    : process_vm_readv(getpid(), &mine, 1, &other, 1, 0);
}

// Brings the pages in, as an access would. 0, -EFAULT, or -EINVAL when the kernel
// cannot do that for such memory.
int bring_in(std::uint64_t address, std::size_t bytes, bool write) {
  const std::uint64_t start = address & ~(kPage - 1);
  const std::uint64_t end = (address + bytes + kPage - 1) & ~(kPage - 1);
  for (;;) {
    if (madvise(pointer(start), end - start, write ? MADV_POPULATE_WRITE : MADV_POPULATE_READ) == 0)
      return 0;
    if (errno == EINTR || errno == EAGAIN) continue;
    return errno == EINVAL ? -EINVAL : -EFAULT;
  }
}

// True: the range is private anonymous memory with that access, where no access
// can fail. False: anything else, or not known.
bool plain_memory(std::uint64_t address, std::size_t bytes, bool write) {
  std::FILE* file = std::fopen("/proc/self/maps", "re");
  if (!file) return false;
  std::uint64_t at = address;
  const std::uint64_t end = address + bytes;
  char line[512];
  bool whole_line = true;
  while (at < end && std::fgets(line, sizeof line, file)) {
    const bool starts = whole_line;  // a long path may fill more than one read
    whole_line = std::strchr(line, '\n') != nullptr;
    unsigned long long from = 0, to = 0, inode = 0;
    char access[8] = {};
    if (!starts ||
        std::sscanf(line, "%llx-%llx %7s %*x %*s %llu", &from, &to, access, &inode) != 4 ||
        to <= at)
      continue;
    if (from > at || inode != 0 || access[0] != 'r' || (write && access[1] != 'w') ||
        access[3] != 'p')
      break;
    at = to;
  }
  std::fclose(file);
  return at >= end;
}

}  // namespace

std::size_t read_own(std::uint64_t address, void* out, std::size_t bytes) {
  const ssize_t n = bytes ? transfer(address, out, bytes, false) : 0;
  return n < 0 ? 0 : static_cast<std::size_t>(n);
}

int write_own(std::uint64_t address, const void* in, std::size_t bytes) {
  if (bytes == 0) return 0;
  return transfer(address, const_cast<void*>(in), bytes, true) == static_cast<ssize_t>(bytes)
             ? 0
             : -EFAULT;
}

bool Writer::make() {
  tried_ = true;
  fd_ = memfd_create("opennrt-writer", MFD_CLOEXEC);
  if (fd_ < 0) return false;
  page_ = ftruncate(fd_, kPage) == 0
              ? mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0)
              : MAP_FAILED;
  if (page_ != MAP_FAILED) {
    madvise(page_, kPage, MADV_DONTFORK);
    return true;
  }
  page_ = nullptr;
  close(fd_);
  fd_ = -1;
  return false;
}

Writer::~Writer() {
  if (page_) munmap(page_, kPage);
  forget();
}

void Writer::forget() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
  page_ = nullptr;
}

int Writer::write(std::uint64_t address, const void* in, std::size_t bytes) {
  if (bytes > kPage || (fd_ < 0 && (tried_ || !make()))) return write_own(address, in, bytes);
  std::memcpy(page_, in, bytes);
  // Past the checkers of sanitizers, which would not forgive a bad address.
  return syscall(SYS_pread64, fd_, pointer(address), bytes, 0) == static_cast<long>(bytes)
             ? 0
             : -EFAULT;
}

int copy_own(std::uint64_t address, void* checked, std::size_t bytes, bool to_address) {
  if (bytes > UINT64_MAX - address - kPage) return -EFAULT;
  auto* here = static_cast<std::uint8_t*>(checked);
  if (bytes >= kManyPages && plain_memory(address, bytes, to_address)) {
    std::memcpy(to_address ? pointer(address) : checked, to_address ? checked : pointer(address),
                bytes);
    return 0;
  }
  for (std::size_t done = 0; done < bytes;) {
    const std::size_t n = std::min(kTurn, bytes - done);
    const int known = bring_in(address + done, n, to_address);
    if (known == -EFAULT) return known;
    if (known == 0) {
      void* there = pointer(address + done);
      std::memcpy(to_address ? there : here + done, to_address ? here + done : there, n);
    } else if (transfer(address + done, here + done, n, to_address) != static_cast<ssize_t>(n)) {
      return -EFAULT;
    }
    done += n;
  }
  return 0;
}

}  // namespace opennrt::emu::remote
