// SPDX-License-Identifier: Apache-2.0
#include "trace/show.h"

#include <gmock/gmock.h>
#include <simdjson.h>

#include <deque>
#include <sstream>

namespace opennrt::tools {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kText[] =
    "# opennrt port trace 1 pid=77 start=1 ndl=\"ndl-kernel\" port=\"kernel\"\n"
    "1 t0 @5 +3 open path=\"/dev/neuron0\" flags=2 -> 3\n"
    "2 t0 @10 +2 MEM_FREE fd=3 mem_handle=1 -> 0\n"
    "3 t1 @11 +40 MEM_FREE fd=3 mem_handle=9 -> -22 EINVAL\n"
    "4 t1 @60 +0 mem seen=\"wait\" map=1 offset=8 data=x:01\n"
    "5 t1 @70 +9 MEM_BUF_COPY64 fd=3 mem_handle=1 size=66 -> 0 "
    "buffer=b:66:5c2d6d1f:"
    "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n"
    "# end lines=5\n"
    "# opennrt port trace 1 pid=77 start=1 ndl=\"ndl-compat\" port=\"kernel\"\n"
    "1 t0 @1 +1 close fd=4 -> 0\n";

trace::Trace sample() {
  std::string text = kText;
  const std::string zeros(66, '\0');
  char crc[16];
  std::snprintf(crc, sizeof crc, "%08x", trace::crc32(zeros.data(), 66));
  text.replace(text.find("5c2d6d1f"), 8, crc);
  trace::Trace out;
  std::string error;
  EXPECT_EQ(trace::parse_trace(text, "f", &out, &error), 0) << error;
  return out;
}

std::string shown(const std::vector<std::string>& words) {
  std::vector<std::string> all = words;
  all.push_back("f");
  return show_trace(sample(), trace_options(trace_command_line().parse(all).value()));
}

TEST(ShowTrace, Lines) {
  const std::string text = shown({});
  EXPECT_THAT(text, HasSubstr("attach 1: process 77, ndl-kernel over port kernel\n"));
  EXPECT_THAT(text, HasSubstr("attach 2: process 77, ndl-compat over port kernel\n"));
  EXPECT_THAT(text, HasSubstr("      1  t0             5         3  3            open "
                              "path=\"/dev/neuron0\" flags=2\n"));
  EXPECT_THAT(text, HasSubstr("      3  t1            11        40  EINVAL       MEM_FREE fd=3 "
                              "mem_handle=9\n"));
  EXPECT_THAT(text, HasSubstr("               mem seen=\"wait\" map=1 offset=8 data=x:01\n"));
  EXPECT_THAT(text, HasSubstr("size=66  -> buffer=d:66:"));
  EXPECT_THAT(text, HasSubstr(":00000000000000000000000000000000\n"));
  EXPECT_THAT(text, Not(HasSubstr("AAAA")));
  // Only the second attach has no end.
  EXPECT_THAT(text, ::testing::EndsWith("close fd=4\nno detach was recorded\n"));
  EXPECT_EQ(text.find("no detach"), text.rfind("no detach"));
}

TEST(ShowTrace, Filters) {
  EXPECT_THAT(shown({"--errors"}), HasSubstr("mem_handle=9"));
  EXPECT_THAT(shown({"--errors"}), Not(HasSubstr("mem_handle=1")));
  EXPECT_THAT(shown({"--errors"}), Not(HasSubstr(" mem seen")));
  EXPECT_THAT(shown({"--thread", "1"}), Not(HasSubstr("open")));
  EXPECT_THAT(shown({"--thread=1"}), HasSubstr("MEM_BUF_COPY64"));
  EXPECT_THAT(shown({"--request", "mem_free"}), Not(HasSubstr("open")));
  EXPECT_THAT(shown({"--request", "mem_free", "--request=open"}), HasSubstr("open path"));
  EXPECT_THAT(shown({"--from", "2", "--to", "3"}), Not(HasSubstr("open path")));
  EXPECT_THAT(shown({"--from", "2", "--to", "3"}), Not(HasSubstr("MEM_BUF_COPY64")));
  EXPECT_THAT(shown({"--from", "2", "--to", "3"}), HasSubstr("mem_handle=9"));
}

TEST(ShowTrace, Summary) {
  const std::string text = shown({"--summary"});
  EXPECT_THAT(text, ::testing::StartsWith("call                                     count    "
                                          "errors     total us      mean us       max us\n"
                                          "MEM_FREE                                     2         "
                                          "1           42         21.0           40\n"));
  EXPECT_THAT(text, HasSubstr("all                                          5         1"));
  EXPECT_THAT(text, Not(HasSubstr("mem ")));
  EXPECT_THAT(shown({"--summary", "--request", "open"}), Not(HasSubstr("MEM_FREE")));
}

// Each line on its own.
std::vector<simdjson::dom::element> parsed(const std::string& text,
                                           std::deque<simdjson::dom::parser>* parsers) {
  std::vector<simdjson::dom::element> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    simdjson::dom::element element;
    parsers->emplace_back();
    EXPECT_EQ(parsers->back().parse(line).get(element), simdjson::SUCCESS) << line;
    out.push_back(element);
  }
  return out;
}

