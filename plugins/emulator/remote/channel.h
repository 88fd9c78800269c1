// SPDX-License-Identifier: Apache-2.0
//
// One end of a connection: whole messages in, whole messages out.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>

#include "remote/protocol.h"

namespace opennrt::emu::remote {

// A message as received. The payload lives until the next receive.
struct Message {
  Head head;
  const std::uint8_t* payload = nullptr;
  int descriptor = -1;  // owned by whoever took the message
};

// Start time of a process in clock ticks since boot, 0 when there is none.
std::uint64_t process_start_time(pid_t pid);
// State letter of proc(5), 'T' of one that is stopped; 0 when there is none.
char process_state(pid_t pid);
// Name of its program, at most 15 characters; empty when there is none.
std::string process_name(pid_t pid);

class Channel {
 public:
  explicit Channel(int fd = -1) : fd_(fd) {}
  ~Channel() { close(); }
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  int fd() const { return fd_; }
  void close();

  // 0 or -errno. The payload follows the head; descriptor < 0: none. own: the
  // payload is this code's memory; else one at an address that is none gives
  // -EFAULT, and nothing is sent.
  int send(Head head, const void* payload = nullptr, std::size_t bytes = 0, int descriptor = -1,
           bool own = true);
  // 0, -EPIPE at the end of the connection, -EPROTO for what is no message,
  // -ETIMEDOUT, or -errno. take_descriptor: else one that comes along is dropped.
  int receive(Message* out, bool take_descriptor);

 private:
  int fd_;
  std::unique_ptr<std::uint8_t[]> buffer_;
};

}  // namespace opennrt::emu::remote
