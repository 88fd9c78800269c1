// SPDX-License-Identifier: Apache-2.0
//
// Every process of the recording is a process: forked from the nursery, it opens
// the machine over the socket of a remote::Server and does what this process
// tells it. Buffers of requests are shared memory, at the same addresses in all.
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <map>
#include <thread>

#include "agent.h"
#include "agent_orders.h"
#include "buffer.h"
#include "launcher/tree.h"
#include "remote/client.h"
#include "remote/own_memory.h"
#include "remote/server.h"

namespace opennrt::replay {

namespace {

namespace remote = emu::remote;

[[noreturn]] void live(std::unique_ptr<remote::Client> client, int listener);

Done carry_out(std::unique_ptr<remote::Client>& client, const Order& order) {
  Done done;
  const std::string text(order.data, order.bytes);
  switch (order.what) {
    case Do::kOpen:
      done.result = client->open(text.c_str(), static_cast<std::uint32_t>(order.a));
      break;
    case Do::kClose:
      done.result = client->close(order.fd);
      break;
    case Do::kDuplicate:
      done.result = client->duplicate(order.fd);
      break;
    case Do::kIoctl:
      done.result = client->ioctl(order.fd, static_cast<std::uint32_t>(order.a), order.b);
      break;
    case Do::kMap: {
      void* out = nullptr;
      done.result =
          client->mmap(order.fd, order.a, static_cast<std::uint32_t>(order.b), order.c, &out);
      done.value = reinterpret_cast<std::uintptr_t>(out);
      break;
    }
    case Do::kUnmap:
      done.result = client->munmap(reinterpret_cast<void*>(order.a), order.b);
      break;
    case Do::kLoad:
      done.result = remote::read_own(order.a, done.data, order.b) == order.b ? 0 : -EFAULT;
      break;
    case Do::kStore:
      done.result = remote::write_own(order.a, order.data, order.bytes);
      break;
    case Do::kReadText:
      done.result = client->read_text(text.c_str(), done.data, order.a);
      break;
    case Do::kWriteText:
      done.result = client->write_text(text.substr(0, order.a).c_str(),
                                       std::string_view(text).substr(order.a));
      break;
    case Do::kFork: {
      remote::ForkToken token;
      done.result = client->fork_prepare(&token);
      if (done.result != 0) break;
      int ready[2];
      if (pipe2(ready, O_CLOEXEC) != 0) _exit(3);
      const pid_t pid = ::fork();
      if (pid == 0) {
        const int adopted = client->adopt(token);
        const int listener = listen_as_self();
        [[maybe_unused]] const ssize_t n = write(ready[1], &adopted, sizeof adopted);
        live(std::move(client), listener);
      }
      client->cancel(token);
      ::close(ready[1]);
      int adopted = -EIO;
      [[maybe_unused]] const ssize_t n = read(ready[0], &adopted, sizeof adopted);
      ::close(ready[0]);
      done.result = adopted;
      done.value = static_cast<std::uint64_t>(pid);
      break;
    }
    case Do::kEnd:
      _exit(0);
  }
  return done;
}

// A process of the recording: one thread per thread of the replay that orders.
void live(std::unique_ptr<remote::Client> client, int listener) {
  for (;;) {
    const int fd = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) _exit(0);
    std::thread([fd, &client] {
      auto order = std::make_unique<Order>();
      while (recv(fd, order.get(), sizeof *order, 0) == sizeof *order) {
        const Done done = carry_out(client, *order);
        if (send(fd, &done, sizeof done, MSG_NOSIGNAL) < 0) break;
      }
      ::close(fd);
    }).detach();
  }
}

int nursery = -1;  // packets: path of a socket, maybe "\n" and a tree, in; pid or -errno out

// An unmodified program in the place of this process.
[[noreturn]] void become_program(const std::string& socket, const std::string& tree, int parent) {
  setenv("LD_PRELOAD", OPENNRT_PRELOAD, 1);
  setenv("OPENNRT_EMU_PRELOAD", OPENNRT_PRELOAD, 1);
  setenv("OPENNRT_EMU_SOCKET", socket.c_str(), 1);
  setenv("OPENNRT_EMU_TREE", tree.c_str(), 1);
  fcntl(parent, F_SETFD, 0);
  std::vector<std::string> words = {OPENNRT_REPLAY_PROGRAM, std::to_string(parent)};
  for (const BufferRoom& room : buffer_rooms()) {
    fcntl(room.file, F_SETFD, 0);
    for (const std::size_t n :
         {static_cast<std::size_t>(room.file), room.address, room.bytes, room.count})
      words.push_back(std::to_string(n));
  }
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  execv(argv[0], argv.data());
  std::fprintf(stderr, "%s: %s\n", argv[0], std::strerror(errno));
  const std::int64_t word = -errno;
  send(parent, &word, sizeof word, MSG_NOSIGNAL);
  _exit(3);
}

[[noreturn]] void keep_nursery(int fd) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // Children of children end here; nobody asks how.
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  signal(SIGCHLD, SIG_IGN);
  char packet[1024];
  for (ssize_t n; (n = recv(fd, packet, sizeof packet, 0)) > 0;) {
    const std::string text(packet, static_cast<std::size_t>(n));
    const std::string path = text.substr(0, text.find('\n'));
    const pid_t pid = ::fork();
    if (pid == 0) {
      signal(SIGCHLD, SIG_DFL);
      if (path.size() != text.size()) become_program(path, text.substr(path.size() + 1), fd);
      remote::Options options;
      options.socket = path;
      options.start = false;
      std::string error;
      auto client = remote::Client::attach(options, &error);
      if (!client) std::fprintf(stderr, "%s\n", error.c_str());
      const int listener = listen_as_self();
      const std::int64_t word = client ? getpid() : -EIO;
      send(fd, &word, sizeof word, MSG_NOSIGNAL);
      ::close(fd);
      if (!client) _exit(3);
      live(std::move(client), listener);
    }
  }
  _exit(0);
}

