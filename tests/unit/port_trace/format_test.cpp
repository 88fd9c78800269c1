// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "ndl-common/record/trace.h"
#include "scratch.h"

namespace opennrt::trace {
namespace {

using ::testing::HasSubstr;

constexpr char kHeader[] = "# opennrt port trace 1 pid=7 start=9 ndl=\"n\" port=\"p\"\n";

Value parsed(const std::string& text) {
  Reader reader(text);
  Value value;
  EXPECT_TRUE(reader.value(&value) && reader.at_end()) << text << ": " << reader.error();
  return value;
}

TEST(TraceValue, KnownSums) {
  EXPECT_EQ(crc32("123456789", 9), 0xCBF43926u);
  EXPECT_EQ(crc32("6789", 4, crc32("12345", 5)), 0xCBF43926u);
}

TEST(TraceValue, TextOfEachKind) {
  EXPECT_EQ(to_text(Value::of(0)), "0");
  EXPECT_EQ(to_text(Value::of(65535)), "65535");
  EXPECT_EQ(to_text(Value::of(65536)), "0x10000");
  EXPECT_EQ(to_text(Value::of(~uint64_t{0})), "0xffffffffffffffff");
  EXPECT_EQ(to_text(Value::of_signed(-1)), "-1");
  EXPECT_EQ(to_text(Value::of_signed(INT64_MIN)), "-9223372036854775808");
  EXPECT_EQ(to_text(Value::of_text("a\"b\\c\n\x01\xFF")), "\"a\\\"b\\\\c\\n\\x01\\xff\"");
  EXPECT_EQ(to_text(Value::address(true)), "addr");
  EXPECT_EQ(to_text(Value::address(false)), "null");
  EXPECT_EQ(to_text(Value::of_bytes("\x00\x7f", 2, 0)), "x:007f");
  EXPECT_EQ(to_text(Value::unreadable(99)), "unreadable:99");
  EXPECT_EQ(to_text(Value::list({Value::of(1), Value::of(2), Value::of(2), Value::of(2)})),
            "[1,2*3]");
  EXPECT_EQ(to_text(Value::record({{"a", Value::of(1)}, {"b", Value::list({})}})), "{a=1 b=[]}");
  // RFC 4648: "foobar" is Zm9vYmFy, "fooba" Zm9vYmE=, "foob" Zm9vYg==.
  std::string foo;
  while (foo.size() < 66) foo += "foobar";
  EXPECT_THAT(to_text(Value::of_bytes(foo.data(), 66, 100)), ::testing::EndsWith(":" + [] {
                std::string out;
                for (int i = 0; i < 11; ++i) out += "Zm9vYmFy";
                return out;
              }()));
  EXPECT_THAT(to_text(Value::of_bytes(foo.data(), 65, 100)), ::testing::EndsWith("Zm9vYmE="));
  EXPECT_THAT(to_text(Value::of_bytes(foo.data(), 66, 4)), HasSubstr("cut:66:"));
  EXPECT_THAT(to_text(Value::of_bytes(foo.data(), 66, 4)), ::testing::EndsWith(":Zm9vYg=="));
  EXPECT_THAT(to_text(Value::of_bytes(foo.data(), 66, 0)),
              ::testing::EndsWith(":666f6f626172666f6f626172666f6f62"));
}

TEST(TraceValue, GoesRoundTrip) {
  std::string long_bytes(1000, '\0');
  for (size_t i = 0; i < long_bytes.size(); ++i) long_bytes[i] = static_cast<char>(i * 7);
  std::vector<Value> all = {Value::of(12),
                            Value::of_signed(-12),
                            Value::address(true),
                            Value::address(false),
                            Value::of_text("x y=[\"z\"]\n\xFE"),
                            Value::unreadable(5)};
  for (const uint64_t bytes : {0, 1, 2, 3, 64, 65, 66, 67, 1000})
    for (const uint64_t limit : {0, 30, 10000})
      all.push_back(Value::of_bytes(long_bytes.data(), bytes, limit));
  all.push_back(Value::list(all));
  all.push_back(Value::record({{"inner", all.back()}, {"other", Value::of(3)}}));
  for (const Value& value : all) {
    const std::string text = to_text(value);
    const Value back = parsed(text);
    EXPECT_TRUE(back.same(value)) << text;
    EXPECT_EQ(back.keep, value.keep);
    EXPECT_EQ(back.text, value.text);
    EXPECT_EQ(to_text(back), text);
  }
}

TEST(TraceValue, DifferentValuesAreNotTheSame) {
  EXPECT_FALSE(Value::of(1).same(Value::of(2)));
  EXPECT_FALSE(Value::of(1).same(Value::of_text("1")));
  EXPECT_FALSE(Value::of_bytes("ab", 2, 0).same(Value::of_bytes("ac", 2, 0)));
  EXPECT_FALSE(Value::list({Value::of(1)}).same(Value::list({Value::of(1), Value::of(1)})));
  EXPECT_FALSE(Value::record({{"a", Value::of(1)}}).same(Value::record({{"b", Value::of(1)}})));
  EXPECT_FALSE(Value::address(true).same(Value::address(false)));
  EXPECT_TRUE(Value::of(~uint64_t{0}).same(Value::of_signed(-1)));
}

TEST(TraceValue, MalformedValuesAreTold) {
  std::string deep(100, '[');
  const std::pair<std::string, const char*> cases[] = {
      {"", "number is missing"},
      {"zzz", "number is missing"},
      {"18446744073709551616", "above 64 bits"},
      {"-9223372036854775809", "below 64 bits"},
      {"\"open", "closing quote"},
      {"\"\\q\"", "unknown escape"},
      {"\"\\x4\"", "two hex digits"},
      {"[1", "ends with ]"},
      {"[1;2]", "ends with ]"},
      {"[1*0]", "too many values"},
      {"[1*99999999999]", "too many values"},
      {"[1*40000,2*40000]", "too many values"},
      {"[x:*3]", "hex digits"},
      {"[\"a\"*2]", "only numbers repeat"},
      {"{a=1", "closing brace"},
      {"{a}", "no ="},
      {"{=1}", "NAME=VALUE"},
      {"x:0", "no hex digits"},
      {"x:0g", "no hex digits"},
      {"b:3", ":CRC:"},
      {"b:3:xyz:AAAA", "8 hex digits"},
      {"b:4:00000000:AAAA", "more or fewer bytes"},
      {"b:3:00000000:AAAA", "this CRC"},
      {"b:3:ff41d912:AA=A", "no base64"},
      {"b:3:ff41d912:AAA", "no base64"},
      {"cut:3:00000000:AAAA", "as long as the whole"},
      {"unreadable:", "number is missing"},
      {deep, "too deeply"},
  };
  for (const auto& [text, why] : cases) {
    Reader reader(text);
    Value value;
    EXPECT_FALSE(reader.value(&value) && reader.at_end()) << text;
    EXPECT_THAT(reader.error(), HasSubstr(why)) << text;
    EXPECT_THAT(reader.error(), HasSubstr("column ")) << text;
  }
}

Line sample() {
  Line line;
  line.thread = 3;
  line.sequence = 12;
  line.at_us = 1000000;
  line.took_us = 5;
  line.call = "MEM_GET_PA";
  line.args = {{"fd", Value::of_signed(-1)}, {"mem_handle", Value::of(7)}};
  line.answered = true;
  line.result = 0;
  line.outs = {{"pa", Value::of(uint64_t{1} << 40)}};
  return line;
}

TEST(TraceLine, TextAndBack) {
  Line line = sample();
  EXPECT_EQ(to_text(line), "12 t3 @1000000 +5 MEM_GET_PA fd=-1 mem_handle=7 -> 0 pa=0x10000000000");
  Line failed = sample();
  failed.result = -16;
  failed.outs.clear();
  EXPECT_EQ(to_text(failed), "12 t3 @1000000 +5 MEM_GET_PA fd=-1 mem_handle=7 -> -16 EBUSY");
  Line odd = sample();
  odd.result = -524;  // no name
  odd.args.clear();
  EXPECT_EQ(to_text(odd), "12 t3 @1000000 +5 MEM_GET_PA -> -524 errno 524 pa=0x10000000000");
  Line memory = sample();
  memory.call = "mem";
  memory.answered = false;
  memory.outs.clear();
  for (const Line& each : {line, failed, odd, memory}) {
    Line back;
    std::string error;
    ASSERT_TRUE(parse_line(to_text(each), &back, &error)) << error;
    EXPECT_EQ(to_text(back), to_text(each));
    EXPECT_EQ(back.result, each.answered ? each.result : 0);
    EXPECT_EQ(back.thread, 3u);
  }
}

TEST(TraceLine, MalformedLinesAreTold) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "number is missing"},
      {"x", "number is missing"},
      {"1", "no thread"},
      {"1 t0", "no time"},
      {"1 t99999 @0 +0 open -> 0", "more threads"},
      {"1 t0 @0", "no duration"},
      {"1 t0 @0 +0", "no call"},
      {"1 t0 @0 +0 ", "name of a call"},
      {"1 t0 @0 +0 op-en -> 0", "name of a call"},
      {"1 t0 @0 +0 open", "result is missing"},
      {"1 t0 @0 +0 open path=\"a\"", "result is missing"},
      {"1 t0 @0 +0 open path=\"a\" -> ", "number is missing"},
      {"1 t0 @0 +0 open path=\"a\" -> 1x", "no space"},
      {"1 t0 @0 +0 open path=\"a\" -> 1 x", "no ="},
      {"1 t0 @0 +0 open path=\"a\" -> 1 x=1 y", "no ="},
      {"1 t0 @0 +0 open path=\"a\"-> 1", "->"},
  };
  for (const auto& [text, why] : cases) {
    Line line;
    std::string error;
    EXPECT_FALSE(parse_line(text, &line, &error)) << text;
    EXPECT_THAT(error, HasSubstr(why)) << text;
  }
}

