// SPDX-License-Identifier: Apache-2.0
#include "tdrv/io_rings.h"

#include <gtest/gtest.h>

#include "fake_driver.h"
#include "tdrv/tdrv.h"

namespace opennrt::tdrv {
namespace {

std::shared_ptr<IoBinding> entry(std::uint64_t key) {
  auto binding = std::make_shared<IoBinding>();
  binding->key = {key, key + 1};
  return binding;
}
std::shared_ptr<IoBinding> find(IoBindingCache& cache, std::uint64_t key) {
  const std::uint64_t words[] = {key, key + 1};
  return cache.find(words);
}

TEST(IoBindingCache, KeepsTheMostRecentlyUsed) {
  IoBindingCache cache;
  for (std::uint64_t i = 0; i < IoBindingCache::kCapacity; ++i) cache.insert(entry(i * 10));
  ASSERT_NE(find(cache, 0), nullptr);  // now the most recent one
  cache.insert(entry(1000));
  EXPECT_EQ(cache.size(), IoBindingCache::kCapacity);
  EXPECT_NE(find(cache, 0), nullptr);
  EXPECT_EQ(find(cache, 10), nullptr);  // the least recent one went
  EXPECT_NE(find(cache, 20), nullptr);
}

TEST(IoBindingCache, WholeKeyCounts) {
  IoBindingCache cache;
  cache.insert(entry(5));
  const std::uint64_t shorter[] = {5};
  const std::uint64_t other[] = {5, 7};
  EXPECT_EQ(cache.find(shorter), nullptr);
  EXPECT_EQ(cache.find(other), nullptr);
  EXPECT_NE(find(cache, 5), nullptr);
}

TEST(IoBindingCache, LoserOfARaceUsesTheWinnersEntry) {
  IoBindingCache cache;
  const auto first = cache.insert(entry(5));
  const auto second = cache.insert(entry(5));
  EXPECT_EQ(first, second);
  EXPECT_EQ(cache.size(), 1u);
}

TEST(IoBindingCache, EvictedEntryInUseLivesOn) {
  IoBindingCache cache;
  const auto held = cache.insert(entry(0));
  for (std::uint64_t i = 1; i <= IoBindingCache::kCapacity; ++i) cache.insert(entry(i * 10));
  EXPECT_EQ(find(cache, 0), nullptr);
  EXPECT_EQ(held->key[0], 0u);
}

TEST(IoRings, MemoryIsBoundedOverManyTensors) {
  test::FakeDriver driver;
  BringUpOptions options;
  options.logical_cores = {{PhysicalCore{0, 0}}};
  auto tdrv = *Tdrv::bring_up(driver.bindings(), options);
  auto model = *tdrv->stage(test::small_program(), 0, 1);
  auto execution = *tdrv->make_execution(0);
  auto y = *tdrv->allocate_tensor(NRT_TENSOR_PLACEMENT_DEVICE, 0, 8192, "y");
  std::vector<std::unique_ptr<Tensor>> inputs;
  std::size_t after_warm_up = 0;
  for (int i = 0; i < 64; ++i) {
    inputs.push_back(*tdrv->allocate_tensor(NRT_TENSOR_PLACEMENT_DEVICE, 0, 8192, "x"));
    Tensor* const in[] = {inputs.back().get()};
    Tensor* const out[] = {y.get()};
    ASSERT_TRUE(tdrv->bind(*execution, *model, in, out).is_ok());
    tdrv->finish(*execution);
    if (i == 32) after_warm_up = driver.live_memory() - inputs.size();
  }
  EXPECT_EQ(driver.live_memory() - inputs.size(), after_warm_up);
}

TEST(RingImage, SizesAndBoundaries) {
  EXPECT_EQ(RingImage::entries(0), 64u);
  EXPECT_EQ(RingImage::entries(31), 64u);
  EXPECT_EQ(RingImage::entries(32), 48u);
  EXPECT_EQ(RingImage::entries(33), 64u);
  RingImage image;
  std::vector<DmaDescriptor> list(3, DmaDescriptor{0x0F000008, 7, 0x123});
  EXPECT_EQ(image.add(list), 0u);
  EXPECT_EQ(image.add(list), 4096u);
  DmaDescriptor placed;
  std::memcpy(&placed, image.bytes().data() + 4096 + 32, 16);
  EXPECT_EQ(placed.len_ctrl, 0x0D000008u);  // ring id 1, other bits kept
  EXPECT_EQ(placed.address, 0x123u);
  std::memcpy(&placed, image.bytes().data() + 4096 + 48, 16);
  EXPECT_EQ(placed.len_ctrl, 0u);  // slack: no valid ring id
}

}  // namespace
}  // namespace opennrt::tdrv
