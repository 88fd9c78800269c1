// SPDX-License-Identifier: Apache-2.0
//
// Registers and small memories that only keep what was written (CSR blocks,
// misc RAM, ACT and DVE tables): sparse 4 KiB pages of 32-bit words, zero until
// written, keyed by device address.
//
// Threading: any thread; each word is atomic.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <shared_mutex>
#include <unordered_map>

namespace opennrt::emu {

class RegisterStore {
 public:
  std::uint32_t load(std::uint64_t address) const;
  void store(std::uint64_t address, std::uint32_t value);
  // Any alignment and length.
  void read(std::uint64_t address, void* out, std::uint64_t bytes) const;
  void write(std::uint64_t address, const void* in, std::uint64_t bytes);

 private:
  static constexpr std::uint64_t kPageBytes = 4096;
  using Page = std::array<std::atomic<std::uint32_t>, kPageBytes / 4>;

  const Page* find(std::uint64_t address) const;
  Page& get(std::uint64_t address);

  mutable std::shared_mutex mutex_;  // guards pages_, not the words
  std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
};

}  // namespace opennrt::emu
