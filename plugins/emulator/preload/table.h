// SPDX-License-Identifier: Apache-2.0
//
// Which descriptors of the process stand for something of the emulated machine.
// A descriptor of the kernel sits behind each, so that numbers never collide; the
// entry says what it means. A number that the kernel gave to another file since
// (a close that did not come by us) is noticed by the file's identity.
//
// Threading: any thread. A number that is not ours costs one load.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstdint>

#include "preload/lock.h"
#include "preload/paths.h"

namespace opennrt::emu::preload {

// kInternal: of the library itself; the program cannot close it.
enum class Kind : std::uint8_t { kNone, kDevice, kAttribute, kDirectory, kInternal };

struct Entry {
  Kind kind = Kind::kNone;
  std::uint8_t access = 0;       // access mode of open(2)
  int descriptor = 0;            // of the backend, kDevice; 0: inherited without a way to use it
  std::uint32_t text_bytes = 0;  // kAttribute: what it held when it was opened
  std::uint64_t inode = 0, filesystem = 0;
  char path[kPathBytes / 4] = {};  // as the program knows it
};

class Table {
 public:
  static constexpr int kNumbers = 1 << 20;  // descriptors that can be ours
  static constexpr int kEntries = 8192;

  bool ours(int fd) const noexcept {
    return static_cast<unsigned>(fd) < kNumbers &&
           __atomic_load_n(&slots_[static_cast<unsigned>(fd)], __ATOMIC_ACQUIRE) != 0;
  }
  // Replaces an entry that is there. False: no room, or a number out of reach.
  bool put(int fd, const Entry& entry) noexcept;
  bool find(int fd, Entry* out) noexcept;
  // Takes the entry out.
  bool take(int fd, Entry* out) noexcept;
  // First number from `fd` on that is ours, or -1.
  int next(int fd) const noexcept;
  int devices() const noexcept { return devices_.load(std::memory_order_relaxed); }

  // Around fork: nobody is in the middle of a change.
  void hold() noexcept { lock_.lock(); }
  void release() noexcept { lock_.unlock(); }

 private:
  std::uint16_t allocate() noexcept;

  Lock lock_;
  std::atomic<int> devices_{0};  // entries of that kind
  std::atomic<int> end_{0};      // past the highest number ever used
  // Index + 1 of the entry, changed under the lock. No std::atomic: so many of
  // them cannot be initialised by a compiler.
  std::uint16_t slots_[kNumbers] = {};
  std::array<Entry, kEntries> entries_{};
  std::array<std::uint16_t, kEntries> free_{};
  std::uint16_t free_count_ = 0, fresh_ = 0;
};

}  // namespace opennrt::emu::preload
