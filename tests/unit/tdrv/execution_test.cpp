// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "allocation_count.h"
#include "fake_driver.h"
#include "tdrv/tdrv.h"

namespace opennrt::tdrv {
namespace {

class ExecutionTest : public ::testing::Test {
 protected:
  ExecutionTest() {
    auto up = Tdrv::bring_up(driver_.bindings(), one_core());
    EXPECT_TRUE(up.is_ok()) << up.status().message();
    tdrv_ = *std::move(up);
    model_ = *tdrv_->stage(test::small_program(), 0, 1);
    x_ = *tdrv_->allocate_tensor(NRT_TENSOR_PLACEMENT_DEVICE, 0, 8192, "x");
    y_ = *tdrv_->allocate_tensor(NRT_TENSOR_PLACEMENT_DEVICE, 0, 8192, "y");
    execution_ = *tdrv_->make_execution(0);
    driver_.packets.clear();
    driver_.requests.clear();
  }
  static BringUpOptions one_core() {
    BringUpOptions options;
    options.logical_cores = {{PhysicalCore{0, 0}}};
    return options;
  }
  Status bind(Tensor* x, Tensor* y) {
    Tensor* const in[] = {x};
    Tensor* const out[] = {y};
    return tdrv_->bind(*execution_, *model_, in, out);
  }
  StepResult wait(std::uint64_t timeout_ms = 100) {
    StepResult r = StepResult::kInFlight;
    while ((r = tdrv_->step(*execution_, timeout_ms)) == StepResult::kInFlight) tdrv_->relax(1000);
    return r;
  }
  // bind, arm and kick with a device that does not answer by itself.
  void start_silent() {
    driver_.answers = false;
    ASSERT_TRUE(bind(x_.get(), y_.get()).is_ok());
    ASSERT_TRUE(tdrv_->arm(*execution_).is_ok());
    ASSERT_TRUE(tdrv_->kick(*execution_).is_ok());
  }
  std::uint32_t status_queue(std::uint32_t engine) const {
    return driver_.arch().geometry->status_queue_first + engine;
  }
  const Status& status() const { return tdrv_->status(*execution_); }

