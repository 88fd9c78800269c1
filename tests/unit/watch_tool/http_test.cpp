// SPDX-License-Identifier: Apache-2.0
#include "monitor/http.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace opennrt::tools {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(Http, Requests) {
  const struct {
    const char *text, *method, *path;
  } kGood[] = {
      {"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", "GET", "/metrics"},
      {"HEAD / HTTP/1.0\r\n\r\n", "HEAD", "/"},
      {"GET /metrics HTTP/1.1\n\n", "GET", "/metrics"},
      {"\r\n\r\nGET /metrics HTTP/1.1\r\n\r\n", "GET", "/metrics"},
      {"GET /a?b=/c?d HTTP/1.1\r\nA:\r\nB: \t\xC3\xA9:x\r\n\r\nGET", "GET", "/a"},
      {"GET http://h:1/metrics?x HTTP/1.1\r\n\r\n", "GET", "/metrics"},
      {"GET http://h HTTP/1.1\r\n\r\n", "GET", "/"},
      {"OPTIONS * HTTP/1.1\r\n\r\n", "OPTIONS", "*"},
      {"get /%6d HTTP/1.1\r\n\r\n", "get", "/%6d"},
  };
  for (const auto& [text, method, path] : kGood) {
    Request request;
    ASSERT_EQ(parse_request(text, &request), Parsed::kYes) << text;
    EXPECT_EQ(request.method, method) << text;
    EXPECT_EQ(request.path, path) << text;
  }
}

// Whatever the place where it is cut, more may come.
TEST(Http, Beginnings) {
  const std::string whole = "\r\nGET /metrics HTTP/1.1\r\nHost: x\r\nA: b\r\n\r\n";
  for (std::size_t n = 0; n < whole.size(); ++n) {
    Request request;
    EXPECT_EQ(parse_request(whole.substr(0, n), &request), Parsed::kMore) << n;
  }
}

TEST(Http, Others) {
  for (const std::string& text :
       {std::string("GET /metrics\r\n"), std::string("GET  HTTP/1.1\r\n"),
        std::string("GET /a b HTTP/1.1\r\n"), std::string("GET /metrics HTTP/1.2\r\n"),
        std::string("GET /metrics HTTP/2.0\r\n"), std::string("GET /metrics http/1.1\r\n"),
        std::string("G(T /metrics HTTP/1.1\r\n"), std::string(" /metrics HTTP/1.1\r\n"),
        std::string("GET /\xC3\xA9 HTTP/1.1\r\n"), std::string("GET /metrics HTTP/1.1 \r\n"),
        std::string("GET /metrics HTTP/1.1\r\r\n"), std::string("\0", 1), std::string("\x16\x03"),
        std::string("GET /metrics HTTP/1.1\r\nno colon\r\n"),
        std::string("GET /metrics HTTP/1.1\r\n: x\r\n"),
        std::string("GET /metrics HTTP/1.1\r\nA : x\r\n"),
        std::string("GET /metrics HTTP/1.1\r\nA: b\r\n c\r\n"),
        std::string("GET /metrics HTTP/1.1\r\nA: \x7f")}) {
    Request request;
    EXPECT_EQ(parse_request(text, &request), Parsed::kBad) << text;
  }
}

TEST(Http, AnswerHeads) {
  const std::string good = answer_head({.bytes = 17});
  EXPECT_THAT(good, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(good, HasSubstr("\r\nContent-Length: 17\r\n"));
  EXPECT_THAT(good, HasSubstr("\r\nConnection: close\r\n"));
  EXPECT_THAT(good, ::testing::ContainsRegex(
                        "\r\nDate: [A-Z][a-z]+, [0-9]+ [A-Z][a-z]+ [0-9]+ [0-9:]+ GMT\r\n"));
  EXPECT_TRUE(good.ends_with("\r\n\r\n"));
  EXPECT_THAT(answer_head({.status = 405}), HasSubstr("\r\nAllow: GET, HEAD\r\n"));
  EXPECT_THAT(answer_head({.status = 431}), StartsWith("HTTP/1.1 431 Request Header Fields Too "));
}

}  // namespace
}  // namespace opennrt::tools
