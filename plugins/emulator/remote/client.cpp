// SPDX-License-Identifier: Apache-2.0
#include "remote/client.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <map>
#include <mutex>
#include <new>

#include "remote/channel.h"
#include "remote/own_memory.h"
#include "remote/spawn.h"

namespace opennrt::emu::remote {

namespace {

constexpr int kEndMs = 500;  // from the end of a connection to that of its process
constexpr std::uint32_t kShortestSleepUs = 200;
constexpr std::uint64_t kPage = 4096;
constexpr int kNothingSent = -1001;  // the payload is not there

std::uint64_t number(const void* p) {
  return static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(p));
}
std::string text_of(const Message& message) {
  return std::string(reinterpret_cast<const char*>(message.payload), message.head.bytes);
}

// Why it does not answer, and what to do.
std::string unanswered(std::uint32_t pid, std::uint32_t patience_ms) {
  const std::string number = std::to_string(pid);
  const std::string who = "opennrt-emud (pid " + number + ") ";
  char seconds[24];
  std::snprintf(seconds, sizeof seconds, "%g s", patience_ms / 1000.0);
  const std::string late = "has not answered for " + std::string(seconds);
  const std::string end = "kill -9 " + number + " ends it";
  switch (process_state(static_cast<pid_t>(pid))) {
    case 'T':
      return who + "is stopped and " + late + "; kill -CONT " + number + " lets it go on, " + end;
    case 't':
      return who + "is stopped by a debugger and " + late + "; let it go on there, or " + end;
    default:
      return who + late + "; if it stays so, " + end;
  }
}

// A connection of one thread.
struct Connection {
  explicit Connection(int fd) : channel(fd) {}
  Channel channel;
  Writer writer;
  const void* owner = nullptr;  // the client's state, null when that is gone
  std::uint32_t seen = 0;       // progress when this thread last looked
  bool busy = false;            // a signal handler must not speak in between
};

// Connections by client, for those who end: threads, clients, forked children.
// Locked during fork, so that a child finds it whole.
struct Registry {
  std::mutex mutex;
  std::vector<Connection*> connections;
  pthread_key_t key{};
};

// Never destroyed: calls come until the very end of a process.
Registry& registry() {
  static Registry* const all = [] {
    auto* made = new Registry;
    // The connections of a thread end with it; those of the main thread stay.
    pthread_key_create(&made->key, [](void* list) {
      auto* mine = static_cast<std::vector<Connection*>*>(list);
      Registry& r = registry();
      const std::lock_guard lock(r.mutex);
      for (Connection* c : *mine) {
        std::erase(r.connections, c);
        delete c;
      }
      delete mine;
    });
    return made;
  }();
  return *all;
}

void before_fork() { registry().mutex.lock(); }
void in_parent() { registry().mutex.unlock(); }
// The child must not speak over its parent's connections.
void in_child() {
  for (Connection* c : registry().connections) {
    c->channel.close();
    c->writer.forget();
    c->owner = nullptr;
  }
  registry().connections.clear();
  registry().mutex.unlock();
}

// The process as the daemon knows it. Emptied in a forked child, by whatever way
// it came about, so that the child is told apart without a system call.
struct Identity {
  std::atomic<std::uint32_t> pid;
};

struct RegionView {
  int fd = -1;
  std::uint8_t* base = nullptr;
  std::uint64_t bytes = 0;
};

class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  ~Descriptor() { reset(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  void reset(int fd = -1) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = fd;
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

}  // namespace

struct Client::State {
  Options options;
  std::string socket, log;
  std::uint32_t pid = 0;  // of the daemon
  Descriptor process;     // pidfd of it
  const SharedPage* page = nullptr;
  Identity* identity = nullptr;
  std::atomic<std::uint32_t> owner{0};
  std::atomic<bool> gone{false}, silent{false};

  // Guarded by the registry's mutex, which a forked child finds free.
  std::vector<RegionView> regions;
  std::map<std::uint64_t, std::uint64_t> mappings;  // address -> bytes

  ~State() {
    for (const RegionView& r : regions) {
      if (r.base) ::munmap(r.base, r.bytes);
      if (r.fd >= 0) ::close(r.fd);
    }
    if (page) ::munmap(const_cast<SharedPage*>(page), kPage);
    if (identity) ::munmap(identity, kPage);
  }

