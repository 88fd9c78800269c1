// SPDX-License-Identifier: Apache-2.0
//
// Serves one Machine to the processes of one user over a socket.
//
// Threads: the caller of run() accepts connections and notices the end of
// processes; each connection has a thread; each device has one that runs it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "driver/machine.h"
#include "remote/client.h"
#include "remote/process.h"
#include "remote/protocol.h"

namespace opennrt::emu::remote {

struct ServerOptions {
  std::string socket;
  std::string version = OPENNRT_VERSION;
  std::vector<Setting> settings;  // what the machine is; clients compare
  // The form that numbers have in `settings`, whatever a client writes.
  std::string (*plain_number)(const std::string& text) = nullptr;
  std::string log;  // told to clients
  std::uint32_t idle_exit_s = 10;
  // Bound to `socket` by a service manager, who keeps it; -1: made here. Owned.
  int listener = -1;
};

// The right to serve a socket, for as long as it lives: a lock on SOCKET.lock.
class SocketLock {
 public:
  // False with an empty *error: another one has it.
  bool take(const std::string& socket, std::string* error);
  ~SocketLock();

 private:
  int fd_ = -1;
};

class Server {
 public:
  Server(Machine& machine, ServerOptions options);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Removes a socket that nobody serves, binds a new one, or takes over the one that
  // was passed. The caller has the lock.
  bool listen(std::string* error);
  // Until stop() or nobody has used the machine for idle_exit_s; says why.
  std::string run();
  // From any thread or signal handler.
  void stop();

  Machine& machine() { return machine_; }
  ProcessTable& processes() { return processes_; }
  const ServerOptions& options() const { return options_; }
  const std::vector<const Region*>& regions() const { return regions_; }
  int page_fd() const { return page_fd_; }
  SharedPage* page() { return page_; }
  // " has ..., this process asks for ...", empty: it is the machine asked for.
  std::string difference(const std::string& asked) const;
  // After a request: runs what it made runnable.
  void wake_devices();
  // A connection that does not keep the machine: its *watching is set.
  void watches(bool* watching);

 private:
  struct Runner {
    std::mutex mutex;
    std::condition_variable changed;
    bool wanted = false;
    std::thread thread;
  };
  void run_device(std::uint32_t index);
  bool bind_socket(std::string* error);
  void accept_one();
  void refuse(int socket);
  bool idle_since(std::uint64_t now_ms);
  void progress();

  Machine& machine_;
  const ServerOptions options_;
  int epoll_ = -1, deaths_ = -1, listen_ = -1, wake_ = -1, page_fd_ = -1;
  SharedPage* page_ = nullptr;
  std::vector<const Region*> regions_;
  ProcessTable processes_;
  std::vector<std::unique_ptr<Runner>> runners_;
  std::atomic<bool> stopping_{false};
  std::uint64_t idle_ms_ = 0;  // since when nobody is there, 0 = somebody is

  std::size_t most_sessions_ = 0;
  std::mutex sessions_mutex_;
  std::condition_variable sessions_changed_;
  std::size_t sessions_ = 0, watching_ = 0;
};

}  // namespace opennrt::emu::remote
