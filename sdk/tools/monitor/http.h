// SPDX-License-Identifier: Apache-2.0
//
// As much of HTTP/1.0 and 1.1 (RFC 9112) as one needs who answers GET and HEAD and
// closes the connection then: the head of a request, the head of an answer.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace opennrt::tools {

inline constexpr std::size_t kMostRequest = 8192;  // bytes of a head

struct Request {
  std::string method, path;  // without host and query
};

enum class Parsed { kYes, kMore, kBad };
// What has come so far. kMore: it may be the beginning of a request.
Parsed parse_request(std::string_view received, Request* out);

struct Answer {
  int status = 200;
  std::string_view type = "text/plain; charset=utf-8";
  std::size_t bytes = 0;  // of what follows
};
// Of an answer that ends the connection, as of now.
std::string answer_head(const Answer& answer);

}  // namespace opennrt::tools