TEST(TraceFile, SessionsAndACutEnd) {
  const std::string text = std::string(kHeader) + "1 t0 @0 +0 exists path=\"a\" -> 1\n" +
                           "2 t0 @1 +0 mem seen=\"wait\" map=1 offset=0 data=x:01\n" +
                           "2 t0 @1 +0 mem seen=\"wait\" map=1 offset=8 data=x:01\n" +
                           "# end lines=2\n" + kHeader + "1 t0 @0 +0 close fd=1 -> 0\n" +
                           "2 t0 @9 +0 close f";
  Trace trace;
  std::string error;
  ASSERT_EQ(parse_trace(text, "f", &trace, &error), 0) << error;
  ASSERT_EQ(trace.sessions.size(), 2u);
  EXPECT_EQ(trace.sessions[0].lines.size(), 3u);
  EXPECT_TRUE(trace.sessions[0].ended);
  EXPECT_EQ(number_of(trace.sessions[0].header, "pid"), 7u);
  EXPECT_EQ(trace.sessions[1].lines.size(), 1u);
  EXPECT_EQ(trace.sessions[1].lines[0].number, 7u);
  EXPECT_FALSE(trace.sessions[1].ended);
  EXPECT_TRUE(trace.cut);
}

TEST(TraceFile, EveryPrefixIsReadOrTold) {
  const std::string text = std::string(kHeader) + "1 t0 @0 +0 exists path=\"a\" -> 1\n" +
                           "2 t1 @1 +0 MEM_FREE fd=3 mem_handle=4 -> -22 EINVAL\n# end lines=2\n";
  for (size_t n = 0; n <= text.size(); ++n) {
    Trace trace;
    std::string error;
    const int result = parse_trace(text.substr(0, n), "f", &trace, &error);
    EXPECT_EQ(result, n < std::strlen(kMagic) ? -EINVAL : 0) << n << ": " << error;
    EXPECT_EQ(result != 0, !error.empty());
  }
}