TEST(ShowTrace, JsonLines) {
  std::deque<simdjson::dom::parser> parsers;
  const auto lines = parsed(shown({"--json"}), &parsers);
  ASSERT_EQ(lines.size(), 8U);  // two attaches, six calls
  EXPECT_EQ(std::string_view(lines[0]["ndl"]), "ndl-kernel");
  EXPECT_EQ(std::uint64_t(lines[0]["pid"]), 77U);
  EXPECT_TRUE(bool(lines[0]["ended"]));
  EXPECT_EQ(std::string_view(lines[1]["call"]), "open");
  EXPECT_EQ(std::string_view(lines[1]["given"]["path"]), "/dev/neuron0");
  EXPECT_EQ(std::int64_t(lines[1]["result"]), 3);
  EXPECT_TRUE(lines[1]["error"].is_null());
  EXPECT_EQ(std::int64_t(lines[3]["result"]), -22);
  EXPECT_EQ(std::string_view(lines[3]["error"]), "EINVAL");
  EXPECT_EQ(std::uint64_t(lines[3]["thread"]), 1U);
  EXPECT_EQ(std::uint64_t(lines[3]["at_us"]), 11U);
  EXPECT_EQ(std::uint64_t(lines[3]["took_us"]), 40U);
  EXPECT_EQ(std::uint64_t(lines[3]["given"]["mem_handle"]), 9U);
  EXPECT_TRUE(lines[4]["result"].is_null());  // memory that changed
  EXPECT_EQ(std::string_view(lines[4]["given"]["data"]["bytes"]), "01");
  EXPECT_EQ(std::uint64_t(lines[4]["given"]["data"]["length"]), 1U);
  const simdjson::dom::element buffer = lines[5]["answer"]["buffer"];
  EXPECT_EQ(std::uint64_t(buffer["length"]), 66U);
  EXPECT_EQ(std::string_view(buffer["bytes"]), std::string(32, '0'));
  EXPECT_EQ(std::string_view(buffer["crc32"]).size(), 8U);
  EXPECT_EQ(std::uint64_t(lines[6]["attach"]), 2U);
  EXPECT_FALSE(bool(lines[6]["ended"]));
  EXPECT_EQ(parsed(shown({"--json", "--errors"}), &parsers).size(), 3U);
}

TEST(ShowTrace, JsonSummary) {
  std::deque<simdjson::dom::parser> parsers;
  const auto lines = parsed(shown({"--json", "--summary"}), &parsers);
  ASSERT_EQ(lines.size(), 1U);
  const simdjson::dom::element first = lines[0]["calls"].at(0);
  EXPECT_EQ(std::string_view(first["call"]), "MEM_FREE");
  EXPECT_EQ(std::uint64_t(first["count"]), 2U);
  EXPECT_EQ(std::uint64_t(first["errors"]), 1U);
  EXPECT_EQ(std::uint64_t(first["total_us"]), 42U);
  EXPECT_EQ(double(first["mean_us"]), 21.0);
  EXPECT_EQ(std::uint64_t(first["max_us"]), 40U);
  EXPECT_EQ(std::uint64_t(lines[0]["all"]["count"]), 5U);
}

// Names of files and texts of a driver hold anything.
TEST(ShowTrace, JsonOfAnyText) {
  trace::Trace recording;
  trace::Line line;
  line.call = "open";
  line.args = {{"path", trace::Value::of_text("a\"b\\\n\xff")},
               {"none", trace::Value::address(false)},
               {"there", trace::Value::address(true)},
               {"gone", trace::Value::unreadable(8)},
               {"least", trace::Value::of_signed(INT64_MIN)},
               {"most", trace::Value::of(UINT64_MAX)},
               {"list", trace::Value::list({trace::Value::of(1), trace::Value::record({})})}};
  recording.sessions.emplace_back();
  recording.sessions[0].lines.push_back(line);
  TraceOptions options;
  options.json = true;
  std::deque<simdjson::dom::parser> parsers;
  const auto lines = parsed(show_trace(recording, options), &parsers);
  ASSERT_EQ(lines.size(), 2U);
  const simdjson::dom::element given = lines[1]["given"];
  EXPECT_EQ(std::string_view(given["path"]), "a\"b\\\n\xEF\xBF\xBD");
  EXPECT_TRUE(given["none"].is_null());
  EXPECT_EQ(std::string_view(given["there"]), "addr");
  EXPECT_TRUE(bool(given["gone"]["unreadable"]));
  EXPECT_EQ(std::int64_t(given["least"]), INT64_MIN);
  EXPECT_EQ(std::uint64_t(given["most"]), UINT64_MAX);
  EXPECT_EQ(std::uint64_t(given["list"].at(0)), 1U);
}

TEST(ShowTrace, Words) {
  const std::pair<std::vector<std::string>, const char*> cases[] = {
      {{}, "FILE is missing"},
      {{"--thread", "x", "f"}, "--thread=x: expected a number from 0 on"},
      {{"--thread", "-1", "f"}, "--thread=-1: expected a number from 0 on"},
      {{"f", "--from"}, "--from needs a value"},
      {{"f", "--to="}, "--to needs a value"},
      {{"f", "--errors=1"}, "--errors takes no value"},
      {{"f", "--odd"}, "unknown option --odd"},
      {{"f", "g"}, "unexpected argument g"},
  };
  for (const auto& [words, why] : cases) {
    try {
      trace_options(trace_command_line().parse(words).value());
      ADD_FAILURE() << why;
    } catch (const UsageError& e) {
      EXPECT_STREQ(e.what(), why);
    }
  }
}

}  // namespace
}  // namespace opennrt::tools