  bool mine() const { return identity->pid.load(std::memory_order_relaxed) == owner; }
  int take_identity();
  enum class Connected { kYes, kRetry, kNobody, kRefused, kFailed };
  Connected connect(std::unique_ptr<Connection>* out, const ForkToken* token, std::string* error);
  Connected greet(Connection& connection, const ForkToken* token, std::uint32_t peer,
                  std::uint32_t* daemon, std::string* error);
  int attach(std::string* error);
  int connection(Connection** out);
  void adopt_connection(std::unique_ptr<Connection> connection);
  void drop(Connection* connection);
  int attempt(const Head& head, const void* payload, std::size_t bytes, Message* reply,
              Connection** used);
  int transact(const Head& head, const void* payload, std::size_t bytes, Message* reply);
  int converse(Connection& c, const Head& head, const void* payload, std::size_t bytes,
               Message* reply);
  int answer(Connection& c, Message& question);
  int move(const Message& question);
  int region(std::uint64_t id, int descriptor, std::uint64_t bytes, RegionView* out);
  int ended();
};

namespace {

// Makes the writes of a payload in their order. *descriptor, if any, becomes the
// content of write `at`.
int apply_writes(Writer& writer, const std::uint8_t* payload, std::size_t size, std::uint64_t count,
                 std::uint64_t at, int descriptor) {
  std::size_t offset = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    Write write;
    if (size - offset < sizeof write) return -EPROTO;
    std::memcpy(&write, payload + offset, sizeof write);
    offset += sizeof write;
    if (padded(write.bytes) > size - offset) return -EPROTO;
    const void* data = payload + offset;
    offset += padded(write.bytes);
    if (i + 1 == at && descriptor >= 0 && write.bytes == sizeof descriptor) data = &descriptor;
    if (writer.write(write.address, data, write.bytes) != 0) return -EFAULT;
  }
  return 0;
}

}  // namespace

int Client::State::take_identity() {
  if (!identity) {
    void* p = ::mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) return -ENOMEM;
    identity = new (p) Identity{};
    madvise(p, kPage, MADV_WIPEONFORK);
  }
  owner = static_cast<std::uint32_t>(getpid());
  identity->pid.store(owner, std::memory_order_relaxed);
  return 0;
}

// Says hello and takes the welcome. peer: pid of who made the socket, 0: not known;
// that may be a service manager.
Client::State::Connected Client::State::greet(Connection& connection, const ForkToken* token,
                                              std::uint32_t peer, std::uint32_t* daemon,
                                              std::string* error) {
  std::string payload(sizeof(Hello), '\0');
  std::strncpy(payload.data(), OPENNRT_VERSION, sizeof(Hello) - 1);
  for (const Setting& s : options.settings) payload += s.first + "=" + s.second + "\n";
  Head hello{.kind = Kind::kHello};
  hello.result = options.watch ? kWatches : 0;
  hello.arg[0] = kHelloMagic;
  hello.arg[1] = kProtocol;
  hello.arg[2] = process_start_time(getpid());
  hello.arg[3] = static_cast<std::uint64_t>(getpid());
  Message reply;
  int r = connection.channel.send(hello, payload.data(), payload.size());
  if (r == -EMSGSIZE) {
    *error = "the emulator.* settings have more than " + std::to_string(kMaxPayload) + " bytes";
    return Connected::kFailed;
  }
  // A refusal may have come, and the end, before the hello was on its way.
  if (r == 0 || r == -EPIPE) r = connection.channel.receive(&reply, true);
  if (r == -EPIPE || r == -ECONNRESET) return Connected::kRetry;  // it was just ending
  if (r == -ETIMEDOUT) silent = true;
  if (r == -ETIMEDOUT && process_name(static_cast<pid_t>(peer)) == "opennrt-emud") {
    *error = unanswered(peer, options.patience_ms);
    return Connected::kFailed;
  }
  if (r != 0) {
    *error = "the daemon behind " + socket + " does not answer: " + std::strerror(-r);
    return Connected::kFailed;
  }
  Descriptor shared(reply.descriptor);
  if (reply.head.kind == Kind::kRefused) {
    *error = text_of(reply);
    return Connected::kRefused;
  }
  if (reply.head.kind != Kind::kWelcome) {
    *error = "what answers at " + socket + " is no opennrt-emud";
    return Connected::kFailed;
  }
  *daemon = static_cast<std::uint32_t>(reply.head.arg[0]);
  if (!page) {
    void* p = ::mmap(nullptr, kPage, PROT_READ, MAP_SHARED, shared.get(), 0);
    if (p == MAP_FAILED) {
      *error = std::string("the daemon's shared page cannot be mapped: ") + std::strerror(errno);
      return Connected::kFailed;
    }
    page = static_cast<const SharedPage*>(p);
    log = text_of(reply);
  }
  if (!token) return Connected::kYes;
  Head adopt{.kind = Kind::kAdopt};
  adopt.arg[0] = token->id[0];
  adopt.arg[1] = token->id[1];
  r = converse(connection, adopt, nullptr, 0, &reply);
  if (r == 0 && reply.head.result == 0) return Connected::kYes;
  *error = "the parent's descriptors are not there any more";
  return Connected::kFailed;
}

