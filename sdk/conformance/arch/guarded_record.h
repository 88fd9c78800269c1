// SPDX-License-Identifier: Apache-2.0
//
// A record that ends its page, in front of one that nobody may read.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace opennrt::conform {

class GuardedRecord {
 public:
  GuardedRecord() : page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))) {
    void* at = mmap(nullptr, 2 * page_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) return;
    base_ = static_cast<std::uint8_t*>(at);
    mprotect(base_ + page_, page_, PROT_NONE);
  }
  ~GuardedRecord() {
    if (base_ != nullptr) munmap(base_, 2 * page_);
  }
  GuardedRecord(const GuardedRecord&) = delete;
  GuardedRecord& operator=(const GuardedRecord&) = delete;

  // Empty: there was no memory.
  std::span<std::uint8_t> record() const {
    if (base_ == nullptr) return {};
    return {base_ + page_ - kBytes, kBytes};
  }

 private:
  static constexpr std::size_t kBytes = 64;
  std::size_t page_;
  std::uint8_t* base_ = nullptr;
};

}  // namespace opennrt::conform
