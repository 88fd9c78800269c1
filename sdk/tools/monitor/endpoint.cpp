// SPDX-License-Identifier: Apache-2.0
#include "monitor/endpoint.h"

#include <Poco/Exception.h>
#include <Poco/Net/HTTPRequestHandler.h>
#include <Poco/Net/HTTPRequestHandlerFactory.h>
#include <Poco/Net/HTTPServerParams.h>
#include <Poco/Net/HTTPServerRequest.h>
#include <Poco/Net/HTTPServerResponse.h>
#include <Poco/Net/IPAddress.h>
#include <Poco/Net/NetException.h>
#include <Poco/Net/ServerSocket.h>
#include <Poco/Net/ServerSocketImpl.h>
#include <Poco/Net/StreamSocketImpl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <thread>
#include <utility>

#include "monitor/metrics.h"

namespace opennrt::tools {

namespace {

using Clock = std::chrono::steady_clock;

// A connection that has its time in all, however it is spent.
class TimedSocket final : public Poco::Net::StreamSocketImpl {
 public:
  TimedSocket(int fd, std::chrono::milliseconds patience)
      : StreamSocketImpl(fd), end_(Clock::now() + patience) {}
  int receiveBytes(void* buffer, int length, int flags) override {
    for (;;) {
      wait_for(POLLIN);
      const ssize_t n =
          ::recv(sockfd(), buffer, static_cast<std::size_t>(length), flags | MSG_DONTWAIT);
      if (n >= 0) return static_cast<int>(n);
      check(errno);
    }
  }
  int sendBytes(const void* buffer, int length, int flags) override {
    const char* at = static_cast<const char*>(buffer);
    for (int left = length; left > 0;) {
      wait_for(POLLOUT);
      const ssize_t n =
          ::send(sockfd(), at, static_cast<std::size_t>(left), flags | MSG_DONTWAIT | MSG_NOSIGNAL);
      if (n < 0) {
        check(errno);
        continue;
      }
      at += n;
      left -= static_cast<int>(n);
    }
    return length;
  }

 private:
  void wait_for(short what) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(end_ - Clock::now()).count();
    pollfd one{sockfd(), what, 0};
    if (left <= 0 || ::poll(&one, 1, static_cast<int>(left)) == 0) throw Poco::TimeoutException();
  }
  static void check(int error) {
    if (error != EAGAIN && error != EINTR)
      throw Poco::Net::NetException("connection is broken", error);
  }
  const Clock::time_point end_;
};

class TimedListener final : public Poco::Net::ServerSocketImpl {
 public:
  explicit TimedListener(std::chrono::milliseconds patience) : patience_(patience) {}
  Poco::Net::SocketImpl* acceptConnection(Poco::Net::SocketAddress&) override {
    const int fd = ::accept4(sockfd(), nullptr, nullptr, SOCK_CLOEXEC);
    if (fd >= 0) return new TimedSocket(fd, patience_);
    // Out of descriptors: it stays in the queue.
    if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS)
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    throw Poco::Net::NetException("no connection", errno);
  }

 private:
  const std::chrono::milliseconds patience_;
};

// Taken at once, and closed at once when there are too many: nobody waits here.
constexpr int kBacklog = 128;

class Listener final : public Poco::Net::ServerSocket {
 public:
  Listener(const Poco::Net::SocketAddress& address, std::chrono::milliseconds patience)
      : ServerSocket(new TimedListener(patience), true) {
    // Not shared with another monitor, but free at once when one has ended.
    impl()->bind(address, true, false);
    impl()->listen(kBacklog);
  }
};

class Handler final : public Poco::Net::HTTPRequestHandler {
 public:
  explicit Handler(const Page& page) : page_(page) {}
  void handleRequest(Poco::Net::HTTPServerRequest& request,
                     Poco::Net::HTTPServerResponse& response) override {
    using Poco::Net::HTTPRequest;
    using Poco::Net::HTTPResponse;
    response.setKeepAlive(false);
    response.setContentType("text/plain; charset=utf-8");
    const std::string& method = request.getMethod();
    const std::string path = request.getURI().substr(0, request.getURI().find('?'));
    if (method != HTTPRequest::HTTP_GET && method != HTTPRequest::HTTP_HEAD) {
      response.setStatusAndReason(HTTPResponse::HTTP_METHOD_NOT_ALLOWED);
      response.set("Allow", "GET, HEAD");
      send(response, "only GET and HEAD\n");
    } else if (path != "/metrics") {
      response.setStatusAndReason(HTTPResponse::HTTP_NOT_FOUND);
      send(response, "only /metrics is here\n");
    } else {
      response.setContentType(kMetricsType);
      send(response, *page_.get());
    }
  }

 private:
  static void send(Poco::Net::HTTPServerResponse& response, const std::string& text) {
    response.sendBuffer(text.data(), text.size());
  }
  const Page& page_;
};

class Factory final : public Poco::Net::HTTPRequestHandlerFactory {
 public:
  explicit Factory(const Page& page) : page_(page) {}
  Poco::Net::HTTPRequestHandler* createRequestHandler(
      const Poco::Net::HTTPServerRequest&) override {
    return new Handler(page_);
  }

 private:
  const Page& page_;
};

}  // namespace

bool parse_address(const std::string& text, Poco::Net::SocketAddress* out) {
  const std::size_t colon = text.rfind(':');
  std::string host = colon == text.npos ? "127.0.0.1" : text.substr(0, colon);
  const std::string port = colon == text.npos ? text : text.substr(colon + 1);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']')
    host = host.substr(1, host.size() - 2);
  else if (host.find(':') != host.npos)
    return false;  // an IPv6 address needs its brackets
  std::uint16_t number = 0;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  Poco::Net::IPAddress address;
  if (port.empty() || error != std::errc() || end != port.data() + port.size() ||
      !Poco::Net::IPAddress::tryParse(host, address))
    return false;
  *out = Poco::Net::SocketAddress(address, number);
  return true;
}

void Page::set(std::string text) {
  auto made = std::make_shared<const std::string>(std::move(text));
  const std::lock_guard lock(mutex_);
  text_ = std::move(made);
}

std::shared_ptr<const std::string> Page::get() const {
  const std::lock_guard lock(mutex_);
  return text_;
}

Endpoint::Endpoint(const Poco::Net::SocketAddress& address, const Page& page, const Limits& limits)
    : threads_("metrics", 1, limits.threads) {
  const Listener listener(address, limits.patience);
  address_ = listener.address();
  Poco::Net::HTTPServerParams::Ptr params = new Poco::Net::HTTPServerParams;
  params->setKeepAlive(false);
  params->setMaxThreads(limits.threads);
  params->setMaxQueued(limits.waiting);
  params->setTimeout(Poco::Timespan(limits.patience.count() * 1000));
  params->setSoftwareVersion("opennrt-monitor/" OPENNRT_VERSION);
  server_ = std::make_unique<Poco::Net::HTTPServer>(new Factory(page), threads_, listener, params);
  server_->start();
}

Endpoint::~Endpoint() {
  server_->stopAll(true);
  threads_.joinAll();
}

}  // namespace opennrt::tools