TEST(TraceFile, MalformedFilesAreToldWithTheirLine) {
  const std::string header = kHeader;
  const std::pair<std::string, const char*> cases[] = {
      {"", "f:1: is empty"},
      {"ELF\n", "f:1: is no port trace"},
      {"# opennrt port trace 2\n", "f:1: a trace of version 2"},
      {"# opennrt port trace x\n", "f:1: the version"},
      {"# opennrt port trace 1 pid\n", "f:1: column"},
      {header + "1 t0 @0 +0 open\n", "f:2: the result is missing"},
      {header + "2 t0 @0 +0 close fd=1 -> 0\n1 t0 @0 +0 close fd=2 -> 0\n",
       "f:3: sequence 1 behind 2: lines are missing or out of order"},
      {header + "1 t0 @0 +0 close fd=1 -> 0\n1 t0 @0 +0 close fd=2 -> 0\n", "f:3: sequence 1"},
      {header + "1 t0 @0 +0 close fd=1 -> 0\n\n# note\n?\n", "f:5: column 1"},
      {header + "# end lines=0\n1 t0 @0 +0 close fd=1 -> 0\n", "f:3: a call behind the end"},
      {header + std::string(1000, '\0') + "\n", "f:2: column 1"},
  };
  for (const auto& [text, why] : cases) {
    Trace trace;
    std::string error;
    EXPECT_EQ(parse_trace(text, "f", &trace, &error), -EINVAL) << text;
    EXPECT_THAT(error, ::testing::StartsWith(why)) << text;
  }
}

TEST(TraceFile, PathsThatAreNoFile) {
  const test::Scratch scratch;
  Trace trace;
  std::string error;
  EXPECT_EQ(read_trace(scratch.file("none"), &trace, &error), -ENOENT);
  EXPECT_THAT(error, HasSubstr("none: No such file"));
  EXPECT_EQ(read_trace("/tmp", &trace, &error), -EISDIR);
  EXPECT_EQ(read_trace("/dev/zero", &trace, &error), -EOPNOTSUPP);
  EXPECT_EQ(read_trace(scratch.write("ok", kHeader), &trace, &error), 0);
}

}  // namespace
}  // namespace opennrt::trace
