// SPDX-License-Identifier: Apache-2.0
#include "trace/show.h"

#include <gmock/gmock.h>

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
  TraceOptions options;
  std::string error;
  std::vector<std::string> all = words;
  all.push_back("f");
  EXPECT_TRUE(parse_trace_options(all, &options, &error)) << error;
  return show_trace(sample(), options);
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

TEST(ShowTrace, Words) {
  const std::pair<std::vector<std::string>, const char*> cases[] = {
      {{}, "the file is missing"},
      {{"--thread", "x", "f"}, "--thread x: is no number"},
      {{"--thread", "-1", "f"}, "--thread -1: is no number"},
      {{"f", "--from"}, "--from needs a value"},
      {{"f", "--to="}, "--to needs a value"},
      {{"f", "--errors=1"}, "--errors takes no value"},
      {{"f", "--odd"}, "unknown option --odd"},
      {{"f", "g"}, "one file, not also g"},
  };
  for (const auto& [words, why] : cases) {
    TraceOptions options;
    std::string error;
    EXPECT_FALSE(parse_trace_options(words, &options, &error)) << why;
    EXPECT_EQ(error, why);
  }
  TraceOptions options;
  std::string error;
  EXPECT_TRUE(parse_trace_options({"--help"}, &options, &error));
  EXPECT_TRUE(options.help);
}

}  // namespace
}  // namespace opennrt::tools
