// SPDX-License-Identifier: Apache-2.0
#include "preload/directories.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "preload/files.h"
#include "preload/next.h"

namespace opennrt::emu::preload {

namespace {

// A stream over a directory in which served names appear.
struct Stream {
  DIR* stream = nullptr;
  const char* name = nullptr;  // of the served child; "neuron" in /dev: the nodes
  bool nodes = false;
  bool at_end = false;  // of the real directory
  unsigned next = 0;    // served child to give next
  dirent entry{};
};

class Streams {
 public:
  bool add(DIR* stream, const char* parent) noexcept {
    const char* name = served_child(parent);
    if (!name) return true;
    const Held held(lock_);
    for (Stream& s : all_) {
      if (s.stream) continue;
      s = Stream{};
      s.name = name;
      s.nodes = std::strcmp(parent, "/dev") == 0;
      s.stream = stream;
      used_.fetch_add(1, std::memory_order_release);
      return true;
    }
    return false;
  }
  Stream* find(DIR* stream) noexcept {
    if (used_.load(std::memory_order_acquire) == 0) return nullptr;
    const Held held(lock_);
    for (Stream& s : all_)
      if (s.stream == stream) return &s;
    return nullptr;
  }
  void remove(DIR* stream) noexcept {
    if (Stream* s = find(stream)) {
      const Held held(lock_);
      s->stream = nullptr;
      used_.fetch_sub(1, std::memory_order_release);
    }
  }
  Lock& lock() noexcept { return lock_; }

