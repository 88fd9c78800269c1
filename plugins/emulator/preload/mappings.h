// SPDX-License-Identifier: Apache-2.0
//
// Device mappings of the process. The program may unmap a part of one: the part
// stays reserved and unreadable until the whole has gone, because the machine
// knows mappings as a whole only and would take away what was mapped there since.
//
// Threading: any thread; an address that is not ours costs two loads.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "preload/lock.h"

namespace opennrt::emu::preload {

struct Mapping {
  std::uintptr_t address = 0;
  std::uint64_t bytes = 0;
  std::uint64_t gone = 0;  // bytes the program has unmapped
  bool writable = false;   // may become so
};

class Mappings {
 public:
  static constexpr std::uint64_t kPage = 4096;
  static constexpr int kMost = 4096;

  bool may_overlap(std::uintptr_t address, std::uint64_t bytes) const noexcept {
    return address < highest_.load(std::memory_order_acquire) &&
           address + bytes > ~below_.load(std::memory_order_acquire);
  }
  bool full() noexcept;
  bool add(const Mapping& mapping) noexcept;  // false: no room
  // Lowest mapping that has a byte in the range.
  bool find(std::uintptr_t address, std::uint64_t bytes, Mapping* out) noexcept;
  // The program gives up [address, address + bytes) of the mapping at `start`.
  // True: nothing of it is left, and it is no longer listed.
  bool give_up(std::uintptr_t start, std::uintptr_t address, std::uint64_t bytes) noexcept;
  void clear() noexcept;
  int count() noexcept;

  void hold() noexcept { lock_.lock(); }
  void release() noexcept { lock_.unlock(); }

 private:
  void bounds() noexcept;

  // A hole of a mapping: what has been given up before must not count twice.
  struct Hole {
    std::uintptr_t start = 0, address = 0;
    std::uint64_t bytes = 0;
  };

  Lock lock_;
  // The lowest address is kept inverted: all of this begins as zeros.
  std::atomic<std::uintptr_t> below_{0}, highest_{0};
  std::array<Mapping, kMost> all_{};
  int count_ = 0;
  std::array<Hole, kMost> holes_{};
  int hole_count_ = 0;
};

}  // namespace opennrt::emu::preload
