// SPDX-License-Identifier: Apache-2.0
//
// The software device of the machine, seen from a process that uses it: the
// calls of emu::Machine, answered by opennrt-emud over a socket. Needs the C
// and C++ libraries only, so that any program can link it.
//
// Threading: all members may be called from any thread. Each thread talks over a
// connection of its own, made at its first call and closed when it ends.
//
// Fork: in a child every call returns -EACCES until adopt(); the connections it
// inherited are closed by a fork handler.
//
// The daemon may end at any time. Every call then returns kDaemonGone and lost()
// says what is known; what is mapped stays readable.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace opennrt::emu::remote {

// Result of every call after the daemon has ended.
inline constexpr int kDaemonGone = -EOWNERDEAD;

// One key of the configuration that makes up the machine, and its value.
using Setting = std::pair<std::string, std::string>;

struct Options {
  std::string socket;  // empty: default_socket()
  std::string daemon;  // path of opennrt-emud, empty: find_daemon()
  bool start = true;   // start the daemon when none serves the socket
  // Only looks: does not keep a daemon that is idle, and has lost one that did not
  // answer in time, so that all its calls together wait no longer.
  bool watch = false;
  // Longest time that an answer takes, by default with much room: core init waits
  // 5 s, a large copy seconds.
  std::uint32_t patience_ms = 120'000;
  // What the machine must be: emulator.* keys and their values. A daemon that is
  // started gets them too; a running one with other values is refused.
  std::vector<Setting> settings;
  std::uint32_t start_timeout_ms = 60'000;
};

// $XDG_RUNTIME_DIR/opennrt/emud.sock, else /run/opennrt/emud.sock.
std::string default_socket();
// OPENNRT_EMUD, else opennrt-emud beside this code: in its directory, its ../bin
// and so on up the places an install or a build tree has. Empty: none.
std::string find_daemon();

// Descriptors of the parent, held for one child. Plain data: survives fork.
struct ForkToken {
  std::uint64_t id[2] = {0, 0};
  int hold = -1;  // a connection; the descriptors are given up when its last copy is closed
};

class Client {
 public:
  // nullptr with *error: what failed, on which path, what to do.
  static std::unique_ptr<Client> attach(const Options& options, std::string* error);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // The members of emu::Machine with the same names; results are >= 0 or -errno.
  // Descriptors are numbers from kFirstDescriptor up, no descriptors of the kernel,
  // and mean something in this process (and an adopted child) only.
  static constexpr int kFirstDescriptor = 1 << 20;
  int open(const char* path, std::uint32_t flags);
  int close(int fd);
  int duplicate(int fd);
  std::int64_t ioctl(int fd, std::uint32_t request, std::uint64_t arg);
  // address: where the mapping goes, replacing what is there; null: anywhere.
  int mmap(int fd, std::uint64_t bytes, std::uint32_t prot, std::uint64_t offset, void** out,
           void* address = nullptr);
  int munmap(void* address, std::uint64_t bytes);
  int exists(const char* path);
  std::int64_t read_text(const char* path, char* buffer, std::size_t n);
  std::int64_t write_text(const char* path, std::string_view text);
  int control(const char* request, std::string* reply);

  // Returns when the device has got on since the last call of this thread, at
  // most after about `us`.
  void sleep_us(std::uint32_t us);

  // A child that goes on using the parent's descriptors: prepare in the parent
  // before fork; adopt in the child, which then is a process of its own, not
  // attached to any device, with the parent's descriptor numbers; cancel in the
  // parent after fork, whether or not it succeeded.
  int fork_prepare(ForkToken* token);
  int adopt(const ForkToken& token);
  void cancel(const ForkToken& token);

  // Empty while the daemon lives and answers; else its pid and how it ended, as far as
  // known, or why it does not answer and what to do.
  std::string lost() const;
  std::uint32_t daemon_pid() const;
  // Where the daemon writes its log.
  const std::string& log_path() const;

 private:
  struct State;
  explicit Client(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace opennrt::emu::remote
