// SPDX-License-Identifier: Apache-2.0
//
// Exported: syscall(2). Numbers that concern us go the way of the function of
// that name; all others go to the C library untouched, by a jump, because a
// child on a new stack or on its parent's may come back from them.
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>

#include "preload/directories.h"
#include "preload/files.h"
#include "preload/memory.h"
#include "preload/next.h"

namespace opennrt::emu::preload {
namespace {

using Words = std::array<long, 6>;

template <typename T>
T* pointer(long value) {
  return reinterpret_cast<T*>(value);
}

// What the kernel thinks of the structure: it looks at that before the path.
long check_how(const Words& w) noexcept {
  const long r = raw_call(SYS_openat2, AT_FDCWD, word(""), w[2], w[3]);
  return r == -ENOENT ? 0 : r;
}

long open_with_how(const Words& w) noexcept {
  const auto* path = pointer<const char>(w[1]);
  Found found;
  if (!session().resolve(static_cast<int>(w[0]), path, &found))
    return answer(raw_call(SYS_openat2, w[0], w[1], w[2], w[3]));
  if (const long wrong = check_how(w)) return answer(wrong);
  const auto* how = pointer<const struct ::open_how>(w[2]);
  if ((how->resolve & RESOLVE_BENEATH) != 0 && path[0] == '/') return answer(-EXDEV);
  return open_at(static_cast<int>(w[0]), path, static_cast<int>(how->flags),
                 static_cast<mode_t>(how->mode));
}

struct Call {
  int number;
  long (*run)(const Words&);
};

#define I(n) static_cast<int>(w[n])
#define P(n) pointer<const char>(w[n])
#define STAT(n) pointer<struct stat>(w[n])
constexpr Call kCalls[] = {
    {SYS_open,
     [](const Words& w) -> long { return ::open(P(0), I(1), static_cast<mode_t>(w[2])); }},
    {SYS_openat,
     [](const Words& w) -> long { return open_at(I(0), P(1), I(2), static_cast<mode_t>(w[3])); }},
    {SYS_openat2, open_with_how},
    {SYS_creat, [](const Words& w) -> long { return ::creat(P(0), static_cast<mode_t>(w[1])); }},
    {SYS_close, [](const Words& w) -> long { return close_one(I(0)); }},
    {SYS_close_range,
     [](const Words& w) -> long {
       return ::close_range(static_cast<unsigned>(w[0]), static_cast<unsigned>(w[1]), I(2));
     }},
    {SYS_dup, [](const Words& w) -> long { return ::dup(I(0)); }},
    {SYS_dup2, [](const Words& w) -> long { return ::dup2(I(0), I(1)); }},
    {SYS_dup3, [](const Words& w) -> long { return ::dup3(I(0), I(1), I(2)); }},
    {SYS_fcntl, [](const Words& w) -> long { return ::fcntl(I(0), I(1), w[2]); }},
    {SYS_ioctl,
     [](const Words& w) -> long { return ::ioctl(I(0), static_cast<unsigned long>(w[1]), w[2]); }},
    {SYS_read,
     [](const Words& w) -> long {
       return ::read(I(0), pointer<void>(w[1]), static_cast<std::size_t>(w[2]));
     }},
    {SYS_write,
     [](const Words& w) -> long {
       return ::write(I(0), pointer<void>(w[1]), static_cast<std::size_t>(w[2]));
     }},
    {SYS_pread64,
     [](const Words& w) -> long {
       return ::pread(I(0), pointer<void>(w[1]), static_cast<std::size_t>(w[2]), w[3]);
     }},
    {SYS_pwrite64,
     [](const Words& w) -> long {
       return ::pwrite(I(0), pointer<void>(w[1]), static_cast<std::size_t>(w[2]), w[3]);
     }},
    {SYS_lseek, [](const Words& w) -> long { return ::lseek(I(0), w[1], I(2)); }},
    {SYS_stat, [](const Words& w) -> long { return stat_at(AT_FDCWD, P(0), STAT(1), 0); }},
    {SYS_lstat,
     [](const Words& w) -> long { return stat_at(AT_FDCWD, P(0), STAT(1), AT_SYMLINK_NOFOLLOW); }},
    {SYS_fstat, [](const Words& w) -> long { return ::fstat(I(0), STAT(1)); }},
    {SYS_newfstatat, [](const Words& w) -> long { return stat_at(I(0), P(1), STAT(2), I(3)); }},
    {SYS_statx,
     [](const Words& w) -> long {
       return statx_at(I(0), P(1), I(2), static_cast<unsigned>(w[3]), pointer<struct statx>(w[4]));
     }},
    {SYS_access, [](const Words& w) -> long { return access_at(AT_FDCWD, P(0), I(1), 0); }},
    {SYS_faccessat, [](const Words& w) -> long { return access_at(I(0), P(1), I(2), 0); }},
    {SYS_faccessat2, [](const Words& w) -> long { return access_at(I(0), P(1), I(2), I(3)); }},
    {SYS_chdir, [](const Words& w) -> long { return ::chdir(P(0)); }},
    {SYS_fchdir, [](const Words& w) -> long { return ::fchdir(I(0)); }},
    {SYS_mmap,
     [](const Words& w) -> long {
       return word(
           map(pointer<void>(w[0]), static_cast<std::size_t>(w[1]), I(2), I(3), I(4), w[5]));
     }},
    {SYS_munmap,
     [](const Words& w) -> long {
       return unmap(pointer<void>(w[0]), static_cast<std::size_t>(w[1]));
     }},
    {SYS_mprotect,
     [](const Words& w) -> long {
       return protect(pointer<void>(w[0]), static_cast<std::size_t>(w[1]), I(2));
     }},
    {SYS_mremap,
     [](const Words& w) -> long {
       return word(remap(pointer<void>(w[0]), static_cast<std::size_t>(w[1]),
                         static_cast<std::size_t>(w[2]), I(3), pointer<void>(w[4])));
     }},
    {SYS_execve,
     [](const Words& w) -> long {
       return ::execve(P(0), pointer<char* const>(w[1]), pointer<char* const>(w[2]));
     }},
    {SYS_fork, [](const Words&) -> long { return ::fork(); }},
    {SYS_vfork, [](const Words&) -> long { return ::fork(); }},
};
#undef I
#undef P
#undef STAT

constexpr int kNumbers = 512;

constexpr std::array<unsigned char, kNumbers> concerned() {
  std::array<unsigned char, kNumbers> table{};
  for (const Call& call : kCalls) table[static_cast<unsigned>(call.number)] = 1;
  return table;
}

}  // namespace

extern "C" {
// Used by the assembly below.
__attribute__((visibility("hidden"))) constinit std::array<unsigned char, kNumbers>
    opennrt_emu_concerned = concerned();
__attribute__((visibility("hidden"))) void* opennrt_emu_next_syscall = nullptr;

__attribute__((visibility("hidden"))) void opennrt_emu_find_syscall() {
  const int error = errno;
  opennrt_emu_next_syscall = reinterpret_cast<void*>(OPENNRT_NEXT(syscall));
  errno = error;
}

__attribute__((visibility("hidden"))) long opennrt_emu_syscall(long number, long a, long b, long c,
                                                               long d, long e, long f) {
  const Words words = {a, b, c, d, e, f};
  for (const Call& call : kCalls)
    if (call.number == number) return call.run(words);
  errno = ENOSYS;
  return -1;
}
}

// %rdi: number, then six words, the last on the stack.
__asm__(
    ".pushsection .text\n"
    ".globl syscall\n"
    ".type syscall, @function\n"
    "syscall:\n"
    ".cfi_startproc\n"
    "  endbr64\n"
    "  cmpq $512, %rdi\n"
    "  jae 1f\n"
    "  leaq opennrt_emu_concerned(%rip), %rax\n"
    "  cmpb $0, (%rax,%rdi)\n"
    "  jne opennrt_emu_syscall\n"
    "1: movq opennrt_emu_next_syscall(%rip), %rax\n"
    "  testq %rax, %rax\n"
    "  je 2f\n"
    "  jmp *%rax\n"
    "2: pushq %rdi\n"
    "  .cfi_adjust_cfa_offset 8\n"
    "  pushq %rsi\n"
    "  .cfi_adjust_cfa_offset 8\n"
    "  pushq %rdx\n"
    "  .cfi_adjust_cfa_offset 8\n"
    "  pushq %rcx\n"
    "  .cfi_adjust_cfa_offset 8\n"
    "  pushq %r8\n"
    "  .cfi_adjust_cfa_offset 8\n"
    "  pushq %r9\n"
    "  .cfi_adjust_cfa_offset 8\n"
    "  subq $8, %rsp\n"
    "  .cfi_adjust_cfa_offset 8\n"
    "  call opennrt_emu_find_syscall\n"
    "  addq $8, %rsp\n"
    "  .cfi_adjust_cfa_offset -8\n"
    "  popq %r9\n"
    "  .cfi_adjust_cfa_offset -8\n"
    "  popq %r8\n"
    "  .cfi_adjust_cfa_offset -8\n"
    "  popq %rcx\n"
    "  .cfi_adjust_cfa_offset -8\n"
    "  popq %rdx\n"
    "  .cfi_adjust_cfa_offset -8\n"
    "  popq %rsi\n"
    "  .cfi_adjust_cfa_offset -8\n"
    "  popq %rdi\n"
    "  .cfi_adjust_cfa_offset -8\n"
    "  jmp 1b\n"
    ".cfi_endproc\n"
    ".size syscall, .-syscall\n"
    ".popsection\n");

}  // namespace opennrt::emu::preload
