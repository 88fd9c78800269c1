// SPDX-License-Identifier: Apache-2.0
//
// Access to the memory of the caller of a request. The driver never follows a
// caller pointer itself and keeps none past the call.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace opennrt::emu {

class Region;

// A caller in another process may answer late or never: no lock is held over a
// read, write_now, copy_in or copy_out.
class UserMemory {
 public:
  virtual ~UserMemory() = default;
  // 0 or -EFAULT. On -EFAULT the bytes before the bad page may have moved.
  virtual int read(std::uint64_t address, void* out, std::size_t bytes) = 0;
  // May happen when the request ends, which then has the result -EFAULT.
  virtual int write(std::uint64_t address, const void* in, std::size_t bytes) = 0;
  // For a write whose failure undoes something.
  virtual int write_now(std::uint64_t address, const void* in, std::size_t bytes) {
    return write(address, in, bytes);
  }
  // Moves many bytes between the caller and a range of a region, which the
  // caller may do itself through a mapping of its own. 0 or -errno.
  virtual int copy_in(Region& region, std::uint64_t offset, std::uint64_t address,
                      std::size_t bytes);
  virtual int copy_out(Region& region, std::uint64_t offset, std::uint64_t address,
                       std::size_t bytes);
  // Gives the caller a descriptor of the region and stores its number, an int, at
  // the address. 0 or -errno.
  virtual int give_descriptor(const Region& region, std::uint64_t address);
  // Plausible address range of a caller: no null page, no kernel half.
  static bool plausible(std::uint64_t address, std::size_t bytes);
  // Pointer through which the range can be used in place, or nullptr when it
  // has to be copied.
  virtual void* direct(std::uint64_t address, std::size_t bytes) = 0;
};

// The caller is this process: memcpy after a plausibility check.
class DirectMemory final : public UserMemory {
 public:
  int read(std::uint64_t address, void* out, std::size_t bytes) override;
  int write(std::uint64_t address, const void* in, std::size_t bytes) override;
  void* direct(std::uint64_t address, std::size_t bytes) override;
};

// Any process, any address: a bad one gives -EFAULT instead of a signal.
class CheckedMemory final : public UserMemory {
 public:
  explicit CheckedMemory(pid_t pid) : pid_(pid) {}
  int read(std::uint64_t address, void* out, std::size_t bytes) override;
  int write(std::uint64_t address, const void* in, std::size_t bytes) override;
  void* direct(std::uint64_t, std::size_t) override { return nullptr; }

 private:
  pid_t pid_;
};

}  // namespace opennrt::emu
