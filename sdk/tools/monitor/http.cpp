// SPDX-License-Identifier: Apache-2.0
#include "monitor/http.h"

#include <Poco/DateTimeFormat.h>
#include <Poco/DateTimeFormatter.h>
#include <Poco/Timestamp.h>

#include <algorithm>

namespace opennrt::tools {

namespace {

bool is_token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
  });
}

// "GET /metrics?x HTTP/1.1"
bool parse_line(std::string_view line, Request* out) {
  const std::size_t first = line.find(' '), last = line.rfind(' ');
  if (first == line.npos || first == last) return false;
  const std::string_view version = line.substr(last + 1);
  if (version != "HTTP/1.0" && version != "HTTP/1.1") return false;
  const std::string_view method = line.substr(0, first);
  std::string_view target = line.substr(first + 1, last - first - 1);
  const bool visible =
      std::all_of(target.begin(), target.end(), [](char c) { return c > ' ' && c < '\x7f'; });
  if (!is_token(method) || target.empty() || !visible) return false;
  // In absolute form, as for a proxy.
  constexpr std::string_view kScheme = "http://";
  if (target.substr(0, kScheme.size()) == kScheme) {
    const std::size_t path = target.find_first_of("/?", kScheme.size());
    target = path == target.npos ? "/" : target.substr(path);
  }
  out->method = method;
  out->path = target.substr(0, target.find('?'));
  return true;
}

std::string_view reason_of(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 431:
      return "Request Header Fields Too Large";
    default:
      return "Bad Request";
  }
}

}  // namespace

Parsed parse_request(std::string_view received, Request* out) {
  // Also of a line that has no end yet: another protocol is told at once.
  for (const char c : received)
    if ((static_cast<unsigned char>(c) < ' ' && c != '\r' && c != '\n' && c != '\t') || c == '\x7f')
      return Parsed::kBad;
  bool first = true;
  for (std::size_t at = 0, end; (end = received.find('\n', at)) != received.npos; at = end + 1) {
    std::string_view line = received.substr(at, end - at);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (line.find('\r') != line.npos) return Parsed::kBad;
    if (line.empty()) {
      if (first) continue;  // left over from somebody's request before
      return Parsed::kYes;
    }
    if (first ? !parse_line(line, out)
              : line.find(':') == line.npos || !is_token(line.substr(0, line.find(':'))))
      return Parsed::kBad;
    first = false;
  }
  return Parsed::kMore;
}

std::string answer_head(const Answer& answer) {
  std::string out = "HTTP/1.1 " + std::to_string(answer.status) + " ";
  out += reason_of(answer.status);
  out += "\r\nDate: " +
         Poco::DateTimeFormatter::format(Poco::Timestamp(), Poco::DateTimeFormat::HTTP_FORMAT);
  out += "\r\nServer: opennrt-monitor/" OPENNRT_VERSION "\r\nConnection: close\r\nContent-Type: ";
  out += answer.type;
  out += "\r\nContent-Length: " + std::to_string(answer.bytes);
  if (answer.status == 405) out += "\r\nAllow: GET, HEAD";
  return out + "\r\n\r\n";
}

}  // namespace opennrt::tools
