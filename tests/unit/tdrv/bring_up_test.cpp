// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cerrno>

#include "fake_driver.h"
#include "tdrv/tdrv.h"

namespace opennrt::tdrv {
namespace {

BringUpOptions one_core() {
  BringUpOptions options;
  options.logical_cores = {{PhysicalCore{0, 0}}};
  return options;
}

TEST(BringUp, AnswersTheSelfTestWithoutAModelSwitch) {
  test::FakeDriver driver;
  auto tdrv = Tdrv::bring_up(driver.bindings(), one_core());
  ASSERT_TRUE(tdrv.is_ok()) << tdrv.status().message();
  ASSERT_EQ(driver.requests.size(), 1u);
  EXPECT_EQ(driver.requests[0][0], 0u);
  EXPECT_EQ(driver.packets.size(), 3u);
  EXPECT_EQ(driver.ring_error, "");
  EXPECT_EQ(driver.live_queues, 6u);
}

TEST(BringUp, TearDownGivesEverythingBackAndIsIdempotent) {
  test::FakeDriver driver;
  auto tdrv = Tdrv::bring_up(driver.bindings(), one_core());
  ASSERT_TRUE(tdrv.is_ok());
  auto tensor = (*tdrv)->allocate_tensor(NRT_TENSOR_PLACEMENT_DEVICE, 0, 100, "t");
  auto model = (*tdrv)->stage(test::small_program(), 0, 1);
  ASSERT_TRUE(model.is_ok()) << model.status().message();
  const std::uint64_t resets = driver.count["reset"];
  (*tdrv)->tear_down();
  EXPECT_EQ(driver.live_memory(), 0u);
  EXPECT_EQ(driver.live_queues, 0u);
  EXPECT_EQ(driver.open_devices, 0u);
  EXPECT_EQ(driver.count["reset"], resets + 1);  // engines halt before their memory goes
  const std::uint64_t calls = driver.calls;
  (*tdrv)->tear_down();
  tdrv->reset();
  EXPECT_EQ(driver.calls, calls);
}

TEST(BringUp, EveryFailingDriverCallUnwindsCompletely) {
  std::uint64_t total = 0;
  {
    test::FakeDriver driver;
    ASSERT_TRUE(Tdrv::bring_up(driver.bindings(), one_core()).is_ok());
    total = driver.calls;
  }
  // The calls of the tear-down are counted too; those cannot fail a bring-up.
  std::uint64_t refused = 0;
  for (std::uint64_t n = 1; n <= total; ++n) {
    test::FakeDriver driver;
    driver.fail_at = n;
    auto tdrv = Tdrv::bring_up(driver.bindings(), one_core());
    if (tdrv.is_ok()) {
      tdrv->reset();
    } else {
      ++refused;
      EXPECT_FALSE(tdrv.status().message().empty());
    }
    EXPECT_EQ(driver.live_memory(), 0u) << "call " << n;
    EXPECT_EQ(driver.live_queues, 0u) << "call " << n;
    EXPECT_EQ(driver.open_devices, 0u) << "call " << n;
  }
  EXPECT_GT(refused, 40u);
}

TEST(BringUp, SilentDeviceIsATimeoutThatNamesWhatIsMissing) {
  test::FakeDriver driver;
  driver.answers = false;
  BringUpOptions options = one_core();
  options.self_test_timeout_ms = 50;
  auto tdrv = Tdrv::bring_up(driver.bindings(), options);
  ASSERT_FALSE(tdrv.is_ok());
  EXPECT_EQ(tdrv.status().code(), NRT_TIMEOUT);
  const std::string text(tdrv.status().message());
  for (const char* part : {"[ND 0][NC 0]", "PE START", "SP START", "50 ms", "self test"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;
  }
  EXPECT_EQ(driver.live_memory(), 0u);
  EXPECT_EQ(driver.open_devices, 0u);
}

TEST(BringUp, RefusesWrongOptionsBeforeTouchingADevice) {
  test::FakeDriver driver;
  const auto code = [&](auto change) {
    BringUpOptions options = one_core();
    change(options);
    return Tdrv::bring_up(driver.bindings(), options).status().code();
  };
  EXPECT_EQ(code([](auto& o) { o.logical_cores.clear(); }), NRT_INVALID);
  EXPECT_EQ(code([](auto& o) { o.logical_cores = {{{0, 99}}}; }), NRT_INVALID);
  EXPECT_EQ(code([](auto& o) { o.logical_cores = {{{0, 0}}, {{0, 0}}}; }), NRT_INVALID);
  EXPECT_EQ(code([](auto& o) { o.logical_cores = {{{0, 0}, {0, 1}}}; }), NRT_INVALID);
  EXPECT_EQ(code([](auto& o) { o.logical_cores = {{}}; }), NRT_INVALID);
  EXPECT_EQ(code([](auto& o) { o.queue_depth = 0; }), NRT_INVALID);
  EXPECT_EQ(code([](auto& o) { o.queue_depth = 64; }), NRT_INVALID);
  EXPECT_EQ(code([](auto& o) { o.lnc_size = 2; }), NRT_INVALID);  // sunda has none
  EXPECT_EQ(code([](auto& o) { o.lnc_size = 0; }), NRT_INVALID);
  EXPECT_EQ(code([](auto& o) { o.form = 230; }), NRT_INVALID);
  EXPECT_EQ(code([](auto& o) { o.form = 223; }), NRT_INVALID);
  EXPECT_EQ(code([](auto& o) { o.scratchpad_page_bytes = 1000; }), NRT_INVALID);
  EXPECT_EQ(Tdrv::bring_up(Bindings{}, one_core()).status().code(), NRT_INVALID);
  EXPECT_EQ(driver.calls, 0u);
}

TEST(BringUp, BusyDeviceKeepsItsCode) {
  test::FakeDriver driver;
  driver.fail_at = 1;
  driver.fail_with = -EBUSY;
  auto tdrv = Tdrv::bring_up(driver.bindings(), one_core());
  EXPECT_EQ(tdrv.status().code(), NRT_EXEC_NC_BUSY);
}

TEST(BringUp, ResetIsOptional) {
  test::FakeDriver driver;
  BringUpOptions options = one_core();
  options.reset_cores = false;
  ASSERT_TRUE(Tdrv::bring_up(driver.bindings(), options).is_ok());
  EXPECT_EQ(driver.count["reset"], 1u);  // only the halt
}

TEST(Staging, EveryFailingDriverCallLeavesTheCoreAsItWas) {
  test::FakeDriver driver;
  auto tdrv = Tdrv::bring_up(driver.bindings(), one_core());
  ASSERT_TRUE(tdrv.is_ok());
  const std::size_t memory = driver.live_memory();
  const std::uint64_t before = driver.calls;
  auto first = (*tdrv)->stage(test::small_program(), 0, 1);
  ASSERT_TRUE(first.is_ok()) << first.status().message();
  const std::uint64_t total = driver.calls - before;
  ASSERT_TRUE((*tdrv)->unstage(*first).is_ok());
  EXPECT_EQ(driver.live_memory(), memory);
  std::uint64_t refused = 0;
  for (std::uint64_t n = 1; n <= total; ++n) {
    driver.fail_at = driver.calls + n;
    auto model = (*tdrv)->stage(test::small_program(), 0, 1);
    driver.fail_at = 0;
    if (!model.is_ok()) {
      ++refused;
    } else {
      EXPECT_TRUE((*tdrv)->unstage(*model).is_ok());
    }
    EXPECT_EQ(driver.live_memory(), memory) << "call " << n;
  }
  EXPECT_GT(refused, 20u);
}

TEST(Staging, InitialisesEachHardwareQueueOnceOnAllEngines) {
  test::FakeDriver driver;
  auto tdrv = Tdrv::bring_up(driver.bindings(), one_core());
  ASSERT_TRUE(tdrv.is_ok());
  driver.queue_inits.clear();
  ASSERT_TRUE((*tdrv)->stage(test::small_program(), 0, 1).is_ok());
  ASSERT_TRUE((*tdrv)->stage(test::small_program(), 0, 2).is_ok());
  ASSERT_EQ(driver.queue_inits.size(), 2u * 16 + 1);  // two sets and the DVE table ring
  for (const nrtp_ndl_queue& q : driver.queue_inits) {
    EXPECT_EQ(q.tx_descs, 0xFFFFF0u);
    EXPECT_EQ(q.rx_descs, 0xFFFFF0u);
    EXPECT_EQ(q.tx_mem | q.rx_mem, 0u);
  }
}

TEST(Staging, RefusesWhatItCannotPlace) {
  test::FakeDriver driver;
  auto tdrv = Tdrv::bring_up(driver.bindings(), one_core());
  ASSERT_TRUE(tdrv.is_ok());
  const std::size_t memory = driver.live_memory();
  EXPECT_EQ((*tdrv)->stage(nullptr, 0, 1).status().code(), NRT_INVALID);
  EXPECT_EQ((*tdrv)->stage(test::small_program(), 1, 1).status().code(), NRT_INVALID);
  auto pointer = std::make_shared<neff::Program>(*test::small_program());
  pointer->subgraphs[0].variables[4].type = neff::VariableType::kPointer;
  pointer->subgraphs[0].variables[4].referenced_var_id = 99;
  auto model = (*tdrv)->stage(pointer, 0, 1);
  EXPECT_EQ(model.status().code(), NRT_INVALID);
  EXPECT_NE(model.status().message().find("'t'"), std::string_view::npos);
  auto two = std::make_shared<neff::Program>(*test::small_program());
  two->subgraphs.push_back(two->subgraphs[0]);
  EXPECT_EQ((*tdrv)->stage(two, 0, 1).status().code(), NRT_INVALID);
  auto unknown = std::make_shared<neff::Program>(*test::small_program());
  unknown->inputs[0].name = "other";
  EXPECT_EQ((*tdrv)->stage(unknown, 0, 1).status().code(), NRT_INVALID);
  auto sharded = std::make_shared<neff::Program>(*test::small_program());
  sharded->subgraphs[0].variables[5].backing = neff::BackingBuffer::kSharded;
  const auto refused = (*tdrv)->stage(sharded, 0, 1);
  EXPECT_EQ(refused.status().code(), NRT_INVALID);
  EXPECT_NE(refused.status().message().find("'v': backing_buf \"sharded\""), std::string::npos)
      << refused.status().message();
  EXPECT_EQ(driver.live_memory(), memory);
}

TEST(Staging, ModelsShareTheScratchpad) {
  test::FakeDriver driver;
  auto tdrv = Tdrv::bring_up(driver.bindings(), one_core());
  ASSERT_TRUE(tdrv.is_ok());
  auto small = (*tdrv)->stage(test::small_program(), 0, 1);
  const std::uint64_t one = driver.live_bytes();
  auto second = (*tdrv)->stage(test::small_program(), 0, 2);
  ASSERT_TRUE(small.is_ok() && second.is_ok());
  EXPECT_LT(driver.live_bytes() - one, 4ull << 20);  // no region of its own
  auto large = std::make_shared<neff::Program>(*test::small_program());
  large->subgraphs[0].variables[5].size = 6ull << 20;
  auto third = (*tdrv)->stage(large, 0, 3);
  ASSERT_TRUE(third.is_ok());
  EXPECT_GE(driver.live_bytes() - one, 8ull << 20);  // a larger region for it
}

}  // namespace
}  // namespace opennrt::tdrv