 private:
  Lock lock_;
  std::atomic<int> used_{0};
  std::array<Stream, 64> all_{};
};

constinit Streams streams;

bool is_node(const char* name) noexcept {
  char path[kPathBytes];
  return normalise("/dev", name, path) && locate(path).place == Place::kDevice;
}

// The real entry of a served name is never shown.
bool hidden(const Stream& s, const dirent* entry) noexcept {
  return s.nodes ? is_node(entry->d_name) : std::strcmp(entry->d_name, s.name) == 0;
}

// Fills s.entry with the next served child.
bool served(Stream* s) noexcept {
  const char* parent = s->nodes ? "/dev" : nullptr;
  char file[2 * kPathBytes];
  struct stat known;
  if (!parent) {
    if (s->next++ != 0) return false;
    std::snprintf(s->entry.d_name, sizeof s->entry.d_name, "%s", s->name);
    s->entry.d_type = DT_DIR;
    s->entry.d_ino = 1;
  } else {
    constexpr unsigned kMostNodes = 64;
    char path[32];
    do {
      if (s->next == kMostNodes) return false;
      std::snprintf(path, sizeof path, "/dev/neuron%u", s->next++);
    } while (!session().in_tree(path, file) ||
             raw_call(SYS_newfstatat, AT_FDCWD, word(file), word(&known), 0) != 0);
    std::snprintf(s->entry.d_name, sizeof s->entry.d_name, "%s", path + std::strlen("/dev/"));
    s->entry.d_type = DT_CHR;
    s->entry.d_ino = known.st_ino;
  }
  s->entry.d_reclen = sizeof s->entry;
  return true;
}

void* glob_open(const char* path) { return open_directory_stream(path); }
dirent* glob_next(void* stream) { return next_name(static_cast<DIR*>(stream)); }
void glob_close(void* stream) { close_directory_stream(static_cast<DIR*>(stream)); }
int glob_stat(const char* path, struct stat* out) { return stat_at(AT_FDCWD, path, out, 0); }
int glob_lstat(const char* path, struct stat* out) {
  return stat_at(AT_FDCWD, path, out, AT_SYMLINK_NOFOLLOW);
}

}  // namespace

Lock& directory_streams() noexcept { return streams.lock(); }

DIR* open_directory_stream(const char* path) noexcept {
  const int fd = open_at(AT_FDCWD, path, O_RDONLY | O_NDELAY | O_DIRECTORY | O_CLOEXEC, 0);
  if (fd < 0) return nullptr;
  DIR* stream = adopt_directory_stream(fd);
  if (!stream) {
    const int error = errno;
    close_one(fd);
    errno = error;
  }
  return stream;
}

DIR* adopt_directory_stream(int fd) noexcept {
  DIR* stream = OPENNRT_NEXT(fdopendir)(fd);
  Entry entry;
  if (!stream || !session().table.ours(fd) || !session().find(fd, &entry) ||
      entry.kind != Kind::kDirectory || streams.add(stream, entry.path))
    return stream;
  // Without room the listing would lack the devices.
  close_directory_stream(stream);
  errno = EMFILE;
  return nullptr;
}

dirent* next_name(DIR* stream) noexcept {
  Stream* s = streams.find(stream);
  if (!s) return OPENNRT_NEXT(readdir)(stream);
  const int before = errno;
  while (!s->at_end) {
    errno = 0;
    dirent* entry = OPENNRT_NEXT(readdir)(stream);
    if (!entry && errno != 0) return nullptr;
    if (!entry)
      s->at_end = true;
    else if (!hidden(*s, entry)) {
      errno = before;
      return entry;
    }
  }
  errno = before;
  return served(s) ? &s->entry : nullptr;
}

void restart(DIR* stream) noexcept {
  if (Stream* s = streams.find(stream)) {
    s->at_end = false;
    s->next = 0;
  }
}

int close_directory_stream(DIR* stream) noexcept {
  streams.remove(stream);
  const int fd = stream ? ::dirfd(stream) : -1;
  Entry entry;
  if (session().table.ours(fd)) session().table.take(fd, &entry);
  return OPENNRT_NEXT(closedir)(stream);
}

bool scan(int dirfd, const char* path, dirent*** names, Select select, Order order,
          int* result) noexcept {
  Found found;
  if (!session().resolve(dirfd, path, &found)) return false;
  *result = -1;
  const int fd = open_at(dirfd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
  if (fd < 0) return true;
  DIR* stream = adopt_directory_stream(fd);
  if (!stream) return true;
  dirent** list = nullptr;
  std::size_t count = 0, room = 0;
  bool enough = true;
  while (const dirent* entry = next_name(stream)) {
    if (select && select(entry) == 0) continue;
    if (count == room) {
      room = room ? 2 * room : 16;
      auto* larger = static_cast<dirent**>(std::realloc(list, room * sizeof *list));
      if (!larger) {
        enough = false;
        break;
      }
      list = larger;
    }
    auto* copy = static_cast<dirent*>(std::malloc(sizeof(dirent)));
    if (!copy) {
      enough = false;
      break;
    }
    // A real entry may be shorter than the type.
    const std::size_t head = offsetof(dirent, d_name);
    std::memcpy(copy, entry, head);
    std::snprintf(copy->d_name, sizeof copy->d_name, "%s", entry->d_name);
    list[count++] = copy;
  }
  close_directory_stream(stream);
  if (!enough) {
    while (count > 0) std::free(list[--count]);
    std::free(list);
    errno = ENOMEM;
    return true;
  }
  if (order && count > 1)
    std::qsort(list, count, sizeof *list,
               reinterpret_cast<int (*)(const void*, const void*)>(order));
  *names = list;
  *result = static_cast<int>(count);
  return true;
}

int find_names(const char* pattern, int flags, int (*error)(const char*, int),
               glob_t* out) noexcept {
  Session& s = session();
  const bool ours = s.active && out && (flags & GLOB_ALTDIRFUNC) == 0 &&
                    suspicious(pattern, s.directory_served.load(std::memory_order_relaxed));
  if (!ours) return OPENNRT_NEXT(glob)(pattern, flags, error, out);
  out->gl_opendir = glob_open;
  out->gl_readdir = glob_next;
  out->gl_closedir = glob_close;
  out->gl_stat = glob_stat;
  out->gl_lstat = glob_lstat;
  return OPENNRT_NEXT(glob)(pattern, flags | GLOB_ALTDIRFUNC, error, out);
}

}  // namespace opennrt::emu::preload
