// SPDX-License-Identifier: Apache-2.0
//
// The processes that use the machine, and their descriptors.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "driver/machine.h"

namespace opennrt::emu::remote {

// What one process may take, so that the others have theirs.
inline constexpr std::size_t kProcesses = 256;
inline constexpr std::size_t kConnectionsOfProcess = 1024;
inline constexpr std::size_t kConnections = 4096;
inline constexpr std::size_t kDescriptorsOfProcess = 256;
inline constexpr std::size_t kMappingsOfProcess = 1 << 16;
inline constexpr std::size_t kForksOfProcess = 64;

// Descriptors by the number that the process knows.
using Descriptors = std::map<int, int>;

struct Process {
  emu::Client client;
  int watch = -1;             // pidfd
  std::mutex mutex;           // guards what follows
  Descriptors descriptors;    // -> of the machine
  std::set<int> connections;  // sockets
  std::size_t mappings = 0, forks = 0;
  bool user = false;  // has a connection, or had one, that does not only watch
  bool dead = false;
  bool released = false;  // by somebody, who may not have ended
  bool freed = false;     // nothing is left
  bool overdue = false;   // a request of it does not end: nobody waits for its release
};

// Descriptors that wait for a child to take them.
struct Inheritance {
  std::uint64_t id[2] = {0, 0};
  std::shared_ptr<Process> parent;
  Descriptors descriptors;
  bool taken = false;
};

class ProcessTable {
 public:
  // epoll: for the watches alone, with the pid as data.
  ProcessTable(Machine& machine, int epoll) : machine_(machine), epoll_(epoll) {}
  ~ProcessTable();

  // Before anything else.
  void limit_connections(std::size_t of_process) { most_connections_ = of_process; }
  // The process of that pid, made when it is new; nullptr with *error (-errno and
  // text) when it is not there or there are too many.
  std::shared_ptr<Process> find(std::uint32_t pid, std::uint32_t uid, std::uint64_t start_time,
                                int socket, bool watches, std::string* error);
  // The connection is over. Releases what a dead process held, when it was the last.
  void leave(const std::shared_ptr<Process>& process, int socket);
  // Watches that have fired.
  void collect();
  // What processes that have ended held is free when this returns: whoever saw one
  // end finds it so. Not for long, should a request of such a process not end.
  void settle(Process& caller);
  std::size_t size();
  bool any_user();
  bool knows(std::uint32_t pid);
  void close_connections();

  int open(Process& process, const char* path, std::uint32_t flags);
  int close(Process& process, int fd);
  int duplicate(Process& process, int fd);
  // Of the machine, or -EBADF.
  static int descriptor(Process& process, int fd);

  std::shared_ptr<Inheritance> prepare(const std::shared_ptr<Process>& parent, int* error);
  // The connection that held it is over: what nobody took is closed.
  void give_up(const std::shared_ptr<Inheritance>& inheritance);
  int adopt(Process& child, const std::uint64_t id[2]);

 private:
  static int add(Process& process, int machine_fd);
  void died(std::uint32_t pid);
  void release(Process& process);
  void drop_if_unused(const std::shared_ptr<Process>& process);

  Machine& machine_;
  const int epoll_;
  std::size_t most_connections_ = kConnectionsOfProcess;
  std::atomic<std::uint32_t> dying_{0};  // dead and not yet released
  std::mutex mutex_;                     // before a process' own
  std::map<std::uint32_t, std::shared_ptr<Process>> processes_;
  std::vector<std::shared_ptr<Inheritance>> waiting_;
};

}  // namespace opennrt::emu::remote
