// SPDX-License-Identifier: Apache-2.0
#include "trace/ring.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <thread>

namespace opennrt::trace {
namespace {

constexpr std::uint64_t kAll = ~0ull;

Record record_of(std::uint64_t writer, std::uint64_t number) {
  Record r;
  r.event.type = EventType::kTensorRead;
  r.event.phase = Phase::kStop;
  r.event.core = 7;
  r.event.tracking = 11;
  r.event.sequence = 12;
  r.id = 13;
  r.thread = writer;
  r.time_ns = number;
  // Every word follows from the two: a torn record does not.
  for (std::size_t i = 0; i < kPayloadWords; ++i) r.event.data[i] = writer << 40 ^ number * (i + 1);
  return r;
}

bool whole(const Record& r) {
  const Record expected = record_of(r.thread, r.time_ns);
  return r.event.data == expected.event.data && r.event.core == 7 && r.event.tracking == 11 &&
         r.event.sequence == 12 && r.id == 13 && r.event.type == EventType::kTensorRead &&
         r.event.phase == Phase::kStop;
}

TEST(Ring, GivesBackWhatWasPutInOnceAndInOrder) {
  auto ring = *Ring::create(8);
  std::vector<Record> out;
  ring->drain(kAll, out);
  EXPECT_TRUE(out.empty());
  for (std::uint64_t i = 0; i < 5; ++i) ring->push(record_of(1, i));
  ring->drain(2, out);
  ASSERT_EQ(out.size(), 2u);
  ring->drain(kAll, out);
  ASSERT_EQ(out.size(), 5u);
  for (std::uint64_t i = 0; i < 5; ++i) {
    EXPECT_TRUE(whole(out[i]));
    EXPECT_EQ(out[i].time_ns, i);
    EXPECT_EQ(out[i].core_id, i);
  }
  ring->drain(kAll, out);
  EXPECT_EQ(out.size(), 5u);
  EXPECT_EQ(ring->lost(), 0u);
}

TEST(Ring, FullRingForgetsTheOldest) {
  auto ring = *Ring::create(8);
  for (std::uint64_t i = 0; i < 20; ++i) ring->push(record_of(1, i));
  std::vector<Record> out;
  ring->drain(kAll, out);
  ASSERT_EQ(out.size(), 8u);
  for (std::uint64_t i = 0; i < 8; ++i) EXPECT_EQ(out[i].time_ns, 12 + i);
  EXPECT_EQ(ring->lost(), 12u);
}

TEST(Ring, RefusesWhatCannotBe) {
  EXPECT_EQ(Ring::create(0).status().code(), NRT_INVALID);
  const auto huge = Ring::create(1ull << 56);
  ASSERT_FALSE(huge.is_ok());
  EXPECT_EQ(huge.status().code(), NRT_RESOURCE);
}

// Room for all: nothing may be lost, torn or doubled, and each writer's events
// keep their order.
TEST(Ring, EightWritersAndAReader) {
  constexpr std::uint64_t kWriters = 8, kEach = 4000;
  auto ring = *Ring::create(kWriters * kEach);
  std::atomic<std::uint64_t> running{kWriters};
  std::vector<std::thread> writers;
  for (std::uint64_t w = 0; w < kWriters; ++w)
    writers.emplace_back([&, w] {
      for (std::uint64_t i = 0; i < kEach; ++i) ring->push(record_of(w, i));
      --running;
    });
  std::vector<Record> out;
  while (running != 0) {
    ring->drain(100, out);
    std::this_thread::yield();  // two processors may have to do for all
  }
  for (auto& t : writers) t.join();
  ring->drain(kAll, out);
  EXPECT_EQ(out.size(), kWriters * kEach);
  EXPECT_EQ(ring->lost(), 0u);
  std::map<std::uint64_t, std::uint64_t> next;
  for (const Record& r : out) {
    ASSERT_TRUE(whole(r));
    EXPECT_EQ(r.time_ns, next[r.thread]);
    next[r.thread] = r.time_ns + 1;
  }
}

// A ring much too small: writers lap each other and the reader.
TEST(Ring, WritersThatLapEachOtherTearNothing) {
  constexpr std::uint64_t kWriters = 8, kEach = 5000;
  auto ring = *Ring::create(16);
  std::atomic<std::uint64_t> running{kWriters};
  std::vector<std::thread> writers;
  for (std::uint64_t w = 0; w < kWriters; ++w)
    writers.emplace_back([&, w] {
      for (std::uint64_t i = 0; i < kEach; ++i) ring->push(record_of(w, i));
      --running;
    });
  std::vector<Record> out;
  while (running != 0) ring->drain(kAll, out);
  for (auto& t : writers) t.join();
  ring->close();
  ring->drain(kAll, out);
  EXPECT_EQ(out.size() + ring->lost(), kWriters * kEach);
  std::uint64_t last = 0;
  for (const Record& r : out) {
    ASSERT_TRUE(whole(r));
    EXPECT_GE(r.core_id, last);
    last = r.core_id + 1;
  }
}

}  // namespace
}  // namespace opennrt::trace
