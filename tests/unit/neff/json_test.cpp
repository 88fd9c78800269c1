// SPDX-License-Identifier: Apache-2.0
#include "neff/json.h"

#include <clocale>
#include <cstring>

#include "gtest/gtest.h"
#include "neff/json_locate.h"

namespace opennrt::neff {
namespace {

Member member_of(std::string_view text) {
  Member member(text.size());
  std::memcpy(member.bytes().data(), text.data(), text.size());
  return member;
}

std::string error_of(std::string_view text) {
  const Member member = member_of(text);
  const auto document = JsonDocument::parse("m.json", member);
  return document.is_ok() ? std::string() : std::string(document.status().message());
}

TEST(Json, NestingLimitIsSixtyFour) {
  EXPECT_EQ(error_of(std::string(64, '[') + std::string(64, ']')), "");
  EXPECT_NE(error_of(std::string(65, '[') + "1" + std::string(65, ']')).find("deeper than 64"),
            std::string::npos);
  EXPECT_NE(error_of(std::string(65, '[') + std::string(65, ']')).find("deeper than 64"),
            std::string::npos);
}

TEST(Json, SyntaxErrorsAreLocated) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "m.json: the member is empty"},
      {"{\"a\": }", "line 1, column 7: a: \"}\" where a value is expected"},
      {"{\"a\":\n [1, 2,, 3]}", "line 2, column 8: a[2]: \",\" where a value is expected"},
      {"{\"a.b\": tru}", "line 1, column 9: [\"a.b\"]: \"tru\" is not a value"},
      {"{\"a\": 01}", "\"01\" is not a value"},
      {"{\"a\": -}", "\"-\" is not a value"},
      {"{\"a\": 1 \"b\": 2}", "where '}' is expected or ',' in an object"},
      {"[1 2]", "where ']' is expected or ',' in an array"},
      {"{a: 1}", "where '\"' is expected before a key"},
      {"{\"a\" 1}", "where ':' is expected behind a key"},
      {"[\"abc", "the text ends inside a string"},
      {"[\"a\\x\"]", "unknown escape"},
      {"[\"a\nb\"]", "control character"},
      {"[1", "the text ends where ']' is expected"},
      {"{\"n\": [0, 99999999999999999999]}",
       "n[1]: 99999999999999999999: integer out of the range"},
      {"{\"n\": -9223372036854775809}", "n: -9223372036854775809: integer out of the range"},
      {"{\"n\": 1e400}", "n: 1e400: number out of range"},
      {"[1] x", "behind the end of the document"},
  };
  for (const auto& [text, expected] : cases) {
    const std::string error = error_of(text);
    EXPECT_NE(error.find(expected), std::string::npos) << text << " -> " << error;
  }
}

TEST(Json, PathsAndValuesInMessages) {
  const Member member = member_of(R"({"a": {"b c": [1, {"d": "x"}]}})");
  const auto document = JsonDocument::parse("dir/m.json", member);
  ASSERT_TRUE(document.is_ok());
  const auto a = document->root().find("a");
  const auto b = a->find("b c");
  const auto second = b->element(1);
  const auto d = second->find("d");
  EXPECT_EQ(d->path(), "a[\"b c\"][1].d");
  EXPECT_EQ(d->integer(0, 9).status().message(),
            "dir/m.json: a[\"b c\"][1].d: \"x\": must be an integer from 0 to 9");
  EXPECT_EQ(b->text().status().message(), "dir/m.json: a[\"b c\"]: an array: must be a string");
  EXPECT_EQ(second->require("e").status().message(),
            "dir/m.json: a[\"b c\"][1]: key \"e\" is missing");
}

TEST(Json, OptionalMembersKeepTheirDefault) {
  const Member member = member_of(R"({"n": 7, "yes": true})");
  const auto document = JsonDocument::parse("m.json", member);
  ASSERT_TRUE(document.is_ok());
  std::uint32_t n = 1, absent = 5;
  bool yes = false;
  EXPECT_TRUE(document->root().get("n", 0, 9, n).is_ok());
  EXPECT_TRUE(document->root().get("m", 0, 9, absent).is_ok());
  EXPECT_TRUE(document->root().get("yes", yes).is_ok());
  EXPECT_EQ(n, 7U);
  EXPECT_EQ(absent, 5U);
  EXPECT_TRUE(yes);
  EXPECT_EQ(document->root().get("n", 0, 6, n).code(), NRT_INVALID);
  EXPECT_EQ(document->root().get("n", yes).code(), NRT_INVALID);
}

TEST(Json, NumbersDoNotFollowTheLocale) {
  const char* old = std::setlocale(LC_NUMERIC, nullptr);
  const std::string saved = old ? old : "C";
  bool comma = false;
  for (const char* name : {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE"})
    comma = comma || std::setlocale(LC_NUMERIC, name) != nullptr;
  const Member member = member_of(R"({"x": 1.5})");
  const auto document = JsonDocument::parse("m.json", member);
  ASSERT_TRUE(document.is_ok());
  const auto x = document->root().find("x");
  const auto value = x->real();
  const auto bad = x->integer(0, 1);
  std::setlocale(LC_NUMERIC, saved.c_str());
  EXPECT_EQ(*value, 1.5F);
  EXPECT_NE(bad.status().message().find("1.5"), std::string_view::npos);
  RecordProperty("decimal_comma_locale", comma ? "yes" : "none installed");
}

}  // namespace
}  // namespace opennrt::neff
