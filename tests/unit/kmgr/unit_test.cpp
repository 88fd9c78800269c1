// SPDX-License-Identifier: Apache-2.0
#include "kmgr/unit.h"

#include <gtest/gtest.h>

#include <thread>

#include "fake_tdrv.h"

namespace opennrt::kmgr {
namespace {

class UnitTest : public ::testing::Test {
 protected:
  void make(std::uint32_t depth) {
    auto unit = Unit::create(tdrv_, 0, depth);
    ASSERT_TRUE(unit.is_ok());
    unit_ = *std::move(unit);
    model_ = *tdrv_.stage(fake_program("m", {{"a", 4}}, {{"b", 4}}), 0, 1);
  }
  Status run() {
    FakeTensor a("a", 4, true, 0), b("b", 4, true, 0);
    const Unit::Lease slot(*unit_);
    slot->binding.inputs = {&a};
    slot->binding.outputs = {&b};
    return unit_->run(*slot, *model_, slot->binding.inputs, slot->binding.outputs, 1000);
  }
  FakeTdrv tdrv_;
  std::unique_ptr<Unit> unit_;
  std::shared_ptr<tdrv::Model> model_;
};

TEST_F(UnitTest, ManyThreadsFewSlotsInOrder) {
  make(3);
  std::atomic<int> failed{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i)
        if (!run()) ++failed;
    });
  for (auto& t : threads) t.join();
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(tdrv_.misuse, 0);
  EXPECT_EQ(tdrv_.binds, 800);
  EXPECT_EQ(tdrv_.finishes, 800);
}

TEST_F(UnitTest, BindFailureLeavesTheUnitUsable) {
  make(1);
  tdrv_.on_bind = [] { return Status::make(NRT_EXEC_BAD_INPUT, "on another core"); };
  EXPECT_EQ(run().code(), NRT_EXEC_BAD_INPUT);
  EXPECT_EQ(tdrv_.finishes, 0);  // nothing was bound
  tdrv_.on_bind = nullptr;
  EXPECT_TRUE(run().is_ok());
}

TEST_F(UnitTest, ArmFailureLeavesTheUnitUsable) {
  make(1);
  tdrv_.on_arm = [] { return Status::resource("ring"); };
  EXPECT_EQ(run().code(), NRT_RESOURCE);
  EXPECT_EQ(tdrv_.finishes, 1);
  tdrv_.on_arm = nullptr;
  EXPECT_TRUE(run().is_ok());
}

// Armed on one physical core and not on its peer.
TEST_F(UnitTest, ArmFailureThatLosesTheCoreIsFatal) {
  make(1);
  tdrv_.on_arm = [this] {
    tdrv_.lost = true;
    return Status::resource("second core");
  };
  EXPECT_EQ(run().code(), NRT_RESOURCE);
  EXPECT_TRUE(unit_->is_fatal());
  tdrv_.on_arm = nullptr;
  EXPECT_EQ(run().code(), NRT_EXEC_UNIT_UNRECOVERABLE);
}

TEST_F(UnitTest, KickFailureIsFatal) {
  make(1);
  tdrv_.on_kick = [] { return Status::failure("semaphore"); };
  EXPECT_EQ(run().code(), NRT_FAILURE);
  tdrv_.on_kick = nullptr;
  EXPECT_EQ(run().code(), NRT_EXEC_UNIT_UNRECOVERABLE);
}

struct Outcome {
  NRT_STATUS code;
  bool fatal;
};
class UnitHealth : public UnitTest, public ::testing::WithParamInterface<Outcome> {};

TEST_P(UnitHealth, AfterAFailure) {
  make(2);
  tdrv_.outcome = [](std::uint64_t n) {
    return n == 1 ? Status(GetParam().code, "said the device") : Status();
  };
  const Status first = run();
  EXPECT_EQ(first.code(), GetParam().code);
  EXPECT_EQ(first.message(), "said the device");
  EXPECT_EQ(unit_->is_fatal(), GetParam().fatal);
  EXPECT_EQ(run().code(), GetParam().fatal ? NRT_EXEC_UNIT_UNRECOVERABLE : NRT_SUCCESS);
  EXPECT_EQ(unit_->stop(10).code(), GetParam().fatal ? NRT_EXEC_UNIT_UNRECOVERABLE : NRT_SUCCESS);
}

