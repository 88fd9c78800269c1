// SPDX-License-Identifier: Apache-2.0
#include "monitor/endpoint.h"

#include <Poco/Net/IPAddress.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <system_error>
#include <utility>
#include <vector>

#include "monitor/http.h"
#include "monitor/metrics.h"

namespace opennrt::tools {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kFewestConnections = 8;
constexpr int kAcceptsAtOnce = 64;             // then those who are there get their turn
constexpr std::size_t kReadAtOnce = 16 << 10;  // of what nobody wants
constexpr std::size_t kMostRest = 4 << 20;
// When there are no descriptors and no connection that could make room.
constexpr std::chrono::milliseconds kAcceptAgain{50};

class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

void check(bool good, const char* what) {
  if (!good) throw std::system_error(errno, std::generic_category(), what);
}

Descriptor listener_on(const Poco::Net::SocketAddress& address) {
  Descriptor out(::socket(address.af(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  check(out.get() >= 0, "socket");
  // Free at once when another monitor has ended, and not shared with one that runs.
  const int on = 1, off = 0;
  ::setsockopt(out.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  // [::] is all addresses, whatever the system's default says.
  if (address.af() == AF_INET6)
    ::setsockopt(out.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  check(::bind(out.get(), address.addr(), address.length()) == 0, "bind");
  check(::listen(out.get(), SOMAXCONN) == 0, "listen");
  return out;
}

std::size_t allowed(std::size_t connections) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return connections;
  const rlim_t most = std::max<rlim_t>(limit.rlim_cur / 2, kFewestConnections);
  return most < connections ? static_cast<std::size_t>(most) : connections;
}

struct Connection {
  enum class Step { kHead, kAnswer, kRest, kDone };
  Descriptor socket;
  Clock::time_point deadline;
  Step step = Step::kHead;
  std::string received, head;
  std::shared_ptr<const std::string> body;  // null: none
  std::size_t sent = 0;                     // of head and body
  std::size_t rest = 0;                     // read after the answer
};

}  // namespace

bool parse_address(const std::string& text, Poco::Net::SocketAddress* out) {
  const std::size_t colon = text.rfind(':');
  std::string host = colon == text.npos ? "127.0.0.1" : text.substr(0, colon);
  const std::string port = colon == text.npos ? text : text.substr(colon + 1);
  const bool brackets = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (brackets) host = host.substr(1, host.size() - 2);
  std::uint16_t number = 0;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  if (port.empty() || error != std::errc() || end != port.data() + port.size()) return false;
  in_addr four{};
  in6_addr six{};
  Poco::Net::IPAddress address;
  if (!brackets && ::inet_pton(AF_INET, host.c_str(), &four) == 1)
    address = Poco::Net::IPAddress(&four, sizeof four);
  else if (brackets && ::inet_pton(AF_INET6, host.c_str(), &six) == 1)
    address = Poco::Net::IPAddress(&six, sizeof six);
  // With the interface of a link's address: [fe80::1%eth0].
  else if (!brackets || host.find('%') == host.npos ||
           !Poco::Net::IPAddress::tryParse(host, address))
    return false;
  *out = Poco::Net::SocketAddress(address, number);
  return true;
}

void Page::set(std::string text, std::string later, Clock::time_point until) {
  auto made = std::make_shared<const std::string>(std::move(text));
  auto then = std::make_shared<const std::string>(std::move(later));
  const std::lock_guard lock(mutex_);
  text_ = std::move(made);
  later_ = std::move(then);
  until_ = until;
}

std::shared_ptr<const std::string> Page::get() const {
  const std::lock_guard lock(mutex_);
  return Clock::now() < until_ ? text_ : later_;
}

// One thread for all connections: whatever one of them does, it only costs its place.
class Endpoint::Server {
 public:
  Server(const Poco::Net::SocketAddress& address, const Page& page, const Limits& limits)
      : page_(page),
        limits_(limits),
        most_(allowed(limits.connections)),
        listener_(listener_on(address)),
        end_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    check(end_.get() >= 0, "eventfd");
    connections_.reserve(most_);
  }

  Poco::Net::SocketAddress address() const {
    sockaddr_storage at{};
    socklen_t length = sizeof at;
    check(::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&at), &length) == 0,
          "getsockname");
    return {reinterpret_cast<const sockaddr*>(&at), length};
  }

  void end() const {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t n = ::write(end_.get(), &one, sizeof one);
  }

  void run() {
    std::vector<pollfd> polled;
    while (wait(&polled)) {
      for (std::size_t i = 0; i < connections_.size(); ++i)
        if (polled[kFirst + i].revents != 0) serve(connections_[i]);
      const auto now = Clock::now();
      std::erase_if(connections_, [now](const Connection& c) {
        return c.step == Connection::Step::kDone || c.deadline <= now;
      });
      if (polled[kListener].revents != 0) accept();
    }
  }

 private:
  static constexpr std::size_t kEnd = 0, kListener = 1, kFirst = 2;

  // False: it is to end.
  bool wait(std::vector<pollfd>* polled) const {
    const auto now = Clock::now();
    const bool accepts = now >= accept_again_;
    auto until = accepts ? Clock::time_point::max() : accept_again_;
    *polled = {{end_.get(), POLLIN, 0}, {accepts ? listener_.get() : -1, POLLIN, 0}};
    for (const Connection& c : connections_) {
      const bool answers = c.step == Connection::Step::kAnswer;
      polled->push_back({c.socket.get(), static_cast<short>(answers ? POLLOUT : POLLIN), 0});
      until = std::min(until, c.deadline);
    }
    int timeout_ms = -1;
    if (until != Clock::time_point::max())
      timeout_ms = static_cast<int>(std::max<std::int64_t>(
          0, std::chrono::ceil<std::chrono::milliseconds>(until - now).count()));
    if (::poll(polled->data(), polled->size(), timeout_ms) <= 0)
      for (pollfd& p : *polled) p.revents = 0;
    return (*polled)[kEnd].revents == 0;
  }

  void accept() {
    for (int i = 0; i < kAcceptsAtOnce; ++i) {
      const int fd = ::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
      if (fd < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
      if (fd < 0) {
        const bool full = errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS;
        // Told before the queue is looked at, which may be empty by now.
        if (full && i > 0) return;
        if (full && !make_room()) {
          accept_again_ = Clock::now() + kAcceptAgain;
          return;
        }
        continue;
      }
      Connection made{.socket = Descriptor(fd),
                      .deadline = Clock::now() + limits_.head,
                      .received = {},
                      .head = {},
                      .body = nullptr};
      if (connections_.size() >= most_) make_room();
      serve(made);  // mostly the request is there
      if (made.step != Connection::Step::kDone) connections_.push_back(std::move(made));
    }
  }

  // Of those that have their answer, else of all, the oldest.
  bool make_room() {
    if (connections_.empty()) return false;
    auto one = std::find_if(connections_.begin(), connections_.end(),
                            [](const Connection& c) { return c.step == Connection::Step::kRest; });
    connections_.erase(one != connections_.end() ? one : connections_.begin());
    return true;
  }

  void serve(Connection& c) {
    using Step = Connection::Step;
    if (c.step == Step::kHead) read_head(c);
    if (c.step == Step::kAnswer) write_answer(c);
    if (c.step == Step::kRest) read_rest(c);
  }

  void read_head(Connection& c) {
    char text[kMostRequest];
    const ssize_t n = ::recv(c.socket.get(), text, sizeof text - c.received.size(), 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n <= 0) {
      c.step = Connection::Step::kDone;
      return;
    }
    c.received.append(text, static_cast<std::size_t>(n));
    Request request;
    switch (parse_request(c.received, &request)) {
      case Parsed::kMore:
        if (c.received.size() == kMostRequest)
          answer(c, {.status = 431}, "a request has at most 8192 bytes\n");
        return;
      case Parsed::kBad:
        return answer(c, {.status = 400}, "this is no request of HTTP/1.0 or 1.1\n");
      case Parsed::kYes:
        break;
    }
    const bool head = request.method == "HEAD";
    if (request.method != "GET" && !head) return answer(c, {.status = 405}, "only GET and HEAD\n");
    if (request.path != "/metrics")
      answer(c, {.status = 404}, "only /metrics is here\n");
    else
      answer(c, {.type = kMetricsType}, page_.get());
    if (head) c.body = nullptr;
  }

  void answer(Connection& c, Answer head, std::string body) const {
    answer(c, head, std::make_shared<const std::string>(std::move(body)));
  }
  void answer(Connection& c, Answer head, std::shared_ptr<const std::string> body) const {
    head.bytes = body->size();
    c.head = answer_head(head);
    c.body = std::move(body);
    c.received = {};
    c.step = Connection::Step::kAnswer;
    c.deadline = Clock::now() + limits_.answer;
  }

  void write_answer(Connection& c) const {
    const std::size_t body = c.body != nullptr ? c.body->size() : 0;
    for (const std::size_t all = c.head.size() + body; c.sent < all;) {
      const bool in_head = c.sent < c.head.size();
      const char* from =
          in_head ? c.head.data() + c.sent : c.body->data() + (c.sent - c.head.size());
      const std::size_t bytes = in_head ? c.head.size() - c.sent : all - c.sent;
      const int more = in_head && body != 0 ? MSG_MORE : 0;
      const ssize_t n = ::send(c.socket.get(), from, bytes, MSG_NOSIGNAL | more);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
      if (n <= 0) {
        c.step = Connection::Step::kDone;
        return;
      }
      c.sent += static_cast<std::size_t>(n);
    }
    c.body = nullptr;
    c.step = Connection::Step::kRest;
    c.deadline = Clock::now() + limits_.head;
    ::shutdown(c.socket.get(), SHUT_WR);
  }

  // Closing with something unread would take the answer from who sent it.
  void read_rest(Connection& c) const {
    char text[kReadAtOnce];
    const ssize_t n = ::recv(c.socket.get(), text, sizeof text, 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    c.rest += n > 0 ? static_cast<std::size_t>(n) : 0;
    if (n <= 0 || c.rest > kMostRest) c.step = Connection::Step::kDone;
  }

  const Page& page_;
  const Limits limits_;
  const std::size_t most_;
  const Descriptor listener_, end_;
  std::vector<Connection> connections_;  // in the order in which they came
  Clock::time_point accept_again_{};
};

Endpoint::Endpoint(const Poco::Net::SocketAddress& address, const Page& page, const Limits& limits)
    : server_(std::make_unique<Server>(address, page, limits)),
      address_(server_->address()),
      thread_([this] { server_->run(); }) {}

Endpoint::~Endpoint() {
  server_->end();
  thread_.join();
}

}  // namespace opennrt::tools
