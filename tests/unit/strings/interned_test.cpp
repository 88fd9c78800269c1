// SPDX-License-Identifier: Apache-2.0
#include "strings/interned.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>
#include <vector>

#include "strings/siphash.h"

namespace opennrt::strings {
namespace {

// hash(b"...") of CPython 3.11 with PYTHONHASHSEED=0.
TEST(SipHash13, AgreesWithAnotherImplementation) {
  EXPECT_EQ(siphash13({}, "a"), 0x407448d2b89b1813u);
  EXPECT_EQ(siphash13({}, "abcdefg"), 0x6db12aae9070f506u);
  EXPECT_EQ(siphash13({}, "abcdefgh"), 0x3f7b849c0b8e35eau);
  EXPECT_EQ(siphash13({}, "a longer text of several blocks"), 0x7b3522278da7e323u);
  EXPECT_EQ(siphash13({}, "vecadd\xFF"), 0xce8be2d94ac74ddcu);
  std::string bytes;
  for (int i = 0; i < 64; ++i) bytes += static_cast<char>(i);
  EXPECT_EQ(siphash13({}, bytes), 0x75e05fd5bbc870c6u);
}

// Of nothing, with a zero key: the value of Rust's default hasher.
TEST(SipHash13, OfNothing) { EXPECT_EQ(siphash13({}, ""), 0xd1fba762150c532cu); }

TEST(SipHash13, TwoPartsAreOneText) {
  for (std::size_t cut = 0; cut <= 12; ++cut)
    EXPECT_EQ(siphash13({1, 2}, std::string_view("abcdefghijkl").substr(0, cut),
                        std::string_view("abcdefghijkl").substr(cut)),
              siphash13({1, 2}, "abcdefghijkl"));
  EXPECT_NE(siphash13({1, 2}, "a"), siphash13({1, 3}, "a"));
  EXPECT_NE(siphash13({1, 2}, "a"), siphash13({2, 2}, "a"));
}

TEST(Interned, NumbersAreFunctionsOfTheText) {
  const StringId id = intern(0, "input");
  EXPECT_EQ(id, id_of("input"));
  EXPECT_EQ(intern(5, "input"), id);
  EXPECT_EQ(intern(-1, "input"), id);
  EXPECT_NE(id_of("input "), id);
  EXPECT_NE(id_of(""), kNoString);
  for (const char* text : {"", "a", "input", "output"}) {
    EXPECT_GE(id_of(text), 1u);
    EXPECT_LE(id_of(text), std::uint64_t{1} << 50);
  }
}

// What files that were written once hold.
TEST(Interned, NumbersNeverChange) {
  EXPECT_EQ(
      id_of("vecadd"),
      (siphash13({0x6f70656e6e727420, 0x737472696e677320}, "vecadd\xFF") & 0x3FFFFFFFFFFFFu) + 1);
}

TEST(Interned, TextsAreFoundFromAnyCore) {
  const StringId id = intern(3, "only on core 3");
  EXPECT_EQ(text_of(id), "only on core 3");
  EXPECT_EQ(text_of(id_of("never interned")), "");
  EXPECT_EQ(text_of(kNoString), "");
  EXPECT_EQ(text_of(intern(1'000'000, "core out of range")), "core out of range");
  EXPECT_EQ(text_of(intern(4, std::string("\0\xFF", 2))), std::string("\0\xFF", 2));
}

TEST(Interned, CoresAreMerged) {
  intern(1, "merged a");
  intern(2, "merged b");
  intern(1, "merged b");
  const auto map = all();
  EXPECT_EQ(map.at(id_of("merged a")), "merged a");
  EXPECT_EQ(map.at(id_of("merged b")), "merged b");
  EXPECT_FALSE(map.contains(kNoString));
}

TEST(Interned, AFullTableStillGivesNumbers) {
  const std::string big(1 << 20, 'x');
  for (int i = 0; i < 4; ++i) intern(100, std::to_string(i) + big.substr(1));
  const StringId id = intern(100, "too much");
  EXPECT_EQ(id, id_of("too much"));
  EXPECT_EQ(text_of(id), "");
  EXPECT_EQ(intern(100, "0" + big.substr(1)), id_of("0" + big.substr(1)));
  EXPECT_EQ(text_of(intern(101, "fits elsewhere")), "fits elsewhere");
}

TEST(Interned, ManyThreads) {
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&wrong, t] {
      for (int i = 0; i < 500; ++i) {
        const std::string text = "text " + std::to_string(i);
        if (text_of(intern(t % 2 + 110, text)) != text) ++wrong;
        if (i % 100 == 0 && all().empty()) ++wrong;
      }
    });
  for (auto& t : threads) t.join();
  EXPECT_EQ(wrong.load(), 0);
  const auto map = all();
  for (int i = 0; i < 500; ++i) EXPECT_TRUE(map.contains(id_of("text " + std::to_string(i)))) << i;
}

}  // namespace
}  // namespace opennrt::strings
