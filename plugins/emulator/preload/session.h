// SPDX-License-Identifier: Apache-2.0
//
// The library's state in its process: where the launch left its names, what is
// open, the connection to the machine (made at the first use).
#pragma once

#include <sys/stat.h>

#include <atomic>

#include "preload/backend.h"
#include "preload/mappings.h"
#include "preload/paths.h"
#include "preload/table.h"

namespace opennrt::emu::preload {

// Set by the launcher for the whole tree of processes.
inline constexpr const char* kTreeVariable = "OPENNRT_EMU_TREE";
inline constexpr const char* kSocketVariable = "OPENNRT_EMU_SOCKET";
inline constexpr const char* kLibraryVariable = "OPENNRT_EMU_PRELOAD";
// Set over one exec: see Session::closed_by_exec.
inline constexpr const char* kClosedVariable = "OPENNRT_EMU_CLOSED";
inline constexpr std::size_t kClosedBytes = 1024;

// Character device numbers of the nodes; the driver takes a major from the
// kernel's dynamic range.
inline constexpr unsigned kNodeMajor = 245;

// What a path of the program means.
struct Found {
  Location at;
  char path[kPathBytes];  // absolute and normal, as the program would write it
  bool replace = false;   // the kernel must be given `path` instead of the program's
};

struct Session {
  bool active = false;
  char tree[kPathBytes] = {};  // directory that mirrors the served names
  std::size_t tree_length = 0;
  char socket[kPathBytes] = {};
  char library[kPathBytes] = {};              // this library, for LD_PRELOAD
  std::atomic<bool> directory_served{false};  // relative paths may be ours
  Table table;
  Mappings mappings;

  void start() noexcept;
  // The machine, connected at the first call. nullptr: said why on stderr.
  Backend* backend() noexcept;
  bool connected() const noexcept { return backend_.load(std::memory_order_acquire) != nullptr; }

  // True when the path is ours, or is a directory in which ours appear, or must
  // be replaced. dirfd and path as in openat(2).
  bool resolve(int dirfd, const char* path, Found* out) noexcept;
  // Name of a served path in the tree. False: too long.
  bool in_tree(const char* path, char (&out)[2 * kPathBytes]) const noexcept;
  // The path a program would use for one in the tree; others unchanged.
  const char* outside(const char* path) const noexcept;
  void directory_changed() noexcept;

  // The entry of a descriptor, if the kernel still has our file behind it.
  bool find(int fd, Entry* out) noexcept;
  // Records who the file behind fd is and lists it.
  bool list(int fd, Entry* entry) noexcept;
  // After the number is gone or belongs to something else.
  int forget(const Entry& entry) noexcept;

  // Around fork, in the order of pthread_atfork.
  void before_fork() noexcept;
  void in_parent() noexcept;
  void in_child() noexcept;

  // exec closes descriptors without telling the machine; the new image does. Text
  // for kClosedVariable; false: none would be closed.
  bool closed_by_exec(char (&text)[kClosedBytes]) noexcept;

 private:
  void inherit() noexcept;
  void let_go() noexcept;
  void close_listed(const char* closed) noexcept;

  std::atomic<Backend*> backend_{nullptr};
  Lock connecting_;
  std::atomic<bool> told_{false};
  bool fork_prepared_ = false;
  std::uint64_t fork_signals_ = 0;
};

Session& session() noexcept;

// One line on the program's standard error.
void say(const char* text) noexcept;

}  // namespace opennrt::emu::preload
