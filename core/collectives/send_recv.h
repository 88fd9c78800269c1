// SPDX-License-Identifier: Apache-2.0
//
// Asynchronous transfers between logical cores. Both ends live in this process;
// an end elsewhere is refused. Logical cores are counted over the host.
//
// A communicator is one end; the two ends of a key (sender, receiver) share a
// link. Requests of a link are served in the order of posting, by whoever polls.
//
// Threading: every member may be called from any thread. One lock guards
// everything; a transfer happens under it.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/handle_table.h"
#include "base/status.h"

namespace opennrt::collectives {

// What is needed of tensors; they belong to another layer.
struct TensorAccess {
  struct Facts {
    std::uint64_t bytes = 0;
    std::int32_t logical_core = -1;  // of this process; -1: host memory
  };
  std::function<Result<Facts>(std::uintptr_t tensor)> look;
  std::function<Status(std::uintptr_t from, std::uint64_t from_offset, std::uintptr_t to,
                       std::uint64_t to_offset, std::uint64_t bytes)>
      move;
};

class SendRecv {
 public:
  static constexpr int kCores = 128;          // of a host
  static constexpr int kCommunicators = 128;  // of a core
  static constexpr int kPending = 128;        // requests of a communicator

  enum class Role : std::uint32_t { kSender, kReceiver };
  struct Options {
    std::int32_t first_core = 0, cores = 0;  // of this process
    std::chrono::milliseconds connect_timeout{30'000}, transfer_timeout{30'000};
  };

  SendRecv(const Options& options, TensorAccess tensors)
      : options_(options), tensors_(std::move(tensors)) {}

  // NRT_FAILURE unless said otherwise, in all of them.
  Status open(int core);
  Status close(int core);
  // NRT_RESOURCE: too many.
  Result<std::uintptr_t> connect(Role role, const std::string& peer_ip, int peer, int core);
  // NRT_INVALID_HANDLE: no communicator. NRT_TIMEOUT: the other end did not come.
  Result<bool> connected(std::uintptr_t communicator);
  // NRT_INVALID_HANDLE: no communicator, or not connected. NRT_RESOURCE: too
  // many pending.
  Result<std::uintptr_t> post(Role role, std::uintptr_t communicator, std::uintptr_t tensor,
                              std::uint64_t offset, std::uint64_t bytes);
  struct Progress {
    bool done = false;
    std::uint64_t bytes = 0;
  };
  // NRT_INVALID_HANDLE: no request. NRT_TIMEOUT: the other end did not post its
  // part; it may still do so. Done: the handle is gone.
  Result<Progress> test(std::uintptr_t request);
  Status flush(int core);

 private:
  using Clock = std::chrono::steady_clock;
  struct Request {
    std::uintptr_t communicator = 0;
    std::uintptr_t tensor = 0;
    std::uint64_t offset = 0, bytes = 0;
    bool done = false;
    std::uint64_t moved = 0;
    Clock::time_point posted;
    std::string error;  // why it failed
  };
  struct Link {
    std::uintptr_t ends[2] = {0, 0};       // by Role
    std::deque<std::uintptr_t> posted[2];  // requests not served yet, by Role
    bool complete() const { return ends[0] != 0 && ends[1] != 0; }
  };
  struct Communicator {
    Role role = Role::kSender;
    int core = 0, peer = 0;
    std::shared_ptr<Link> link;
    Clock::time_point started;
    bool was_connected = false;
    std::vector<std::uintptr_t> requests;  // not taken back yet
  };
  enum class State { kClosed, kOpen, kBroken };
  struct Core {
    State state = State::kClosed;
    std::vector<std::uintptr_t> communicators;
  };
  Status check_core(int core) const;
  Status check_open(int core) const;
  Status join(Communicator& communicator, std::uintptr_t handle);
  void serve(Link& link);

  const Options options_;
  const TensorAccess tensors_;
  std::mutex mutex_;
  std::array<Core, kCores> cores_;
  HandleTable<Communicator, HandleKind::kCommunicator> communicators_;
  HandleTable<Request, HandleKind::kTransfer> requests_;
};

}  // namespace opennrt::collectives
