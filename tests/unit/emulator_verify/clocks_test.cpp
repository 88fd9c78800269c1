// SPDX-License-Identifier: Apache-2.0
#include "verify/clocks.h"

#include <gtest/gtest.h>

#include "verify/options.h"
#include "verify/shadow.h"

namespace opennrt::emu::test {
namespace {

constexpr Actor kA = 1, kB = 2, kC = 3;

TEST(Clocks, AnActorIsOrderedWithItselfAndTheHostWithEverybody) {
  Clocks clocks;
  const Moment a = clocks.begin(kA, 0x40);
  EXPECT_TRUE(clocks.is_before(a, kA));
  EXPECT_FALSE(clocks.is_before(a, kB));
  EXPECT_TRUE(clocks.is_before(Moment(kHostActor, 7), kB));
  EXPECT_TRUE(clocks.is_before(Moment(), kB));
}

TEST(Clocks, AReleaseOrdersWhatCameBeforeIt) {
  Clocks clocks;
  const Moment early = clocks.begin(kA, 0);
  const Release release = clocks.release(kA);
  const Moment late = clocks.begin(kA, 0);
  clocks.acquire(kB, release);
  EXPECT_TRUE(clocks.is_before(early, kB));
  EXPECT_FALSE(clocks.is_before(late, kB));
}

TEST(Clocks, OrderIsTransitive) {
  Clocks clocks;
  const Moment a = clocks.begin(kA, 0);
  clocks.acquire(kB, clocks.release(kA));
  clocks.begin(kB, 0);
  clocks.acquire(kC, clocks.release(kB));
  EXPECT_TRUE(clocks.is_before(a, kC));
}

TEST(Clocks, AnOldReleaseDoesNotCarryLaterKnowledge) {
  Clocks clocks;
  const Release old = clocks.release(kB);
  const Moment a = clocks.begin(kA, 0);
  clocks.acquire(kB, clocks.release(kA));
  clocks.acquire(kC, old);
  EXPECT_FALSE(clocks.is_before(a, kC));
}

TEST(Clocks, SlotsAreRememberedForAWhile) {
  Clocks clocks;
  const Moment first = clocks.begin(kA, 0x1000);
  const Moment second = clocks.begin(kA, 0x2000);
  EXPECT_EQ(clocks.slot_of(first), 0x1000u);
  EXPECT_EQ(clocks.slot_of(second), 0x2000u);
  for (int i = 0; i < 70000; ++i) clocks.begin(kA, 1);
  EXPECT_EQ(clocks.slot_of(first), 0u);
}

// Two units count a semaphore up; a wait for 1 orders only the first.
TEST(SemaphoreOrder, AThresholdAcquiresOnlyWhatReachesIt) {
  Clocks clocks;
  SemaphoreOrder semaphore;
  semaphore.set(clocks.release(kHostActor), 0);
  const Moment a = clocks.begin(kA, 0);
  semaphore.add(clocks.release(kA), 1);
  const Moment b = clocks.begin(kB, 0);
  semaphore.add(clocks.release(kB), 2);
  semaphore.passed(clocks, kC, 1);
  EXPECT_TRUE(clocks.is_before(a, kC));
  EXPECT_FALSE(clocks.is_before(b, kC));
  semaphore.passed(clocks, kC, 2);
  EXPECT_TRUE(clocks.is_before(b, kC));
}

TEST(SemaphoreOrder, AWaitForLessThanTheStartAcquiresTheSetting) {
  Clocks clocks;
  SemaphoreOrder semaphore;
  const Moment a = clocks.begin(kA, 0);
  semaphore.set(clocks.release(kA), 5);
  const Moment b = clocks.begin(kB, 0);
  semaphore.add(clocks.release(kB), 6);
  semaphore.passed(clocks, kC, 3);
  EXPECT_TRUE(clocks.is_before(a, kC));
  EXPECT_FALSE(clocks.is_before(b, kC));
}

TEST(SemaphoreOrder, ACountThatFellOrdersEverything) {
  Clocks clocks;
  SemaphoreOrder semaphore;
  semaphore.set(clocks.release(kHostActor), 0);
  const Moment a = clocks.begin(kA, 0);
  semaphore.add(clocks.release(kA), 1);
  const Moment b = clocks.begin(kB, 0);
  semaphore.add(clocks.release(kB), 0);
  semaphore.passed(clocks, kC, 0);
  EXPECT_TRUE(clocks.is_before(a, kC));
  EXPECT_TRUE(clocks.is_before(b, kC));
}

TEST(Shadow, KeepsBytesApartAndLinesTogether) {
  Shadow shadow;
  const Moment one(kA, 1), two(kB, 2);
  const auto write = [&](std::uintptr_t at, std::uint64_t n, Moment m) {
    shadow.each(at, n, [m](ByteState& s, std::uintptr_t, std::uint64_t) { s = {m, {}}; });
  };
  write(0x10000, 256, one);
  write(0x10043, 3, two);
  std::uint64_t pieces = 0, ones = 0, twos = 0;
  shadow.each(0x10000, 256, [&](ByteState& s, std::uintptr_t, std::uint64_t n) {
    ++pieces;
    (s.write == two ? twos : ones) += n;
  });
  EXPECT_EQ(ones, 253u);
  EXPECT_EQ(twos, 3u);
  EXPECT_EQ(pieces, 3u + 3u);  // the second line is in three pieces
  write(0x10041, 5, two);      // over the ends of a piece
  twos = pieces = 0;
  shadow.each(0x10042, 6, [&](ByteState& s, std::uintptr_t, std::uint64_t n) {
    ++pieces;
    if (s.write == two) twos += n;
  });
  EXPECT_EQ(pieces, 2u);
  EXPECT_EQ(twos, 4u);
  write(0x10040, 64, one);  // one state again
  pieces = 0;
  shadow.each(0x10000, 256, [&](ByteState&, std::uintptr_t, std::uint64_t) { ++pieces; });
  EXPECT_EQ(pieces, 4u);
}

TEST(Options, ListsAndShorthands) {
  VerifyOptions o;
  std::string error;
  ASSERT_TRUE(parse_verify("all", &o, &error));
  EXPECT_TRUE(o.poison && o.races && o.coverage && o.bounds && o.order_seed);
  ASSERT_TRUE(parse_verify("races,order=7", &o, &error));
  EXPECT_TRUE(o.races && !o.poison && !o.coverage && !o.bounds);
  EXPECT_EQ(o.order_seed, 7u);
  ASSERT_TRUE(parse_verify("all,order=3", &o, &error));
  EXPECT_EQ(o.order_seed, 3u);
  ASSERT_TRUE(parse_verify("", &o, &error));
  EXPECT_FALSE(o.tracks_memory() || o.order_seed);
  ASSERT_TRUE(parse_verify("none", &o, &error));
  EXPECT_FALSE(o.tracks_memory());
  for (const char* wrong : {"poisson", "order=", "order=x", "order=1x", "all;races"}) {
    error.clear();
    EXPECT_FALSE(parse_verify(wrong, &o, &error)) << wrong;
    EXPECT_NE(error.find("emulator.verify"), std::string::npos) << wrong;
  }
}

}  // namespace
}  // namespace opennrt::emu::test
