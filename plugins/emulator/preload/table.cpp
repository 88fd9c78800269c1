// SPDX-License-Identifier: Apache-2.0
#include "preload/table.h"

namespace opennrt::emu::preload {

std::uint16_t Table::allocate() noexcept {
  if (free_count_ > 0) return free_[--free_count_];
  return fresh_ < kEntries ? static_cast<std::uint16_t>(++fresh_) : std::uint16_t{0};
}

bool Table::put(int fd, const Entry& entry) noexcept {
  if (fd < 0 || fd >= kNumbers) return false;
  const Held held(lock_);
  std::uint16_t& slot = slots_[static_cast<unsigned>(fd)];
  std::uint16_t index = slot;
  if (index == 0) {
    index = allocate();
    if (index == 0) return false;
    entries_[index - 1u].kind = Kind::kNone;
  }
  const int before = entries_[index - 1u].kind == Kind::kDevice ? 1 : 0;
  devices_.fetch_add((entry.kind == Kind::kDevice ? 1 : 0) - before, std::memory_order_relaxed);
  entries_[index - 1u] = entry;
  if (fd >= end_.load(std::memory_order_relaxed)) end_.store(fd + 1, std::memory_order_relaxed);
  __atomic_store_n(&slot, index, __ATOMIC_RELEASE);
  return true;
}

bool Table::find(int fd, Entry* out) noexcept {
  if (!ours(fd)) return false;
  const Held held(lock_);
  const std::uint16_t index = slots_[static_cast<unsigned>(fd)];
  if (index == 0) return false;
  *out = entries_[index - 1u];
  return true;
}

bool Table::take(int fd, Entry* out) noexcept {
  if (!ours(fd)) return false;
  const Held held(lock_);
  std::uint16_t& slot = slots_[static_cast<unsigned>(fd)];
  const std::uint16_t index = slot;
  if (index == 0) return false;
  *out = entries_[index - 1u];
  __atomic_store_n(&slot, std::uint16_t{0}, __ATOMIC_RELEASE);
  free_[free_count_++] = index;
  if (out->kind == Kind::kDevice) devices_.fetch_sub(1, std::memory_order_relaxed);
  return true;
}

int Table::next(int fd) const noexcept {
  const int end = end_.load(std::memory_order_relaxed);
  for (int n = fd < 0 ? 0 : fd; n < end; ++n)
    if (ours(n)) return n;
  return -1;
}

}  // namespace opennrt::emu::preload
