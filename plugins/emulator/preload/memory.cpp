// SPDX-License-Identifier: Apache-2.0
#include "preload/memory.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>

#include "preload/next.h"
#include "preload/session.h"

namespace opennrt::emu::preload {

namespace {

constexpr std::uint64_t kPage = Mappings::kPage;

std::uint64_t whole_pages(std::uint64_t bytes) noexcept {
  return (bytes + kPage - 1) & ~(kPage - 1);
}

void* refuse(int error) noexcept {
  errno = error;
  return MAP_FAILED;
}

void* map_device(const Entry& entry, void* address, std::uint64_t bytes, int prot, int flags,
                 off_t offset) noexcept {
  Session& s = session();
  if (entry.descriptor == 0) return refuse(EACCES);
  if (bytes == 0 || (offset & static_cast<off_t>(kPage - 1)) != 0) return refuse(EINVAL);
  bytes = whole_pages(bytes);
  if (bytes == 0) return refuse(ENOMEM);
  // The driver maps page frames: a private copy on write of them is not what it
  // is for, and a private read-only mapping sees the same bytes as a shared one.
  const int type = flags & MAP_TYPE;
  if (type != MAP_SHARED && type != MAP_SHARED_VALIDATE && type != MAP_PRIVATE)
    return refuse(EINVAL);
  if (type == MAP_PRIVATE && (prot & PROT_WRITE) != 0) return refuse(EINVAL);
  const bool fixed = (flags & (MAP_FIXED | MAP_FIXED_NOREPLACE)) != 0;
  void* wanted = nullptr;
  if (fixed) {
    if ((reinterpret_cast<std::uintptr_t>(address) & (kPage - 1)) != 0) return refuse(EINVAL);
    // Reserves the place, with the kernel's answer when it cannot be had.
    const long place =
        raw_call(SYS_mmap, word(address), static_cast<long>(bytes), PROT_NONE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (place == -EEXIST && (flags & MAP_FIXED_NOREPLACE) == 0) {
      Mapping mapping;
      if (s.mappings.find(reinterpret_cast<std::uintptr_t>(address), bytes, &mapping) &&
          unmap(address, bytes) != 0)
        return MAP_FAILED;
    } else if (place < 0) {
      return refuse(static_cast<int>(-place));
    }
    wanted = address;
  }
  if (s.mappings.full()) return refuse(ENOMEM);
  const std::uint32_t rights =
      ((prot & (PROT_READ | PROT_EXEC)) != 0 || prot == PROT_NONE ? 1u : 0u) |
      ((prot & PROT_WRITE) != 0 ? 2u : 0u);
  const SignalsBlocked blocked;
  void* made = nullptr;
  const int result = s.backend()->mmap(entry.descriptor, bytes, rights,
                                       static_cast<std::uint64_t>(offset), wanted, &made);
  if (result < 0) {
    if (wanted) raw_call(SYS_munmap, word(wanted), static_cast<long>(bytes));
    return refuse(-result);
  }
  const Mapping mapping{reinterpret_cast<std::uintptr_t>(made), bytes, 0, (prot & PROT_WRITE) != 0};
  if (!s.mappings.add(mapping)) {
    s.backend()->munmap(made, bytes);
    return refuse(ENOMEM);
  }
  if (prot == PROT_NONE) raw_call(SYS_mprotect, word(made), static_cast<long>(bytes), PROT_NONE);
  return made;
}

}  // namespace

void* map(void* address, std::size_t bytes, int prot, int flags, int fd, off_t offset) noexcept {
  Session& s = session();
  Entry entry;
  if ((flags & MAP_ANONYMOUS) == 0 && s.table.ours(fd) && s.find(fd, &entry) &&
      entry.kind == Kind::kDevice)
    return map_device(entry, address, bytes, prot, flags, offset);
  // Something else takes the place of a device mapping.
  if ((flags & MAP_FIXED) != 0 && bytes != 0 &&
      s.mappings.may_overlap(reinterpret_cast<std::uintptr_t>(address), bytes)) {
    const int before = errno;
    Mapping mapping;
    if (s.mappings.find(reinterpret_cast<std::uintptr_t>(address), whole_pages(bytes), &mapping)) {
      // Only a whole one can go: the machine would later unmap what came instead.
      const auto start = reinterpret_cast<std::uintptr_t>(address);
      if (mapping.address < start || mapping.address + mapping.bytes > start + whole_pages(bytes))
        return refuse(ENOTSUP);
      if (unmap(address, bytes) != 0) return MAP_FAILED;
    }
    errno = before;
  }
  return OPENNRT_NEXT(mmap)(address, bytes, prot, flags, fd, offset);
}

int unmap(void* address, std::size_t bytes) noexcept {
  Session& s = session();
  const auto start = reinterpret_cast<std::uintptr_t>(address);
  if (!s.mappings.may_overlap(start, bytes)) return OPENNRT_NEXT(munmap)(address, bytes);
  if ((start & (kPage - 1)) != 0 || bytes == 0 || start + whole_pages(bytes) < start) {
    errno = EINVAL;
    return -1;
  }
  const std::uintptr_t end = start + whole_pages(bytes);
  std::uintptr_t at = start;
  const auto plain = [](std::uintptr_t from, std::uintptr_t to) {
    return from == to ||
           raw_call(SYS_munmap, static_cast<long>(from), static_cast<long>(to - from)) == 0;
  };
  const SignalsBlocked blocked;
  Mapping mapping;
  while (at < end && s.mappings.find(at, end - at, &mapping)) {
    if (mapping.address > at) plain(at, mapping.address);
    const std::uintptr_t low = std::max(at, mapping.address);
    const std::uintptr_t high = std::min(end, mapping.address + mapping.bytes);
    at = high;
    if (s.mappings.give_up(mapping.address, low, high - low)) {
      s.backend()->munmap(reinterpret_cast<void*>(mapping.address), mapping.bytes);
      continue;
    }
    // A part: nothing to see there any more, and nothing else gets the place.
    const long hole =
        raw_call(SYS_mmap, static_cast<long>(low), static_cast<long>(high - low), PROT_NONE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    if (hole < 0) return static_cast<int>(answer(hole));
  }
  if (at < end && !plain(at, end)) {
    errno = ENOMEM;
    return -1;
  }
  return 0;
}

void* remap(void* old, std::size_t old_bytes, std::size_t new_bytes, int flags,
            void* target) noexcept {
  Session& s = session();
  const auto start = reinterpret_cast<std::uintptr_t>(old);
  Mapping mapping;
  if ((flags & MREMAP_FIXED) != 0 &&
      s.mappings.find(reinterpret_cast<std::uintptr_t>(target), whole_pages(new_bytes), &mapping))
    return refuse(ENOTSUP);
  if (!s.mappings.find(start, std::max<std::size_t>(old_bytes, 1), &mapping))
    return OPENNRT_NEXT(mremap)(old, old_bytes, new_bytes, flags, target);
  // The driver's mappings cannot grow; ours do not move either.
  if (whole_pages(new_bytes) > whole_pages(old_bytes) || old_bytes == 0) return refuse(EFAULT);
  if (new_bytes == 0 || (flags & MREMAP_FIXED) != 0) return refuse(EINVAL);
  const std::uint64_t kept = whole_pages(new_bytes);
  if (kept < whole_pages(old_bytes) &&
      unmap(reinterpret_cast<void*>(start + kept), whole_pages(old_bytes) - kept) != 0)
    return MAP_FAILED;
  return old;
}

int protect(void* address, std::size_t bytes, int prot) noexcept {
  Session& s = session();
  const auto start = reinterpret_cast<std::uintptr_t>(address);
  Mapping mapping;
  if (bytes != 0 && s.mappings.may_overlap(start, bytes) && (prot & PROT_WRITE) != 0) {
    for (std::uintptr_t at = start, end = start + whole_pages(bytes);
         at < end && s.mappings.find(at, end - at, &mapping); at = mapping.address + mapping.bytes)
      if (!mapping.writable) {
        errno = EACCES;
        return -1;
      }
  }
  return OPENNRT_NEXT(mprotect)(address, bytes, prot);
}

}  // namespace opennrt::emu::preload
