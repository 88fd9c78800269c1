// SPDX-License-Identifier: Apache-2.0
//
// First-fit allocator over one address range, in pages of 4096 bytes.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

namespace opennrt::emu {

inline constexpr std::uint64_t kPage = 4096;
inline constexpr std::uint64_t round_page(std::uint64_t bytes) {
  return (bytes + kPage - 1) & ~(kPage - 1);
}

// Not thread-safe.
class RangePool {
 public:
  RangePool() = default;
  RangePool(std::uint64_t base, std::uint64_t bytes) : base_(base), bytes_(bytes) {
    if (bytes) free_[base] = bytes;
  }
  std::uint64_t base() const { return base_; }
  std::uint64_t end() const { return base_ + bytes_; }
  std::uint64_t free_bytes() const;

  // Lowest fit. align is turned into a mask of pages exactly as the kernel's
  // pool allocator does, also when it is no power of two. bytes is a multiple
  // of the page. False: no room.
  bool alloc(std::uint64_t bytes, std::uint64_t align, std::uint64_t* out);
  // This range and no other.
  bool alloc_at(std::uint64_t address, std::uint64_t bytes);
  void release(std::uint64_t address, std::uint64_t bytes);
  // Free ranges that all searches together looked at.
  std::uint64_t examined() const { return examined_; }

 private:
  using Free = std::map<std::uint64_t, std::uint64_t>;  // start -> bytes
  void take(Free::iterator range, std::uint64_t address, std::uint64_t bytes);

  // (bytes, align) -> no free range that starts below fits. Aligned blocks leave
  // gaps that do not fit the next one; without this each search would walk over
  // all of them.
  using Hints = std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t>;
  static constexpr std::size_t kMostHints = 256;

  std::uint64_t base_ = 0, bytes_ = 0, examined_ = 0;
  Free free_;
  Hints hints_;
};

}  // namespace opennrt::emu
