// SPDX-License-Identifier: Apache-2.0
#include "base/handle_table.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <set>
#include <thread>

namespace opennrt {
namespace {

using Table = HandleTable<int, HandleKind::kTensor>;

std::uintptr_t insert(Table& table, int value) {
  auto object = std::make_unique<int>(value);
  return table.insert(object);
}

TEST(HandleTable, FindsWhatWasInserted) {
  Table t;
  const auto a = insert(t, 1), b = insert(t, 2);
  ASSERT_NE(a, 0u);
  ASSERT_NE(a, b);
  EXPECT_EQ(*t.find(a), 1);
  EXPECT_EQ(*t.find(b), 2);
  EXPECT_EQ(t.size(), 2u);
}

TEST(HandleTable, StaleForeignAndInventedHandlesAreNothing) {
  Table t;
  HandleTable<int, HandleKind::kTensorSet> other;
  auto object = std::make_unique<int>(3);
  const auto foreign = other.insert(object);
  const auto a = insert(t, 1);
  EXPECT_EQ(t.find(foreign), nullptr);
  EXPECT_EQ(*t.remove(a), 1);
  EXPECT_EQ(t.find(a), nullptr);
  EXPECT_EQ(t.remove(a), nullptr);
  const auto b = insert(t, 2);  // same place, another generation
  EXPECT_NE(a, b);
  EXPECT_EQ(t.find(a), nullptr);
  EXPECT_EQ(*t.find(b), 2);
  for (std::uintptr_t bad : {std::uintptr_t{0}, std::uintptr_t{1}, ~std::uintptr_t{0}, b + 1, b - 1,
                             b ^ (std::uintptr_t{1} << 63), reinterpret_cast<std::uintptr_t>(&t)})
    EXPECT_EQ(t.find(bad), nullptr) << bad;
}

// Of one object or of all.
void expect_removal_waits(const std::function<void(Table&, std::uintptr_t)>& remove) {
  auto table = std::make_unique<Table>();
  auto object = std::make_unique<int>(7);
  const auto handle = table->insert(object);
  auto pin = table->pin(handle);
  ASSERT_TRUE(pin);
  std::atomic<bool> removed{false};
  std::thread remover([&] {
    remove(*table, handle);
    removed = true;
  });
  while (table->find(handle) != nullptr) std::this_thread::yield();
  EXPECT_FALSE(table->pin(handle));
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_FALSE(removed);
  EXPECT_EQ(*pin, 7);
  pin = {};
  remover.join();
  EXPECT_TRUE(removed);
}

TEST(HandleTable, RemovalWaitsForPinsAndTheHandleIsDeadAtOnce) {
  expect_removal_waits([](Table& t, std::uintptr_t handle) { t.remove(handle); });
  expect_removal_waits([](Table& t, std::uintptr_t) { t.remove_all(); });
}

TEST(HandleTable, RemoveAllInvalidatesEveryHandle) {
  Table t;
  std::vector<std::uintptr_t> all;
  for (int i = 0; i < 5000; ++i) all.push_back(insert(t, i));
  EXPECT_EQ(std::set<std::uintptr_t>(all.begin(), all.end()).size(), 5000u);
  for (int i = 0; i < 5000; ++i) ASSERT_EQ(*t.find(all[static_cast<std::size_t>(i)]), i);
  t.remove_all();
  EXPECT_EQ(t.size(), 0u);
  for (auto h : all) ASSERT_EQ(t.find(h), nullptr);
}

TEST(HandleTable, ThreadsInsertAndRemove) {
  Table t;
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int k = 0; k < 4; ++k)
    threads.emplace_back([&, k] {
      for (int i = 0; i < 2000; ++i) {
        const auto h = insert(t, k * 10000 + i);
        if (t.find(h) == nullptr || *t.find(h) != k * 10000 + i) ++wrong;
        if (i % 2 == 0 && *t.remove(h) != k * 10000 + i) ++wrong;
      }
    });
  for (auto& th : threads) th.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(t.size(), 4000u);
}

}  // namespace
}  // namespace opennrt
