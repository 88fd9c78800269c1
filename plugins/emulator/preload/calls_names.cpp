// SPDX-License-Identifier: Apache-2.0
//
// Exported: status and changes of names, working directory, links.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>

#include "preload/files.h"
#include "preload/next.h"

namespace opennrt::emu::preload {
namespace {

// The path to give to the C library for one that it may look at itself: its
// stand-in, or the program's own when it is nothing of ours.
const char* real_path_of(int dirfd, const char* path, Found* found, char (&file)[2 * kPathBytes],
                         bool* absolute) noexcept {
  *absolute = false;
  if (!session().resolve(dirfd, path, found)) return path;
  *absolute = found->replace;
  const bool served = found->at.place == Place::kDevice || found->at.place == Place::kAttribute;
  if (served && session().in_tree(found->path, file)) {
    *absolute = true;
    return file;
  }
  return found->replace ? found->path : path;
}

char* give(const char* text, char* out, std::size_t room) noexcept {
  const std::size_t length = std::strlen(text) + 1;
  if (!out) {
    out = static_cast<char*>(std::malloc(room > length ? room : length));
    if (!out) return nullptr;
  } else if (length > room) {
    errno = ERANGE;
    return nullptr;
  }
  std::memmove(out, text, length);
  return out;
}

bool served(int dirfd, const char* path) noexcept {
  Found found;
  return session().resolve(dirfd, path, &found) &&
         (found.at.place == Place::kDevice || found.at.place == Place::kAttribute);
}

int refuse(int error) noexcept {
  errno = error;
  return -1;
}

}  // namespace

// --- stat ----------------------------------------------------------------------

OPENNRT_EXPORT(int, stat, const char* path, struct stat* out) {
  return stat_at(AT_FDCWD, path, out, 0);
}
OPENNRT_EXPORT(int, stat64, const char* path, struct stat* out) {
  return stat_at(AT_FDCWD, path, out, 0);
}
OPENNRT_EXPORT(int, lstat, const char* path, struct stat* out) {
  return stat_at(AT_FDCWD, path, out, AT_SYMLINK_NOFOLLOW);
}
OPENNRT_EXPORT(int, lstat64, const char* path, struct stat* out) {
  return stat_at(AT_FDCWD, path, out, AT_SYMLINK_NOFOLLOW);
}
OPENNRT_EXPORT(int, fstatat, int dirfd, const char* path, struct stat* out, int flags) {
  return stat_at(dirfd, path, out, flags);
}
OPENNRT_EXPORT(int, fstatat64, int dirfd, const char* path, struct stat* out, int flags) {
  return stat_at(dirfd, path, out, flags);
}
static int stat_fd(int fd, struct stat* out) noexcept {
  return session().table.ours(fd) ? stat_at(fd, "", out, AT_EMPTY_PATH)
                                  : static_cast<int>(answer(raw_call(SYS_fstat, fd, word(out))));
}
OPENNRT_EXPORT(int, fstat, int fd, struct stat* out) { return stat_fd(fd, out); }
OPENNRT_EXPORT(int, fstat64, int fd, struct stat* out) { return stat_fd(fd, out); }

// Programs built before glibc 2.33. Version 1 of the structure is the kernel's.
static bool known_version(int version) noexcept {
  if (version == 0 || version == 1) return true;
  errno = EINVAL;
  return false;
}
#define OPENNRT_XSTAT(name, flags)                                             \
  OPENNRT_EXPORT(int, name, int version, const char* path, struct stat* out) { \
    return known_version(version) ? stat_at(AT_FDCWD, path, out, flags) : -1;  \
  }
OPENNRT_XSTAT(__xstat, 0)
OPENNRT_XSTAT(__xstat64, 0)
OPENNRT_XSTAT(__lxstat, AT_SYMLINK_NOFOLLOW)
OPENNRT_XSTAT(__lxstat64, AT_SYMLINK_NOFOLLOW)
OPENNRT_EXPORT(int, __fxstat, int version, int fd, struct stat* out) {
  return known_version(version) ? stat_fd(fd, out) : -1;
}
OPENNRT_EXPORT(int, __fxstat64, int version, int fd, struct stat* out) {
  return known_version(version) ? stat_fd(fd, out) : -1;
}
#define OPENNRT_FXSTATAT(name)                                                          \
  OPENNRT_EXPORT(int, name, int version, int dirfd, const char* path, struct stat* out, \
                 int flags) {                                                           \
    return known_version(version) ? stat_at(dirfd, path, out, flags) : -1;              \
  }
OPENNRT_FXSTATAT(__fxstatat)
OPENNRT_FXSTATAT(__fxstatat64)

OPENNRT_EXPORT(int, statx, int dirfd, const char* path, int flags, unsigned mask,
               struct statx* out) {
  return statx_at(dirfd, path, flags, mask, out);
}

// --- access --------------------------------------------------------------------

OPENNRT_EXPORT(int, access, const char* path, int mode) {
  return access_at(AT_FDCWD, path, mode, 0);
}
OPENNRT_EXPORT(int, faccessat, int dirfd, const char* path, int mode, int flags) {
  return access_at(dirfd, path, mode, flags);
}
OPENNRT_EXPORT(int, euidaccess, const char* path, int mode) {
  return access_at(AT_FDCWD, path, mode, AT_EACCESS);
}
OPENNRT_EXPORT(int, eaccess, const char* path, int mode) {
  return access_at(AT_FDCWD, path, mode, AT_EACCESS);
}

// --- extended attributes: there are none ---------------------------------------

static ssize_t no_attribute() noexcept { return refuse(ENODATA); }
OPENNRT_EXPORT(ssize_t, getxattr, const char* path, const char* name, void* out, size_t room) {
  return served(AT_FDCWD, path) ? no_attribute() : OPENNRT_NEXT(getxattr)(path, name, out, room);
}
OPENNRT_EXPORT(ssize_t, lgetxattr, const char* path, const char* name, void* out, size_t room) {
  return served(AT_FDCWD, path) ? no_attribute() : OPENNRT_NEXT(lgetxattr)(path, name, out, room);
}
OPENNRT_EXPORT(ssize_t, listxattr, const char* path, char* out, size_t room) {
  return served(AT_FDCWD, path) ? 0 : OPENNRT_NEXT(listxattr)(path, out, room);
}
OPENNRT_EXPORT(ssize_t, llistxattr, const char* path, char* out, size_t room) {
  return served(AT_FDCWD, path) ? 0 : OPENNRT_NEXT(llistxattr)(path, out, room);
}

// --- what would change a served name, or make another one of it -----------------

OPENNRT_EXPORT(int, chmod, const char* path, mode_t mode) {
  return served(AT_FDCWD, path) ? refuse(EPERM) : OPENNRT_NEXT(chmod)(path, mode);
}
OPENNRT_EXPORT(int, fchmodat, int dirfd, const char* path, mode_t mode, int flags) {
  return served(dirfd, path) ? refuse(EPERM) : OPENNRT_NEXT(fchmodat)(dirfd, path, mode, flags);
}
OPENNRT_EXPORT(int, chown, const char* path, uid_t user, gid_t group) {
  return served(AT_FDCWD, path) ? refuse(EPERM) : OPENNRT_NEXT(chown)(path, user, group);
}
OPENNRT_EXPORT(int, lchown, const char* path, uid_t user, gid_t group) {
  return served(AT_FDCWD, path) ? refuse(EPERM) : OPENNRT_NEXT(lchown)(path, user, group);
}
OPENNRT_EXPORT(int, fchownat, int dirfd, const char* path, uid_t user, gid_t group, int flags) {
  return served(dirfd, path) ? refuse(EPERM)
                             : OPENNRT_NEXT(fchownat)(dirfd, path, user, group, flags);
}
OPENNRT_EXPORT(int, unlink, const char* path) {
  return served(AT_FDCWD, path) ? refuse(EPERM) : OPENNRT_NEXT(unlink)(path);
}
OPENNRT_EXPORT(int, unlinkat, int dirfd, const char* path, int flags) {
  return served(dirfd, path) ? refuse(EPERM) : OPENNRT_NEXT(unlinkat)(dirfd, path, flags);
}
OPENNRT_EXPORT(int, rename, const char* from, const char* to) {
  return served(AT_FDCWD, from) || served(AT_FDCWD, to) ? refuse(EPERM)
                                                        : OPENNRT_NEXT(rename)(from, to);
}
OPENNRT_EXPORT(int, renameat, int from_fd, const char* from, int to_fd, const char* to) {
  return served(from_fd, from) || served(to_fd, to)
             ? refuse(EPERM)
             : OPENNRT_NEXT(renameat)(from_fd, from, to_fd, to);
}
OPENNRT_EXPORT(int, renameat2, int from_fd, const char* from, int to_fd, const char* to,
               unsigned flags) {
  return served(from_fd, from) || served(to_fd, to)
             ? refuse(EPERM)
             : OPENNRT_NEXT(renameat2)(from_fd, from, to_fd, to, flags);
}
OPENNRT_EXPORT(int, mknod, const char* path, mode_t mode, dev_t device) {
  return served(AT_FDCWD, path) ? refuse(EEXIST) : OPENNRT_NEXT(mknod)(path, mode, device);
}
OPENNRT_EXPORT(int, mknodat, int dirfd, const char* path, mode_t mode, dev_t device) {
  return served(dirfd, path) ? refuse(EEXIST) : OPENNRT_NEXT(mknodat)(dirfd, path, mode, device);
}
OPENNRT_EXPORT(int, mkdir, const char* path, mode_t mode) {
  return served(AT_FDCWD, path) ? refuse(EEXIST) : OPENNRT_NEXT(mkdir)(path, mode);
}
OPENNRT_EXPORT(int, mkdirat, int dirfd, const char* path, mode_t mode) {
  return served(dirfd, path) ? refuse(EEXIST) : OPENNRT_NEXT(mkdirat)(dirfd, path, mode);
}
OPENNRT_EXPORT(int, symlink, const char* target, const char* path) {
  return served(AT_FDCWD, path) ? refuse(EEXIST) : OPENNRT_NEXT(symlink)(target, path);
}
OPENNRT_EXPORT(int, symlinkat, const char* target, int dirfd, const char* path) {
  return served(dirfd, path) ? refuse(EEXIST) : OPENNRT_NEXT(symlinkat)(target, dirfd, path);
}

// --- working directory ---------------------------------------------------------

OPENNRT_EXPORT(int, chdir, const char* path) {
  Found found;
  char file[2 * kPathBytes];
  bool absolute;
  const int result = OPENNRT_NEXT(chdir)(real_path_of(AT_FDCWD, path, &found, file, &absolute));
  if (result == 0 && session().active) session().directory_changed();
  return result;
}
OPENNRT_EXPORT(int, fchdir, int fd) {
  const int result = OPENNRT_NEXT(fchdir)(fd);
  if (result == 0 && session().active) session().directory_changed();
  return result;
}

static char* working_directory(char* out, std::size_t room) noexcept {
  char* real = OPENNRT_NEXT(getcwd)(out, room);
  if (real) {
    const char* path = session().outside(real);
    if (path != real) std::memmove(real, path, std::strlen(path) + 1);
  }
  return real;
}
OPENNRT_EXPORT(char*, getcwd, char* out, size_t room) { return working_directory(out, room); }
OPENNRT_EXPORT(char*, __getcwd_chk, char* out, size_t room, size_t known) {
  return working_directory(out, room < known ? room : known);
}
OPENNRT_EXPORT(char*, get_current_dir_name) { return working_directory(nullptr, 0); }

// --- links ---------------------------------------------------------------------

static ssize_t read_link(int dirfd, const char* path, char* out, std::size_t room) noexcept {
  Found found;
  char file[2 * kPathBytes];
  bool absolute;
  path = real_path_of(dirfd, path, &found, file, &absolute);
  return OPENNRT_NEXT(readlinkat)(absolute ? AT_FDCWD : dirfd, path, out, room);
}
OPENNRT_EXPORT(ssize_t, readlink, const char* path, char* out, size_t room) {
  return read_link(AT_FDCWD, path, out, room);
}
OPENNRT_EXPORT(ssize_t, readlinkat, int dirfd, const char* path, char* out, size_t room) {
  return read_link(dirfd, path, out, room);
}

static char* canonical(const char* path, char* out) noexcept {
  Found found;
  char file[2 * kPathBytes];
  bool absolute;
  const char* real = real_path_of(AT_FDCWD, path, &found, file, &absolute);
  if (real != file) return OPENNRT_NEXT(realpath)(real, out);
  struct stat known;
  if (pass_stat(AT_FDCWD, file, &known, 0) != 0) return nullptr;
  return give(found.path, out, PATH_MAX);
}
OPENNRT_EXPORT(char*, realpath, const char* path, char* out) { return canonical(path, out); }
OPENNRT_EXPORT(char*, __realpath_chk, const char* path, char* out, size_t) {
  return canonical(path, out);
}
OPENNRT_EXPORT(char*, canonicalize_file_name, const char* path) { return canonical(path, nullptr); }

}  // namespace opennrt::emu::preload
