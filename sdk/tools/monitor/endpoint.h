// SPDX-License-Identifier: Apache-2.0
//
// GET /metrics over HTTP. Connections, their time and what they may send are
// bounded: whoever is slow or many keeps nobody else waiting for long.
#pragma once

#include <Poco/Net/HTTPServer.h>
#include <Poco/Net/SocketAddress.h>
#include <Poco/ThreadPool.h>

#include <chrono>
#include <memory>
#include <mutex>
#include <string>

namespace opennrt::tools {

inline constexpr char kDefaultAddress[] = "127.0.0.1:9464";

// "ADDR:PORT", "[ADDR]:PORT" or "PORT"; numbers only. False: it is none of them.
bool parse_address(const std::string& text, Poco::Net::SocketAddress* out);

// The text that is served now.
class Page {
 public:
  void set(std::string text);
  std::shared_ptr<const std::string> get() const;

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const std::string> text_ = std::make_shared<const std::string>();
};

class Endpoint {
 public:
  struct Limits {
    int threads = 4, waiting = 32;
    std::chrono::milliseconds patience{5000};  // with a connection, from begin to end
  };
  // Throws Poco::Exception when the address cannot be served. The page outlives it.
  Endpoint(const Poco::Net::SocketAddress& address, const Page& page, const Limits& limits);
  Endpoint(const Poco::Net::SocketAddress& address, const Page& page)
      : Endpoint(address, page, Limits()) {}
  ~Endpoint();
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  Poco::Net::SocketAddress address() const { return address_; }  // with the port it got

 private:
  Poco::ThreadPool threads_;
  Poco::Net::SocketAddress address_;
  std::unique_ptr<Poco::Net::HTTPServer> server_;
};

}  // namespace opennrt::tools
