// SPDX-License-Identifier: Apache-2.0
//
// What the engines keep about images, and how they forget it.
#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>
#include <vector>

#include "bench.h"
#include "engine/decode.h"
#include "engine/freed_memory.h"

namespace opennrt::emu::test {
namespace {

struct Cache : Bench {
  static constexpr std::uint64_t kPage = 4096;
  Cache() : map(arch_, product_, *memory_, product_->cores) {}
  void fill(std::uint64_t pages) {
    for (std::uint64_t i = 0; i < pages; ++i)
      EXPECT_NE(cache.fetch(map, kProgram + i * kPage).decoded, nullptr);
  }
  const AddressMap map;
  DecodeCache cache;
};

TEST_F(Cache, ForgetsThePagesOfARange) {
  fill(8);
  cache.forget(kProgram + 2 * kPage, 3 * kPage);
  EXPECT_EQ(cache.pages(), 5u);
  cache.forget(kProgram + 2 * kPage, 3 * kPage);
  EXPECT_EQ(cache.pages(), 5u);
  cache.forget(kProgram + 7 * kPage + 64, 1);  // a part is enough
  EXPECT_EQ(cache.pages(), 4u);
  cache.forget(kProgram, 0);
  EXPECT_EQ(cache.pages(), 4u);
  cache.forget(0, UINT64_MAX);
  EXPECT_EQ(cache.pages(), 0u);
}

TEST_F(Cache, ForgottenRecordsAreDecodedAgain) {
  cache.fetch(map, kProgram).decoded->weight = 77;
  cache.forget(kProgram, 64);
  EXPECT_EQ(cache.fetch(map, kProgram).decoded->weight, 1u);
}

TEST_F(Cache, NoMemoryNoRecord) {
  EXPECT_EQ(cache.fetch(map, 0xFFFF'FFFF'0000).decoded, nullptr);
  EXPECT_EQ(cache.pages(), 0u);
}

TEST(FreedMemory, EachRangeIsTakenOnce) {
  FreedMemory freed;
  freed.add(100, 10);
  freed.add(500, 1);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> taken;
  const auto take = [&] {
    freed.take([&](std::uint64_t a, std::uint64_t n) { taken.emplace_back(a, n); });
  };
  take();
  EXPECT_EQ(taken, (std::vector<std::pair<std::uint64_t, std::uint64_t>>{{100, 10}, {500, 1}}));
  take();
  EXPECT_EQ(taken.size(), 2u);
}

// When nobody looks the list stays short and still covers everything.
TEST(FreedMemory, ManyRangesAreCoveredByFew) {
  FreedMemory freed;
  constexpr std::uint64_t kRanges = 10000;
  for (std::uint64_t i = 0; i < kRanges; ++i) freed.add(((i * 7919) % kRanges) * 64, 64);
  std::vector<bool> covered(kRanges);
  std::size_t taken = 0;
  freed.take([&](std::uint64_t a, std::uint64_t n) {
    ++taken;
    for (std::uint64_t i = a / 64; i < (a + n) / 64; ++i) covered[i] = true;
  });
  EXPECT_LE(taken, 256u);
  EXPECT_EQ(std::count(covered.begin(), covered.end(), false), 0);
}

TEST(FreedMemory, AddedByThreads) {
  FreedMemory freed;
  constexpr std::uint64_t kPerThread = 2000;
  std::uint64_t bytes = 0;
  std::atomic<int> running{2};
  const auto add = [&](std::uint64_t base) {
    for (std::uint64_t i = 0; i < kPerThread; ++i) {
      freed.add(base + 2 * i, 1);
      if (i % 100 == 0) std::this_thread::yield();
    }
    --running;
  };
  std::thread a(add, 0), b(add, 1 << 20);
  const auto count = [&](std::uint64_t, std::uint64_t n) { bytes += n; };
  while (running != 0) freed.take(count);
  a.join();
  b.join();
  freed.take(count);
  EXPECT_GE(bytes, 2 * kPerThread);
}

}  // namespace
}  // namespace opennrt::emu::test
