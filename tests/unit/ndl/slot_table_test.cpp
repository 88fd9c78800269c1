// SPDX-License-Identifier: Apache-2.0
#include "ndl-common/slot_table.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>
#include <vector>

namespace opennrt::ndl {
namespace {

struct Value {
  std::atomic<uint64_t> number{0};
};
using Table = SlotTable<Value, 4, 2>;

uint64_t insert(Table& table, uint64_t number) {
  uint32_t index = 0;
  Value* value = table.reserve(&index);
  if (!value) return 0;
  value->number.store(number, std::memory_order_release);
  return table.publish(index);
}

void erase(Table& table, uint64_t handle) {
  ASSERT_NE(table.claim(handle), nullptr);
  table.release(Table::index_of(handle));
}

TEST(SlotTable, FindsWhatWasPublished) {
  Table table(1, 7);
  const uint64_t handle = insert(table, 42);
  ASSERT_NE(handle, 0u);
  ASSERT_NE(table.find(handle), nullptr);
  EXPECT_EQ(table.find(handle)->number.load(), 42u);
  EXPECT_TRUE(table.still(handle));
}

TEST(SlotTable, RefusesWhatIsNotItsOwn) {
  Table table(1, 7), other_kind(2, 7), other_context(1, 8);
  const uint64_t handle = insert(table, 1);
  insert(other_kind, 1);
  insert(other_context, 1);
  EXPECT_EQ(other_kind.find(handle), nullptr);
  EXPECT_EQ(other_context.find(handle), nullptr);
  for (const uint64_t bad : {uint64_t{0}, ~uint64_t{0}, uint64_t{1}, handle + 1, handle | 0xFFFFFF,
                             handle ^ (uint64_t{1} << 24), handle ^ (uint64_t{1} << 51)})
    EXPECT_EQ(table.find(bad), nullptr) << std::hex << bad;
}

TEST(SlotTable, AReservedSlotIsNotLive) {
  Table table(1, 7);
  uint32_t index = 0;
  ASSERT_NE(table.reserve(&index), nullptr);
  table.for_each([](uint64_t, Value&) { FAIL(); });
  table.release(index);
}

TEST(SlotTable, AStaleHandleStaysStaleWhenTheSlotIsReused) {
  Table table(1, 7);
  const uint64_t first = insert(table, 1);
  erase(table, first);
  EXPECT_EQ(table.find(first), nullptr);
  EXPECT_EQ(table.claim(first), nullptr);
  std::set<uint64_t> seen{first};
  for (int i = 0; i < 100; ++i) {
    const uint64_t next = insert(table, 2);
    EXPECT_TRUE(seen.insert(next).second);
    EXPECT_EQ(table.find(first), nullptr);
    erase(table, next);
  }
}

TEST(SlotTable, IsFullAtItsLimitAndRecovers) {
  Table table(1, 7);
  std::vector<uint64_t> handles;
  while (const uint64_t handle = insert(table, 1)) handles.push_back(handle);
  EXPECT_EQ(handles.size(), 8u);
  erase(table, handles[3]);
  EXPECT_NE(insert(table, 1), 0u);
  EXPECT_EQ(insert(table, 1), 0u);
}

TEST(SlotTable, OneOfManyClaimersWins) {
  for (int round = 0; round < 200; ++round) {
    Table table(1, 7);
    const uint64_t handle = insert(table, 1);
    std::atomic<int> winners{0};
    const auto claim = [&] { winners += table.claim(handle) != nullptr; };
    std::thread a(claim), b(claim);
    a.join();
    b.join();
    ASSERT_EQ(winners, 1);
  }
}

// A reader that still holds the handle never takes the value of a later owner
// for its own: the value read before still() belongs to the handle.
TEST(SlotTable, ReadersNeverSeeTheNextOwner) {
  SlotTable<Value, 1, 1> table(1, 7);
  std::atomic<uint64_t> current{0};
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0};
  std::thread reader([&] {
    while (!stop) {
      const uint64_t handle = current.load(std::memory_order_acquire);
      Value* value = table.find(handle);
      if (!value) continue;
      const uint64_t number = value->number.load(std::memory_order_acquire);
      if (table.still(handle) && number != (handle >> 24 & 0xFFFFFFF)) ++wrong;
    }
  });
  for (uint64_t i = 0; i < 20000; ++i) {
    uint32_t index = 0;
    Value* value = table.reserve(&index);
    ASSERT_NE(value, nullptr);
    value->number.store(2 * i + 1, std::memory_order_release);  // generations are odd
    const uint64_t handle = table.publish(index);
    current.store(handle, std::memory_order_release);
    ASSERT_NE(table.claim(handle), nullptr);
    table.release(index);
  }
  stop = true;
  reader.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace opennrt::ndl
