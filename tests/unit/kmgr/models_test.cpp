// SPDX-License-Identifier: Apache-2.0
//
// Loading, placement, the reference protocol and unloading.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "fake_tdrv.h"
#include "kmgr/manager.h"

namespace opennrt::kmgr {
namespace {

using ::testing::HasSubstr;

class LoadTest : public ::testing::Test {
 protected:
  LoadTest() {
    auto tdrv = std::make_unique<FakeTdrv>();
    tdrv_ = tdrv.get();
    manager_ = *Manager::over(std::move(tdrv), 3, 4);
  }
  ~LoadTest() override { Tensors::instance().clear(); }
  Result<ModelId> load(std::int32_t core = -1) {
    return manager_->place(fake_program("m", {{"a", 4}}, {{"x", 4}}), {.logical_core = core});
  }
  std::uint32_t core_of(ModelId id) { return manager_->find_model(id)->model->logical_core(); }
  Status execute(ModelId id) {
    auto& t = Tensors::instance();
    const auto core = static_cast<std::int32_t>(core_of(id));
    const auto a = *manager_->allocate_tensor(NRT_TENSOR_PLACEMENT_DEVICE, core, 4, "a");
    const auto x = *manager_->allocate_tensor(NRT_TENSOR_PLACEMENT_DEVICE, core, 4, "x");
    const auto in = *t.allocate_set(), out = *t.allocate_set();
    EXPECT_TRUE(t.add_to_set(in, "a", a).is_ok());
    EXPECT_TRUE(t.add_to_set(out, "x", x).is_ok());
    return manager_->execute(id, in, out);
  }
  FakeTdrv* tdrv_;
  std::unique_ptr<Manager> manager_;
};

TEST_F(LoadTest, LeastUsedCoreLowestIndexOnTies) {
  const ModelId a = *load(), b = *load(), c = *load(), d = *load();
  EXPECT_EQ(core_of(a), 0u);
  EXPECT_EQ(core_of(b), 1u);
  EXPECT_EQ(core_of(c), 2u);
  EXPECT_EQ(core_of(d), 0u);
  ASSERT_TRUE(manager_->unload(b).is_ok());
  EXPECT_EQ(core_of(*load()), 1u);
  EXPECT_EQ(core_of(*load(2)), 2u);
}

TEST_F(LoadTest, NumbersAreNeverReused) {
  const ModelId a = *load();
  EXPECT_GT(a, 10000u);
  ASSERT_TRUE(manager_->unload(a).is_ok());
  EXPECT_GT(*load(), a);
  EXPECT_EQ(manager_->unload(a).code(), NRT_INVALID_HANDLE);
  EXPECT_EQ(manager_->unload(0).code(), NRT_INVALID_HANDLE);
}

TEST_F(LoadTest, WrongCore) {
  EXPECT_EQ(load(3).status().code(), NRT_INVALID);
  EXPECT_THAT(std::string(load(3).status().message()),
              HasSubstr("could not find VNC id 3: this process has the logical cores 0 to 2"));
  EXPECT_EQ(load(-2).status().code(), NRT_INVALID);
}

TEST_F(LoadTest, FailedLoadLeavesNoTrace) {
  tdrv_->on_stage = [] { return Status::resource("HBM full"); };
  EXPECT_EQ(load().status().code(), NRT_RESOURCE);
  EXPECT_EQ(load().status().code(), NRT_RESOURCE);
  tdrv_->on_stage = nullptr;
  EXPECT_EQ(core_of(*load()), 0u);  // usage was given back
  EXPECT_EQ(tdrv_->live_models, 1);
}

TEST_F(LoadTest, UnloadOfTheCurrentModelStopsTheCoreFirst) {
  const ModelId m = *load(0), other = *load(0);
  ASSERT_TRUE(execute(m).is_ok());
  ASSERT_TRUE(manager_->unload(other).is_ok());  // not current
  EXPECT_EQ(tdrv_->stops, 0);
  ASSERT_TRUE(manager_->unload(m).is_ok());
  EXPECT_EQ(tdrv_->stops, 1);
  EXPECT_EQ(tdrv_->live_models, 0);
  EXPECT_EQ(tdrv_->misuse, 0);
}

// The engines leave a program's code while the next one's request runs.
TEST_F(LoadTest, UnloadWaitsUntilTheNextProgramHasTakenOver) {
  const ModelId first = *load(0), next = *load(0);
  ASSERT_TRUE(execute(first).is_ok());
  std::atomic<bool> running{false}, ended{false}, unstaged_early{false};
  tdrv_->on_unstage = [&]() -> Status {
    unstaged_early = !ended;
    return {};
  };
  tdrv_->on_kick = [&]() -> Status {
    running = true;
    return {};
  };
  tdrv_->outcome = [&](std::uint64_t) -> Status {
    ended = true;
    return {};
  };
  tdrv_->steps_per_execution = 100'000;
  std::thread executor([&] { EXPECT_TRUE(execute(next).is_ok()); });
  while (!running) std::this_thread::yield();
  EXPECT_TRUE(manager_->unload(first).is_ok());
  executor.join();
  EXPECT_FALSE(unstaged_early);
  EXPECT_EQ(tdrv_->stops, 0);
  // The fixture's end unloads once more, when the locals above are gone.
  tdrv_->on_unstage = nullptr;
  tdrv_->on_kick = nullptr;
  tdrv_->outcome = nullptr;
}

TEST_F(LoadTest, FailedStopIsReportedAndTheMemoryKept) {
  const ModelId m = *load(0);
  ASSERT_TRUE(execute(m).is_ok());
  tdrv_->outcome = [](std::uint64_t) { return Status::make(NRT_TIMEOUT, "no answer"); };
  // The stop request made the ready program current, so the model may go.
  EXPECT_EQ(manager_->unload(m).code(), NRT_TIMEOUT);
  EXPECT_EQ(manager_->unload(m).code(), NRT_INVALID_HANDLE);
  EXPECT_EQ(tdrv_->misuse, 0);
}

TEST_F(LoadTest, ModelOfAnUnrecoverableCoreIsNotTakenFromUnderIt) {
  const ModelId m = *load(0);
  tdrv_->outcome = [](std::uint64_t) { return Status::make(NRT_TIMEOUT, "hang"); };
  EXPECT_EQ(execute(m).code(), NRT_TIMEOUT);
  EXPECT_EQ(execute(m).code(), NRT_EXEC_UNIT_UNRECOVERABLE);
  EXPECT_TRUE(manager_->unload(m).is_ok());
  EXPECT_EQ(tdrv_->live_models, 1);
  EXPECT_EQ(tdrv_->stops, 0);
  EXPECT_EQ(tdrv_->misuse, 0);
  EXPECT_EQ(core_of(*load(-1)), 0u);
}

TEST_F(LoadTest, OtherCoresGoOnAfterAFatalFailure) {
  const ModelId a = *load(0), b = *load(1);
  tdrv_->outcome = [](std::uint64_t) { return Status::make(NRT_EXEC_HW_ERR_NC_UE, "parity"); };
  EXPECT_EQ(execute(a).code(), NRT_EXEC_HW_ERR_NC_UE);
  tdrv_->outcome = nullptr;
  EXPECT_EQ(execute(a).code(), NRT_EXEC_UNIT_UNRECOVERABLE);
  EXPECT_TRUE(execute(b).is_ok());
}

TEST_F(LoadTest, UnloadWaitsForReferences) {
  const ModelId m = *load(0);
  auto reference = manager_->find_model(m);
  ASSERT_TRUE(reference);
  std::atomic<bool> done{false};
  std::thread unloader([&] {
    EXPECT_TRUE(manager_->unload(m).is_ok());
    done = true;
  });
  // The entry goes at once, the model not before the reference.
  while (manager_->find_model(m)) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(done);
  EXPECT_EQ(tdrv_->live_models, 1);
  reference = {};
  unloader.join();
  EXPECT_EQ(tdrv_->live_models, 0);
}

TEST_F(LoadTest, ExecuteAgainstUnload) {
  for (int round = 0; round < 20; ++round) {
    const ModelId m = *load(0);
    std::vector<std::thread> threads;
    std::atomic<int> other{0};
    for (int t = 0; t < 3; ++t)
      threads.emplace_back([&] {
        const auto a = *manager_->allocate_tensor(NRT_TENSOR_PLACEMENT_DEVICE, 0, 4, "a");
        auto& tensors = Tensors::instance();
        const auto s = *tensors.allocate_set();
        if (!tensors.add_to_set(s, "a", a)) ++other;
        const auto o = *tensors.allocate_set();
        if (!tensors.add_to_set(o, "x", a)) ++other;
        NRT_STATUS code = NRT_SUCCESS;
        while ((code = manager_->execute(m, s, o).code()) == NRT_SUCCESS) {
        }
        if (code != NRT_INVALID_HANDLE) ++other;
      });
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    EXPECT_TRUE(manager_->unload(m).is_ok());
    for (auto& t : threads) t.join();
    EXPECT_EQ(other, 0);
  }
  EXPECT_EQ(tdrv_->misuse, 0);
  EXPECT_EQ(tdrv_->live_models, 0);
}

}  // namespace
}  // namespace opennrt::kmgr