Client::State::Connected Client::State::connect(std::unique_ptr<Connection>* out,
                                                const ForkToken* token, std::string* error) {
  sockaddr_un address;
  if (!socket_address(socket, &address, error)) return Connected::kFailed;
  auto made = std::make_unique<Connection>(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  const int fd = made->channel.fd();
  // Connecting waits, too, when more wait already than the queue holds.
  const timeval patience{static_cast<time_t>(options.patience_ms / 1000),
                         static_cast<suseconds_t>(options.patience_ms % 1000 * 1000)};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  if (fd < 0 || ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    const int reason = errno;
    if (fd >= 0 && (reason == ENOENT || reason == ECONNREFUSED)) return Connected::kNobody;
    if (fd >= 0 && reason == EAGAIN) {
      silent = true;
      *error = "the daemon behind " + socket + " takes no connection; if it stays so, end it";
      return Connected::kFailed;
    }
    *error = "no connection to " + socket + ": " + std::strerror(reason) +
             (reason == EACCES || reason == EPERM
                  ? "; it belongs to another user, set emulator.socket to a path of your own"
                  : "");
    return Connected::kFailed;
  }
  ucred peer{};
  socklen_t size = sizeof peer;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || peer.uid != geteuid()) {
    *error = socket + " is served by user " + std::to_string(peer.uid) + ", this process runs as " +
             std::to_string(geteuid()) + "; set emulator.socket to a path of your own";
    return Connected::kFailed;
  }
  if (pid != 0 && static_cast<std::uint32_t>(peer.pid) != pid) return Connected::kNobody;
  // The number that the daemon says, which shares our pid namespace or refuses: who
  // came before it served sees behind the socket the service manager that made it.
  std::uint32_t daemon = 0;
  const Connected greeted =
      greet(*made, token, static_cast<std::uint32_t>(peer.pid), &daemon, error);
  if (greeted != Connected::kYes) return greeted;
  if (pid == 0) {
    pid = daemon;
    process.reset(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  }
  *out = std::move(made);
  return Connected::kYes;
}

int Client::State::attach(std::string* error) {
  static const int registered = pthread_atfork(before_fork, in_parent, in_child);
  if (registered != 0 || take_identity() != 0) {
    *error = "no memory for the client of the software device";
    return -ENOMEM;
  }
  if (!prepare_directory(socket, error)) return -EACCES;
  timespec begin{};
  clock_gettime(CLOCK_MONOTONIC, &begin);
  for (;;) {
    std::unique_ptr<Connection> made;
    const Connected connected = connect(&made, nullptr, error);
    if (connected == Connected::kYes) {
      adopt_connection(std::move(made));
      return 0;
    }
    if (connected == Connected::kFailed || connected == Connected::kRefused) return -ECONNREFUSED;
    if (connected == Connected::kNobody) {
      if (!options.start) {
        *error = "nothing serves " + socket;
        return -ECONNREFUSED;
      }
      const Started started = start_daemon(options, socket, error);
      if (started == Started::kFailed) return -ECONNREFUSED;
      if (started == Started::kReady) continue;
    }
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (static_cast<std::uint64_t>(now.tv_sec - begin.tv_sec) * 1000 > options.start_timeout_ms) {
      *error = "another opennrt-emud holds " + socket + ".lock but does not serve " + socket +
               " after " + std::to_string(options.start_timeout_ms) + " ms; end it";
      return -ETIMEDOUT;
    }
    const timespec pause{0, 10'000'000};
    nanosleep(&pause, nullptr);
  }
}

void Client::State::adopt_connection(std::unique_ptr<Connection> connection) {
  Registry& r = registry();
  auto* list = static_cast<std::vector<Connection*>*>(pthread_getspecific(r.key));
  if (!list) {
    list = new std::vector<Connection*>;
    pthread_setspecific(r.key, list);
  }
  connection->owner = this;
  const std::lock_guard lock(r.mutex);
  std::erase_if(*list, [](Connection* c) {
    const bool unused = c->owner == nullptr;
    if (unused) delete c;
    return unused;
  });
  list->push_back(connection.get());
  r.connections.push_back(connection.release());
}

// The daemon closed it, or nothing more can be said over it.
void Client::State::drop(Connection* connection) {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  std::erase(r.connections, connection);
  connection->channel.close();
  connection->owner = nullptr;
}

int Client::State::ended() {
  pollfd wait{process.get(), POLLIN, 0};
  if (process.get() < 0 || poll(&wait, 1, kEndMs) == 1) {
    gone = true;
    return kDaemonGone;
  }
  return -EIO;  // it lives and did not like what we said
}

int Client::State::connection(Connection** out) {
  if (!mine()) return -EACCES;
  if (gone.load(std::memory_order_relaxed)) return kDaemonGone;
  if (options.watch && silent.load(std::memory_order_relaxed)) return kDaemonGone;
  if (auto* list = static_cast<std::vector<Connection*>*>(pthread_getspecific(registry().key)))
    for (Connection* c : *list)
      if (c->owner == this) {
        *out = c;
        return c->busy ? -EDEADLK : 0;
      }
  std::unique_ptr<Connection> made;
  std::string error;
  const Connected connected = connect(&made, nullptr, &error);
  if (connected == Connected::kRefused) return -EMFILE;  // this thread is one too many
  if (connected != Connected::kYes) {
    const int r = ended();
    return silent ? kDaemonGone : r;
  }
  *out = made.get();
  adopt_connection(std::move(made));
  return 0;
}

int Client::State::region(std::uint64_t id, int descriptor, std::uint64_t bytes, RegionView* out) {
  constexpr std::uint64_t kMostRegions = 4096;
  const std::lock_guard lock(registry().mutex);
  if (id < kMostRegions && regions.size() <= id) regions.resize(id + 1);
  if (id >= kMostRegions || (descriptor < 0 && regions[id].fd < 0)) {
    if (descriptor >= 0) ::close(descriptor);
    return -EPROTO;
  }
  RegionView& view = regions[id];
  if (view.fd < 0)
    view.fd = descriptor;
  else if (descriptor >= 0)
    ::close(descriptor);  // another thread got it first
  if (bytes != 0 && !view.base) {
    void* p =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, view.fd, 0);
    if (p == MAP_FAILED) return kCannotMap;
    madvise(p, bytes, MADV_DONTFORK);
    madvise(p, bytes, MADV_DONTDUMP);
    view.base = static_cast<std::uint8_t*>(p);
    view.bytes = bytes;
  }
  *out = view;
  return 0;
}

