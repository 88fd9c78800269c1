// SPDX-License-Identifier: Apache-2.0
#include "driver/range_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include "driver/handle_table.h"

namespace opennrt::emu {
namespace {

constexpr std::uint64_t kBase = 0x1000000;

TEST(RangePool, FirstFitUpward) {
  RangePool pool(kBase, 8 * kPage);
  std::uint64_t a = 0, b = 0, c = 0;
  ASSERT_TRUE(pool.alloc(kPage, 0, &a));
  ASSERT_TRUE(pool.alloc(2 * kPage, 0, &b));
  EXPECT_EQ(a, kBase);
  EXPECT_EQ(b, kBase + kPage);
  pool.release(a, kPage);
  ASSERT_TRUE(pool.alloc(2 * kPage, 0, &c));
  EXPECT_EQ(c, kBase + 3 * kPage) << "the hole of one page is too small";
  ASSERT_TRUE(pool.alloc(kPage, 0, &a));
  EXPECT_EQ(a, kBase);
}

TEST(RangePool, RefusesWhatDoesNotFit) {
  RangePool pool(kBase, 4 * kPage);
  std::uint64_t out = 7;
  EXPECT_FALSE(pool.alloc(0, 0, &out));
  EXPECT_FALSE(pool.alloc(5 * kPage, 0, &out));
  EXPECT_FALSE(pool.alloc(UINT64_MAX & ~(kPage - 1), 0, &out));
  EXPECT_EQ(out, 7u);
  EXPECT_FALSE(RangePool().alloc(kPage, 0, &out));
}

TEST(RangePool, AlignmentCountsFromAddressZero) {
  RangePool pool(0x1000000, 4ull << 30);
  std::uint64_t out = 0;
  ASSERT_TRUE(pool.alloc(2 << 20, 1 << 30, &out));
  EXPECT_EQ(out, 0x40000000u);
}

// The kernel turns the alignment into a page mask without asking for a power
// of two: three pages give mask 2.
TEST(RangePool, OddAlignmentIsAMask) {
  RangePool pool(0x3c0000000, 1 << 30);
  ASSERT_TRUE(pool.alloc_at(0x3c0000000, 5 * kPage));
  std::uint64_t out = 0;
  ASSERT_TRUE(pool.alloc(kPage, 12288, &out));
  EXPECT_EQ(out, 0x3c0005000u);
}

TEST(RangePool, NeighboursMergeWhenReleased) {
  RangePool pool(kBase, 4 * kPage);
  std::uint64_t p[4];
  for (std::uint64_t& a : p) ASSERT_TRUE(pool.alloc(kPage, 0, &a));
  for (int i : {1, 3, 2, 0}) pool.release(p[i], kPage);
  std::uint64_t out = 0;
  ASSERT_TRUE(pool.alloc(4 * kPage, 0, &out));
  EXPECT_EQ(out, kBase);
}

TEST(RangePool, ExactRangeOnly) {
  RangePool pool(kBase, 4 * kPage);
  EXPECT_FALSE(pool.alloc_at(kBase - kPage, kPage));
  EXPECT_FALSE(pool.alloc_at(kBase + 3 * kPage, 2 * kPage));
  EXPECT_TRUE(pool.alloc_at(kBase + kPage, kPage));
  EXPECT_FALSE(pool.alloc_at(kBase + kPage, kPage));
  EXPECT_EQ(pool.free_bytes(), 3 * kPage);
}

// First fit by walking over all pages: slow, and obviously right.
class PageMap {
 public:
  explicit PageMap(std::uint64_t pages) : used_(pages) {}
  bool alloc(std::uint64_t bytes, std::uint64_t align, std::uint64_t* out) {
    const std::uint64_t n = bytes / kPage, step = std::max(align, kPage) / kPage;
    for (std::uint64_t page = 0; page + n <= used_.size(); page += step) {
      if (std::any_of(used_.begin() + static_cast<std::ptrdiff_t>(page),
                      used_.begin() + static_cast<std::ptrdiff_t>(page + n),
                      [](bool used) { return used; }))
        continue;
      mark(page, n, true);
      *out = kBase + page * kPage;
      return true;
    }
    return false;
  }
  void release(std::uint64_t address, std::uint64_t bytes) {
    mark((address - kBase) / kPage, bytes / kPage, false);
  }

 private:
  void mark(std::uint64_t page, std::uint64_t n, bool used) {
    for (std::uint64_t i = page; i < page + n; ++i) used_[i] = used;
  }
  std::vector<bool> used_;
};

TEST(RangePool, IsLowestFitWhateverCameBefore) {
  constexpr std::uint64_t kPages = 512;  // kBase is aligned to all of them
  RangePool pool(kBase, kPages * kPage);
  PageMap map(kPages);
  std::mt19937_64 random(7);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> live;
  for (int i = 0; i < 20'000; ++i) {
    if (random() % 2 == 0 || live.empty()) {
      const std::uint64_t bytes = (1 + random() % 12) * kPage;
      const std::uint64_t align = kPage << (random() % 5);
      std::uint64_t a = 0, b = 0;
      const bool fits = map.alloc(bytes, align, &b);
      ASSERT_EQ(pool.alloc(bytes, align, &a), fits) << i;
      if (!fits) continue;
      ASSERT_EQ(a, b) << i;
      live.emplace_back(a, bytes);
    } else {
      std::swap(live[random() % live.size()], live.back());
      pool.release(live.back().first, live.back().second);
      map.release(live.back().first, live.back().second);
      live.pop_back();
    }
  }
}

// Images are aligned to 32 KiB and leave gaps that no other image fits in.
TEST(RangePool, SearchDoesNotWalkOverTheGapsOfEarlierBlocks) {
  RangePool pool(kBase, 1ull << 30);
  std::uint64_t out = 0;
  for (int i = 0; i < 10'000; ++i) ASSERT_TRUE(pool.alloc(2 * kPage, 8 * kPage, &out));
  EXPECT_LE(pool.examined(), 4u * 10'000);
}

TEST(HandleTable, ReusesTheLastFreedNumber) {
  HandleTable table;
  Chunk* some = reinterpret_cast<Chunk*>(0x10);
  for (std::uint64_t i = 1; i <= 4; ++i) EXPECT_EQ(table.add(some), i);
  table.remove(2);
  table.remove(4);
  table.remove(4);  // no effect the second time
  EXPECT_EQ(table.add(some), 4u);
  EXPECT_EQ(table.add(some), 2u);
  EXPECT_EQ(table.add(some), 5u);
}

TEST(HandleTable, UnknownNumbers) {
  HandleTable table;
  for (std::uint64_t h :
       {std::uint64_t{0}, std::uint64_t{1}, HandleTable::kMax - 1, HandleTable::kMax, UINT64_MAX})
    EXPECT_EQ(table.find(h), nullptr) << h;
}

TEST(HandleTable, CrossesLeavesAndFillsUp) {
  HandleTable table;
  Chunk* some = reinterpret_cast<Chunk*>(0x10);
  for (std::uint64_t i = 1; i < HandleTable::kMax; ++i) ASSERT_EQ(table.add(some), i);
  EXPECT_EQ(table.add(some), 0u);
  table.remove(HandleTable::kLeaf);
  EXPECT_EQ(table.add(some), std::uint64_t{HandleTable::kLeaf});
}

}  // namespace
}  // namespace opennrt::emu
