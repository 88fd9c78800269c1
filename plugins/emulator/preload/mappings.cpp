// SPDX-License-Identifier: Apache-2.0
#include "preload/mappings.h"

#include <algorithm>

namespace opennrt::emu::preload {

bool Mappings::full() noexcept {
  const Held held(lock_);
  return count_ == kMost;
}

bool Mappings::add(const Mapping& mapping) noexcept {
  const Held held(lock_);
  if (count_ == kMost) return false;
  all_[static_cast<unsigned>(count_++)] = mapping;
  bounds();
  return true;
}

bool Mappings::find(std::uintptr_t address, std::uint64_t bytes, Mapping* out) noexcept {
  if (!may_overlap(address, bytes)) return false;
  const Held held(lock_);
  const Mapping* lowest = nullptr;
  for (int i = 0; i < count_; ++i) {
    const Mapping& m = all_[static_cast<unsigned>(i)];
    if (m.address < address + bytes && m.address + m.bytes > address &&
        (!lowest || m.address < lowest->address))
      lowest = &m;
  }
  if (!lowest) return false;
  *out = *lowest;
  return true;
}

bool Mappings::give_up(std::uintptr_t start, std::uintptr_t address, std::uint64_t bytes) noexcept {
  const Held held(lock_);
  int at = 0;
  while (at < count_ && all_[static_cast<unsigned>(at)].address != start) ++at;
  if (at == count_) return false;
  Mapping& mapping = all_[static_cast<unsigned>(at)];
  // Page by page would do as well; holes are few, so the new one swallows what
  // it overlaps and grows to the union.
  std::uintptr_t low = address, high = address + bytes;
  for (int i = 0; i < hole_count_;) {
    Hole& hole = holes_[static_cast<unsigned>(i)];
    if (hole.start != start || hole.address > high || hole.address + hole.bytes < low) {
      ++i;
      continue;
    }
    low = std::min(low, hole.address);
    high = std::max(high, hole.address + hole.bytes);
    mapping.gone -= hole.bytes;
    hole = holes_[static_cast<unsigned>(--hole_count_)];
  }
  mapping.gone += high - low;
  if (mapping.gone < mapping.bytes) {
    // Without room the range is never complete: it stays until the process ends.
    if (hole_count_ < kMost)
      holes_[static_cast<unsigned>(hole_count_++)] = {start, low, high - low};
    else
      mapping.gone -= high - low;
    return false;
  }
  mapping = all_[static_cast<unsigned>(--count_)];
  bounds();
  return true;
}

void Mappings::clear() noexcept {
  const Held held(lock_);
  count_ = hole_count_ = 0;
  bounds();
}

int Mappings::count() noexcept {
  const Held held(lock_);
  return count_;
}

void Mappings::bounds() noexcept {
  std::uintptr_t lowest = UINTPTR_MAX, highest = 0;
  for (int i = 0; i < count_; ++i) {
    const Mapping& m = all_[static_cast<unsigned>(i)];
    lowest = std::min(lowest, m.address);
    highest = std::max(highest, m.address + m.bytes);
  }
  below_.store(~lowest, std::memory_order_release);
  highest_.store(highest, std::memory_order_release);
}

}  // namespace opennrt::emu::preload
