// SPDX-License-Identifier: Apache-2.0
#include "preload/session.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "preload/directories.h"

namespace opennrt::emu::preload {

namespace {

constinit Session the_session;              // all zeros: takes no room in the file
constinit Backend::Handover fork_handover;  // guarded by the locks held across fork

// False when it does not fit.
bool copy(const char* text, char (&out)[kPathBytes]) {
  const std::size_t length = std::strlen(text);
  if (length >= kPathBytes) return false;
  std::memcpy(out, text, length + 1);
  return true;
}

void close_raw(int fd) { raw_call(SYS_close, fd); }

void before_fork() { the_session.before_fork(); }
void in_parent() { the_session.in_parent(); }
void in_child() { the_session.in_child(); }

// Name that a placeholder carries through exec: "<prefix><node>:<descriptor>:<access>".
constexpr char kPlaceholder[] = "/memfd:opennrt:neuron";

}  // namespace

Session& session() noexcept { return the_session; }

void say(const char* text) noexcept {
  char line[768];
  const int n = std::snprintf(line, sizeof line, "opennrt emu: %s\n", text);
  if (n > 0)
    raw_call(SYS_write, 2, word(line),
             static_cast<long>(static_cast<std::size_t>(n) < sizeof line ? n : sizeof line - 1));
}

void Session::start() noexcept {
  const char* where = std::getenv(kTreeVariable);
  const char* machine = std::getenv(kSocketVariable);
  const char* self = std::getenv(kLibraryVariable);
  if (!where || !machine || !self) return;
  if (!copy(where, tree) || !copy(machine, socket) || !copy(self, library)) {
    say("a name of the launch is longer than 511 bytes; set TMPDIR to a shorter one");
    return;
  }
  tree_length = std::strlen(tree);
  active = true;
  directory_changed();
  inherit();
  if (const char* closed = std::getenv(kClosedVariable)) {
    close_listed(closed);
    unsetenv(kClosedVariable);
  }
}

Backend* Session::backend() noexcept {
  if (Backend* known = backend_.load(std::memory_order_acquire)) return known;
  const Held held(connecting_);
  if (Backend* known = backend_.load(std::memory_order_acquire)) return known;
  try {
    std::string error;
    Backend* made = connect_backend(socket, &error);
    if (!made) {
      if (!told_.exchange(true)) say(error.c_str());
      return nullptr;
    }
    // After the connection's own handlers: they run first in a child.
    static const int registered =
        pthread_atfork(preload::before_fork, preload::in_parent, preload::in_child);
    if (registered != 0) say("no memory for a fork handler: forked children have no devices");
    backend_.store(made, std::memory_order_release);
    return made;
  } catch (...) {
    return nullptr;
  }
}

bool Session::resolve(int dirfd, const char* path, Found* out) noexcept {
  if (!active || !plausible(path)) return false;
  const bool relative = path[0] != '/';
  const bool from_served =
      relative &&
      (dirfd == AT_FDCWD ? directory_served.load(std::memory_order_relaxed) : table.ours(dirfd));
  if (!suspicious(path, from_served)) return false;
  char base[2 * kPathBytes] = "";
  const char* from = "";
  out->replace = false;
  if (relative && dirfd == AT_FDCWD) {
    if (raw_call(SYS_getcwd, word(base), sizeof base) < 0) return false;
    from = outside(base);
    out->replace = from != base;
  } else if (relative) {
    Entry entry;
    if (!find(dirfd, &entry) || entry.kind != Kind::kDirectory) return false;
    std::memcpy(base, entry.path, sizeof entry.path);
    from = base;
    out->replace = locate(from).place == Place::kAttribute;
  }
  if (!normalise(from, path, out->path)) return false;
  out->at = locate(out->path);
  return out->at.place != Place::kElsewhere || out->replace;
}

bool Session::in_tree(const char* path, char (&out)[2 * kPathBytes]) const noexcept {
  const std::size_t length = std::strlen(path);
  if (tree_length + length >= sizeof out) return false;
  std::memcpy(out, tree, tree_length);
  std::memcpy(out + tree_length, path, length + 1);
  return true;
}

const char* Session::outside(const char* path) const noexcept {
  if (tree_length == 0 || std::strncmp(path, tree, tree_length) != 0) return path;
  if (path[tree_length] == '/') return path + tree_length;
  return path[tree_length] == '\0' ? "/" : path;
}

void Session::directory_changed() noexcept {
  char base[2 * kPathBytes];
  bool served = false;
  if (raw_call(SYS_getcwd, word(base), sizeof base) > 0) {
    const char* path = outside(base);
    served = path != base || locate(path).place != Place::kElsewhere;
  }
  directory_served.store(served, std::memory_order_relaxed);
}

bool Session::find(int fd, Entry* out) noexcept {
  if (!table.find(fd, out)) return false;
  struct stat now;
  if (raw_call(SYS_fstat, fd, word(&now)) == 0 && now.st_ino == out->inode &&
      now.st_dev == out->filesystem)
    return true;
  // Closed behind our back, and the number may be in use again.
  if (table.take(fd, out)) forget(*out);
  return false;
}

bool Session::list(int fd, Entry* entry) noexcept {
  struct stat now;
  if (raw_call(SYS_fstat, fd, word(&now)) != 0) return false;
  entry->inode = now.st_ino;
  entry->filesystem = now.st_dev;
  return table.put(fd, *entry);
}

int Session::forget(const Entry& entry) noexcept {
  if (entry.kind != Kind::kDevice || entry.descriptor == 0 || !connected()) return 0;
  const SignalsBlocked blocked;
  return backend()->close(entry.descriptor);
}

void Session::before_fork() noexcept {
  std::uint64_t all = ~std::uint64_t{0}, before = 0;
  raw_call(SYS_rt_sigprocmask, SIG_BLOCK, word(&all), word(&before), sizeof before);
  connecting_.lock();  // one fork at a time
  fork_prepared_ = table.devices() > 0 && backend_.load()->prepare(&fork_handover) >= 0;
  table.hold();
  mappings.hold();
  directory_streams().lock();
  all_held = true;
  fork_signals_ = before;
}

void Session::let_go() noexcept {
  all_held = false;
  directory_streams().unlock();
  mappings.release();
  table.release();
  connecting_.unlock();
}

void Session::in_parent() noexcept {
  const std::uint64_t before = fork_signals_;
  const bool prepared = fork_prepared_;
  const Backend::Handover handover = fork_handover;
  let_go();
  if (prepared) backend_.load()->cancel(handover);
  raw_call(SYS_rt_sigprocmask, SIG_SETMASK, word(&before), 0, sizeof before);
}

void Session::in_child() noexcept {
  const std::uint64_t before = fork_signals_;
  let_go();
  // Device mappings are not inherited.
  mappings.clear();
  const bool adopted = fork_prepared_ && backend_.load()->adopt(fork_handover) >= 0;
  if (!adopted) {
    // The connection is the parent's; a new one is made when it is needed.
    backend_.store(nullptr);
    Entry entry;
    for (int fd = table.next(0); fd >= 0; fd = table.next(fd + 1)) {
      if (!table.find(fd, &entry) || entry.kind != Kind::kDevice) continue;
      entry.descriptor = 0;
      table.put(fd, entry);
    }
  }
  raw_call(SYS_rt_sigprocmask, SIG_SETMASK, word(&before), 0, sizeof before);
}

bool Session::closed_by_exec(char (&text)[kClosedBytes]) noexcept {
  if (table.devices() == 0) return false;
  int length = std::snprintf(text, sizeof text, "%d", static_cast<int>(getpid()));
  const int none = length;
  Entry entry;
  for (int fd = table.next(0); fd >= 0; fd = table.next(fd + 1)) {
    if (!find(fd, &entry) || entry.kind != Kind::kDevice || entry.descriptor == 0) continue;
    if ((raw_call(SYS_fcntl, fd, F_GETFD) & FD_CLOEXEC) == 0) continue;
    // A list that is cut leaves descriptors to the end of the process.
    if (length + 16 > static_cast<int>(sizeof text)) break;
    length += std::snprintf(text + length, sizeof text - static_cast<std::size_t>(length), ",%d",
                            entry.descriptor);
  }
  return length > none;
}

void Session::close_listed(const char* closed) noexcept {
  char* end = nullptr;
  // A child that did not exec itself has none of these descriptors.
  if (std::strtol(closed, &end, 10) != getpid() || !backend()) return;
  const SignalsBlocked blocked;
  while (*end == ',') backend()->close(static_cast<int>(std::strtol(end + 1, &end, 10)));
}

void Session::inherit() noexcept {
  // Placeholders that came through exec. The machine knows the process by its
  // number, so that they stay good; a child that never was a copy of this program
  // (posix_spawn, system) has none of its own.
  const long directory =
      raw_call(SYS_openat, AT_FDCWD, word("/proc/self/fd"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return;
  alignas(8) char records[2048];
  for (long n; (n = raw_call(SYS_getdents64, directory, word(records), sizeof records)) > 0;) {
    for (long at = 0; at < n;) {
      std::uint16_t length = 0;
      std::memcpy(&length, records + at + 16, sizeof length);
      const char* name = records + at + 19;
      at += length;
      if (name[0] < '0' || name[0] > '9') continue;
      char target[96];
      const long size = raw_call(SYS_readlinkat, directory, word(name), word(target),
                                 static_cast<long>(sizeof target - 1));
      if (size <= 0) continue;
      target[size] = '\0';
      if (std::strncmp(target, kPlaceholder, sizeof kPlaceholder - 1) != 0) continue;
      unsigned node = 0, access = 0;
      Entry entry;
      entry.kind = Kind::kDevice;
      if (std::sscanf(target + sizeof kPlaceholder - 1, "%u:%d:%u", &node, &entry.descriptor,
                      &access) != 3)
        continue;
      entry.access = static_cast<std::uint8_t>(access);
      std::snprintf(entry.path, sizeof entry.path, "/dev/neuron%u", node);
      // No request is numbered 0: the answer tells whether the machine knows it.
      const SignalsBlocked blocked;
      if (!backend() || backend()->ioctl(entry.descriptor, 0, 0) == -EBADF) entry.descriptor = 0;
      list(std::atoi(name), &entry);
    }
  }
  close_raw(static_cast<int>(directory));
}

}  // namespace opennrt::emu::preload
