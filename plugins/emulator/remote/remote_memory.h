// SPDX-License-Identifier: Apache-2.0
//
// The memory of a process at the other end of a connection, during one request.
// Writes wait for the reply, reads beyond the bytes that came with the request
// are asked for. A bulk copy is made by the process itself.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "driver/user_memory.h"
#include "remote/channel.h"

namespace opennrt::emu::remote {

class Session;

class RemoteMemory final : public UserMemory {
 public:
  explicit RemoteMemory(Session& session) : session_(session) {}
  // A new request: its argument and the bytes found there.
  void begin(std::uint64_t address, std::span<const std::uint8_t> eager);

  int read(std::uint64_t address, void* out, std::size_t bytes) override;
  int write(std::uint64_t address, const void* in, std::size_t bytes) override;
  int write_now(std::uint64_t address, const void* in, std::size_t bytes) override;
  int copy_in(Region& region, std::uint64_t offset, std::uint64_t address,
              std::size_t bytes) override;
  int copy_out(Region& region, std::uint64_t offset, std::uint64_t address,
               std::size_t bytes) override;
  int give_descriptor(const Region& region, std::uint64_t address) override;
  void* direct(std::uint64_t, std::size_t) override { return nullptr; }

  // What goes into the reply.
  std::span<const std::uint8_t> writes() const { return pending_; }
  std::uint64_t count() const { return count_; }
  int descriptor() const { return descriptor_; }
  std::uint64_t descriptor_write() const { return descriptor_write_; }

 private:
  int flush();
  int move(Region& region, std::uint64_t offset, std::uint64_t address, std::size_t bytes,
           bool to_device);
  void add(std::uint64_t address, const void* in, std::size_t bytes);

  Session& session_;
  std::uint64_t eager_address_ = 0;
  std::size_t eager_bytes_ = 0;
  std::uint8_t eager_[kEagerBytes];
  std::vector<std::uint8_t> pending_;  // keeps its capacity
  std::uint64_t count_ = 0;
  int descriptor_ = -1;  // of the region, not owned
  std::uint64_t descriptor_write_ = 0;
};

}  // namespace opennrt::emu::remote
