// SPDX-License-Identifier: Apache-2.0
//
// Memory of this process by addresses that nobody has checked.
#pragma once

#include <cstddef>
#include <cstdint>

namespace opennrt::emu::remote {

// Bytes readable at the address, at most `bytes`; they are in `out`.
std::size_t read_own(std::uint64_t address, void* out, std::size_t bytes);
// Writes a few bytes at a time: through a page of a memfd, whose read(2) checks the
// address at a fraction of the cost of the general way.
class Writer {
 public:
  Writer() = default;
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  // 0 or -EFAULT.
  int write(std::uint64_t address, const void* in, std::size_t bytes);
  // In a forked child, which shares the page with its parent.
  void forget();

 private:
  bool make();
  int fd_ = -1;
  void* page_ = nullptr;
  bool tried_ = false;
};

// 0 or -EFAULT.
int write_own(std::uint64_t address, const void* in, std::size_t bytes);
// One large copy between unchecked memory and checked. 0 or -EFAULT.
int copy_own(std::uint64_t address, void* checked, std::size_t bytes, bool to_address);

}  // namespace opennrt::emu::remote
