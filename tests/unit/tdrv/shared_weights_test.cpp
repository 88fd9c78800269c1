// SPDX-License-Identifier: Apache-2.0
#include "tdrv/shared_weights.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "fake_driver.h"
#include "tdrv/tdrv.h"

namespace opennrt::tdrv {
namespace {

constexpr std::uint64_t kWeightBytes = 5000;

// The small program with an identity, and one byte of its constant if it is not 0.
std::shared_ptr<const neff::Program> program(std::uint8_t uuid, std::uint8_t byte = 0) {
  auto out = std::make_shared<neff::Program>(*test::small_program());
  out->uuid[15] = uuid;
  if (byte != 0) {
    auto bytes = std::make_shared<std::vector<std::byte>>(kWeightBytes, std::byte{byte});
    for (neff::Variable& v : out->subgraphs[0].variables)
      if (v.type == neff::VariableType::kFile) v.content = *bytes;
    out->storage = std::make_shared<std::pair<std::shared_ptr<const void>, decltype(bytes)>>(
        out->storage, bytes);
  }
  return out;
}

class SharedWeightsTest : public ::testing::Test {
 protected:
  void start(bool share) {
    BringUpOptions options;
    options.logical_cores = {{PhysicalCore{0, 0}}, {PhysicalCore{0, 1}}};
    options.share_weights = share;
    auto up = Tdrv::bring_up(driver_.bindings(), options);
    ASSERT_TRUE(up.is_ok()) << up.status().message();
    tdrv_ = *std::move(up);
    // The scratchpad of a core is there as long as some model is.
    for (const std::uint32_t core : {0u, 1u}) keepers_.push_back(load(program(99), core));
    before_ = driver_.live_bytes();
  }
  std::shared_ptr<Model> load(std::shared_ptr<const neff::Program> p, std::uint32_t core = 0) {
    return *tdrv_->stage(std::move(p), core, ++id_);
  }
  std::uint64_t used() const { return driver_.live_bytes() - before_; }

  test::FakeDriver driver_;
  std::unique_ptr<Tdrv> tdrv_;
  std::vector<std::shared_ptr<Model>> keepers_;
  std::uint64_t before_ = 0;
  std::uint32_t id_ = 0;
};

TEST_F(SharedWeightsTest, SecondInstanceTakesNoMemoryForConstants) {
  start(true);
  auto first = load(program(1));
  const std::uint64_t one = used();
  auto second = load(program(1));
  const std::uint64_t more = used() - one;
  auto stranger = load(program(2));
  const std::uint64_t full = used() - one - more;
  EXPECT_GE(full - more, kWeightBytes);
  // The first one goes; the constants stay for the second.
  ASSERT_TRUE(tdrv_->unstage(first).is_ok());
  EXPECT_EQ(used(), full + full);
  ASSERT_TRUE(tdrv_->unstage(second).is_ok());
  EXPECT_EQ(used(), full);
  ASSERT_TRUE(tdrv_->unstage(stranger).is_ok());
  EXPECT_EQ(used(), 0u);
  // And come again.
  auto third = load(program(1));
  EXPECT_EQ(used(), full);
}

TEST_F(SharedWeightsTest, OffByDefaultAndWithoutIdentity) {
  start(false);
  auto a = load(program(1));
  const std::uint64_t one = used();
  auto b = load(program(1));
  EXPECT_EQ(used(), 2 * one);
  EXPECT_FALSE(BringUpOptions().share_weights);
}

TEST_F(SharedWeightsTest, ProgramsWithoutIdentityShareNothing) {
  start(true);
  auto a = load(program(0));
  const std::uint64_t one = used();
  auto b = load(program(0));
  EXPECT_EQ(used(), 2 * one);
}

// sunda: every core has an HBM of its own.
TEST_F(SharedWeightsTest, NotAcrossMemories) {
  start(true);
  auto a = load(program(1), 0);
  const std::uint64_t one = used();
  auto b = load(program(1), 1);
  EXPECT_EQ(used(), 2 * one);
}

TEST_F(SharedWeightsTest, OtherBytesUnderTheSameIdentityAreNotMixedUp) {
  start(true);
  auto a = load(program(1, 3));
  const std::uint64_t one = used();
  auto b = load(program(1, 4));
  EXPECT_EQ(used(), 2 * one);
  auto c = load(program(1, 3));
  EXPECT_LT(used(), 3 * one);
}

TEST_F(SharedWeightsTest, FailedLoadLeavesNothing) {
  start(true);
  auto a = load(program(1));
  const std::uint64_t one = used();
  const std::uint64_t calls = driver_.calls;
  auto b = load(program(1));
  const std::uint64_t of_a_load = driver_.calls - calls;
  ASSERT_TRUE(tdrv_->unstage(b).is_ok());
  for (std::uint64_t at = 1; at <= of_a_load; ++at) {
    driver_.fail_at = driver_.calls + at;
    auto failed = tdrv_->stage(program(1), 0, 99);
    driver_.fail_at = 0;
    if (failed.is_ok()) {
      ASSERT_TRUE(tdrv_->unstage(*failed).is_ok());
    }
    EXPECT_EQ(used(), one) << at;
  }
}

TEST_F(SharedWeightsTest, TearDownFreesThem) {
  start(true);
  auto a = load(program(1)), b = load(program(1));
  tdrv_->tear_down();
  EXPECT_EQ(driver_.live_memory(), 0u);
}

}  // namespace
}  // namespace opennrt::tdrv