class RemoteTransport;

class RemoteAgent final : public Agent {
 public:
  RemoteAgent(RemoteTransport& transport, std::uint32_t pid) : transport_(transport), pid_(pid) {}
  ~RemoteAgent() override {
    if (alive_) end();
  }
  std::uint32_t pid() const override { return pid_; }
  int open(const std::string& path, std::uint32_t flags) override {
    return static_cast<int>(tell(Do::kOpen, 0, flags, 0, 0, path).result);
  }
  int close(int fd) override { return static_cast<int>(tell(Do::kClose, fd).result); }
  int duplicate(int fd) override { return static_cast<int>(tell(Do::kDuplicate, fd).result); }
  std::int64_t ioctl(int fd, std::uint32_t request, std::uint64_t arg) override {
    return tell(Do::kIoctl, fd, request, arg).result;
  }
  int mmap(int fd, std::uint64_t bytes, std::uint32_t prot, std::uint64_t offset,
           std::uint64_t* address) override {
    const Done done = tell(Do::kMap, fd, bytes, prot, offset);
    *address = done.value;
    return static_cast<int>(done.result);
  }
  int munmap(std::uint64_t address, std::uint64_t bytes) override {
    return static_cast<int>(tell(Do::kUnmap, 0, address, bytes).result);
  }
  int load(std::uint64_t address, void* out, std::size_t bytes) override {
    auto* to = static_cast<char*>(out);
    for (std::size_t done = 0; done < bytes;) {
      const std::size_t n = std::min(bytes - done, sizeof(Done::data));
      const Done piece = tell(Do::kLoad, 0, address + done, n);
      if (piece.result != 0) return static_cast<int>(piece.result);
      std::memcpy(to + done, piece.data, n);
      done += n;
    }
    return 0;
  }
  int store(std::uint64_t address, const void* in, std::size_t bytes) override {
    return static_cast<int>(
        tell(Do::kStore, 0, address, 0, 0, std::string(static_cast<const char*>(in), bytes))
            .result);
  }
  std::int64_t read_text(const std::string& path, char* out, std::size_t bytes) override {
    const Done done = tell(Do::kReadText, 0, bytes, 0, 0, path);
    std::memcpy(out, done.data, std::min(bytes, sizeof done.data));
    return done.result;
  }
  std::int64_t write_text(const std::string& path, const std::string& text) override {
    return tell(Do::kWriteText, 0, path.size(), 0, 0, path + text).result;
  }
  std::unique_ptr<Agent> fork(std::uint32_t, std::vector<int>*) override {
    const Done done = tell(Do::kFork, 0);
    if (done.result != 0)
      throw std::runtime_error("fork: " +
                               std::string(std::strerror(static_cast<int>(-done.result))));
    return std::make_unique<RemoteAgent>(transport_, static_cast<std::uint32_t>(done.value));
  }
  void end() override;

