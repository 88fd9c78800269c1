// SPDX-License-Identifier: Apache-2.0
#include "device/register_store.h"

#include <algorithm>
#include <cstring>
#include <mutex>

namespace opennrt::emu {

const RegisterStore::Page* RegisterStore::find(std::uint64_t address) const {
  std::shared_lock lock(mutex_);
  const auto it = pages_.find(address / kPageBytes);
  return it == pages_.end() ? nullptr : it->second.get();
}

RegisterStore::Page& RegisterStore::get(std::uint64_t address) {
  {
    std::shared_lock lock(mutex_);
    const auto it = pages_.find(address / kPageBytes);
    if (it != pages_.end()) return *it->second;
  }
  std::unique_lock lock(mutex_);
  auto& page = pages_[address / kPageBytes];
  if (!page) page = std::make_unique<Page>();
  return *page;
}

std::uint32_t RegisterStore::load(std::uint64_t address) const {
  const Page* page = find(address);
  return page ? (*page)[address % kPageBytes / 4].load(std::memory_order_acquire) : 0;
}

void RegisterStore::store(std::uint64_t address, std::uint32_t value) {
  get(address)[address % kPageBytes / 4].store(value, std::memory_order_release);
}

void RegisterStore::read(std::uint64_t address, void* out, std::uint64_t bytes) const {
  auto* to = static_cast<std::uint8_t*>(out);
  while (bytes != 0) {
    const Page* page = find(address);
    std::uint64_t in_page = std::min(bytes, kPageBytes - address % kPageBytes);
    bytes -= in_page;
    if (!page) {
      std::memset(to, 0, in_page);
      to += in_page;
      address += in_page;
      continue;
    }
    while (in_page != 0) {
      const std::uint64_t in_word = address % 4;
      const std::uint64_t n = std::min(in_page, 4 - in_word);
      const std::uint32_t word = (*page)[address % kPageBytes / 4].load(std::memory_order_acquire);
      std::uint8_t raw[4];
      std::memcpy(raw, &word, 4);
      std::memcpy(to, raw + in_word, n);
      to += n;
      address += n;
      in_page -= n;
    }
  }
}

void RegisterStore::write(std::uint64_t address, const void* in, std::uint64_t bytes) {
  const auto* from = static_cast<const std::uint8_t*>(in);
  while (bytes != 0) {
    Page& page = get(address);
    std::uint64_t in_page = std::min(bytes, kPageBytes - address % kPageBytes);
    bytes -= in_page;
    while (in_page != 0) {
      auto& at = page[address % kPageBytes / 4];
      const std::uint64_t in_word = address % 4;
      const std::uint64_t n = std::min(in_page, 4 - in_word);
      std::uint32_t word = n == 4 ? 0 : at.load(std::memory_order_acquire);
      std::uint8_t raw[4];
      std::memcpy(raw, &word, 4);
      std::memcpy(raw + in_word, from, n);
      std::memcpy(&word, raw, 4);
      at.store(word, std::memory_order_release);
      from += n;
      address += n;
      in_page -= n;
    }
  }
}

}  // namespace opennrt::emu
