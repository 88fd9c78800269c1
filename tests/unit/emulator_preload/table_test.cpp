// SPDX-License-Identifier: Apache-2.0
//
// The table and the list of mappings, alone and under threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <thread>
#include <vector>

#include "preload/mappings.h"
#include "preload/table.h"

namespace opennrt::emu::preload {
namespace {

Entry entry(int descriptor) {
  Entry e;
  e.kind = Kind::kDevice;
  e.descriptor = descriptor;
  return e;
}

TEST(Table, PutFindTake) {
  const auto table = std::make_unique<Table>();
  Entry out;
  EXPECT_FALSE(table->ours(3));
  EXPECT_FALSE(table->ours(-1));
  EXPECT_FALSE(table->find(3, &out));
  EXPECT_TRUE(table->put(3, entry(30)));
  EXPECT_TRUE(table->ours(3));
  EXPECT_TRUE(table->put(3, entry(31)));
  EXPECT_EQ(table->devices(), 1);
  ASSERT_TRUE(table->find(3, &out));
  EXPECT_EQ(out.descriptor, 31);
  ASSERT_TRUE(table->take(3, &out));
  EXPECT_FALSE(table->take(3, &out));
  EXPECT_EQ(table->devices(), 0);
}

TEST(Table, Limits) {
  const auto table = std::make_unique<Table>();
  EXPECT_FALSE(table->put(-1, entry(1)));
  EXPECT_FALSE(table->put(Table::kNumbers, entry(1)));
  EXPECT_TRUE(table->put(Table::kNumbers - 1, entry(1)));
  int put = 1;
  for (int fd = 0; fd < Table::kEntries; ++fd) put += table->put(fd, entry(fd));
  EXPECT_EQ(put, Table::kEntries);
  Entry out;
  ASSERT_TRUE(table->take(17, &out));
  EXPECT_EQ(out.descriptor, 17);
  EXPECT_TRUE(table->put(100000, entry(5)));
  EXPECT_FALSE(table->put(100001, entry(5)));
}

TEST(Table, Next) {
  const auto table = std::make_unique<Table>();
  EXPECT_EQ(table->next(0), -1);
  table->put(5, entry(1));
  table->put(9, entry(2));
  EXPECT_EQ(table->next(0), 5);
  EXPECT_EQ(table->next(6), 9);
  EXPECT_EQ(table->next(10), -1);
}

TEST(TableThreads, EachSeesItsOwn) {
  const auto table = std::make_unique<Table>();
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 2000; ++i) {
        const int fd = t * 100 + i % 50;
        Entry out;
        wrong += !table->put(fd, entry(fd + 1000)) || !table->find(fd, &out) ||
                 out.descriptor != fd + 1000 || !table->take(fd, &out) || table->ours(fd);
        // Somebody else's number: there or not, never torn.
        const int other = (fd + 100) % 400;
        if (table->find(other, &out)) wrong += out.descriptor != other + 1000;
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(table->devices(), 0);
}

// One number that comes and goes under a reader.
TEST(TableThreads, AnEntryIsWholeOrNotThere) {
  const auto table = std::make_unique<Table>();
  std::atomic<bool> done{false};
  std::atomic<int> wrong{0}, seen{0};
  std::thread reader([&] {
    while (!done) {
      Entry out;
      if (!table->find(7, &out)) continue;
      ++seen;
      wrong += out.inode != static_cast<std::uint64_t>(out.descriptor) ||
               out.path[sizeof out.path - 1] != static_cast<char>(out.descriptor);
    }
  });
  Entry out;
  for (int i = 0; i < 50'000 || (seen < 100 && i < 5'000'000); ++i) {
    Entry e = entry(i);
    e.inode = static_cast<std::uint64_t>(i);
    std::fill(std::begin(e.path), std::end(e.path), static_cast<char>(i));
    wrong += !table->put(7, e);
    if (i % 3 == 0) wrong += !table->take(7, &out);
  }
  done = true;
  reader.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_GE(seen, 100);
}

constexpr std::uint64_t kPage = Mappings::kPage;

TEST(MappingsTest, WholeAndParts) {
  const auto all = std::make_unique<Mappings>();
  EXPECT_FALSE(all->may_overlap(0, 1 << 30));
  ASSERT_TRUE(all->add({0x10000, 4 * kPage, 0, true}));
  Mapping found;
  EXPECT_FALSE(all->find(0xF000, kPage, &found));
  EXPECT_FALSE(all->find(0x14000, kPage, &found));
  ASSERT_TRUE(all->find(0x13000, 10 * kPage, &found));
  EXPECT_EQ(found.address, 0x10000u);
  EXPECT_FALSE(all->give_up(0x10000, 0x11000, kPage));
  EXPECT_FALSE(all->give_up(0x10000, 0x11000, kPage));  // the same once more
  EXPECT_FALSE(all->give_up(0x10000, 0x10000, 2 * kPage));
  EXPECT_FALSE(all->give_up(0x10000, 0x13000, kPage));
  EXPECT_TRUE(all->give_up(0x10000, 0x10000, 4 * kPage));
  EXPECT_EQ(all->count(), 0);
  EXPECT_FALSE(all->may_overlap(0x10000, kPage));
}

TEST(MappingsTest, HolesOfOneDoNotCountForTheNext) {
  const auto all = std::make_unique<Mappings>();
  all->add({0x10000, 2 * kPage, 0, true});
  EXPECT_FALSE(all->give_up(0x10000, 0x10000, kPage));
  EXPECT_TRUE(all->give_up(0x10000, 0x11000, kPage));
  all->add({0x10000, 2 * kPage, 0, true});
  EXPECT_FALSE(all->give_up(0x10000, 0x11000, kPage));
  EXPECT_TRUE(all->give_up(0x10000, 0x10000, kPage));
}

TEST(MappingsTest, LowestFirst) {
  const auto all = std::make_unique<Mappings>();
  all->add({0x30000, kPage, 0, true});
  all->add({0x10000, kPage, 0, true});
  Mapping found;
  ASSERT_TRUE(all->find(0, 0x100000, &found));
  EXPECT_EQ(found.address, 0x10000u);
  all->clear();
  EXPECT_FALSE(all->find(0, 0x100000, &found));
}

TEST(MappingsThreads, AddAndGiveUp) {
  const auto all = std::make_unique<Mappings>();
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (std::uintptr_t t = 1; t <= 4; ++t)
    threads.emplace_back([&, t] {
      const std::uintptr_t start = t << 20;
      for (int i = 0; i < 2000; ++i) {
        Mapping found;
        wrong += !all->add({start, 2 * kPage, 0, true});
        wrong += !all->find(start, kPage, &found) || found.address != start;
        wrong += all->give_up(start, start, kPage);
        wrong += !all->give_up(start, start + kPage, kPage);
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(all->count(), 0);
}

}  // namespace
}  // namespace opennrt::emu::preload
