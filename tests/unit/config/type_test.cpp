// SPDX-License-Identifier: Apache-2.0
//
// One text for one setting: legal, at the limits, past them, and nonsense, for
// every type; then every row of the table with nonsense.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "config/config.h"
#include "config/form.h"

namespace opennrt::config {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Parsed {
  bool ok = false, clamped = false;
  Value value;
  std::string message;
};

Parsed parse(const Setting& row, std::string_view text, Units units = Units::kPlain) {
  Parsed out;
  auto value = parse_value(row, text, units, &out.clamped);
  out.ok = value.is_ok();
  if (out.ok)
    out.value = *value;
  else
    out.message = value.status().message();
  return out;
}

constexpr Setting kNumber{.type = Type::kUint, .min = 16, .max = 64, .multiple_of = 8};

TEST(ParseValue, Number) {
  for (const auto& [text, number] : {std::pair{"16", 16u},
                                     {"64", 64u},
                                     {" 24\t", 24u},
                                     {"0x20", 32u},
                                     {"0X20", 32u},
                                     {"0x0000000000000000020", 32u}}) {
    const Parsed p = parse(kNumber, text);
    EXPECT_TRUE(p.ok) << text;
    EXPECT_EQ(p.value.number, number) << text;
    EXPECT_EQ(p.value.text, std::to_string(number));
    EXPECT_TRUE(p.value.set);
  }
  for (const char* text : {"15", "65", "0", "18446744073709551615"})
    EXPECT_EQ(parse(kNumber, text).message, "must be 16 to 64") << text;
  EXPECT_EQ(parse(kNumber, "20").message, "must be a multiple of 8");
  for (const char* text : {"", " ", "\t\n", "-16", "+16", "16x", "x16", "1 6", "16.0", "0x", "0x1g",
                           "sixteen", "18446744073709551616", "16,24", "1e1", "\xff"})
    EXPECT_THAT(parse(kNumber, text).message, HasSubstr("must be a number from ")) << text;
}

TEST(ParseValue, NumberWithoutEndAndPowerOfTwo) {
  constexpr Setting kOpen{.type = Type::kUint, .min = 1};
  EXPECT_EQ(parse(kOpen, "18446744073709551615").value.number, ~0ull);
  EXPECT_EQ(parse(kOpen, "0").message, "must be at least 1");
  constexpr Setting kPower{.type = Type::kUint, .min = 1, .max = 64, .power_of_two = true};
  EXPECT_TRUE(parse(kPower, "1").ok);
  EXPECT_TRUE(parse(kPower, "64").ok);
  EXPECT_EQ(parse(kPower, "48").message, "must be a power of two");
}

TEST(ParseValue, NumberThatIsClamped) {
  Setting row = kNumber;
  row.bad = OnBad::kClamp;
  EXPECT_FALSE(parse(row, "64").clamped);
  EXPECT_TRUE(parse(row, "65").clamped);
  EXPECT_EQ(parse(row, "65").value.number, 64u);
  EXPECT_EQ(parse(row, "0").value.number, 16u);
  EXPECT_FALSE(parse(row, "many").ok);
}

TEST(ParseValue, Size) {
  constexpr Setting kRow{.type = Type::kSize, .min = 1024, .max = 1ull << 40};
  EXPECT_EQ(parse(kRow, "1024").value.number, 1024u);
  EXPECT_EQ(parse(kRow, "0x400").value.number, 1024u);
  EXPECT_EQ(parse(kRow, "1023").message, "must be 1024 to 1099511627776");
  for (const char* text : {"1KiB", "1K", " 1 KiB "})
    EXPECT_EQ(parse(kRow, text, Units::kAllowed).value.number, 1024u) << text;
  EXPECT_EQ(parse(kRow, "1TiB", Units::kAllowed).value.number, 1ull << 40);
  EXPECT_EQ(parse(kRow, "1T", Units::kAllowed).value.text, "1099511627776");
  EXPECT_EQ(parse(kRow, "2T", Units::kAllowed).message, "must be 1024 to 1099511627776");
  EXPECT_THAT(parse(kRow, "1KiB").message, HasSubstr("without a unit"));
  for (const char* text : {"", " ", "KiB", "1KB", "1kib", "1.5G", "-1G", "99999999999T"}) {
    EXPECT_THAT(parse(kRow, text, Units::kAllowed).message, HasSubstr("must be a size from "))
        << text;
    EXPECT_THAT(parse(kRow, text).message, HasSubstr("must be a size from ")) << text;
  }
}

TEST(ParseValue, Bool) {
  constexpr Setting kRow{.type = Type::kBool};
  for (const char* text : {"1", "true", "TRUE", "yes", "On", " 1 "})
    EXPECT_EQ(parse(kRow, text).value.text, "1") << text;
  for (const char* text : {"0", "false", "NO", "off"})
    EXPECT_EQ(parse(kRow, text).value.text, "0") << text;
  for (const char* text : {"", " ", "2", "0x1", "-1", "y", "truth", "1 0"})
    EXPECT_EQ(parse(kRow, text).message, "must be 0 or 1") << text;
}

TEST(ParseValue, Enum) {
  Setting row{.type = Type::kEnum, .choices = "none|critical|debug"};
  EXPECT_EQ(parse(row, "Critical").value.text, "critical");
  EXPECT_EQ(parse(row, " debug ").value.number, 2u);
  for (const char* text : {"", " ", "crit", "critical,debug", "|", "none|critical", "1"})
    EXPECT_EQ(parse(row, text).message, "must be one of none|critical|debug") << text;
  row.indexed = true;
  EXPECT_EQ(parse(row, "2").value.text, "debug");
  EXPECT_EQ(parse(row, "0x1").value.text, "critical");
  EXPECT_EQ(parse(row, "3").message, "must be one of none|critical|debug or 0 to 2");
}

TEST(ParseValue, Numbers) {
  Setting row{.type = Type::kNumbers, .min = 1, .max = 64, .count = 3};
  EXPECT_THAT(parse(row, "1,64, 0x10").value.numbers, ElementsAre(1, 64, 16));
  EXPECT_EQ(parse(row, " 1 , 2 ,3").value.text, "1,2,3");
  EXPECT_EQ(parse(row, "1,2").message, "has 2 numbers, must have 3");
  EXPECT_EQ(parse(row, "1,2,3,4").message, "has 4 numbers, must have 3");
  EXPECT_EQ(parse(row, "1,2,65").message, "must be 1 to 64");
  EXPECT_EQ(parse(row, "1,x,3").message, "'x' is not a number");
  EXPECT_EQ(parse(row, "").message, "no number");
  EXPECT_EQ(parse(row, " , ,").message, "no number");
  row.power_of_two = true;
  EXPECT_EQ(parse(row, "1,2,3").message, "must be a power of two");
  row = {.type = Type::kNumbers, .max = 64, .max_count = 2};
  EXPECT_TRUE(parse(row, "5").ok);
  EXPECT_EQ(parse(row, "1,2,3").message, "has 3 numbers, may have 2");
  row.bad = OnBad::kClamp;
  const Parsed p = parse(row, "1,99,3");
  EXPECT_TRUE(p.ok && p.clamped);
  EXPECT_THAT(p.value.numbers, ElementsAre(1, 64));
}

TEST(ParseValue, Ranges) {
  constexpr Setting kRow{.type = Type::kRanges};
  EXPECT_THAT(parse(kRow, "0-3,5").value.numbers, ElementsAre(0, 3, 5, 5));
  EXPECT_THAT(parse(kRow, "0-3, 5").value.list, ElementsAre("0-3", "5"));
  EXPECT_THAT(parse(kRow, "0x10,1").value.numbers, ElementsAre(16, 16, 1, 1));
  EXPECT_THAT(parse(kRow, "65535").value.numbers, ElementsAre(65535, 65535));
  EXPECT_EQ(parse(kRow, "65536").message, "core 65536 is above 65535");
  EXPECT_EQ(parse(kRow, "3-1").message, "range 3-1 runs backwards");
  EXPECT_EQ(parse(kRow, "all").message, "'all' is neither N nor A-B");
  for (const char* text : {"", " ", ","}) EXPECT_EQ(parse(kRow, text).message, "no core named");
  constexpr Setting kCores{.type = Type::kCores};
  EXPECT_EQ(parse(kCores, "0,2").message, "not contiguous: core 1 is missing");
}

TEST(ParseValue, TextsAndPaths) {
  Setting row{.type = Type::kString, .max_bytes = 4};
  EXPECT_EQ(parse(row, " ~/x").value.text, " ~/x");  // verbatim
  EXPECT_EQ(parse(row, "12345").message, "has 5 bytes, may have 4");
  row = {.type = Type::kString, .must_be = MustBe::kDirectory};
  EXPECT_TRUE(parse(row, "/").ok);
  EXPECT_EQ(parse(row, "/proc/self/status").message, "must be a directory");
  EXPECT_EQ(parse(row, "/no/such").message, "No such file or directory");
  row.must_be = MustBe::kFile;
  EXPECT_TRUE(parse(row, "/proc/self/status").ok);
  EXPECT_EQ(parse(row, "/").message, "must be a file");
}

TEST(ParseValue, List) {
  constexpr Setting kRow{.type = Type::kList};
  EXPECT_THAT(parse(kRow, "a, ^b ,,c").value.list, ElementsAre("a", "^b", "c"));
  EXPECT_THAT(parse(kRow, " ").value.list, ElementsAre());
}

void expect_form(Form form, std::initializer_list<const char*> good,
                 std::initializer_list<const char*> bad) {
  for (const char* text : good) EXPECT_TRUE(check_form(form, text).is_ok()) << text;
  for (const char* text : bad) EXPECT_EQ(check_form(form, text).code(), NRT_INVALID) << text;
}

TEST(CheckForm, TextsWithAGrammar) {
  expect_form(Form::kInstanceType, {"trn2.48xlarge", "inf2.xlarge", "u-6tb1.metal"},
              {"trn2", ".large", "trn2.", "Trn2.48xlarge", "trn2.48 xlarge", "a.b.c", " "});
  expect_form(Form::kEndpoint, {"10.0.0.1:1", "127.0.0.1:65535", "[::1]:42000", "[fe80::1]:1"},
              {"localhost:1", "10.0.0.1", "10.0.0.1:", "10.0.0.1:0", "10.0.0.1:65536", "::1:42",
               "[::1]", "[]:1", "10.0.0:1", "10.0.0.1:x", ":1", " "});
  expect_form(Form::kAlgorithms,
              {"ring", "ring,mesh", "intra:ring, inter:inter_rdh", "0", "0x3fffff", "7"},
              {"rings", "intra:", "both:ring", "0x400000", ",", " ", "ring;mesh"});
  expect_form(Form::kHistogram, {"10 100 1 5 /tmp/h", "0 0 0 0 h"},
              {"", "10 100 1 /tmp/h", "10 100 1 5 /tmp/h x", "a 100 1 5 /tmp/h"});
  const std::string path(127, 'p');
  EXPECT_TRUE(check_form(Form::kHistogram, "1 2 3 4 " + path).is_ok());
  EXPECT_FALSE(check_form(Form::kHistogram, "1 2 3 4 p" + path).is_ok());
  expect_form(Form::kOutputDirectory, {"./output", "/dev/null", "./tmp2", "/tmp", "tmp/x"},
              {"./tmp", "./tmp/", "./tmp//"});
  expect_form(Form::kVerifyModes, {"all", "none", "poison,races", "order=7,bounds", ""},
              {"everything", "order=", "order=x", "poison races", "order"});
}

const std::string kLongText(5000, '?');

// A text that no row of the type takes; nullptr: every text is good.
const char* nonsense_for(const Setting& row) {
  if (row.bad == OnBad::kNever) return nullptr;
  switch (row.type) {
    case Type::kString:
      if (row.max_bytes == 0 && row.must_be == MustBe::kNothing && row.form == Form::kNone)
        return nullptr;
      if (row.form == Form::kOutputDirectory) return "./tmp";
      return kLongText.c_str();
    case Type::kList:
      return row.form == Form::kNone ? nullptr : "?";
    case Type::kOpaque:
      return nullptr;
    default:
      return "?";
  }
}

TEST(EveryVariable, DefaultIsLegalAndNonsenseIsTreatedAsTheRowSays) {
  const Loaded plain = load({.system_file = "", .environment = {}});
  ASSERT_TRUE(plain.status.is_ok());
  std::size_t seen = 0;
  for (const Setting& row : settings()) {
    EXPECT_EQ(plain.config->is_set(row.id), !row.fallback.empty()) << row.key;
    for (std::string_view name : row.variables) {
      const char* text = nonsense_for(row);
      if (name.empty() || text == nullptr) continue;
      ++seen;
      const Loaded l = load({.system_file = "", .environment = {{std::string(name), text}}});
      const std::string prefix = fmt::format("{}: {}='{}': ", name, row.key, printable(text));
      if (row.bad == OnBad::kFail) {
        EXPECT_EQ(l.status.code(), NRT_INVALID) << name;
        EXPECT_THAT(std::string(l.status.message()), HasSubstr(prefix)) << name;
      } else {
        EXPECT_TRUE(l.status.is_ok()) << name << l.status.message();
        ASSERT_EQ(l.issues.size(), 1u) << name;
        EXPECT_THAT(l.issues[0].text, HasSubstr(prefix)) << name;
        EXPECT_TRUE(l.issues[0].always) << name;
      }
      EXPECT_EQ(l.config->get(row.key), plain.config->get(row.key)) << name;
    }
  }
  EXPECT_GE(seen, 150u);
}

TEST(EveryVariable, EmptyIsTheSameAsUnset) {
  for (const Setting& row : settings())
    for (std::string_view name : row.variables) {
      if (name.empty()) continue;
      const Loaded l = load({.system_file = "", .environment = {{std::string(name), ""}}});
      EXPECT_TRUE(l.status.is_ok()) << name;
      EXPECT_TRUE(l.issues.empty()) << name;
      EXPECT_EQ(l.config->is_given(row.id), row.empty_is_off) << name;
      if (row.empty_is_off) {
        EXPECT_EQ(l.config->get(row.key), "") << name;
      }
    }
}

}  // namespace
}  // namespace opennrt::config
