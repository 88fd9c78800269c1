// SPDX-License-Identifier: Apache-2.0
//
// The memory of a client of the emulated driver: one buffer. Any other address
// is a bad pointer, so that a test can pass whatever it likes.
#pragma once

#include <cerrno>
#include <cstring>
#include <vector>

#include "driver/user_memory.h"

namespace opennrt::emu {

class ArenaMemory final : public UserMemory {
 public:
  explicit ArenaMemory(std::size_t bytes) : data_(bytes) {}
  // in_place: direct() gives pointers, as for a client of the same process.
  void set_in_place(bool on) { in_place_ = on; }
  std::uint64_t base() const { return reinterpret_cast<std::uintptr_t>(data_.data()); }
  std::uint8_t* at(std::size_t offset) { return data_.data() + offset; }
  std::size_t size() const { return data_.size(); }

  int read(std::uint64_t address, void* out, std::size_t bytes) override {
    if (bytes == 0) return 0;
    if (!inside(address, bytes)) return -EFAULT;
    std::memcpy(out, data_.data() + (address - base()), bytes);
    return 0;
  }
  int write(std::uint64_t address, const void* in, std::size_t bytes) override {
    if (bytes == 0) return 0;
    if (!inside(address, bytes)) return -EFAULT;
    std::memcpy(data_.data() + (address - base()), in, bytes);
    return 0;
  }
  void* direct(std::uint64_t address, std::size_t bytes) override {
    return in_place_ && inside(address, bytes) ? data_.data() + (address - base()) : nullptr;
  }

 private:
  bool inside(std::uint64_t address, std::size_t bytes) const {
    return address >= base() && address - base() <= data_.size() &&
           bytes <= data_.size() - (address - base());
  }
  std::vector<std::uint8_t> data_;
  bool in_place_ = false;
};

}  // namespace opennrt::emu
