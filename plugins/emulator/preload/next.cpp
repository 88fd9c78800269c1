// SPDX-License-Identifier: Apache-2.0
#include "preload/next.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

#include "preload/system.h"

namespace opennrt::emu::preload {

namespace {

// Another library between us and the C library has its own business with files.
bool only_libc() noexcept {
  static std::atomic<int> known{0};
  int state = known.load(std::memory_order_relaxed);
  if (state == 0) {
    Dl_info ours{}, libc{};
    const bool same = ::dladdr(reinterpret_cast<void*>(OPENNRT_NEXT(openat)), &ours) != 0 &&
                      ::dladdr(::dlsym(RTLD_NEXT, "gnu_get_libc_version"), &libc) != 0 &&
                      ours.dli_fbase == libc.dli_fbase;
    state = same ? 1 : 2;
    known.store(state, std::memory_order_relaxed);
  }
  return state == 1;
}

}  // namespace

int pass_open(int dirfd, const char* path, int flags, mode_t mode) noexcept {
  if (!only_libc()) return OPENNRT_NEXT(openat)(dirfd, path, flags, mode);
  ::pthread_testcancel();  // open is a cancellation point
  return static_cast<int>(answer(raw_call(SYS_openat, dirfd, word(path), flags, mode)));
}

int pass_stat(int dirfd, const char* path, struct stat* out, int flags) noexcept {
  if (!only_libc()) return OPENNRT_NEXT(fstatat)(dirfd, path, out, flags);
  return static_cast<int>(answer(raw_call(SYS_newfstatat, dirfd, word(path), word(out), flags)));
}

int pass_statx(int dirfd, const char* path, int flags, unsigned mask, struct statx* out) noexcept {
  if (!only_libc()) return OPENNRT_NEXT(statx)(dirfd, path, flags, mask, out);
  return static_cast<int>(
      answer(raw_call(SYS_statx, dirfd, word(path), flags, static_cast<long>(mask), word(out))));
}

int pass_access(int dirfd, const char* path, int mode, int flags) noexcept {
  if (!only_libc() || flags != 0) {
    // The C library knows kernels without faccessat2.
    if (flags != 0 && only_libc()) {
      const long result = raw_call(SYS_faccessat2, dirfd, word(path), mode, flags);
      if (result != -ENOSYS) return static_cast<int>(answer(result));
    }
    return OPENNRT_NEXT(faccessat)(dirfd, path, mode, flags);
  }
  return static_cast<int>(answer(raw_call(SYS_faccessat, dirfd, word(path), mode)));
}

}  // namespace opennrt::emu::preload