int Client::State::move(const Message& question) {
  const Head& head = question.head;
  std::uint64_t bytes = 0;
  if (head.bytes != sizeof bytes) return -EPROTO;
  std::memcpy(&bytes, question.payload, sizeof bytes);
  RegionView view;
  if (const int r = region(head.arg[3], question.descriptor, bytes, &view)) return r;
  if (head.arg[2] > view.bytes || head.arg[1] > view.bytes - head.arg[2]) return -EPROTO;
  return copy_own(head.arg[0], view.base + head.arg[2], head.arg[1], head.result == 0);
}

// A question about this process' memory.
int Client::State::answer(Connection& c, Message& question) {
  const Head& head = question.head;
  Head back{.kind = Kind::kUserData};
  if (head.kind == Kind::kUserMove) {
    const int r = move(question);
    if (r == -EPROTO) return r;
    back.result = r;
    return c.channel.send(back);
  }
  back.result = apply_writes(c.writer, question.payload, head.bytes, head.arg[2], 0, -1);
  if (back.result == -EPROTO) return -EPROTO;
  if (head.kind == Kind::kUserWrite) return c.channel.send(back);
  const std::size_t bytes = head.arg[1];
  if (bytes > kMaxPayload) return -EPROTO;
  const std::unique_ptr<std::uint8_t[]> data(new std::uint8_t[bytes]);
  if (back.result == 0 && read_own(head.arg[0], data.get(), bytes) != bytes) back.result = -EFAULT;
  return c.channel.send(back, data.get(), back.result == 0 ? bytes : 0);
}

