// SPDX-License-Identifier: Apache-2.0
//
// Descriptors of the library itself. A program counts on the lowest free number
// (it closes 0 and opens a file), and closes all it knows nothing of when it
// becomes a daemon: ours are out of its way and stay open.
//
// The linker sends the calls of the client code here (--wrap).
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstring>

#include "preload/files.h"
#include "preload/session.h"

namespace opennrt::emu::preload {
namespace {

constexpr int kOwn = 96;  // numbers kept below the limit

int first_number() noexcept {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  const int end =
      limit.rlim_cur > Table::kNumbers ? Table::kNumbers : static_cast<int>(limit.rlim_cur);
  return end > 2 * kOwn ? end - kOwn : end / 2;
}

// Keeps the low number when there is no other.
int out_of_the_way(int fd) noexcept {
  if (fd < 0) return fd;
  int own = static_cast<int>(raw_call(SYS_fcntl, fd, F_DUPFD_CLOEXEC, first_number()));
  if (own >= 0)
    raw_call(SYS_close, fd);
  else
    own = fd;
  Entry entry;
  entry.kind = Kind::kInternal;
  session().list(own, &entry);
  return own;
}

bool makes_descriptor(long number) noexcept {
  return number == SYS_pidfd_open || number == SYS_memfd_create || number == SYS_openat;
}

}  // namespace

extern "C" {
#define OPENNRT_WRAP __attribute__((visibility("hidden")))

OPENNRT_WRAP int __wrap_socket(int domain, int type, int protocol) {
  return static_cast<int>(
      answer(out_of_the_way(static_cast<int>(raw_call(SYS_socket, domain, type, protocol)))));
}

OPENNRT_WRAP ssize_t __wrap_recvmsg(int fd, msghdr* message, int flags) {
  const long result = raw_call(SYS_recvmsg, fd, word(message), flags);
  for (cmsghdr* head = result >= 0 ? CMSG_FIRSTHDR(message) : nullptr; head;
       head = CMSG_NXTHDR(message, head)) {
    if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int one = -1;
      std::memcpy(&one, CMSG_DATA(head) + i * sizeof one, sizeof one);
      one = out_of_the_way(one);
      std::memcpy(CMSG_DATA(head) + i * sizeof one, &one, sizeof one);
    }
  }
  return answer(result);
}

OPENNRT_WRAP long __wrap_syscall(long number, ...) {
  va_list list;
  va_start(list, number);
  long w[6];
  for (long& one : w) one = va_arg(list, long);
  va_end(list);
  const long result = raw_call(number, w[0], w[1], w[2], w[3], w[4], w[5]);
  return answer(makes_descriptor(number) ? out_of_the_way(static_cast<int>(result)) : result);
}

OPENNRT_WRAP int __wrap_fcntl(int fd, int command, ...) {
  va_list list;
  va_start(list, command);
  const long argument = va_arg(list, long);
  va_end(list);
  const long result = raw_call(SYS_fcntl, fd, command, argument);
  const bool copy = command == F_DUPFD || command == F_DUPFD_CLOEXEC;
  return static_cast<int>(answer(copy ? out_of_the_way(static_cast<int>(result)) : result));
}

OPENNRT_WRAP int __wrap_close(int fd) {
  Entry entry;
  session().table.take(fd, &entry);
  return static_cast<int>(answer(raw_call(SYS_close, fd)));
}
}

}  // namespace opennrt::emu::preload
