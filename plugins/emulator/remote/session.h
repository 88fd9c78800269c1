// SPDX-License-Identifier: Apache-2.0
//
// One connection in the daemon, served by one thread from hello to end.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "remote/channel.h"
#include "remote/process.h"
#include "remote/remote_memory.h"

namespace opennrt::emu::remote {

class Server;

class Session {
 public:
  // *watching: set while it runs, when its process only watches.
  Session(Server& server, int socket, bool* watching);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  void run();

  // For RemoteMemory: a question and its answer. 0 or -errno, after which the
  // connection is of no more use.
  int ask(Head question, std::span<const std::uint8_t> payload, int descriptor, Message* answer);
  // Number of a region; *descriptor is set when the client has not got it yet.
  bool show(const Region& region, std::uint64_t* id, int* descriptor);

 private:
  bool greet();
  bool refuse(int error, const std::string& text);
  // 0, or -errno: the connection ends.
  int serve(const Message& message);
  int reply(std::int64_t result, const std::string& text = {});
  int ioctl(const Head& head, const Message& message);
  int map(const Head& head);
  int unmap(const Head& head);
  int prepare_fork();

  Server& server_;
  bool* const watching_;
  Channel channel_;
  std::shared_ptr<Process> process_;
  std::shared_ptr<Inheritance> inheritance_;
  RemoteMemory memory_;
  std::vector<bool> shown_;  // by number of the region
};

}  // namespace opennrt::emu::remote