int Client::State::converse(Connection& c, const Head& head, const void* payload, std::size_t bytes,
                            Message* reply) {
  int r = c.channel.send(head, payload, bytes, -1, false);
  if (r == -EFAULT) return kNothingSent;
  while (r == 0) {
    r = c.channel.receive(reply, true);
    if (r != 0) break;
    switch (reply->head.kind) {
      case Kind::kReply:
        return 0;
      case Kind::kUserMove:
      case Kind::kUserRead:
      case Kind::kUserWrite:
        r = answer(c, *reply);
        break;
      default:
        if (reply->descriptor >= 0) ::close(reply->descriptor);
        r = -EPROTO;
    }
  }
  return r;
}

int Client::State::attempt(const Head& head, const void* payload, std::size_t bytes, Message* reply,
                           Connection** used) {
  Connection* c = nullptr;
  if (const int r = connection(&c)) return r;
  *used = c;
  c->busy = true;
  const int r = converse(*c, head, payload, bytes, reply);
  c->busy = false;
  if (r == 0 || r == kNothingSent) return r;
  if (r == -EMSGSIZE) return -EINVAL;
  if (r == -ETIMEDOUT) silent = true;
  drop(c);
  if (r == -EPIPE || r == -ECONNRESET) return ended();
  return r == -ETIMEDOUT ? kDaemonGone : -EIO;
}

int Client::State::transact(const Head& head, const void* payload, std::size_t bytes,
                            Message* reply) {
  Connection* used = nullptr;
  const int r = attempt(head, payload, bytes, reply, &used);
  return r == kNothingSent ? -EFAULT : r;
}

std::unique_ptr<Client> Client::attach(const Options& options, std::string* error) {
  auto state = std::make_unique<State>();
  state->options = options;
  state->socket = options.socket.empty() ? default_socket() : options.socket;
  if (state->attach(error) != 0) return nullptr;
  return std::unique_ptr<Client>(new Client(std::move(state)));
}

Client::Client(std::unique_ptr<State> state) : state_(std::move(state)) {}

Client::~Client() {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  std::erase_if(r.connections, [this](Connection* c) {
    if (c->owner != state_.get()) return false;
    c->channel.close();
    c->owner = nullptr;  // its thread deletes it
    return true;
  });
}

int Client::open(const char* path, std::uint32_t flags) {
  Head head{.kind = Kind::kOpen};
  head.arg[0] = flags;
  Message reply;
  const int r = state_->transact(head, path, std::strlen(path), &reply);
  return r ? r : static_cast<int>(reply.head.result);
}

int Client::close(int fd) {
  Head head{.kind = Kind::kClose};
  head.arg[0] = static_cast<std::uint64_t>(fd);
  Message reply;
  const int r = state_->transact(head, nullptr, 0, &reply);
  return r ? r : static_cast<int>(reply.head.result);
}

int Client::duplicate(int fd) {
  Head head{.kind = Kind::kDuplicate};
  head.arg[0] = static_cast<std::uint64_t>(fd);
  Message reply;
  const int r = state_->transact(head, nullptr, 0, &reply);
  return r ? r : static_cast<int>(reply.head.result);
}

