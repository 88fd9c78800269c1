// SPDX-License-Identifier: Apache-2.0
#include "preload/files.h"

#include <fcntl.h>
#include <linux/memfd.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>

#include "preload/next.h"

namespace opennrt::emu::preload {

namespace {

constexpr std::size_t kTextBytes = 4096;  // of an attribute, as in sysfs

int fail(int error) noexcept {
  errno = error;
  return -1;
}

// An empty file of that name at the lowest free number, opened for `access` only.
// -errno on failure.
int make_file(const char* name, int access, bool close_on_exec, const char* text,
              std::size_t bytes) noexcept {
  const int cloexec = close_on_exec ? MFD_CLOEXEC : 0;
  const int fd = static_cast<int>(raw_call(SYS_memfd_create, word(name), cloexec));
  if (fd < 0) return fd;
  if (bytes > 0) raw_call(SYS_pwrite64, fd, word(text), static_cast<long>(bytes), 0);
  // A second opening has the access mode; it takes the first one's number.
  char path[32];
  std::snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  const int mode = access == O_ACCMODE ? O_RDWR : access;
  long result = raw_call(SYS_openat, AT_FDCWD, word(path), mode | O_CLOEXEC);
  if (result >= 0) {
    const int second = static_cast<int>(result);
    result = raw_call(SYS_dup3, second, fd, close_on_exec ? O_CLOEXEC : 0);
    raw_call(SYS_close, second);
  }
  if (result >= 0) return fd;
  raw_call(SYS_close, fd);
  return static_cast<int>(result);
}

// A descriptor that stands for one of the machine's. Takes the latter over.
int placeholder(const Entry& device, unsigned node, bool close_on_exec) noexcept {
  char name[64];
  std::snprintf(name, sizeof name, "opennrt:neuron%u:%d:%u", node, device.descriptor,
                static_cast<unsigned>(device.access));
  return make_file(name, device.access, close_on_exec, nullptr, 0);
}

int open_device(const Found& found, int flags) noexcept {
  if (flags & O_DIRECTORY) return fail(ENOTDIR);
  Session& s = session();
  Backend* machine = s.backend();
  if (!machine) return fail(EIO);
  Entry entry;
  entry.kind = Kind::kDevice;
  entry.access = static_cast<std::uint8_t>(flags & O_ACCMODE);
  std::snprintf(entry.path, sizeof entry.path, "%s", found.path);
  const SignalsBlocked blocked;
  entry.descriptor = machine->open(found.path, static_cast<std::uint32_t>(flags & O_ACCMODE));
  if (entry.descriptor < 0) return fail(-entry.descriptor);
  const int fd = placeholder(entry, found.at.device, (flags & O_CLOEXEC) != 0);
  if (fd >= 0 && s.list(fd, &entry)) return fd;
  machine->close(entry.descriptor);
  if (fd >= 0) raw_call(SYS_close, fd);
  return fail(fd < 0 ? -fd : EMFILE);
}

int open_attribute(const Found& found, const char* file, mode_t mode, int flags) noexcept {
  const int access = flags & O_ACCMODE;
  if (access != O_RDONLY && (mode & S_IWUSR) == 0) return fail(EACCES);
  if (access != O_WRONLY && (mode & S_IRUSR) == 0) return fail(EACCES);
  Session& s = session();
  Backend* machine = s.backend();
  if (!machine) return fail(EIO);
  char text[kTextBytes];
  std::int64_t bytes = 0;
  const SignalsBlocked blocked;
  if (access != O_WRONLY) bytes = machine->read_text(found.path, text, sizeof text);
  if (bytes < 0) return fail(static_cast<int>(-bytes));
  const int fd =
      make_file(file, access, (flags & O_CLOEXEC) != 0, text, static_cast<std::size_t>(bytes));
  if (fd < 0) return fail(-fd);
  raw_call(SYS_fchmod, fd, static_cast<long>(mode & 07777));
  // Listed, so that fstat tells the same file as stat.
  Entry entry;
  entry.kind = Kind::kAttribute;
  entry.access = static_cast<std::uint8_t>(access);
  entry.text_bytes = static_cast<std::uint32_t>(bytes);
  std::snprintf(entry.path, sizeof entry.path, "%s", found.path);
  if (s.list(fd, &entry) || access == O_RDONLY) return fd;
  raw_call(SYS_close, fd);
  return fail(EMFILE);
}

int open_directory(const Found& found, int dirfd, const char* path, int flags,
                   mode_t mode) noexcept {
  const int fd = pass_open(dirfd, path, flags, mode);
  if (fd < 0) return fd;
  Entry entry;
  entry.kind = Kind::kDirectory;
  const std::size_t length = std::strlen(found.path);
  if (length < sizeof entry.path) {
    std::memcpy(entry.path, found.path, length + 1);
    session().list(fd, &entry);  // without room: relative paths below it are not served
  }
  return fd;
}

// What the program wrote by ways of the C library that are not ours (stdio) lies
// in the file; the attribute gets it when the file is closed.
void deliver(int fd, const Entry& entry) noexcept {
  if (entry.access == O_RDONLY) return;
  struct stat now;
  if (raw_call(SYS_fstat, fd, word(&now)) != 0 || now.st_size == 0) return;
  char path[32], text[kTextBytes];
  std::snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  const int again =
      static_cast<int>(raw_call(SYS_openat, AT_FDCWD, word(path), O_RDONLY | O_CLOEXEC));
  if (again < 0) return;
  const long bytes = raw_call(SYS_pread64, again, word(text), sizeof text, 0);
  raw_call(SYS_close, again);
  const bool untouched = entry.access == O_RDWR && now.st_size == entry.text_bytes;
  if (bytes > 0 && !untouched)
    session().backend()->write_text(entry.path, text, static_cast<std::size_t>(bytes));
}

// DMABUF_FD answers with a descriptor of the kernel; the program gets it at the
// lowest number, as a new one.
void give_descriptor(unsigned long request, unsigned long argument) noexcept {
  constexpr unsigned long kDmabuf = 0x80084E6B;
  struct {
    std::uint64_t address, bytes, out;
  } form;
  int fd = -1;
  const auto copy = [](std::uint64_t address, void* to, std::size_t bytes, long call) {
    iovec here{to, bytes};
    iovec there{reinterpret_cast<void*>(address), bytes};
    return raw_call(call, ::getpid(), word(&here), 1, word(&there), 1, 0) ==
           static_cast<long>(bytes);
  };
  if (request != kDmabuf || !copy(argument, &form, sizeof form, SYS_process_vm_readv) ||
      !copy(form.out, &fd, sizeof fd, SYS_process_vm_readv) || !internal(fd))
    return;
  int low = static_cast<int>(raw_call(SYS_fcntl, fd, F_DUPFD_CLOEXEC, 0));
  if (low < 0 || !copy(form.out, &low, sizeof low, SYS_process_vm_writev)) return;
  Entry entry;
  session().table.take(fd, &entry);
  raw_call(SYS_close, fd);
}

bool handled_by_kernel(unsigned long request) noexcept {
  return request == FIOCLEX || request == FIONCLEX || request == FIONBIO || request == FIOASYNC ||
         request == FIOQSIZE;
}

}  // namespace

int open_at(int dirfd, const char* path, int flags, mode_t mode) noexcept {
  Found found;
  if (!session().resolve(dirfd, path, &found)) return pass_open(dirfd, path, flags, mode);
  if (found.replace) {
    dirfd = AT_FDCWD;
    path = found.path;
  }
  if (found.at.place == Place::kElsewhere) return pass_open(dirfd, path, flags, mode);
  if (found.at.place == Place::kParent) return open_directory(found, dirfd, path, flags, mode);
  char file[2 * kPathBytes];
  if (!session().in_tree(found.path, file)) return fail(ENAMETOOLONG);
  struct stat known;
  if (pass_stat(AT_FDCWD, file, &known, AT_SYMLINK_NOFOLLOW) != 0)
    return fail((flags & O_CREAT) != 0 && errno == ENOENT ? EACCES : errno);
  if ((flags & O_CREAT) != 0 && (flags & O_EXCL) != 0) return fail(EEXIST);
  if (S_ISDIR(known.st_mode)) return open_directory(found, AT_FDCWD, file, flags & ~O_CREAT, mode);
  if (flags & O_PATH) return pass_open(AT_FDCWD, file, flags, mode);
  if (found.at.place == Place::kDevice) return open_device(found, flags);
  if (flags & O_DIRECTORY) return fail(ENOTDIR);
  const char* name = std::strrchr(found.path, '/') + 1;
  return open_attribute(found, name, known.st_mode, flags);
}

int drop(int fd) noexcept {
  Session& s = session();
  Entry entry;
  if (!s.find(fd, &entry)) return 0;
  if (entry.kind == Kind::kAttribute) deliver(fd, entry);
  return s.table.take(fd, &entry) ? s.forget(entry) : 0;
}

bool internal(int fd) noexcept {
  Entry entry;
  return session().table.ours(fd) && session().find(fd, &entry) && entry.kind == Kind::kInternal;
}

int close_one(int fd) noexcept {
  if (!session().table.ours(fd)) return OPENNRT_NEXT(close)(fd);
  if (internal(fd)) return fail(EBADF);
  const int result = drop(fd);
  const int closed = OPENNRT_NEXT(close)(fd);
  return closed == 0 && result < 0 ? fail(-result) : closed;
}

int close_range_of(unsigned first, unsigned last, int flags) noexcept {
  constexpr int kUnshare = 2;  // CLOSE_RANGE_UNSHARE
  const Table& table = session().table;
  const bool closes = (flags & ~kUnshare) == 0 && first <= last;
  // The library's own stay: the range goes to the kernel in pieces around them.
  for (int fd = closes && first <= INT_MAX ? table.next(static_cast<int>(first)) : -1;
       fd >= 0 && static_cast<unsigned>(fd) <= last; fd = table.next(fd + 1)) {
    if (!internal(fd)) {
      drop(fd);
      continue;
    }
    const auto number = static_cast<unsigned>(fd);
    if (number > first) raw_call(SYS_close_range, first, number - 1, flags);
    if (number == last) return 0;
    first = number + 1;
  }
  return static_cast<int>(answer(raw_call(SYS_close_range, first, last, flags)));
}

int duplicate_from(int fd, int lowest, int flags) noexcept {
  Session& s = session();
  Entry entry;
  const bool ours = s.find(fd, &entry);
  const int command = flags & O_CLOEXEC ? F_DUPFD_CLOEXEC : F_DUPFD;
  if (!ours || entry.kind != Kind::kDevice || entry.descriptor == 0) {
    const int copy = static_cast<int>(answer(raw_call(SYS_fcntl, fd, command, lowest)));
    if (copy >= 0 && ours && !s.list(copy, &entry)) {
      raw_call(SYS_close, copy);
      return fail(EMFILE);
    }
    return copy;
  }
  const SignalsBlocked blocked;
  const int descriptor = s.backend()->duplicate(entry.descriptor);
  if (descriptor < 0) return fail(-descriptor);
  entry.descriptor = descriptor;
  unsigned node = 0;
  std::sscanf(entry.path, "/dev/neuron%u", &node);
  int copy = placeholder(entry, node, (flags & O_CLOEXEC) != 0);
  if (copy >= 0 && copy < lowest) {
    const int low = copy;
    copy = static_cast<int>(raw_call(SYS_fcntl, low, command, lowest));
    raw_call(SYS_close, low);
  }
  if (copy >= 0 && s.list(copy, &entry)) return copy;
  s.backend()->close(descriptor);
  if (copy >= 0) raw_call(SYS_close, copy);
  return fail(copy < 0 ? -copy : EMFILE);
}

int duplicate_to(int from, int to, int flags) noexcept {
  // The copy is complete before the target is touched.
  const int copy = duplicate_from(from, 0, O_CLOEXEC);
  if (copy < 0) return -1;
  if (copy == to) {  // the target was free, and the lowest
    raw_call(SYS_fcntl, to, F_SETFD, flags & O_CLOEXEC ? FD_CLOEXEC : 0);
    return to;
  }
  Session& s = session();
  Entry entry;
  const bool ours = s.find(copy, &entry);
  if (internal(to)) {
    close_one(copy);
    return fail(EBADF);
  }
  drop(to);
  const SignalsBlocked blocked;
  const long result = raw_call(SYS_dup3, copy, to, flags);
  if (result < 0 || !ours) {
    close_one(copy);
    return static_cast<int>(answer(result));
  }
  Entry taken;
  s.table.take(copy, &taken);
  raw_call(SYS_close, copy);
  if (s.list(to, &entry)) return to;
  s.forget(entry);
  raw_call(SYS_close, to);
  return fail(EMFILE);
}

long control(int fd, unsigned long request, unsigned long argument) noexcept {
  Session& s = session();
  Entry entry;
  if (!s.find(fd, &entry) || entry.kind != Kind::kDevice || handled_by_kernel(request))
    return OPENNRT_NEXT(ioctl)(fd, request, argument);
  if (entry.descriptor == 0) return fail(EACCES);
  const SignalsBlocked blocked;
  const std::int64_t result =
      s.backend()->ioctl(entry.descriptor, static_cast<std::uint32_t>(request), argument);
  if (result == 0) give_descriptor(request, argument);
  return answer(result);
}

bool write_served(int fd, const void* data, std::size_t bytes, ssize_t* result) noexcept {
  Session& s = session();
  Entry entry;
  if (!s.find(fd, &entry)) return false;
  if (entry.kind == Kind::kDevice) {
    *result = fail(entry.access == O_RDONLY ? EBADF : EINVAL);
    return true;
  }
  if (entry.kind != Kind::kAttribute || entry.access == O_RDONLY) return false;
  // As the kernel would: at most a page, and a bad pointer is an answer.
  char text[kTextBytes];
  iovec to{text, bytes < sizeof text ? bytes : sizeof text};
  iovec from{const_cast<void*>(data), to.iov_len};
  const long copied = raw_call(SYS_process_vm_readv, ::getpid(), word(&to), 1, word(&from), 1, 0);
  if (copied != static_cast<long>(to.iov_len)) {
    *result = fail(EFAULT);
    return true;
  }
  const SignalsBlocked blocked;
  *result = answer(s.backend()->write_text(entry.path, text, to.iov_len));
  return true;
}

bool read_refused(int fd) noexcept {
  Entry entry;
  if (!session().find(fd, &entry) || entry.kind != Kind::kDevice) return false;
  errno = entry.access == O_WRONLY ? EBADF : EINVAL;  // the driver has no read
  return true;
}

// --- status -------------------------------------------------------------------

namespace {

void describe(const Location& at, mode_t* mode, unsigned* major_number, unsigned* minor_number) {
  if (at.place != Place::kDevice) return;
  *mode = S_IFCHR | 0666;
  *major_number = kNodeMajor;
  *minor_number = at.device;
}

// The status of a served name is that of its stand-in in the tree.
bool stand_in(int dirfd, const char* path, int flags, Found* found,
              char (&file)[2 * kPathBytes]) noexcept {
  Session& s = session();
  if ((flags & AT_EMPTY_PATH) != 0 && path && path[0] == '\0') {
    Entry entry;
    if (!s.table.ours(dirfd) || !s.find(dirfd, &entry) || entry.kind == Kind::kDirectory)
      return false;
    std::memcpy(found->path, entry.path, sizeof entry.path);
    found->at = locate(found->path);
    return s.in_tree(found->path, file);
  }
  if (!s.resolve(dirfd, path, found)) return false;
  if (found->at.place == Place::kDevice || found->at.place == Place::kAttribute)
    return s.in_tree(found->path, file);
  if (!found->replace) return false;
  std::memcpy(file, found->path, sizeof found->path);
  return true;
}

}  // namespace

int stat_at(int dirfd, const char* path, struct stat* out, int flags) noexcept {
  Found found;
  char file[2 * kPathBytes];
  if (!stand_in(dirfd, path, flags, &found, file)) return pass_stat(dirfd, path, out, flags);
  if (pass_stat(AT_FDCWD, file, out, flags & ~AT_EMPTY_PATH) != 0) return -1;
  unsigned major_number = 0, minor_number = 0;
  describe(found.at, &out->st_mode, &major_number, &minor_number);
  if (found.at.place == Place::kDevice) out->st_rdev = makedev(major_number, minor_number);
  if (found.at.place == Place::kAttribute && S_ISREG(out->st_mode)) out->st_size = kTextBytes;
  return 0;
}

int statx_at(int dirfd, const char* path, int flags, unsigned mask, struct statx* out) noexcept {
  Found found;
  char file[2 * kPathBytes];
  if (!stand_in(dirfd, path, flags, &found, file)) return pass_statx(dirfd, path, flags, mask, out);
  if (pass_statx(AT_FDCWD, file, flags & ~AT_EMPTY_PATH, mask, out) != 0) return -1;
  mode_t mode = out->stx_mode;
  describe(found.at, &mode, &out->stx_rdev_major, &out->stx_rdev_minor);
  out->stx_mode = static_cast<std::uint16_t>(mode);
  if (found.at.place == Place::kAttribute && S_ISREG(mode)) out->stx_size = kTextBytes;
  return 0;
}

int access_at(int dirfd, const char* path, int mode, int flags) noexcept {
  Found found;
  char file[2 * kPathBytes];
  if (!stand_in(dirfd, path, 0, &found, file)) return pass_access(dirfd, path, mode, flags);
  return pass_access(AT_FDCWD, file, mode, flags);
}

}  // namespace opennrt::emu::preload
