// SPDX-License-Identifier: Apache-2.0
//
// The allocator of this program: the C library's, unless a thread asked for
// failures. The runtime's operator new ends up here as well.
#include <errno.h>
#include <stddef.h>

#include "table.h"

namespace {
constinit thread_local bool t_no_memory = false;
}  // namespace

#ifndef OPENNRT_SANITIZED
extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
void __libc_free(void*);

static void* shortage(void) {
  errno = ENOMEM;
  return nullptr;
}
void* malloc(size_t n) { return t_no_memory ? shortage() : __libc_malloc(n); }
void* calloc(size_t n, size_t size) { return t_no_memory ? shortage() : __libc_calloc(n, size); }
void* realloc(void* p, size_t n) { return t_no_memory ? shortage() : __libc_realloc(p, n); }
void* aligned_alloc(size_t a, size_t n) { return t_no_memory ? shortage() : __libc_memalign(a, n); }
int posix_memalign(void** out, size_t a, size_t n) {
  void* p = t_no_memory ? nullptr : __libc_memalign(a, n);
  if (p == nullptr) return ENOMEM;
  *out = p;
  return 0;
}
void* memalign(size_t a, size_t n) { return t_no_memory ? shortage() : __libc_memalign(a, n); }
void free(void* p) { __libc_free(p); }
}
#endif

namespace opennrt::status_table {

NoMemory::NoMemory() { t_no_memory = true; }
NoMemory::~NoMemory() { t_no_memory = false; }

bool NoMemory::possible() {
#ifdef OPENNRT_SANITIZED
  return false;
#else
  return true;
#endif
}

}  // namespace opennrt::status_table
