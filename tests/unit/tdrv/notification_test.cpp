// SPDX-License-Identifier: Apache-2.0
#include "tdrv/notification.h"

#include <gtest/gtest.h>

#include <array>

namespace opennrt::tdrv {
namespace {

constexpr std::uint32_t kRecords = 4;

// Little-endian record as two words.
struct Ring {
  alignas(16) std::array<std::uint64_t, kRecords * 2> words{};
  std::uint32_t next = 0;
  bool phase = true;
  void push(std::uint16_t kind, std::uint64_t time) {
    words[next * 2 + 1] = time;
    words[next * 2] = (phase ? 0x80000000u : 0u) | 0x0E2ABCDEu | std::uint64_t{kind} << 48 |
                      std::uint64_t{0x0102} << 32;
    if (++next == kRecords) {
      next = 0;
      phase = !phase;
    }
  }
};

TEST(NotificationQueue, FreshMemoryHoldsNoRecord) {
  Ring ring;
  NotificationQueue queue(ring.words.data(), sizeof(ring.words));
  Notification n;
  EXPECT_FALSE(queue.pop(n));
}

TEST(NotificationQueue, FieldsOfARecord) {
  Ring ring;
  NotificationQueue queue(ring.words.data(), sizeof(ring.words));
  ring.push(3, 0x1122334455667788);
  Notification n;
  ASSERT_TRUE(queue.pop(n));
  EXPECT_EQ(n.kind, 3);
  EXPECT_EQ(n.sub_id, 0x0102);
  EXPECT_EQ(n.location, 0xABCDEu);
  EXPECT_EQ(n.debug_hint, 2);
  EXPECT_EQ(n.tag, 0x0E);
  EXPECT_EQ(n.timestamp, 0x1122334455667788u);
  EXPECT_FALSE(queue.pop(n));
}

TEST(NotificationQueue, PhaseFlipsEveryLap) {
  Ring ring;
  NotificationQueue queue(ring.words.data(), sizeof(ring.words));
  Notification n;
  for (std::uint64_t i = 0; i < 25; ++i) {  // six laps
    ASSERT_FALSE(queue.pop(n)) << i;        // old records of the last lap are not seen again
    ring.push(2, i);
    ASSERT_TRUE(queue.pop(n)) << i;
    EXPECT_EQ(n.timestamp, i);
  }
}

TEST(NotificationQueue, ReadsAWholeRingInOrder) {
  Ring ring;
  NotificationQueue queue(ring.words.data(), sizeof(ring.words));
  ring.push(2, 0);
  Notification n;
  ASSERT_TRUE(queue.pop(n));
  for (std::uint64_t i = 1; i <= kRecords; ++i) ring.push(2, i);  // across the wrap
  for (std::uint64_t i = 1; i <= kRecords; ++i) {
    ASSERT_TRUE(queue.pop(n));
    EXPECT_EQ(n.timestamp, i);
  }
  EXPECT_FALSE(queue.pop(n));
}

TEST(NotificationQueue, HeadIsPublishedEveryHalfRing) {
  Ring ring;
  NotificationQueue queue(ring.words.data(), sizeof(ring.words));
  Notification n;
  ring.push(2, 0);
  queue.pop(n);
  EXPECT_FALSE(queue.should_publish());
  ring.push(2, 0);
  queue.pop(n);
  EXPECT_TRUE(queue.should_publish());
  EXPECT_EQ(queue.head(), 32u);
  queue.published();
  EXPECT_FALSE(queue.should_publish());
}

TEST(NotificationQueue, EmptyQueueIsSafe) {
  NotificationQueue queue;
  Notification n;
  EXPECT_FALSE(queue.pop(n));
  EXPECT_FALSE(queue.should_publish());
}

}  // namespace
}  // namespace opennrt::tdrv