std::int64_t Client::ioctl(int fd, std::uint32_t request, std::uint64_t arg) {
  Head head{.kind = Kind::kIoctl};
  head.arg[0] = static_cast<std::uint64_t>(fd);
  head.arg[1] = request;
  head.arg[2] = arg;
  // Straight from the argument, as far as its page goes.
  const std::size_t near = arg ? std::min<std::size_t>(kEagerBytes, kPage - arg % kPage) : 0;
  Message reply;
  Connection* c = nullptr;
  int r = state_->attempt(head, reinterpret_cast<const void*>(arg), near, &reply, &c);
  if (r == kNothingSent) r = state_->attempt(head, nullptr, 0, &reply, &c);  // it is asked for
  if (r != 0) return r;
  const int applied = apply_writes(c->writer, reply.payload, reply.head.bytes, reply.head.arg[0],
                                   reply.head.arg[1], reply.descriptor);
  if (applied != 0 && reply.descriptor >= 0) ::close(reply.descriptor);
  return applied != 0 ? applied : reply.head.result;
}

int Client::mmap(int fd, std::uint64_t bytes, std::uint32_t prot, std::uint64_t offset, void** out,
                 void* address) {
  const std::uint64_t length = bytes > INT64_MAX ? 0 : (bytes + kPage - 1) & ~(kPage - 1);
  void* where = address;
  if (!where && length != 0) {
    where = ::mmap(nullptr, length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (where == MAP_FAILED) where = nullptr;  // the daemon says what is wrong with it
  }
  const auto give_up = [&](int result) {
    if (where && !address) ::munmap(where, length);
    return result;
  };
  Head head{.kind = Kind::kMap};
  head.arg[0] = static_cast<std::uint64_t>(fd);
  head.arg[1] = bytes;
  head.arg[2] = prot;
  head.arg[3] = offset;
  head.result = static_cast<std::int64_t>(number(where));
  Message reply;
  int r = state_->transact(head, nullptr, 0, &reply);
  if (r == 0) r = static_cast<int>(reply.head.result);
  if (r != 0) {
    if (reply.descriptor >= 0) ::close(reply.descriptor);
    return give_up(r);
  }
  RegionView view;
  r = state_->region(reply.head.arg[3], reply.descriptor, 0, &view);
  void* made = MAP_FAILED;
  if (r == 0 && where && length == reply.head.arg[1])
    made = ::mmap(where, length, PROT_READ | (reply.head.arg[2] ? PROT_WRITE : 0),
                  MAP_SHARED | MAP_NORESERVE | MAP_FIXED, view.fd,
                  static_cast<off_t>(reply.head.arg[0]));
  if (made == MAP_FAILED) {
    Head undo{.kind = Kind::kUnmap};
    undo.arg[0] = number(where);
    undo.arg[1] = length;
    (void)state_->transact(undo, nullptr, 0, &reply);
    return give_up(r ? r : -ENOMEM);
  }
  // As the kernel driver's: a child does not inherit it, no core dump has it.
  madvise(made, length, MADV_DONTFORK);
  madvise(made, length, MADV_DONTDUMP);
  *out = made;
  const std::lock_guard lock(registry().mutex);
  state_->mappings[number(made)] = length;
  return 0;
}

int Client::munmap(void* address, std::uint64_t bytes) {
  const std::uint64_t length = bytes > INT64_MAX ? 0 : (bytes + kPage - 1) & ~(kPage - 1);
  Head head{.kind = Kind::kUnmap};
  head.arg[0] = number(address);
  head.arg[1] = length;
  Message reply;
  int r = state_->transact(head, nullptr, 0, &reply);
  if (r == 0) r = static_cast<int>(reply.head.result);
  if (r != 0 && r != kDaemonGone) return r;
  const std::lock_guard lock(registry().mutex);
  const auto known = state_->mappings.find(number(address));
  if (known == state_->mappings.end() || known->second != length) return r ? -EINVAL : 0;
  ::munmap(address, length);
  state_->mappings.erase(known);
  return 0;
}

int Client::exists(const char* path) {
  Message reply;
  const int r = state_->transact(Head{.kind = Kind::kExists}, path, std::strlen(path), &reply);
  return r ? r : static_cast<int>(reply.head.result);
}

std::int64_t Client::read_text(const char* path, char* buffer, std::size_t n) {
  Head head{.kind = Kind::kReadText};
  head.arg[0] = n;
  Message reply;
  const int r = state_->transact(head, path, std::strlen(path), &reply);
  if (r) return r;
  if (reply.head.result < 0) return reply.head.result;
  const std::size_t size = std::min<std::size_t>(reply.head.bytes, n);
  std::memcpy(buffer, reply.payload, size);
  if (size < n) buffer[size] = '\0';
  return static_cast<std::int64_t>(size);
}

std::int64_t Client::write_text(const char* path, std::string_view text) {
  Head head{.kind = Kind::kWriteText};
  head.arg[0] = std::strlen(path);
  std::string payload(path);
  payload += text;
  Message reply;
  const int r = state_->transact(head, payload.data(), payload.size(), &reply);
  return r ? r : reply.head.result;
}

int Client::control(const char* request, std::string* reply_text) {
  Message reply;
  const int r =
      state_->transact(Head{.kind = Kind::kControl}, request, std::strlen(request), &reply);
  if (r) return r;
  if (reply.head.result < 0) return static_cast<int>(reply.head.result);
  *reply_text = text_of(reply);
  return 0;
}

void Client::sleep_us(std::uint32_t us) {
  us = std::max(us, kShortestSleepUs);
  const timespec pause{us / 1'000'000, static_cast<long>(us % 1'000'000) * 1000};
  Connection* c = nullptr;
  if (state_->connection(&c) != 0) {
    nanosleep(&pause, nullptr);
    return;
  }
  auto* word = const_cast<std::uint32_t*>(&state_->page->progress);
  std::uint32_t now = __atomic_load_n(word, __ATOMIC_ACQUIRE);
  // What happened after the caller's last look counts as new.
  if (now == c->seen) {
    syscall(SYS_futex, word, FUTEX_WAIT, now, &pause, nullptr, 0);
    now = __atomic_load_n(word, __ATOMIC_ACQUIRE);
  }
  c->seen = now;
}

int Client::fork_prepare(ForkToken* token) {
  if (!state_->mine()) return -EACCES;
  if (state_->gone) return kDaemonGone;
  std::unique_ptr<Connection> made;
  std::string error;
  if (state_->connect(&made, nullptr, &error) != State::Connected::kYes) return state_->ended();
  Message reply;
  const int r = state_->converse(*made, Head{.kind = Kind::kPrepareFork}, nullptr, 0, &reply);
  if (r != 0) return state_->ended();
  if (reply.head.result != 0) return static_cast<int>(reply.head.result);
  token->id[0] = reply.head.arg[0];
  token->id[1] = reply.head.arg[1];
  token->hold = fcntl(made->channel.fd(), F_DUPFD_CLOEXEC, 3);
  return token->hold < 0 ? -errno : 0;
}

int Client::adopt(const ForkToken& token) {
  if (state_->mine()) return -EINVAL;
  if (const int r = state_->take_identity()) return r;
  {
    // Device memory is not inherited.
    const std::lock_guard lock(registry().mutex);
    state_->mappings.clear();
    for (RegionView& view : state_->regions) view.base = nullptr;
  }
  std::unique_ptr<Connection> made;
  std::string error;
  const auto connected = state_->connect(&made, &token, &error);
  if (token.hold >= 0) ::close(token.hold);
  if (connected != State::Connected::kYes) {
    state_->identity->pid.store(0, std::memory_order_relaxed);
    return connected == State::Connected::kNobody ? kDaemonGone : -EACCES;
  }
  state_->adopt_connection(std::move(made));
  return 0;
}

void Client::cancel(const ForkToken& token) {
  if (token.hold >= 0) ::close(token.hold);
}

std::string Client::lost() const {
  const std::string who = "opennrt-emud (pid " + std::to_string(state_->pid) + ")";
  if (!state_->gone)
    return state_->silent ? unanswered(state_->pid, state_->options.patience_ms) : "";
  const SharedPage& page = *state_->page;
  const std::int32_t signal = __atomic_load_n(&page.end_signal, __ATOMIC_ACQUIRE);
  if (signal > 0) return who + " has ended by signal " + std::to_string(signal);
  if (signal < 0)
    return who + " has ended: " +
           std::string(page.end_reason, strnlen(page.end_reason, sizeof page.end_reason));
  return who + " has ended without a word: it was killed (signal 9), by hand or for want of memory";
}

std::uint32_t Client::daemon_pid() const { return state_->pid; }
const std::string& Client::log_path() const { return state_->log; }

}  // namespace opennrt::emu::remote
