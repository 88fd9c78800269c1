// SPDX-License-Identifier: Apache-2.0
//
// What stands behind us: the C library, or another preloaded library.
#pragma once

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <atomic>

namespace opennrt::emu::preload {

// Function of that name after ours. `name` must be declared.
#define OPENNRT_NEXT(name)                                   \
  ([]() noexcept {                                           \
    static std::atomic<void*> behind{nullptr};               \
    void* function = behind.load(std::memory_order_relaxed); \
    if (!function) {                                         \
      function = ::dlsym(RTLD_NEXT, #name);                  \
      behind.store(function, std::memory_order_relaxed);     \
    }                                                        \
    return reinterpret_cast<decltype(&::name)>(function);    \
  }())

// Calls that the guard watches, for paths that are not ours: marked system
// calls, or the next library when that is not the C library.
int pass_open(int dirfd, const char* path, int flags, mode_t mode) noexcept;
int pass_stat(int dirfd, const char* path, struct stat* out, int flags) noexcept;
int pass_statx(int dirfd, const char* path, int flags, unsigned mask, struct statx* out) noexcept;
int pass_access(int dirfd, const char* path, int mode, int flags) noexcept;

}  // namespace opennrt::emu::preload

// A function of the C library's name. It is declared under another one, so that
// its type need not repeat every attribute of the C library's headers.
#define OPENNRT_EXPORT(type, name, ...)                                                          \
  extern "C" __attribute__((visibility("default"))) type emu_##name(__VA_ARGS__) __asm__(#name); \
  type emu_##name(__VA_ARGS__)
