// SPDX-License-Identifier: Apache-2.0
#include "neff/args.h"

#include <gtest/gtest.h>

namespace opennrt::tools {
namespace {

const std::vector<Option> kOptions = {{"json"}, {"range", true}};

std::string refusal(const std::vector<std::string>& words) {
  const auto args = Args::parse(words, kOptions, 1, 2);
  EXPECT_FALSE(args.is_ok());
  return std::string(args.status().message());
}

TEST(Args, OptionsStandAnywhere) {
  const auto args = Args::parse({"--json", "a", "--range", "1:2", "b"}, kOptions, 1, 2);
  ASSERT_TRUE(args.is_ok()) << args.status().message();
  EXPECT_EQ(args->positional(), (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(args->has("json"));
  EXPECT_EQ(args->value("range"), "1:2");
}

TEST(Args, ValueBehindEqualAndWordsBehindTwoDashes) {
  const auto args = Args::parse({"--range=a=b", "--", "--json"}, kOptions, 1, 2);
  ASSERT_TRUE(args.is_ok()) << args.status().message();
  EXPECT_EQ(args->value("range"), "a=b");
  EXPECT_FALSE(args->has("json"));
  EXPECT_EQ(args->positional(), (std::vector<std::string>{"--json"}));
}

TEST(Args, WrongOnesAreNamed) {
  EXPECT_EQ(refusal({}), "an argument is missing");
  EXPECT_EQ(refusal({"a", "b", "c"}), "unexpected argument c");
  EXPECT_EQ(refusal({"a", "--jsn"}), "unknown option --jsn");
  EXPECT_EQ(refusal({"a", "-x"}), "unknown option -x");
  EXPECT_EQ(refusal({"a", "--range"}), "--range needs a value");
  EXPECT_EQ(refusal({"a", "--json=1"}), "--json takes no value");
  EXPECT_EQ(refusal({"a", "--json", "--json"}), "--json is given twice");
}

TEST(Args, NumbersAreWhole) {
  EXPECT_EQ(decimal("18446744073709551615"), 18446744073709551615U);
  for (const char* text : {"", "-1", "0x10", "1 ", "18446744073709551616", "1e3"})
    EXPECT_FALSE(decimal(text)) << text;
}

}  // namespace
}  // namespace opennrt::tools
