// SPDX-License-Identifier: Apache-2.0
#include "driver/range_pool.h"

#include <algorithm>
#include <bit>
#include <iterator>

namespace opennrt::emu {

std::uint64_t RangePool::free_bytes() const {
  std::uint64_t sum = 0;
  for (const auto& [start, bytes] : free_) sum += bytes;
  return sum;
}

bool RangePool::alloc(std::uint64_t bytes, std::uint64_t align, std::uint64_t* out) {
  if (bytes == 0 || bytes > bytes_) return false;
  if (align <= kPage) align = kPage;
  const std::uint64_t mask = (align + kPage - 1) / kPage - 1;
  const std::uint64_t base_offset = (base_ & (align - 1)) / kPage;
  // With a mask of no power of two a part of a range may fit where the whole did
  // not, so nothing can be remembered.
  std::uint64_t none = 0;
  if (hints_.size() == kMostHints) hints_.clear();
  std::uint64_t& hint = std::has_single_bit(align) ? hints_[{bytes, align}] : none;
  for (auto it = free_.lower_bound(hint); it != free_.end(); ++it) {
    ++examined_;
    const std::uint64_t index = (it->first - base_) / kPage;
    const std::uint64_t aligned = ((index + base_offset + mask) & ~mask) - base_offset;
    const std::uint64_t address = base_ + aligned * kPage;
    if (address < it->first) continue;
    const std::uint64_t skipped = address - it->first;
    if (skipped > it->second || it->second - skipped < bytes) continue;
    hint = it->first;
    take(it, address, bytes);
    *out = address;
    return true;
  }
  hint = UINT64_MAX;
  return false;
}

bool RangePool::alloc_at(std::uint64_t address, std::uint64_t bytes) {
  auto it = free_.upper_bound(address);
  if (it == free_.begin()) return false;
  --it;
  const std::uint64_t skipped = address - it->first;
  if (skipped > it->second || it->second - skipped < bytes) return false;
  take(it, address, bytes);
  return true;
}

void RangePool::take(Free::iterator range, std::uint64_t address, std::uint64_t bytes) {
  const std::uint64_t start = range->first, length = range->second;
  const std::uint64_t tail = start + length - (address + bytes);
  if (address == start)
    free_.erase(range);
  else
    range->second = address - start;
  if (tail) free_[address + bytes] = tail;
}

void RangePool::release(std::uint64_t address, std::uint64_t bytes) {
  auto next = free_.lower_bound(address);
  if (next != free_.begin()) {
    auto before = std::prev(next);
    if (before->first + before->second == address) {
      address = before->first;
      bytes += before->second;
      free_.erase(before);
    }
  }
  if (next != free_.end() && address + bytes == next->first) {
    bytes += next->second;
    free_.erase(next);
  }
  free_[address] = bytes;
  for (auto& [request, hint] : hints_) hint = std::min(hint, address);
}

}  // namespace opennrt::emu
