// SPDX-License-Identifier: Apache-2.0
#include "allocation_count.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {
std::atomic<std::uint64_t> allocations{0};
}  // namespace

std::uint64_t opennrt::tdrv::test::allocation_count() { return allocations.load(); }

// The race detector brings its own operator new, which cannot be replaced: there
// the count stays 0 and only the other builds prove anything.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define OPENNRT_TSAN 1
#endif
#endif
#ifndef OPENNRT_TSAN

void* operator new(std::size_t n) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* p = std::malloc(n != 0 ? n : 1)) return p;
  throw std::bad_alloc();
}
void* operator new(std::size_t n, const std::nothrow_t&) noexcept {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return std::malloc(n != 0 ? n : 1);
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }

#endif
