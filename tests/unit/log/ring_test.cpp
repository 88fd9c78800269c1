// SPDX-License-Identifier: Apache-2.0
#include "log/ring.h"

#include <gtest/gtest.h>

#include <sstream>
#include <thread>
#include <vector>

namespace opennrt::log {
namespace {

TEST(LogRing, KeepsLinesInOrder) {
  LineRing ring;
  EXPECT_EQ(ring.since().lines, "");
  ring.append("one");
  ring.append("two");
  const LineRing::Text text = ring.since();
  EXPECT_EQ(text.lines, "one\ntwo\n");
  EXPECT_EQ(text.end, 8u);
  EXPECT_FALSE(text.gap);
}

TEST(LogRing, ALaterLookSeesTheNewLinesOnly) {
  LineRing ring;
  ring.append("old");
  const std::uint64_t seen = ring.since().end;
  EXPECT_EQ(ring.since(seen).lines, "");
  ring.append("new");
  EXPECT_EQ(ring.since(seen).lines, "new\n");
  EXPECT_EQ(ring.since(1000).lines, "") << "beyond the end";
}

TEST(LogRing, OldLinesGiveWayWhole) {
  LineRing ring;
  // 1000 bytes with the newline: 131 lines fit into 128 KiB.
  for (int i = 0; i < 200; ++i) ring.append(std::string(999, static_cast<char>('a' + i % 26)));
  const LineRing::Text text = ring.since();
  EXPECT_TRUE(text.gap);
  EXPECT_EQ(text.lines.size(), 131'000u);
  std::istringstream in(text.lines);
  int at = 200 - 131;
  for (std::string line; std::getline(in, line); ++at)
    ASSERT_EQ(line, std::string(999, static_cast<char>('a' + at % 26))) << at;
  EXPECT_EQ(at, 200);
}

TEST(LogRing, LongLinesAreCut) {
  LineRing ring;
  ring.append(std::string(5000, 'x'));
  EXPECT_EQ(ring.since().lines, std::string(1023, 'x') + "\n");
}

TEST(LogRing, CoresHaveRingsOfTheirOwn) {
  EXPECT_EQ(ring_of(77), nullptr);
  keep_line(77, "of 77");
  keep_line(78, "of 78");
  ASSERT_NE(ring_of(77), nullptr);
  EXPECT_EQ(ring_of(77)->since().lines, "of 77\n");
  EXPECT_EQ(ring_of(78)->since().lines, "of 78\n");
  keep_line(100'000, "no such ring");
  ASSERT_NE(ring_of(kNoCore), nullptr);
  EXPECT_NE(ring_of(kNoCore)->since().lines.find("no such ring\n"), std::string::npos);
  EXPECT_EQ(ring_of(100'000), ring_of(kNoCore));
}

// Every line arrives whole, while others read.
TEST(LogRing, ManyThreads) {
  constexpr int kThreads = 4, kLines = 500;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([t] {
      for (int i = 0; i < kLines; ++i) {
        keep_line(90, std::string(40, static_cast<char>('a' + t)));
        if (i % 100 == 0 && ring_of(90) != nullptr) {
          const std::string seen = ring_of(90)->since().lines;
          EXPECT_EQ(seen.size() % 41, 0u);
        }
      }
    });
  for (auto& t : threads) t.join();
  std::istringstream in(ring_of(90)->since().lines);
  int lines = 0;
  for (std::string line; std::getline(in, line); ++lines)
    ASSERT_EQ(line, std::string(40, line.front()));
  EXPECT_EQ(lines, kThreads * kLines);
}

}  // namespace
}  // namespace opennrt::log