  test::FakeDriver driver_;
  std::unique_ptr<Tdrv> tdrv_;
  std::shared_ptr<Model> model_;
  std::unique_ptr<Tensor> x_, y_;
  std::unique_ptr<Execution> execution_;
};

TEST_F(ExecutionTest, FirstRunSwitchesLaterRunsDoNot) {
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(bind(x_.get(), y_.get()).is_ok());
    ASSERT_TRUE(tdrv_->arm(*execution_).is_ok());
    ASSERT_TRUE(tdrv_->kick(*execution_).is_ok());
    EXPECT_EQ(wait(), StepResult::kDone) << status().message();
    tdrv_->finish(*execution_);
    EXPECT_EQ(driver_.ring_error, "");
  }
  ASSERT_EQ(driver_.requests.size(), 3u);
  EXPECT_EQ(driver_.requests[0][0], 1u);
  EXPECT_NE(driver_.requests[0][1], 0u);
  EXPECT_EQ(driver_.requests[1][0], 0u);
  EXPECT_EQ(driver_.requests[2][0], 0u);
  EXPECT_TRUE(tdrv_->is_current(*model_));
}

TEST_F(ExecutionTest, IoSwitchWritesEachRingsOwnBaseAndLength) {
  ASSERT_TRUE(bind(x_.get(), y_.get()).is_ok());
  ASSERT_TRUE(tdrv_->arm(*execution_).is_ok());
  ASSERT_TRUE(tdrv_->kick(*execution_).is_ok());
  // Request, load event, two sets with 16 rings of two packets, switch event.
  ASSERT_EQ(driver_.packets.size(), 2u + 2 * 32 + 1);
  const auto& arch = driver_.arch();
  const auto& dma = *arch.dma;
  const nrtp_product* product = &driver_.product();
  for (std::uint32_t set = 0; set < 2; ++set) {
    // qPoolOut0 (hardware queue 0) writes the caller's y, qSPIn0 (1) reads x.
    const std::uint32_t dir = set == 0 ? 1 : 0;
    for (std::uint32_t ring = 0; ring < 16; ++ring) {
      const auto& base = driver_.packets[2 + set * 32 + ring * 2];
      const auto& length = driver_.packets[3 + set * 32 + ring * 2];
      const std::uint64_t window = dma.udma_device(product, dma.core_engine(product, 0, ring));
      EXPECT_EQ(base.bytes, 8u);
      EXPECT_EQ(base.dst, window + dma.queue_reg(set, dir, NRTP_QREG_BASE_LO));
      EXPECT_EQ(length.bytes, 4u);
      EXPECT_EQ(length.dst, window + dma.queue_reg(set, dir, NRTP_QREG_LENGTH));
      std::uint32_t entries = 0;
      std::memcpy(&entries, driver_.at(length.src, 4), 4);
      EXPECT_EQ(entries, 0xFFFFF0u);
      // The ring behind the base walks the bound tensor in row order.
      std::uint64_t ring_pa = 0;
      std::memcpy(&ring_pa, driver_.at(base.src, 8), 8);
      EXPECT_EQ(ring_pa % 4096, 0u);
      DmaDescriptor first;
      std::memcpy(&first, driver_.at(ring_pa, 16), 16);
      const Tensor& tensor = set == 0 ? *y_ : *x_;
      EXPECT_EQ(first.address, *tensor.device_address() + ring * 512);
      EXPECT_EQ(first.len_ctrl >> 24 & 3, 1u);
    }
  }
  EXPECT_EQ(wait(), StepResult::kDone);
}

TEST_F(ExecutionTest, SteadyPathMakesOneDriverCallAndAllocatesNothing) {
  const auto run = [&] {
    ASSERT_TRUE(bind(x_.get(), y_.get()).is_ok());
    ASSERT_TRUE(tdrv_->arm(*execution_).is_ok());
    ASSERT_TRUE(tdrv_->kick(*execution_).is_ok());
    ASSERT_EQ(tdrv_->step(*execution_, 1000), StepResult::kDone);
    tdrv_->finish(*execution_);
  };
  run();
  // The fake's own bookkeeping must not allocate while we count.
  driver_.packets.reserve(100'000);
  driver_.requests.reserve(1'000);
  const std::uint64_t calls = driver_.calls, kicks = driver_.count["sem_inc"];
  const std::uint64_t before = test::allocation_count();
  for (int i = 0; i < 200; ++i) run();
  const std::uint64_t after = test::allocation_count();
  EXPECT_EQ(driver_.count["sem_inc"] - kicks, 200u);
  EXPECT_EQ(driver_.calls - calls, 200u);
  EXPECT_EQ(after - before, 0u);
}

TEST_F(ExecutionTest, HeadRegistersFollowEveryHalfRing) {
  driver_.registers.clear();
  const std::uint64_t writes = driver_.count["reg.write"];
  for (int i = 0; i < 700; ++i) {
    ASSERT_TRUE(bind(x_.get(), y_.get()).is_ok());
    ASSERT_TRUE(tdrv_->arm(*execution_).is_ok());
    ASSERT_TRUE(tdrv_->kick(*execution_).is_ok());
    ASSERT_EQ(tdrv_->step(*execution_, 1000), StepResult::kDone) << i;
    tdrv_->finish(*execution_);
  }
  // 1402 records of 16 bytes per engine in rings of 1024: two publications.
  EXPECT_EQ(driver_.count["reg.write"] - writes, 2u * 5);
  const std::uint64_t head = driver_.arch().address->notific_bar0(&driver_.product(), 0) + 0x100 +
                             0x28 * status_queue(0) + 0xC;
  EXPECT_TRUE(driver_.registers.contains(head));
}

TEST_F(ExecutionTest, StopGoesBackToTheReadyProgram) {
  ASSERT_TRUE(bind(x_.get(), y_.get()).is_ok());
  ASSERT_TRUE(tdrv_->arm(*execution_).is_ok());
  ASSERT_TRUE(tdrv_->kick(*execution_).is_ok());
  ASSERT_EQ(wait(), StepResult::kDone);
  tdrv_->finish(*execution_);
  EXPECT_EQ(tdrv_->unstage(model_).code(), NRT_FAILURE);
  ASSERT_TRUE(tdrv_->bind_stop(*execution_).is_ok());
  ASSERT_TRUE(tdrv_->arm(*execution_).is_ok());
  ASSERT_TRUE(tdrv_->kick(*execution_).is_ok());
  ASSERT_EQ(wait(), StepResult::kDone);
  tdrv_->finish(*execution_);
  EXPECT_EQ(driver_.requests.back()[0], 1u);
  EXPECT_FALSE(tdrv_->is_current(*model_));
  EXPECT_TRUE(tdrv_->unstage(model_).is_ok());
  EXPECT_EQ(bind(x_.get(), y_.get()).code(), NRT_INVALID_HANDLE);
}

TEST_F(ExecutionTest, BadInputs) {
  auto host = *tdrv_->allocate_tensor(NRT_TENSOR_PLACEMENT_VIRTUAL, 0, 8192, "h");
  auto small = *tdrv_->allocate_tensor(NRT_TENSOR_PLACEMENT_DEVICE, 0, 8191, "s");
  auto empty = *make_empty_tensor("e");
  EXPECT_EQ(bind(nullptr, y_.get()).code(), NRT_EXEC_BAD_INPUT);
  EXPECT_EQ(bind(host.get(), y_.get()).code(), NRT_EXEC_BAD_INPUT);
  EXPECT_EQ(bind(x_.get(), small.get()).code(), NRT_EXEC_BAD_INPUT);
  EXPECT_EQ(bind(empty.get(), y_.get()).code(), NRT_EXEC_BAD_INPUT);
  EXPECT_EQ(tdrv_->bind(*execution_, *model_, {}, {}).code(), NRT_EXEC_BAD_INPUT);
  EXPECT_NE(bind(x_.get(), small.get()).message().find("8192"), std::string_view::npos);
  char byte = 0;
  EXPECT_TRUE(x_->write(&byte, 0, 1).is_ok());  // no fence was left behind
}

TEST_F(ExecutionTest, CallsInAWrongOrderAreRefused) {
  EXPECT_EQ(tdrv_->arm(*execution_).code(), NRT_INVALID);
  EXPECT_EQ(tdrv_->kick(*execution_).code(), NRT_INVALID);
  EXPECT_EQ(tdrv_->step(*execution_, 1), StepResult::kFailed);
  tdrv_->finish(*execution_);  // nothing to finish
  ASSERT_TRUE(bind(x_.get(), y_.get()).is_ok());
  EXPECT_EQ(bind(x_.get(), y_.get()).code(), NRT_INVALID);
  EXPECT_EQ(tdrv_->kick(*execution_).code(), NRT_INVALID);
  EXPECT_EQ(tdrv_->unstage(model_).code(), NRT_FAILURE);  // bound
  tdrv_->finish(*execution_);
  EXPECT_TRUE(tdrv_->unstage(model_).is_ok());
}

TEST_F(ExecutionTest, EngineByEngineCompletion) {
  start_silent();
  EXPECT_EQ(tdrv_->step(*execution_, 1000), StepResult::kInFlight);
  for (std::uint32_t e = 0; e < 5; ++e) {
    driver_.notify(status_queue(e), 7);
    driver_.notify(status_queue(e), 8);
    driver_.notify(status_queue(e), 2);
  }
  EXPECT_EQ(tdrv_->step(*execution_, 1000), StepResult::kInFlight);
  for (std::uint32_t e = 0; e < 5; ++e) {
    EXPECT_EQ(tdrv_->step(*execution_, 1000), StepResult::kInFlight);
    driver_.notify(status_queue(e), 3);
  }
  EXPECT_EQ(tdrv_->step(*execution_, 1000), StepResult::kDone);
  EXPECT_EQ(tdrv_->step(*execution_, 1000), StepResult::kDone);  // stays
}

TEST_F(ExecutionTest, WrongOrderIsAnErrorAndTheCoreIsLost) {
  start_silent();
  driver_.notify(status_queue(1), 3);  // END before START
  EXPECT_EQ(tdrv_->step(*execution_, 1000), StepResult::kFailed);
  EXPECT_EQ(status().code(), NRT_FAILURE);
  EXPECT_NE(status().message().find("ACT"), std::string_view::npos) << status().message();
  tdrv_->finish(*execution_);
  ASSERT_TRUE(bind(x_.get(), y_.get()).is_ok());
  EXPECT_EQ(tdrv_->arm(*execution_).code(), NRT_EXEC_UNIT_UNRECOVERABLE);
  tdrv_->finish(*execution_);
  EXPECT_TRUE(tdrv_->unstage(model_).is_ok());
}

class BadRecord : public ExecutionTest, public ::testing::WithParamInterface<int> {};
TEST_P(BadRecord, OnAStatusQueueFails) {
  start_silent();
  driver_.notify(status_queue(0), static_cast<std::uint16_t>(GetParam()));
  EXPECT_EQ(tdrv_->step(*execution_, 1000), StepResult::kFailed);
}
INSTANTIATE_TEST_SUITE_P(Kinds, BadRecord, ::testing::Values(0, 1, 4, 5, 9, 255));

TEST_F(ExecutionTest, SwitchRecordAfterStartFails) {
  start_silent();
  driver_.notify(status_queue(0), 2);
  driver_.notify(status_queue(0), 7);
  EXPECT_EQ(tdrv_->step(*execution_, 1000), StepResult::kFailed);
}

TEST_F(ExecutionTest, TimeoutCountsFromTheLastProgress) {
  start_silent();
  const auto idle = [&](std::uint64_t ms) {
    driver_.clock_ns += ms * 1'000'000;
    return tdrv_->step(*execution_, 100);
  };
  EXPECT_EQ(idle(1), StepResult::kInFlight);
  EXPECT_EQ(idle(90), StepResult::kInFlight);
  driver_.notify(status_queue(0), 2);
  EXPECT_EQ(idle(90), StepResult::kInFlight);  // progress: the clock starts anew
  EXPECT_EQ(idle(90), StepResult::kInFlight);
  EXPECT_EQ(idle(90), StepResult::kInFlight);
  EXPECT_EQ(idle(20), StepResult::kFailed);
  EXPECT_EQ(status().code(), NRT_TIMEOUT);
  const std::string text(status().message());
  EXPECT_NE(text.find("PE END"), std::string::npos) << text;
  EXPECT_NE(text.find("DVE START"), std::string::npos) << text;
  EXPECT_NE(text.find("[ND 0][NC 0]"), std::string::npos) << text;
  EXPECT_NE(text.find("'small'"), std::string::npos) << text;
}

// An endless loop that sends custom records.
TEST_F(ExecutionTest, CustomRecordsAreNoProgress) {
  start_silent();
  driver_.notify(status_queue(3), 2);
  StepResult r = StepResult::kInFlight;
  int steps = 0;
  for (; steps < 20 && r == StepResult::kInFlight; ++steps) {
    driver_.notify(status_queue(3), 6, 6);
    driver_.clock_ns += 30'000'000;
    r = tdrv_->step(*execution_, 100);
  }
  EXPECT_EQ(r, StepResult::kFailed);
  EXPECT_LE(steps, 6);
  EXPECT_EQ(status().code(), NRT_TIMEOUT);
}

TEST_F(ExecutionTest, OverflowExplainsATimeout) {
  start_silent();
  driver_.registers[driver_.arch().address->notific_bar0(&driver_.product(), 0) + 0x1C] = 1u << 29;
  EXPECT_EQ(wait(), StepResult::kFailed);
  EXPECT_EQ(status().code(), NRT_EXEC_SW_NQ_OVERFLOW);
}

// Counters that have grown since the model was loaded.
TEST_F(ExecutionTest, CountersExplainATimeout) {
  driver_.memory_errors = {5, 6, 7};
  model_ = *tdrv_->stage(test::small_program(), 0, 2);
  driver_.memory_errors.hbm_repairable = 8;
  driver_.memory_errors.sram_uncorrected = 9;
  start_silent();
  EXPECT_EQ(wait(), StepResult::kFailed);
  EXPECT_EQ(status().code(), NRT_EXEC_HW_ERR_REPAIRABLE_HBM_UE);
  const std::string text(status().message());
  EXPECT_EQ(text.find("(FATAL-RT-UNDEFINED-STATE) [ND 0][NC 0] model 'small'"), 0u) << text;
  for (const char* part : {"repairable HBM error: no progress for 100 ms", "7 -> 8", "5 -> 9",
                           "missing: [ND 0][NC 0] PE START"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;
}

TEST_F(ExecutionTest, CountersThatTheDriverDoesNotTellExplainNothing) {
  driver_.tells_memory_errors = false;
  start_silent();
  EXPECT_EQ(wait(), StepResult::kFailed);
  EXPECT_EQ(status().code(), NRT_TIMEOUT);
}

TEST_F(ExecutionTest, AbortedDmaExplainsATimeout) {
  const auto& arch = driver_.arch();
  // Of this core, and one that is not.
  driver_.aborted_engines = {arch.dma->core_engine(&driver_.product(), 0, 5)};
  start_silent();
  EXPECT_EQ(wait(), StepResult::kFailed);
  EXPECT_EQ(status().code(), NRT_EXEC_HW_ERR_DMA_ABORT);
  const std::string engine = "DMA engine " + std::to_string(*driver_.aborted_engines.begin());
  EXPECT_NE(status().message().find(engine + " queue 0"), std::string_view::npos)
      << status().message();
}

TEST_F(ExecutionTest, AbortedDmaOfAnotherCoreDoesNot) {
  const auto& arch = driver_.arch();
  driver_.aborted_engines = {arch.dma->core_engine(&driver_.product(), 1, 5)};
  start_silent();
  EXPECT_EQ(wait(), StepResult::kFailed);
  EXPECT_EQ(status().code(), NRT_TIMEOUT);
}

// Only lost records explain records out of order.
TEST_F(ExecutionTest, WrongOrderIsNoHardwareError) {
  driver_.memory_errors.hbm_uncorrected = 1;
  start_silent();
  driver_.notify(status_queue(1), 3);
  EXPECT_EQ(tdrv_->step(*execution_, 1000), StepResult::kFailed);
  EXPECT_EQ(status().code(), NRT_FAILURE);
}

TEST_F(ExecutionTest, MemoryErrorGoesToTheKernelLogOnce) {
  start_silent();
  for (int i = 0; i < 3; ++i) driver_.notify(driver_.arch().geometry->error_queue, 3, 4 | 2 << 8);
  driver_.notify_all(2);
  driver_.notify_all(3);
  EXPECT_EQ(wait(), StepResult::kFailed);
  EXPECT_EQ(status().code(), NRT_EXEC_HW_ERR_NC_UE);
  ASSERT_EQ(driver_.kernel_log.size(), 1u);
  EXPECT_EQ(driver_.kernel_log[0], "NEURON_HW_ERR=SRAM_UNCORRECTABLE_ERROR nd-id=0 nc-id=0");
}

TEST_F(ExecutionTest, ErrorRecordsFailACompletedRunButNotTheCore) {
  start_silent();
  driver_.notify(driver_.arch().geometry->error_queue, 3, 9 | 2 << 8);  // sequencer error, POOL
  driver_.notify_all(7);
  driver_.notify_all(2);
  driver_.notify_all(3);
  EXPECT_EQ(wait(), StepResult::kFailed);
  EXPECT_EQ(status().code(), NRT_EXEC_COMPLETED_WITH_ERR);
  EXPECT_NE(status().message().find("POOL"), std::string_view::npos);
  tdrv_->finish(*execution_);
  driver_.run_request();  // the device catches up with the ring
  driver_.answers = true;
  ASSERT_TRUE(bind(x_.get(), y_.get()).is_ok());
  ASSERT_TRUE(tdrv_->arm(*execution_).is_ok());
  EXPECT_TRUE(tdrv_->kick(*execution_).is_ok());
}

TEST_F(ExecutionTest, OutOfBoundsRecordAndHigherRankWins) {
  start_silent();
  driver_.notify(status_queue(2), 7);
  driver_.notify(status_queue(2), 2);
  driver_.notify(status_queue(2), 6, 5);
  driver_.notify(status_queue(2), 3);
  for (const std::uint32_t e : {0u, 1u, 3u, 4u}) {
    driver_.notify(status_queue(e), 2);
    driver_.notify(status_queue(e), 3);
  }
  EXPECT_EQ(wait(), StepResult::kFailed);
  EXPECT_EQ(status().code(), NRT_EXEC_OOB);
}

TEST_F(ExecutionTest, FatalEngineErrorDoesNotWaitForTheTimeout) {
  start_silent();
  driver_.notify(driver_.arch().geometry->error_queue, 7, 10 | 3 << 8);
  driver_.clock_ns += 1'000'000;
  EXPECT_EQ(tdrv_->step(*execution_, 1'000'000), StepResult::kInFlight);
  driver_.clock_ns += 600'000'000;
  EXPECT_EQ(tdrv_->step(*execution_, 1'000'000), StepResult::kFailed);
  EXPECT_EQ(status().code(), NRT_EXEC_COMPLETED_WITH_ERR);
  EXPECT_NE(status().message().find("fatal sequencer error on DVE"), std::string_view::npos)
      << status().message();
}

TEST_F(ExecutionTest, FailedKickPoisonsTheCore) {
  ASSERT_TRUE(bind(x_.get(), y_.get()).is_ok());
  ASSERT_TRUE(tdrv_->arm(*execution_).is_ok());
  driver_.fail_at = driver_.calls + 1;
  EXPECT_EQ(tdrv_->kick(*execution_).code(), NRT_FAILURE);
  tdrv_->finish(*execution_);
  ASSERT_TRUE(bind(x_.get(), y_.get()).is_ok());
  EXPECT_EQ(tdrv_->arm(*execution_).code(), NRT_EXEC_UNIT_UNRECOVERABLE);
}

TEST_F(ExecutionTest, DepthLimitsArmedExecutions) {
  driver_.answers = false;
  std::vector<std::unique_ptr<Execution>> list;
  Tensor* const in[] = {x_.get()};
  Tensor* const out[] = {y_.get()};
  for (int i = 0; i < 9; ++i) {
    list.push_back(*tdrv_->make_execution(0));
    ASSERT_TRUE(tdrv_->bind(*list.back(), *model_, in, out).is_ok());
    const Status status = tdrv_->arm(*list.back());
    EXPECT_EQ(status.code(), i < 8 ? NRT_SUCCESS : NRT_QUEUE_FULL) << i;
  }
}

TEST_F(ExecutionTest, TensorMayBeFreedWhileInFlight) {
  ASSERT_TRUE(bind(x_.get(), y_.get()).is_ok());
  const std::size_t live = driver_.live_memory();
  x_.reset();
  EXPECT_EQ(driver_.live_memory(), live);
  tdrv_->finish(*execution_);
  EXPECT_EQ(driver_.live_memory(), live - 1);
}

TEST_F(ExecutionTest, MemoryUseGrowsWithTensors) {
  const auto before = tdrv_->memory_use(0);
  auto t = *tdrv_->allocate_tensor(NRT_TENSOR_PLACEMENT_DEVICE, 0, 1 << 20, "t");
  const auto after = tdrv_->memory_use(0);
  ASSERT_TRUE(before.is_ok() && after.is_ok());
  EXPECT_EQ(after->used - before->used, 1u << 20);
  EXPECT_GT(after->limit, 1ull << 33);
  EXPECT_EQ(tdrv_->memory_use(1).status().code(), NRT_INVALID);
  EXPECT_EQ(tdrv_->make_execution(1).status().code(), NRT_INVALID);
}

}  // namespace
}  // namespace opennrt::tdrv
