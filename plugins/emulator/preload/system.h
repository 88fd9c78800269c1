// SPDX-License-Identifier: Apache-2.0
//
// System calls of the library itself. They carry a mark in the sixth argument,
// which the kernel ignores and the guard of the launcher looks at: a call with
// it has been through the served names.
#pragma once

#include <cerrno>
#include <cstdint>

namespace opennrt::emu::preload {

inline constexpr std::uint64_t kCallMark = 0x656d7531'6f6e7274;

// Result or -errno, as the kernel gives it.
inline long raw_call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0,
                     long f = static_cast<long>(kCallMark)) noexcept {
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  long result;
  // The mark must not stay where the program's next call would find it.
  __asm__ volatile("syscall\n\txorl %%r9d, %%r9d"
                   : "=a"(result), "+r"(r9)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
                   : "rcx", "r11", "memory", "cc");
  return result;
}

inline long word(const void* pointer) noexcept { return reinterpret_cast<long>(pointer); }

// The way of the C library: -1 and errno.
inline long answer(long result) noexcept {
  if (result >= 0 || result < -4095) return result;
  errno = static_cast<int>(-result);
  return -1;
}

}  // namespace opennrt::emu::preload