INSTANTIATE_TEST_SUITE_P(
    Codes, UnitHealth,
    ::testing::Values(Outcome{NRT_EXEC_COMPLETED_WITH_NUM_ERR, false},
                      Outcome{NRT_EXEC_COMPLETED_WITH_ERR, false}, Outcome{NRT_EXEC_OOB, false},
                      Outcome{NRT_EXEC_BAD_INPUT, false}, Outcome{NRT_EXEC_NC_BUSY, false},
                      Outcome{NRT_TIMEOUT, true}, Outcome{NRT_HW_ERROR, true},
                      Outcome{NRT_FAILURE, true}, Outcome{NRT_EXEC_HW_ERR_COLLECTIVES, true},
                      Outcome{NRT_EXEC_HW_ERR_HBM_UE, true}, Outcome{NRT_EXEC_HW_ERR_NC_UE, true},
                      Outcome{NRT_EXEC_HW_ERR_DMA_ABORT, true},
                      Outcome{NRT_EXEC_SW_NQ_OVERFLOW, true},
                      Outcome{NRT_EXEC_HW_ERR_REPAIRABLE_HBM_UE, true},
                      Outcome{NRT_NETWORK_PROXY_FAILURE, true}),
    [](const auto& row) { return std::to_string(static_cast<int>(row.param.code)); });

// Where the engines are after a stop that failed is not known.
TEST_F(UnitTest, AnyFailureOfAStopIsFatal) {
  for (const NRT_STATUS code : {NRT_EXEC_COMPLETED_WITH_ERR, NRT_EXEC_OOB, NRT_TIMEOUT}) {
    FakeTdrv tdrv;
    auto unit = *Unit::create(tdrv, 0, 2);
    tdrv.outcome = [code](std::uint64_t) { return Status(code, "said the device"); };
    EXPECT_EQ(unit->stop(10).code(), code);
    EXPECT_TRUE(unit->is_fatal());
    EXPECT_EQ(unit->stop(10).code(), NRT_EXEC_UNIT_UNRECOVERABLE);
    EXPECT_EQ(tdrv.stops, 1);
  }
}

// A status that leaves a core usable does not when its execution was lost.
TEST_F(UnitTest, LostExecutionIsFatalWhateverItsStatus) {
  make(2);
  tdrv_.outcome = [](std::uint64_t) { return Status::make(NRT_EXEC_COMPLETED_WITH_ERR, "x"); };
  tdrv_.lost = true;
  EXPECT_EQ(run().code(), NRT_EXEC_COMPLETED_WITH_ERR);
  EXPECT_TRUE(unit_->is_fatal());
  EXPECT_EQ(run().code(), NRT_EXEC_UNIT_UNRECOVERABLE);
}

// The ones queued behind a fatal failure return, and none of them is stepped.
TEST_F(UnitTest, ThoseInFlightBehindAFatalFailureReturn) {
  make(4);
  tdrv_.steps_per_execution = 2000;
  tdrv_.outcome = [](std::uint64_t) { return Status::make(NRT_TIMEOUT, "hang"); };
  std::vector<std::thread> threads;
  std::atomic<int> timeout{0}, unrecoverable{0}, other{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      const NRT_STATUS code = run().code();
      ++(code == NRT_TIMEOUT                   ? timeout
         : code == NRT_EXEC_UNIT_UNRECOVERABLE ? unrecoverable
                                               : other);
    });
  for (auto& t : threads) t.join();
  EXPECT_EQ(timeout, 1);
  EXPECT_EQ(unrecoverable, 3);
  EXPECT_EQ(other, 0);
  EXPECT_EQ(tdrv_.misuse, 0);
}

}  // namespace
}  // namespace opennrt::kmgr
