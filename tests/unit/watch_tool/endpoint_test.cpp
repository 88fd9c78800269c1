// SPDX-License-Identifier: Apache-2.0
//
// What answers GET /metrics, and those who would keep it from answering.
#include "monitor/endpoint.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

namespace opennrt::tools {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr milliseconds kForever = std::chrono::hours(1);

class Connection {
 public:
  Connection() : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {}
  explicit Connection(std::uint16_t port) : Connection() { connect(port); }
  ~Connection() { close(); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  void connect(std::uint16_t port) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::connect(fd_, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0;
  }
  void close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }
  bool connected() const { return connected_; }
  bool send(const std::string& text) const {
    return ::send(fd_, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
  }
  // Until the other side closes.
  std::string rest() const {
    std::string out;
    for (char text[4096];;) {
      pollfd in{fd_, POLLIN, 0};
      if (::poll(&in, 1, 60'000) != 1) return out + "(no end)";
      const ssize_t n = ::recv(fd_, text, sizeof text, 0);
      if (n <= 0) return out;
      out.append(text, static_cast<std::size_t>(n));
    }
  }

 private:
  int fd_ = -1;
  bool connected_ = false;
};

class Endpoints : public ::testing::Test {
 protected:
  void start(const Endpoint::Limits& limits) {
    endpoint_.reset();
    page_.set("a 1\n");
    endpoint_ = std::make_unique<Endpoint>(local(0), page_, limits);
  }
  // Time ends nobody.
  void SetUp() override { start({.head = kForever, .answer = kForever}); }
  static Poco::Net::SocketAddress local(std::uint16_t port) { return {"127.0.0.1", port}; }
  std::uint16_t port() const { return endpoint_->address().port(); }
  std::string ask(const std::string& request) const {
    const Connection c(port());
    EXPECT_TRUE(c.connected());
    c.send(request);
    return c.rest();
  }
  Page page_;
  std::unique_ptr<Endpoint> endpoint_;
};

TEST_F(Endpoints, Metrics) {
  const std::string answer = ask("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(answer, HasSubstr("\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n"));
  EXPECT_THAT(answer, HasSubstr("\r\nContent-Length: 4\r\n"));
  EXPECT_THAT(answer, HasSubstr("\r\n\r\na 1\n"));
  page_.set("a 2\n");
  EXPECT_THAT(ask("GET /metrics?x=y HTTP/1.0\r\n\r\n"), HasSubstr("\r\n\r\na 2\n"));
}

TEST_F(Endpoints, HeadHasTheHeadAlone) {
  const std::string answer = ask("HEAD /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(answer, HasSubstr("\r\nContent-Length: 4\r\n"));
  EXPECT_THAT(answer, Not(HasSubstr("a 1")));
}

TEST_F(Endpoints, OtherPathsAndMethods) {
  for (const char* path : {"/", "/metrics/", "/metricsx", "/../metrics", "*"})
    EXPECT_THAT(ask(std::string("GET ") + path + " HTTP/1.1\r\nHost: x\r\n\r\n"),
                StartsWith("HTTP/1.1 404 "))
        << path;
  EXPECT_THAT(ask("HEAD /x HTTP/1.1\r\nHost: x\r\n\r\n"), StartsWith("HTTP/1.1 404 "));
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", "get"}) {
    const std::string answer =
        ask(std::string(method) + " /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n");
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 405 ")) << method;
    EXPECT_THAT(answer, HasSubstr("\r\nAllow: GET, HEAD\r\n"));
  }
}

TEST_F(Endpoints, RequestsThatAreNone) {
  for (const std::string& request :
       {std::string("GET\r\n\r\n"), std::string("GET /metrics\r\n\r\n"),
        std::string("GET /metrics HTTP/9.9\r\n\r\n"), std::string(100, '\0'),
        std::string("GET /metrics\0 HTTP/1.1\r\n\r\n", 26),
        std::string("\x16\x03\x01\x02\x00\x01", 6) + std::string(500, 'x')}) {
    const std::string answer = ask(request);
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 400 Bad Request\r\n")) << request.substr(0, 20);
    EXPECT_THAT(answer, Not(HasSubstr("(no end)"))) << request.substr(0, 20);
  }
  std::string many = "GET /metrics HTTP/1.1\r\n";
  for (int i = 0; i < 10'000; ++i) many += "A" + std::to_string(i) + ": x\r\n";
  for (const std::string& request :
       {"GET /" + std::string(100'000, 'x') + " HTTP/1.1\r\n\r\n",
        "GET /metrics HTTP/1.1\r\nA: " + std::string(1'000'000, 'x') + "\r\n\r\n", many + "\r\n"})
    EXPECT_THAT(ask(request), StartsWith("HTTP/1.1 431 ")) << request.substr(0, 20);
  EXPECT_THAT(ask("GET /metrics HTTP/1.0\r\n\r\n"), HasSubstr("a 1"));
}

// What comes behind a request is not answered, and takes no answer away.
TEST_F(Endpoints, OneAnswerForAConnection) {
  std::string five;
  for (int i = 0; i < 5; ++i) five += "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n";
  const std::string answer = ask(five);
  EXPECT_THAT(answer, HasSubstr("\r\nConnection: close\r\n"));
  EXPECT_TRUE(answer.ends_with("\r\n\r\na 1\n")) << answer;
  EXPECT_EQ(answer.find("HTTP/1.1", 1), std::string::npos);
  EXPECT_THAT(
      ask("POST /metrics HTTP/1.1\r\nContent-Length: 500000\r\n\r\n" + std::string(500'000, 'x')),
      StartsWith("HTTP/1.1 405 "));
}

TEST_F(Endpoints, PiecesAreARequest) {
  const Connection c(port());
  for (const char letter : std::string("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"))
    ASSERT_TRUE(c.send(std::string(1, letter)));
  EXPECT_THAT(c.rest(), HasSubstr("a 1"));
}

// Each connection has its time, whether it says nothing or a byte now and then.
TEST_F(Endpoints, SlowOnesAreEnded) {
  start({.head = milliseconds(300), .answer = milliseconds(300)});
  const Connection silent(port()), half(port());
  half.send("GET /metrics HTTP/1.1\r\nHos");
  EXPECT_EQ(silent.rest(), "");
  EXPECT_EQ(half.rest(), "");
  const Connection slow(port());
  slow.send("GET /metrics HTTP/1.1\r\n");
  bool ended = false;
  for (int i = 0; i < 2000 && !ended; ++i) {
    ended = !slow.send("X: y\r\n");
    std::this_thread::sleep_for(milliseconds(5));
  }
  EXPECT_TRUE(ended);
  bool answered = false;  // unless this one is slow itself
  for (int i = 0; i < 20 && !answered; ++i)
    answered = ask("GET /metrics HTTP/1.0\r\n\r\n").find("a 1") != std::string::npos;
  EXPECT_TRUE(answered);
}

// More than there is room for, and time ends none: the oldest ones make room.
TEST_F(Endpoints, ManyThatSayNothing) {
  start({.connections = 32, .head = kForever, .answer = kForever});
  std::vector<std::unique_ptr<Connection>> crowd;
  for (int i = 0; i < 300; ++i) {
    crowd.push_back(std::make_unique<Connection>(port()));
    ASSERT_TRUE(crowd.back()->connected()) << i;
    if (i % 2 == 0) crowd.back()->send("GET /metr");
  }
  for (int i = 0; i < 50; ++i)
    ASSERT_THAT(ask("GET /metrics HTTP/1.0\r\n\r\n"), HasSubstr("a 1")) << i;
  EXPECT_EQ(crowd.front()->rest(), "");
  // The youngest one still may ask.
  crowd.back()->send("GET /metrics HTTP/1.0\r\n\r\n");
  EXPECT_THAT(crowd.back()->rest(), HasSubstr("a 1"));
}

// Slow ones that come again and again: every scrape is answered.
TEST_F(Endpoints, SlowOnesThatComeAgain) {
  std::atomic<bool> ends{false};
  std::atomic<int> came{0};
  std::vector<std::thread> slow;
  for (int i = 0; i < 64; ++i)
    slow.emplace_back([&] {
      while (!ends) {
        const Connection c(port());
        ++came;
        c.send("GET /metrics HTTP/1.1\r\n");
        for (int line = 0; line < 5 && !ends; ++line) {
          std::this_thread::sleep_for(milliseconds(20));
          c.send("X: y\r\n");
        }
      }
    });
  while (came < 64) std::this_thread::sleep_for(milliseconds(1));
  bool answered = true;
  for (int i = 0; answered && (i < 100 || came < 300); ++i)
    answered = ask("GET /metrics HTTP/1.0\r\n\r\n").find("a 1") != std::string::npos;
  EXPECT_TRUE(answered);
  ends = true;
  for (std::thread& t : slow) t.join();
}

TEST_F(Endpoints, WhoDoesNotReadIsEnded) {
  constexpr std::size_t kMuch = 64 << 20;  // more than sockets hold
  start({.answer = kForever});
  page_.set(std::string(kMuch, 'x'));
  EXPECT_GT(ask("GET /metrics HTTP/1.0\r\n\r\n").size(), kMuch);
  start({.answer = milliseconds(200)});
  bool ended = false;
  for (int i = 1; i < 10 && !ended; ++i) {
    page_.set(std::string(kMuch, 'x'));
    const Connection lazy(port());
    lazy.send("GET /metrics HTTP/1.0\r\n\r\n");
    std::this_thread::sleep_for(i * milliseconds(300));
    const std::string got = lazy.rest();
    ended = !got.empty() && got.size() < kMuch;
    page_.set("a 1\n");
    EXPECT_THAT(ask("GET /metrics HTTP/1.0\r\n\r\n"), HasSubstr("a 1"));
  }
  EXPECT_TRUE(ended);
}

// Without a descriptor left somebody makes room, and it goes on when there are more.
TEST_F(Endpoints, NoDescriptorsLeft) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit few = before;
  few.rlim_cur = 100;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  auto idle = std::make_unique<Connection>(port());
  ASSERT_THAT(ask("GET /metrics HTTP/1.0\r\n\r\n"), HasSubstr("a 1"));  // it is taken
  Connection one, other;
  std::vector<int> fill;
  // Also what the other side is just giving back.
  const auto take_all = [&] {
    for (int i = 0; i < 100; ++i) {
      for (int fd; (fd = ::dup(STDIN_FILENO)) >= 0;) fill.push_back(fd);
      std::this_thread::sleep_for(milliseconds(2));
    }
  };
  take_all();
  ASSERT_FALSE(fill.empty());
  one.connect(port());
  one.send("GET /metrics HTTP/1.0\r\n\r\n");
  EXPECT_THAT(one.rest(), HasSubstr("a 1"));
  EXPECT_EQ(idle->rest(), "");
  one.close();
  take_all();
  other.connect(port());
  other.send("GET /metrics HTTP/1.0\r\n\r\n");
  std::this_thread::sleep_for(milliseconds(100));
  for (const int fd : fill) ::close(fd);
  EXPECT_THAT(other.rest(), HasSubstr("a 1"));
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
}

TEST_F(Endpoints, EndsWithConnectionsOpen) {
  const Connection a(port()), b(port());
  a.send("GET /met");
  endpoint_.reset();
  EXPECT_THAT(a.rest(), Not(HasSubstr("(no end)")));
}

TEST_F(Endpoints, AnAddressThatIsTaken) {
  EXPECT_THROW(Endpoint(local(port()), page_), std::system_error);
  const std::uint16_t port = this->port();
  ask("GET /metrics HTTP/1.0\r\n\r\n");
  endpoint_.reset();
  EXPECT_NO_THROW(Endpoint(local(port), page_));  // free at once
}

TEST_F(Endpoints, WhilePagesChange) {
  page_.set(std::string(1000, 'a'));
  std::thread writer([this] {
    for (int i = 0; i < 200; ++i) page_.set(std::string(1000, static_cast<char>('a' + i % 26)));
  });
  for (int i = 0; i < 50; ++i) {
    const std::string answer = ask("GET /metrics HTTP/1.0\r\n\r\n");
    const std::string body = answer.substr(answer.find("\r\n\r\n") + 4);
    EXPECT_EQ(body, std::string(body.size(), body.at(0)));
  }
  writer.join();
}

// What is too old to be told gives way, without anybody who sets it.
TEST_F(Endpoints, APageThatHasItsTime) {
  page_.set("new 1\n", "old 1\n", Page::Clock::now() + std::chrono::hours(1));
  EXPECT_THAT(ask("GET /metrics HTTP/1.0\r\n\r\n"), HasSubstr("\r\n\r\nnew 1\n"));
  page_.set("new 1\n", "old 1\n", Page::Clock::now());
  EXPECT_THAT(ask("GET /metrics HTTP/1.0\r\n\r\n"), HasSubstr("\r\n\r\nold 1\n"));
  page_.set("a 1\n");
  EXPECT_THAT(ask("GET /metrics HTTP/1.0\r\n\r\n"), HasSubstr("\r\n\r\na 1\n"));
}

TEST_F(Endpoints, AllAddresses) {
  Poco::Net::SocketAddress all;
  ASSERT_TRUE(parse_address("[::]:0", &all));
  try {
    endpoint_ = std::make_unique<Endpoint>(all, page_);
  } catch (const std::system_error& e) {
    if (e.code().value() != EAFNOSUPPORT && e.code().value() != EADDRNOTAVAIL) throw;
    GTEST_SKIP() << "no IPv6 here";
  }
  EXPECT_EQ(endpoint_->address().toString(), "[::]:" + std::to_string(port()));
  EXPECT_THAT(ask("GET /metrics HTTP/1.0\r\n\r\n"), HasSubstr("a 1"));  // over IPv4
}

TEST(Address, Forms) {
  Poco::Net::SocketAddress got;
  ASSERT_TRUE(parse_address("127.0.0.1:9464", &got));
  EXPECT_EQ(got.toString(), "127.0.0.1:9464");
  ASSERT_TRUE(parse_address("9000", &got));
  EXPECT_EQ(got.toString(), "127.0.0.1:9000");
  ASSERT_TRUE(parse_address("0.0.0.0:0", &got));
  ASSERT_TRUE(parse_address("[::1]:1", &got));
  EXPECT_EQ(got.port(), 1);
  ASSERT_TRUE(parse_address("[::]:9464", &got));
  EXPECT_EQ(got.toString(), "[::]:9464");
  EXPECT_TRUE(got.host().isWildcard());
  ASSERT_TRUE(parse_address("[2001:db8::7]:9464", &got));
  EXPECT_EQ(got.toString(), "[2001:db8::7]:9464");
  for (const char* text : {"", ":", "x", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "a.b:1",
                           "::1:80", "127.0.0.1:-1", "127.0.0.1:1x", "[]:1", ":80", ":::80",
                           "[127.0.0.1]:1", "[::1:80", "[:::]:80", "1.2.3:80"})
    EXPECT_FALSE(parse_address(text, &got)) << text;
}

}  // namespace
}  // namespace opennrt::tools
