// SPDX-License-Identifier: Apache-2.0
#include "config/value.h"

#include <gtest/gtest.h>

#include <clocale>

namespace opennrt::config {
namespace {

TEST(ParseUint, DecimalAndHex) {
  EXPECT_EQ(parse_uint("0"), 0u);
  EXPECT_EQ(parse_uint(" 42\t"), 42u);
  EXPECT_EQ(parse_uint("0x1F"), 31u);
  EXPECT_EQ(parse_uint("0X1f"), 31u);
  EXPECT_EQ(parse_uint("18446744073709551615"), ~0ull);
}

TEST(ParseUint, RefusesEverythingElse) {
  for (const char* bad : {"", " ", "-1", "+1", "1x", "x1", "0x", "0xg", "1.0", "1 2", "1e3",
                          "1,000", "18446744073709551616", "0x10000000000000000"})
    EXPECT_EQ(parse_uint(bad), std::nullopt) << bad;
}

TEST(ParseUint, DoesNotDependOnTheLocale) {
  setlocale(LC_ALL, "de_DE.UTF-8");
  EXPECT_EQ(parse_uint("1.000"), std::nullopt);
  EXPECT_EQ(parse_uint("1000"), 1000u);
  setlocale(LC_ALL, "C");
}

TEST(ParseSize, Suffixes) {
  EXPECT_EQ(parse_size("4096"), 4096u);
  EXPECT_EQ(parse_size("2KiB"), 2048u);
  EXPECT_EQ(parse_size("3 MiB"), 3u << 20);
  EXPECT_EQ(parse_size("16GiB"), 16ull << 30);
  EXPECT_EQ(parse_size("8G"), 8ull << 30);
  EXPECT_EQ(parse_size("1T"), 1ull << 40);
  EXPECT_EQ(parse_size("7K"), 7168u);
  EXPECT_EQ(parse_size("1GB"), std::nullopt);
  EXPECT_EQ(parse_size("G"), std::nullopt);
  EXPECT_EQ(parse_size("1.5G"), std::nullopt);
  EXPECT_EQ(parse_size("KiB"), std::nullopt);
  EXPECT_EQ(parse_size("18446744073709551615GiB"), std::nullopt);
}

TEST(ParseBool, Words) {
  for (const char* yes : {"1", "true", "TRUE", "Yes", "on", " 1 "})
    EXPECT_EQ(parse_bool(yes), true);
  for (const char* no : {"0", "false", "NO", "Off"}) EXPECT_EQ(parse_bool(no), false);
  for (const char* bad : {"", "2", "y", "truee", "-1"}) EXPECT_EQ(parse_bool(bad), std::nullopt);
}

TEST(ParseLevel, FirstWordFoundWins) {
  EXPECT_EQ(parse_level("warning"), log::Level::kWarn);
  EXPECT_EQ(parse_level("xxDEBUGxx"), log::Level::kDebug);
  EXPECT_EQ(parse_level("trace,error"), log::Level::kError);
  EXPECT_EQ(parse_level("quiet"), log::Level::kDisabled);
  EXPECT_EQ(parse_level("loud"), std::nullopt);
  EXPECT_EQ(parse_level("3"), std::nullopt);
}

TEST(ParseLocation, SinksAndFile) {
  auto both = parse_location("console,SYSLOG");
  ASSERT_TRUE(both);
  EXPECT_TRUE(both->console && both->syslog);
  auto one = parse_location("SysLog");
  ASSERT_TRUE(one);
  EXPECT_FALSE(one->console);
  EXPECT_TRUE(one->syslog);
  auto file = parse_location("/var/log/console");
  ASSERT_TRUE(file);
  EXPECT_FALSE(file->console);
  EXPECT_EQ(file->file, "/var/log/console");
  EXPECT_FALSE(parse_location("printer"));
}

TEST(ParseCores, Lists) {
  auto check = [](const char* text, std::uint32_t first, std::uint32_t count, bool sorted) {
    auto r = parse_cores(text);
    ASSERT_TRUE(r.is_ok()) << text << ": " << r.status().message();
    EXPECT_EQ(r->first, first) << text;
    EXPECT_EQ(r->count, count) << text;
    EXPECT_EQ(r->was_sorted, sorted) << text;
  };
  check("0", 0, 1, true);
  check("3-5", 3, 3, true);
  check("0,1,2", 0, 3, true);
  check(" 4 , 2-3 ", 2, 3, false);
  check("1,1,1-2", 1, 2, true);
  check("0-3,2", 0, 4, true);
  check("65535", 65535, 1, true);
}

TEST(ParseCores, Refusals) {
  auto message = [](const char* text) {
    auto r = parse_cores(text);
    EXPECT_FALSE(r.is_ok()) << text;
    EXPECT_EQ(r.status().code(), NRT_INVALID);
    return std::string(r.status().message());
  };
  EXPECT_EQ(message("0,2"), "not contiguous: core 1 is missing");
  EXPECT_EQ(message("5-3"), "range 5-3 runs backwards");
  EXPECT_EQ(message("a"), "'a' is neither N nor A-B");
  EXPECT_EQ(message("1-"), "'1-' is neither N nor A-B");
  EXPECT_EQ(message("-1"), "'-1' is neither N nor A-B");
  EXPECT_EQ(message("1-2-3"), "'1-2-3' is neither N nor A-B");
  EXPECT_EQ(message(","), "no core named");
  EXPECT_EQ(message("0-4294967295"), "core 4294967295 is above 65535");
}

}  // namespace
}  // namespace opennrt::config
