// SPDX-License-Identifier: Apache-2.0
//
// Exported: mappings.
#include <sys/mman.h>

#include <cstdarg>

#include "preload/memory.h"
#include "preload/next.h"

namespace opennrt::emu::preload {

OPENNRT_EXPORT(void*, mmap, void* address, size_t bytes, int prot, int flags, int fd,
               off_t offset) {
  return map(address, bytes, prot, flags, fd, offset);
}
OPENNRT_EXPORT(void*, mmap64, void* address, size_t bytes, int prot, int flags, int fd,
               off_t offset) {
  return map(address, bytes, prot, flags, fd, offset);
}
OPENNRT_EXPORT(int, munmap, void* address, size_t bytes) { return unmap(address, bytes); }
OPENNRT_EXPORT(int, mprotect, void* address, size_t bytes, int prot) {
  return protect(address, bytes, prot);
}
OPENNRT_EXPORT(void*, mremap, void* old, size_t old_bytes, size_t new_bytes, int flags, ...) {
  va_list list;
  va_start(list, flags);
  void* target = (flags & (MREMAP_FIXED | MREMAP_DONTUNMAP)) != 0 ? va_arg(list, void*) : nullptr;
  va_end(list);
  return remap(old, old_bytes, new_bytes, flags, target);
}

}  // namespace opennrt::emu::preload
