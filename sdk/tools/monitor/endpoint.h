// SPDX-License-Identifier: Apache-2.0
//
// GET /metrics over HTTP. Connections, their time and what they may send are
// bounded: whoever is slow or many keeps nobody else waiting for long. Nobody is
// refused; when there are too many, the oldest makes room.
#pragma once

#include <Poco/Net/SocketAddress.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

namespace opennrt::tools {

inline constexpr char kDefaultAddress[] = "127.0.0.1:9464";

// "ADDR:PORT", "[ADDR]:PORT" or "PORT"; numbers only. False: it is none of them.
bool parse_address(const std::string& text, Poco::Net::SocketAddress* out);

// The text that is served now. Any thread.
class Page {
 public:
  using Clock = std::chrono::steady_clock;
  void set(std::string text) { set(std::move(text), "", Clock::time_point::max()); }
  // From `until` on `later` is served, unless something else is set before.
  void set(std::string text, std::string later, Clock::time_point until);
  std::shared_ptr<const std::string> get() const;

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const std::string> text_ = std::make_shared<const std::string>();
  std::shared_ptr<const std::string> later_ = text_;
  Clock::time_point until_ = Clock::time_point::max();
};

class Endpoint {
 public:
  struct Limits {
    std::size_t connections = 256;           // at most half of what RLIMIT_NOFILE allows
    std::chrono::milliseconds head{1000};    // for a request to be there
    std::chrono::milliseconds answer{5000};  // for its answer to be taken
  };
  // Throws std::system_error when the address cannot be served. The page outlives it.
  Endpoint(const Poco::Net::SocketAddress& address, const Page& page, const Limits& limits);
  Endpoint(const Poco::Net::SocketAddress& address, const Page& page)
      : Endpoint(address, page, Limits()) {}
  ~Endpoint();
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  Poco::Net::SocketAddress address() const { return address_; }  // with the port it got

 private:
  class Server;
  std::unique_ptr<Server> server_;
  Poco::Net::SocketAddress address_;
  std::thread thread_;
};

}  // namespace opennrt::tools
