// SPDX-License-Identifier: Apache-2.0
//
// Exported: stdio and directory streams, which the C library opens without
// asking anyone.
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "preload/directories.h"
#include "preload/files.h"
#include "preload/next.h"

namespace opennrt::emu::preload {
namespace {

// Flags of open(2) for a mode of fopen(3); -1: not one, or one with "ccs=",
// which only the C library's own fopen knows.
int flags_of(const char* mode) noexcept {
  if (!mode || std::strchr(mode, ',')) return -1;
  int flags;
  switch (mode[0]) {
    case 'r':
      flags = O_RDONLY;
      break;
    case 'w':
      flags = O_WRONLY | O_CREAT | O_TRUNC;
      break;
    case 'a':
      flags = O_WRONLY | O_CREAT | O_APPEND;
      break;
    default:
      return -1;
  }
  for (const char* c = mode + 1; *c; ++c) {
    if (*c == '+') flags = (flags & ~O_ACCMODE) | O_RDWR;
    if (*c == 'x') flags |= O_EXCL;
    if (*c == 'e') flags |= O_CLOEXEC;
    if (*c == 'm') return -1;
  }
  return flags;
}

FILE* open_stream(const char* path, const char* mode) noexcept {
  const int flags = flags_of(mode);
  if (flags < 0 || !session().active) return OPENNRT_NEXT(fopen)(path, mode);
  const int fd = open_at(AT_FDCWD, path, flags, 0666);
  if (fd < 0) return nullptr;
  FILE* stream = OPENNRT_NEXT(fdopen)(fd, mode);
  if (!stream) {
    const int error = errno;
    close_one(fd);
    errno = error;
  }
  return stream;
}

FILE* reopen_stream(const char* path, const char* mode, FILE* stream) noexcept {
  const int old = stream ? ::fileno(stream) : -1;
  if (session().table.ours(old)) {
    ::fflush(stream);
    drop(old);
  }
  Found found;
  const int flags = flags_of(mode);
  if (flags < 0 || !path || !session().resolve(AT_FDCWD, path, &found))
    return OPENNRT_NEXT(freopen)(path, mode, stream);
  const int fd = open_at(AT_FDCWD, path, flags, 0666);
  if (fd < 0) {
    ::fclose(stream);
    return nullptr;
  }
  // The stream takes any file of that mode, then ours under the number it has.
  char self[32];
  std::snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
  FILE* again = OPENNRT_NEXT(freopen)(self, mode, stream);
  if (again && session().table.ours(fd) &&
      duplicate_to(fd, ::fileno(again), flags & O_CLOEXEC) < 0) {
    ::fclose(again);
    again = nullptr;
  }
  const int error = errno;
  close_one(fd);
  errno = error;
  return again;
}

}  // namespace

OPENNRT_EXPORT(FILE*, fopen, const char* path, const char* mode) { return open_stream(path, mode); }
OPENNRT_EXPORT(FILE*, fopen64, const char* path, const char* mode) {
  return open_stream(path, mode);
}
OPENNRT_EXPORT(FILE*, freopen, const char* path, const char* mode, FILE* stream) {
  return reopen_stream(path, mode, stream);
}
OPENNRT_EXPORT(FILE*, freopen64, const char* path, const char* mode, FILE* stream) {
  return reopen_stream(path, mode, stream);
}
OPENNRT_EXPORT(int, fclose, FILE* stream) {
  const int fd = stream && session().active ? ::fileno(stream) : -1;
  if (session().table.ours(fd)) {
    ::fflush(stream);
    drop(fd);
  }
  return OPENNRT_NEXT(fclose)(stream);
}

OPENNRT_EXPORT(DIR*, opendir, const char* path) {
  return session().active ? open_directory_stream(path) : OPENNRT_NEXT(opendir)(path);
}
OPENNRT_EXPORT(DIR*, fdopendir, int fd) { return adopt_directory_stream(fd); }
OPENNRT_EXPORT(dirent*, readdir, DIR* stream) { return next_name(stream); }
OPENNRT_EXPORT(dirent*, readdir64, DIR* stream) { return next_name(stream); }
static int next_name_into(DIR* stream, dirent* room, dirent** out) noexcept {
  const int before = errno;
  errno = 0;
  const dirent* entry = next_name(stream);
  const int error = errno;
  errno = before;
  *out = nullptr;
  if (!entry) return error;
  std::memcpy(room, entry, entry->d_reclen < sizeof *room ? entry->d_reclen : sizeof *room);
  *out = room;
  return 0;
}
OPENNRT_EXPORT(int, readdir_r, DIR* stream, dirent* room, dirent** out) {
  return next_name_into(stream, room, out);
}
OPENNRT_EXPORT(int, readdir64_r, DIR* stream, dirent* room, dirent** out) {
  return next_name_into(stream, room, out);
}
OPENNRT_EXPORT(void, rewinddir, DIR* stream) {
  restart(stream);
  OPENNRT_NEXT(rewinddir)(stream);
}
OPENNRT_EXPORT(int, closedir, DIR* stream) { return close_directory_stream(stream); }

OPENNRT_EXPORT(int, scandir, const char* path, dirent*** names, Select select, Order order) {
  int result;
  return scan(AT_FDCWD, path, names, select, order, &result)
             ? result
             : OPENNRT_NEXT(scandir)(path, names, select, order);
}
OPENNRT_EXPORT(int, scandir64, const char* path, dirent*** names, Select select, Order order) {
  int result;
  return scan(AT_FDCWD, path, names, select, order, &result)
             ? result
             : OPENNRT_NEXT(scandir)(path, names, select, order);
}
OPENNRT_EXPORT(int, scandirat, int dirfd, const char* path, dirent*** names, Select select,
               Order order) {
  int result;
  return scan(dirfd, path, names, select, order, &result)
             ? result
             : OPENNRT_NEXT(scandirat)(dirfd, path, names, select, order);
}
OPENNRT_EXPORT(int, scandirat64, int dirfd, const char* path, dirent*** names, Select select,
               Order order) {
  int result;
  return scan(dirfd, path, names, select, order, &result)
             ? result
             : OPENNRT_NEXT(scandirat)(dirfd, path, names, select, order);
}

OPENNRT_EXPORT(int, glob, const char* pattern, int flags, int (*error)(const char*, int),
               glob_t* out) {
  return find_names(pattern, flags, error, out);
}
OPENNRT_EXPORT(int, glob64, const char* pattern, int flags, int (*error)(const char*, int),
               glob_t* out) {
  return find_names(pattern, flags, error, out);
}

}  // namespace opennrt::emu::preload
