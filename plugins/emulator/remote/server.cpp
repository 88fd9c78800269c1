// SPDX-License-Identifier: Apache-2.0
#include "remote/server.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstring>
#include <new>

#include "remote/session.h"
#include "remote/spawn.h"

namespace opennrt::emu::remote {

namespace {

constexpr std::uint64_t kRunRecords = 4096;   // as the port in one process
constexpr std::size_t kStackBytes = 1 << 20;  // of a connection
constexpr std::uint64_t kListen = UINT64_MAX, kWake = UINT64_MAX - 1,
                        kDeaths = UINT64_MAX - 2;  // epoll data
constexpr std::size_t kPageBytes = 4096;
constexpr std::size_t kOwnDescriptors =
    128;  // of the machine, logs, one connection that is refused
// A device looks itself once in a while: what it waits for may be memory that a
// process has mapped.
constexpr std::chrono::milliseconds kLook{20};

std::uint64_t now_ms() {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(
                                        std::chrono::steady_clock::now().time_since_epoch())
                                        .count());
}

// As many as descriptors allow, with one for the end of each process.
std::size_t connections() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return kConnections;
  const std::size_t others = kProcesses + kOwnDescriptors;
  return std::clamp<std::size_t>(limit.rlim_cur, others + 1, others + kConnections) - others;
}

struct Start {
  Server* server;
  int socket;
};

}  // namespace

bool SocketLock::take(const std::string& socket, std::string* error) {
  error->clear();
  const std::string path = socket + ".lock";
  fd_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd_ < 0) {
    *error = path + " cannot be created: " + std::strerror(errno) +
             "; set emulator.socket to a path that this user may write";
    return false;
  }
  if (flock(fd_, LOCK_EX | LOCK_NB) == 0) return true;
  if (errno != EWOULDBLOCK) *error = path + " cannot be locked: " + std::strerror(errno);
  return false;
}

SocketLock::~SocketLock() {
  if (fd_ >= 0) ::close(fd_);
}

Server::Server(Machine& machine, ServerOptions options)
    : machine_(machine),
      options_(std::move(options)),
      epoll_(epoll_create1(EPOLL_CLOEXEC)),
      deaths_(epoll_create1(EPOLL_CLOEXEC)),
      listen_(options_.listener),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      processes_(machine, deaths_),
      most_sessions_(connections()) {
  // Some are left for others, whatever one process does.
  processes_.limit_connections(std::min(kConnectionsOfProcess, (most_sessions_ + 3) / 4));
  for (std::uint32_t i = 0; i < machine.devices(); ++i) {
    DeviceMemory& memory = *machine.node(i)->memory;
    if (i == 0) regions_.push_back(&memory.host());
    for (std::uint32_t c = 0; c < memory.hbm_channels(); ++c) regions_.push_back(&memory.hbm(c));
    for (std::uint32_t c = 0; c < memory.cores(); ++c) regions_.push_back(&memory.sbuf(c));
    runners_.push_back(std::make_unique<Runner>());
  }
}

bool Server::bind_socket(std::string* error) {
  sockaddr_un address;
  if (!socket_address(options_.socket, &address, error)) return false;
  struct stat there{};
  if (lstat(options_.socket.c_str(), &there) == 0 && !S_ISSOCK(there.st_mode)) {
    *error = options_.socket +
             " exists and is no socket; move it away, or set emulator.socket to another path";
    return false;
  }
  ::unlink(options_.socket.c_str());
  listen_ = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  // For the moment between bind and chmod.
  const mode_t mask = umask(0177);
  const bool bound = listen_ >= 0 && bind(listen_, reinterpret_cast<const sockaddr*>(&address),
                                          sizeof address) == 0;
  const int reason = errno;
  umask(mask);
  if (bound) return true;
  *error = "socket " + options_.socket + " cannot be bound: " + std::strerror(reason);
  if (reason != EMFILE && reason != ENFILE && reason != ENOMEM)
    *error += "; set emulator.socket to a path that this user may write";
  return false;
}

