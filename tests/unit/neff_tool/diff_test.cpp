// SPDX-License-Identifier: Apache-2.0
//
// The edit between two streams against a quadratic longest common subsequence.
#include "neff/diff.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace opennrt::tools {
namespace {

std::vector<std::byte> stream(const std::string& letters) {
  std::vector<std::byte> out(64 * letters.size());
  for (std::size_t i = 0; i < letters.size(); ++i)
    out[64 * i + 63] = static_cast<std::byte>(letters[i]);
  return out;
}

std::size_t longest_common(const std::string& a, const std::string& b) {
  std::vector<std::vector<std::size_t>> length(a.size() + 1,
                                               std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 1; i <= a.size(); ++i)
    for (std::size_t j = 1; j <= b.size(); ++j)
      length[i][j] = a[i - 1] == b[j - 1] ? length[i - 1][j - 1] + 1
                                          : std::max(length[i - 1][j], length[i][j - 1]);
  return length[a.size()][b.size()];
}

// Applies the changes to a; checks that they are in order and count them.
std::string apply(const std::string& a, const std::string& b, const std::vector<Change>& changes,
                  std::size_t* edits) {
  std::string out;
  std::size_t at = 0;
  *edits = 0;
  for (const Change& c : changes) {
    EXPECT_GE(c.a_first, at);
    out += a.substr(at, c.a_first - at);
    EXPECT_EQ(out.size(), c.b_first);
    out += b.substr(c.b_first, c.b_count);
    at = c.a_first + c.a_count;
    *edits += c.a_count + c.b_count;
  }
  return out + a.substr(at);
}

TEST(StreamDiff, Examples) {
  EXPECT_TRUE(compare_streams(stream("abc"), stream("abc"), 100).empty());
  EXPECT_TRUE(compare_streams({}, {}, 100).empty());
  const auto one = compare_streams(stream("abcde"), stream("abXde"), 100);
  ASSERT_EQ(one.size(), 1U);
  EXPECT_EQ(one[0], (Change{2, 1, 2, 1}));
  const auto all = compare_streams({}, stream("ab"), 100);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0], (Change{0, 0, 0, 2}));
}

TEST(StreamDiff, IsShortestAndLeadsFromOneToTheOther) {
  std::mt19937 random(7);
  for (int round = 0; round < 600; ++round) {
    const auto text = [&] {
      std::string out(random() % 14, 'a');
      for (char& c : out) c = static_cast<char>('a' + random() % 3);
      return out;
    };
    const std::string a = text(), b = text();
    const auto changes = compare_streams(stream(a), stream(b), 100);
    std::size_t edits = 0;
    ASSERT_EQ(apply(a, b, changes, &edits), b) << a << " " << b;
    ASSERT_EQ(edits, a.size() + b.size() - 2 * longest_common(a, b)) << a << " " << b;
  }
}

TEST(StreamDiff, UnrelatedStreamsAreOneChange) {
  const auto changes = compare_streams(stream("=aaaaaaaa="), stream("=bbbbbbbb="), 4);
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0], (Change{1, 8, 1, 8}));
}

}  // namespace
}  // namespace opennrt::tools