 private:
  Done tell(Do what, int fd, std::uint64_t a = 0, std::uint64_t b = 0, std::uint64_t c = 0,
            const std::string& text = {});

  RemoteTransport& transport_;
  const std::uint32_t pid_;
  bool alive_ = true;
};

class RemoteTransport final : public Transport {
 public:
  RemoteTransport(emu::Machine& machine, remote::ServerOptions options)
      : machine_(machine), server_(machine, std::move(options)) {}
  ~RemoteTransport() override {
    server_.stop();
    if (thread_.joinable()) thread_.join();
    if (!tree_.empty()) emu::launcher::remove_tree(tree_);
  }
  // programs: the processes are unmodified programs that see a tree of names.
  bool listen(bool programs, std::string* error) {
    if (!server_.listen(error)) return false;
    if (programs) {
      tree_ = server_.options().socket + "-tree";
      const auto exists = [&](const std::string& name) {
        return machine_.exists(name.c_str()) == 1;
      };
      if (!emu::launcher::make_tree(tree_, exists, error)) return false;
    }
    thread_ = std::thread([this] { server_.run(); });
    return true;
  }
  std::unique_ptr<Agent> start(std::uint32_t) override {
    const std::string path = server_.options().socket + (tree_.empty() ? "" : "\n" + tree_);
    std::int64_t word = -EIO;
    if (send(nursery, path.data(), path.size(), MSG_NOSIGNAL) < 0 ||
        recv(nursery, &word, sizeof word, 0) != sizeof word || word < 0)
      throw std::runtime_error("a process of the recording does not start");
    return std::make_unique<RemoteAgent>(*this, static_cast<std::uint32_t>(word));
  }
  void wait_for_end(std::uint32_t pid) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (server_.processes().knows(pid)) {
      if (std::chrono::steady_clock::now() > deadline)
        throw std::runtime_error("the daemon does not notice the end of a process");
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  }

 private:
  emu::Machine& machine_;
  remote::Server server_;
  std::string tree_;  // empty: the processes are of this program
  std::thread thread_;
};

// A connection per thread and process.
Done RemoteAgent::tell(Do what, int fd, std::uint64_t a, std::uint64_t b, std::uint64_t c,
                       const std::string& text) {
  struct Lines {
    std::map<std::uint32_t, int> open;
    ~Lines() {
      for (const auto& [pid, line] : open) ::close(line);
    }
  };
  thread_local Lines lines;
  int& line = lines.open.try_emplace(pid_, -1).first->second;
  if (line < 0) {
    socklen_t size = 0;
    const sockaddr_un address = name_of(pid_, &size);
    line = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (connect(line, reinterpret_cast<const sockaddr*>(&address), size) != 0)
      throw std::runtime_error("process " + std::to_string(pid_) +
                               " of the recording is not there");
  }
  auto order = std::make_unique<Order>();
  order->what = what;
  order->fd = fd;
  order->a = a;
  order->b = b;
  order->c = c;
  order->bytes = static_cast<std::uint32_t>(std::min(text.size(), sizeof order->data));
  std::memcpy(order->data, text.data(), order->bytes);
  Done done;
  if (send(line, order.get(), sizeof *order, MSG_NOSIGNAL) < 0 ||
      recv(line, &done, sizeof done, 0) != sizeof done) {
    if (what != Do::kEnd) throw std::runtime_error("a process of the recording has ended");
    ::close(line);
    lines.open.erase(pid_);
  }
  return done;
}

void RemoteAgent::end() {
  alive_ = false;
  tell(Do::kEnd, 0);
  transport_.wait_for_end(pid_);
}

}  // namespace

bool start_nursery() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return false;
  const pid_t pid = ::fork();
  if (pid < 0) return false;
  if (pid == 0) {
    ::close(ends[0]);
    keep_nursery(ends[1]);
  }
  ::close(ends[1]);
  nursery = ends[0];
  return true;
}

std::unique_ptr<Transport> make_remote(emu::Machine& machine, bool programs, std::string* error) {
  static int count = 0;
  remote::ServerOptions options;
  options.socket = std::filesystem::temp_directory_path().string() + "/opennrt-replay-" +
                   std::to_string(getpid()) + "-" + std::to_string(count++);
  auto transport = std::make_unique<RemoteTransport>(machine, std::move(options));
  if (!transport->listen(programs, error)) return nullptr;
  return transport;
}

}  // namespace opennrt::replay