bool Server::listen(std::string* error) {
  page_fd_ = memfd_create("opennrt-emud", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  void* page = MAP_FAILED;
  if (page_fd_ >= 0 && ftruncate(page_fd_, kPageBytes) == 0)
    page = mmap(nullptr, kPageBytes, PROT_READ | PROT_WRITE, MAP_SHARED, page_fd_, 0);
  if (epoll_ < 0 || deaths_ < 0 || wake_ < 0 || page == MAP_FAILED) {
    *error = std::string("no memory or descriptors for the daemon: ") + std::strerror(errno);
    return false;
  }
  page_ = new (page) SharedPage{};
  // From here on nobody else gets a writable view.
  fcntl(page_fd_, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL);

  if (listen_ < 0 && !bind_socket(error)) return false;
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = kListen;
  // Also on a socket that listens already: from now on clients see this process
  // behind it, not the one that made it.
  if (::listen(listen_, SOMAXCONN) != 0 || epoll_ctl(epoll_, EPOLL_CTL_ADD, listen_, &event) != 0) {
    *error = "socket " + options_.socket + " cannot be served: " + std::strerror(errno);
    return false;
  }
  event.data.u64 = kWake;
  epoll_ctl(epoll_, EPOLL_CTL_ADD, wake_, &event);
  event.data.u64 = kDeaths;
  epoll_ctl(epoll_, EPOLL_CTL_ADD, deaths_, &event);
  for (std::uint32_t i = 0; i < runners_.size(); ++i)
    runners_[i]->thread = std::thread([this, i] { run_device(i); });
  return true;
}

Server::~Server() {
  stopping_ = true;
  if (listen_ >= 0) {
    if (options_.listener < 0) ::unlink(options_.socket.c_str());
    ::close(listen_);
  }
  for (;;) {
    processes_.close_connections();
    std::unique_lock lock(sessions_mutex_);
    if (sessions_changed_.wait_for(lock, std::chrono::milliseconds(100),
                                   [this] { return sessions_ == 0; }))
      break;
  }
  for (auto& runner : runners_) {
    {
      std::lock_guard lock(runner->mutex);
      runner->wanted = true;
    }
    runner->changed.notify_one();
    if (runner->thread.joinable()) runner->thread.join();
  }
  if (page_) munmap(page_, kPageBytes);
  for (const int fd : {epoll_, deaths_, wake_, page_fd_})
    if (fd >= 0) ::close(fd);
}

void Server::stop() {
  stopping_ = true;
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t n = write(wake_, &one, sizeof one);
}

std::string Server::difference(const std::string& asked) const {
  std::size_t at = 0;
  while (at < asked.size()) {
    const std::size_t end = std::min(asked.find('\n', at), asked.size());
    const std::string line = asked.substr(at, end - at);
    at = end + 1;
    const std::size_t equals = line.find('=');
    if (equals == std::string::npos) return ": a setting without a value";
    const std::string key = line.substr(0, equals), value = line.substr(equals + 1);
    const auto mine = std::find_if(options_.settings.begin(), options_.settings.end(),
                                   [&](const Setting& s) { return s.first == key; });
    const auto show = [](const std::string& text) { return text.empty() ? "unset" : text; };
    if (mine == options_.settings.end()) return " does not know the setting " + key;
    const bool same = mine->second == value || (options_.plain_number != nullptr &&
                                                mine->second == options_.plain_number(value));
    if (!same)
      return " runs a machine with " + key + " " + show(mine->second) + ", this process asks for " +
             show(value) +
             "; use the same setting, end the daemon, or set emulator.socket to another path";
  }
  return "";
}

void Server::progress() {
  auto* word = &page_->progress;
  __atomic_add_fetch(word, 1, __ATOMIC_RELEASE);
  syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void Server::wake_devices() {
  for (std::uint32_t i = 0; i < runners_.size(); ++i) {
    if (!machine_.node(i)->device->runnable()) continue;
    Runner& runner = *runners_[i];
    {
      std::lock_guard lock(runner.mutex);
      if (runner.wanted) continue;
      runner.wanted = true;
    }
    runner.changed.notify_one();
  }
}

void Server::run_device(std::uint32_t index) {
  pthread_setname_np(pthread_self(), ("device " + std::to_string(index)).c_str());
  Runner& runner = *runners_[index];
  Device& device = *machine_.node(index)->device;
  while (!stopping_.load(std::memory_order_relaxed)) {
    {
      std::lock_guard lock(runner.mutex);
      runner.wanted = false;
    }
    bool ran = false;
    try {
      ran = device.runnable() && device.run(kRunRecords);
    } catch (const std::bad_alloc&) {
      machine_.log(NRTP_LOG_ERROR, "device %u: no memory left to go on", index);
    }
    if (ran) {
      progress();
      if (runners_.size() > 1) wake_devices();  // it may have written to another one
      continue;
    }
    std::unique_lock lock(runner.mutex);
    runner.changed.wait_for(lock, kLook, [&] { return runner.wanted; });
  }
}

void Server::refuse(int socket) {
  const std::string text =
      "opennrt-emud (pid " + std::to_string(getpid()) + ") has " + std::to_string(most_sessions_) +
      " connections, the most it may have (ulimit -n of the daemon); end a process that uses it";
  Head head{.kind = Kind::kRefused};
  head.result = -EAGAIN;
  head.bytes = static_cast<std::uint32_t>(text.size());
  iovec parts[2] = {{&head, sizeof head}, {const_cast<char*>(text.data()), text.size()}};
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = 2;
  // The first packet of a new connection always has room.
  [[maybe_unused]] const ssize_t n = sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
  ::close(socket);
}

void Server::accept_one() {
  const int socket = accept4(listen_, nullptr, nullptr, SOCK_CLOEXEC);
  if (socket < 0) {
    // Out of descriptors: those who wait are served when others leave.
    if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return;
  }
  bool room = false;
  {
    std::lock_guard lock(sessions_mutex_);
    room = sessions_ < most_sessions_;
    sessions_ += room;
  }
  if (!room) return refuse(socket);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  auto* start = new (std::nothrow) Start{this, socket};
  pthread_t thread;
  const auto body = [](void* p) -> void* {
    const std::unique_ptr<Start> mine(static_cast<Start*>(p));
    Server& server = *mine->server;
    bool watching = false;
    try {
      Session(server, mine->socket, &watching).run();
    } catch (...) {
      // No memory to begin with: the connection is closed.
    }
    std::lock_guard lock(server.sessions_mutex_);
    --server.sessions_;
    server.watching_ -= watching;
    server.sessions_changed_.notify_all();
    return nullptr;
  };
  const int failed = start ? pthread_create(&thread, &attributes, body, start) : ENOMEM;
  pthread_attr_destroy(&attributes);
  if (failed == 0) return;
  delete start;
  ::close(socket);
  std::lock_guard lock(sessions_mutex_);
  --sessions_;
}

void Server::watches(bool* watching) {
  std::lock_guard lock(sessions_mutex_);
  *watching = true;
  ++watching_;
}

bool Server::idle_since(std::uint64_t now) {
  bool used = processes_.any_user();
  if (!used) {
    std::lock_guard lock(sessions_mutex_);
    used = sessions_ != watching_;
  }
  if (used)
    idle_ms_ = 0;
  else if (idle_ms_ == 0)
    idle_ms_ = now;
  return idle_ms_ != 0 && now - idle_ms_ >= std::uint64_t{options_.idle_exit_s} * 1000;
}

std::string Server::run() {
  constexpr int kEvents = 64, kTickMs = 200;
  idle_ms_ = now_ms();
  while (!stopping_) {
    epoll_event events[kEvents];
    const int n = epoll_wait(epoll_, events, kEvents, kTickMs);
    for (int i = 0; i < n; ++i) {
      if (events[i].data.u64 == kListen)
        accept_one();
      else if (events[i].data.u64 == kDeaths)
        processes_.collect();
    }
    if (idle_since(now_ms()))
      return "nobody has used it for " + std::to_string(options_.idle_exit_s) + " s";
  }
  return "it was told to end";
}

}  // namespace opennrt::emu::remote
