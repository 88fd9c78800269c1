// SPDX-License-Identifier: Apache-2.0
//
// What answers GET /metrics, and those who would keep it from answering.
#include "monitor/endpoint.h"

#include <Poco/Exception.h>
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <vector>

namespace opennrt::tools {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class Connection {
 public:
  explicit Connection(std::uint16_t port) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    fd_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    connected_ = ::connect(fd_, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0;
  }
  ~Connection() { ::close(fd_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
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
    page_.set("a 1\n");
    endpoint_ = std::make_unique<Endpoint>(local(0), page_, limits);
  }
  void SetUp() override { start({}); }
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
  start({.threads = 2, .waiting = 4, .patience = std::chrono::milliseconds(500)});
  for (const std::string& request :
       {std::string("\r\n\r\n"), std::string("GET\r\n\r\n"), std::string(100, '\0'),
        std::string("\x16\x03\x01\x02\x00\x01", 6) + std::string(500, 'x') + "\r\n\r\n",
        "GET /" + std::string(100'000, 'x') + " HTTP/1.1\r\n\r\n",
        "GET /metrics HTTP/1.1\r\nA: " + std::string(100'000, 'x') + "\r\n\r\n"}) {
    const std::string answer = ask(request);
    EXPECT_THAT(answer, Not(HasSubstr("200 OK"))) << request.substr(0, 20);
    EXPECT_THAT(answer, Not(HasSubstr("(no end)"))) << request.substr(0, 20);
  }
  std::string many = "GET /metrics HTTP/1.1\r\n";
  for (int i = 0; i < 10'000; ++i) many += "A" + std::to_string(i) + ": x\r\n";
  EXPECT_THAT(ask(many + "\r\n"), Not(HasSubstr("200 OK")));
  EXPECT_THAT(ask("GET /metrics HTTP/1.0\r\n\r\n"), HasSubstr("a 1"));
}

// Each connection has its time, whether it says nothing or a byte now and then.
TEST_F(Endpoints, SlowOnesAreEnded) {
  start({.threads = 2, .waiting = 4, .patience = std::chrono::milliseconds(300)});
  const Connection silent(port()), half(port());
  half.send("GET /metrics HTTP/1.1\r\nHos");
  EXPECT_THAT(silent.rest(), Not(HasSubstr("200 OK")));
  EXPECT_THAT(half.rest(), Not(HasSubstr("(no end)")));
  const Connection slow(port());
  bool ended = false;
  for (int i = 0; i < 2000 && !ended; ++i) {
    ended = !slow.send("x");
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_TRUE(ended);
  EXPECT_THAT(ask("GET /metrics HTTP/1.0\r\n\r\n"), HasSubstr("a 1"));
}

TEST_F(Endpoints, ManyThatSayNothing) {
  start({.threads = 2, .waiting = 4, .patience = std::chrono::milliseconds(300)});
  std::vector<std::unique_ptr<Connection>> crowd;
  for (int i = 0; i < 200; ++i) crowd.push_back(std::make_unique<Connection>(port()));
  std::string answer;
  for (int i = 0; i < 100 && answer.find("a 1") == std::string::npos; ++i) {
    answer = ask("GET /metrics HTTP/1.0\r\n\r\n");
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  EXPECT_THAT(answer, HasSubstr("a 1"));
}

TEST_F(Endpoints, WhoDoesNotReadIsEnded) {
  start({.threads = 1, .waiting = 4, .patience = std::chrono::milliseconds(300)});
  page_.set(std::string(64 << 20, 'x'));  // more than sockets hold
  const Connection lazy(port());
  lazy.send("GET /metrics HTTP/1.0\r\n\r\n");
  page_.set("a 1\n");
  std::string answer;
  for (int i = 0; i < 100 && answer.find("a 1") == std::string::npos; ++i)
    answer = ask("GET /metrics HTTP/1.0\r\n\r\n");
  EXPECT_THAT(answer, HasSubstr("a 1"));
}

TEST_F(Endpoints, EndsWithConnectionsOpen) {
  start({.threads = 2, .waiting = 4, .patience = std::chrono::milliseconds(300)});
  const Connection a(port()), b(port());
  a.send("GET /met");
  endpoint_.reset();
  EXPECT_THAT(a.rest(), Not(HasSubstr("(no end)")));
}

TEST_F(Endpoints, AnAddressThatIsTaken) {
  EXPECT_THROW(Endpoint(local(port()), page_), Poco::Exception);
  const std::uint16_t port = this->port();
  ask("GET /metrics HTTP/1.0\r\n\r\n");
  endpoint_.reset();
  EXPECT_NO_THROW(Endpoint(local(port), page_));  // free at once
}

TEST_F(Endpoints, WhilePagesChange) {
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

TEST(Address, Forms) {
  Poco::Net::SocketAddress got;
  ASSERT_TRUE(parse_address("127.0.0.1:9464", &got));
  EXPECT_EQ(got.toString(), "127.0.0.1:9464");
  ASSERT_TRUE(parse_address("9000", &got));
  EXPECT_EQ(got.toString(), "127.0.0.1:9000");
  ASSERT_TRUE(parse_address("0.0.0.0:0", &got));
  ASSERT_TRUE(parse_address("[::1]:1", &got));
  EXPECT_EQ(got.port(), 1);
  for (const char* text : {"", ":", "x", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "a.b:1",
                           "::1:80", "127.0.0.1:-1", "127.0.0.1:1x", "[]:1", ":80"})
    EXPECT_FALSE(parse_address(text, &got)) << text;
}

}  // namespace
}  // namespace opennrt::tools
