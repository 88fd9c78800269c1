// SPDX-License-Identifier: Apache-2.0
//
// Exported: descriptors. Each call asks once whether it concerns us.
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstddef>

#include "preload/files.h"
#include "preload/next.h"

extern "C" ssize_t __read_chk(int, void*, size_t, size_t);

namespace opennrt::emu::preload {
namespace {

// The mode is there only when a file may be made.
mode_t mode_of(int flags, va_list list) {
  return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(list, mode_t) : 0;
}

bool ours(int fd) noexcept { return session().table.ours(fd); }

}  // namespace

// --- open ---------------------------------------------------------------------

#define OPENNRT_OPEN(name)                                      \
  OPENNRT_EXPORT(int, name, const char* path, int flags, ...) { \
    va_list list;                                               \
    va_start(list, flags);                                      \
    const mode_t mode = mode_of(flags, list);                   \
    va_end(list);                                               \
    return open_at(AT_FDCWD, path, flags, mode);                \
  }
OPENNRT_OPEN(open)
OPENNRT_OPEN(open64)
OPENNRT_OPEN(__open)
OPENNRT_OPEN(__open64)

#define OPENNRT_OPENAT(name)                                               \
  OPENNRT_EXPORT(int, name, int dirfd, const char* path, int flags, ...) { \
    va_list list;                                                          \
    va_start(list, flags);                                                 \
    const mode_t mode = mode_of(flags, list);                              \
    va_end(list);                                                          \
    return open_at(dirfd, path, flags, mode);                              \
  }
OPENNRT_OPENAT(openat)
OPENNRT_OPENAT(openat64)

// Those of _FORTIFY_SOURCE, without a mode.
OPENNRT_EXPORT(int, __open_2, const char* path, int flags) {
  return open_at(AT_FDCWD, path, flags, 0);
}
OPENNRT_EXPORT(int, __open64_2, const char* path, int flags) {
  return open_at(AT_FDCWD, path, flags, 0);
}
OPENNRT_EXPORT(int, __openat_2, int dirfd, const char* path, int flags) {
  return open_at(dirfd, path, flags, 0);
}
OPENNRT_EXPORT(int, __openat64_2, int dirfd, const char* path, int flags) {
  return open_at(dirfd, path, flags, 0);
}

OPENNRT_EXPORT(int, creat, const char* path, mode_t mode) {
  return open_at(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}
OPENNRT_EXPORT(int, creat64, const char* path, mode_t mode) {
  return open_at(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}

// --- close, duplicates ---------------------------------------------------------

OPENNRT_EXPORT(int, close, int fd) { return close_one(fd); }
OPENNRT_EXPORT(int, __close, int fd) { return close_one(fd); }

OPENNRT_EXPORT(int, close_range, unsigned first, unsigned last, int flags) {
  return session().active ? close_range_of(first, last, flags)
                          : OPENNRT_NEXT(close_range)(first, last, flags);
}

OPENNRT_EXPORT(void, closefrom, int first) {
  // On a kernel without the call the C library has another way.
  if (!session().active ||
      close_range_of(static_cast<unsigned>(first < 0 ? 0 : first), UINT_MAX, 0) != 0)
    OPENNRT_NEXT(closefrom)(first);
}

OPENNRT_EXPORT(int, dup, int fd) {
  return ours(fd) ? duplicate_from(fd, 0, 0) : OPENNRT_NEXT(dup)(fd);
}

static int dup_to(int from, int to) noexcept {
  if ((!ours(from) && !ours(to)) || from == to) return OPENNRT_NEXT(dup2)(from, to);
  return duplicate_to(from, to, 0);
}
OPENNRT_EXPORT(int, dup2, int from, int to) { return dup_to(from, to); }
OPENNRT_EXPORT(int, __dup2, int from, int to) { return dup_to(from, to); }

OPENNRT_EXPORT(int, dup3, int from, int to, int flags) {
  if ((!ours(from) && !ours(to)) || from == to || (flags & ~O_CLOEXEC) != 0)
    return OPENNRT_NEXT(dup3)(from, to, flags);
  return duplicate_to(from, to, flags);
}

static int file_control(int fd, int command, long argument) noexcept {
  if (ours(fd) && (command == F_DUPFD || command == F_DUPFD_CLOEXEC))
    return duplicate_from(fd, static_cast<int>(argument), command == F_DUPFD ? 0 : O_CLOEXEC);
  return OPENNRT_NEXT(fcntl)(fd, command, argument);
}
#define OPENNRT_FCNTL(name)                             \
  OPENNRT_EXPORT(int, name, int fd, int command, ...) { \
    va_list list;                                       \
    va_start(list, command);                            \
    const long argument = va_arg(list, long);           \
    va_end(list);                                       \
    return file_control(fd, command, argument);         \
  }
OPENNRT_FCNTL(fcntl)
OPENNRT_FCNTL(fcntl64)
OPENNRT_FCNTL(__fcntl)

OPENNRT_EXPORT(int, ioctl, int fd, unsigned long request, ...) {
  va_list list;
  va_start(list, request);
  const unsigned long argument = va_arg(list, unsigned long);
  va_end(list);
  if (!ours(fd)) return OPENNRT_NEXT(ioctl)(fd, request, argument);
  return static_cast<int>(control(fd, request, argument));
}

// --- data ----------------------------------------------------------------------

OPENNRT_EXPORT(ssize_t, read, int fd, void* data, size_t bytes) {
  return ours(fd) && read_refused(fd) ? -1 : OPENNRT_NEXT(read)(fd, data, bytes);
}
OPENNRT_EXPORT(ssize_t, pread, int fd, void* data, size_t bytes, off_t offset) {
  return ours(fd) && read_refused(fd) ? -1 : OPENNRT_NEXT(pread)(fd, data, bytes, offset);
}
OPENNRT_EXPORT(ssize_t, pread64, int fd, void* data, size_t bytes, off_t offset) {
  return ours(fd) && read_refused(fd) ? -1 : OPENNRT_NEXT(pread)(fd, data, bytes, offset);
}
OPENNRT_EXPORT(ssize_t, readv, int fd, const iovec* parts, int count) {
  return ours(fd) && read_refused(fd) ? -1 : OPENNRT_NEXT(readv)(fd, parts, count);
}
OPENNRT_EXPORT(ssize_t, __read_chk, int fd, void* data, size_t bytes, size_t room) {
  return ours(fd) && read_refused(fd) ? -1 : OPENNRT_NEXT(__read_chk)(fd, data, bytes, room);
}

OPENNRT_EXPORT(ssize_t, write, int fd, const void* data, size_t bytes) {
  ssize_t result;
  return ours(fd) && write_served(fd, data, bytes, &result) ? result
                                                            : OPENNRT_NEXT(write)(fd, data, bytes);
}
static ssize_t write_at(int fd, const void* data, size_t bytes, off_t offset) noexcept {
  ssize_t result;
  return ours(fd) && write_served(fd, data, bytes, &result)
             ? result
             : OPENNRT_NEXT(pwrite)(fd, data, bytes, offset);
}
OPENNRT_EXPORT(ssize_t, pwrite, int fd, const void* data, size_t bytes, off_t offset) {
  return write_at(fd, data, bytes, offset);
}
OPENNRT_EXPORT(ssize_t, pwrite64, int fd, const void* data, size_t bytes, off_t offset) {
  return write_at(fd, data, bytes, offset);
}
OPENNRT_EXPORT(ssize_t, writev, int fd, const iovec* parts, int count) {
  ssize_t result;
  const bool first = ours(fd) && count > 0;
  return first && write_served(fd, parts[0].iov_base, parts[0].iov_len, &result)
             ? result
             : OPENNRT_NEXT(writev)(fd, parts, count);
}

static off_t seek(int fd, off_t offset, int from) noexcept {
  Entry entry;
  if (!ours(fd) || !session().find(fd, &entry)) return OPENNRT_NEXT(lseek)(fd, offset, from);
  if (entry.kind == Kind::kDevice) {
    errno = ESPIPE;
    return -1;
  }
  // As in sysfs, where a text fills its page: the file behind is as long as the text.
  if (entry.kind == Kind::kAttribute && (from == SEEK_DATA || from == SEEK_HOLE)) {
    constexpr off_t kPage = 4096;
    if (offset < 0 || offset >= kPage) {
      errno = ENXIO;
      return -1;
    }
    offset = from == SEEK_HOLE ? kPage : offset;
    from = SEEK_SET;
  }
  return OPENNRT_NEXT(lseek)(fd, offset, from);
}
OPENNRT_EXPORT(off_t, lseek, int fd, off_t offset, int from) { return seek(fd, offset, from); }
OPENNRT_EXPORT(off_t, lseek64, int fd, off_t offset, int from) { return seek(fd, offset, from); }

}  // namespace opennrt::emu::preload
