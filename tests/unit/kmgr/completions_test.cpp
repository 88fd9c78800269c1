// SPDX-License-Identifier: Apache-2.0
//
// Completion counts of tensors and batched copies, without a device.
#include "kmgr/completions.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <thread>

#include "fake_tdrv.h"
#include "kmgr/manager.h"

namespace opennrt::kmgr {
namespace {

std::unique_ptr<Manager> manager_over(FakeTdrv** tdrv) {
  auto fake = std::make_unique<FakeTdrv>();
  *tdrv = fake.get();
  auto manager = Manager::over(std::move(fake), 2, 4);
  EXPECT_TRUE(manager.is_ok());
  return *std::move(manager);
}

TEST(Completions, WaitEndsWithTheCount) {
  FakeTensor tensor("t", 8, true, 0);
  const auto count = [&]() -> Result<std::uint64_t> { return tensor.completions.get(); };
  EXPECT_TRUE(wait_for_completions(count, 0, 0).is_ok());
  EXPECT_EQ(wait_for_completions(count, 0, 1).code(), NRT_TIMEOUT);
  note_completion(tensor);
  EXPECT_TRUE(wait_for_completions(count, 0, 1).is_ok());
  const auto before = std::chrono::steady_clock::now();
  EXPECT_EQ(wait_for_completions(count, 30'000, 2).code(), NRT_TIMEOUT);
  EXPECT_GE(std::chrono::steady_clock::now() - before, std::chrono::milliseconds(30));
  for (std::int64_t timeout : {std::int64_t{-1}, INT64_MIN, INT64_MAX}) {
    tensor.completions.reset();
    std::thread late([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      note_completion(tensor);
      note_completion(tensor);
    });
    EXPECT_TRUE(wait_for_completions(count, timeout, 2).is_ok());
    late.join();
  }
}

TEST(Completions, FailureOfTheCountEndsTheWait) {
  int asked = 0;
  const auto count = [&]() -> Result<std::uint64_t> {
    if (++asked < 3) return std::uint64_t{0};
    return Status::invalid("gone");
  };
  EXPECT_EQ(wait_for_completions(count, -1, 1).code(), NRT_INVALID);
}

// A slice is a view of its own; a copy of a count is a new count.
TEST(Completions, EveryViewCountsForItself) {
  FakeTensor tensor("t", 8, true, 0);
  note_completion(tensor);
  auto view = tensor.slice(0, 4, "s");
  ASSERT_TRUE(view.is_ok());
  EXPECT_EQ((*view)->completions.get(), 0u);
  note_completion(**view);
  EXPECT_EQ(tensor.completions.get(), 1u);
}

class Executions : public ::testing::Test {
 protected:
  void SetUp() override {
    manager_ = manager_over(&tdrv_);
    auto id = manager_->place(fake_program("p", {{"a", 4}}, {{"x", 4}, {"y", 4}}), {});
    ASSERT_TRUE(id.is_ok());
    model_ = *id;
    Tensors& tensors = Tensors::instance();
    in_ = *tensors.allocate_set();
    out_ = *tensors.allocate_set();
    for (TensorHandle* t : {&a_, &x_, &y_, &unused_})
      *t = *manager_->allocate_tensor(NRT_TENSOR_PLACEMENT_DEVICE, 0, 4, "t");
    ASSERT_TRUE(tensors.add_to_set(in_, "a", a_).is_ok());
    ASSERT_TRUE(tensors.add_to_set(out_, "x", x_).is_ok());
    ASSERT_TRUE(tensors.add_to_set(out_, "y", y_).is_ok());
    ASSERT_TRUE(tensors.add_to_set(out_, "z", unused_).is_ok());
  }
  void TearDown() override {
    Tensors::instance().clear();
    manager_.reset();
  }
  static std::uint64_t count(TensorHandle t) { return *Tensors::instance().completions(t); }
  FakeTdrv* tdrv_ = nullptr;
  std::unique_ptr<Manager> manager_;
  ModelId model_ = 0;
  TensorSetHandle in_ = 0, out_ = 0;
  TensorHandle a_ = 0, x_ = 0, y_ = 0, unused_ = 0;
};

TEST_F(Executions, OutputsOfResultsAreCounted) {
  ASSERT_TRUE(manager_->execute(model_, in_, out_).is_ok());
  EXPECT_EQ(count(x_), 1u);
  EXPECT_EQ(count(y_), 1u);
  EXPECT_EQ(count(a_), 0u);
  EXPECT_EQ(count(unused_), 0u);
  // With numerical errors there are results, with others there are none.
  tdrv_->outcome = [](std::uint64_t) {
    return Status::make(NRT_EXEC_COMPLETED_WITH_NUM_ERR, "NaN");
  };
  EXPECT_EQ(manager_->execute(model_, in_, out_).code(), NRT_EXEC_COMPLETED_WITH_NUM_ERR);
  EXPECT_EQ(count(x_), 2u);
  tdrv_->outcome = [](std::uint64_t) { return Status::make(NRT_EXEC_OOB, "x"); };
  EXPECT_EQ(manager_->execute(model_, in_, out_).code(), NRT_EXEC_OOB);
  EXPECT_EQ(count(x_), 2u);
  EXPECT_TRUE(Tensors::instance().reset_completions(x_).is_ok());
  EXPECT_EQ(count(x_), 0u);
  EXPECT_EQ(count(y_), 2u);
  EXPECT_EQ(Tensors::instance().completions(x_ + 1).status().code(), NRT_INVALID);
  EXPECT_EQ(Tensors::instance().reset_completions(0).code(), NRT_INVALID);
}

// The program says that an output is finished: it counts at once, and once.
TEST_F(Executions, ReportedOutputsAreNotCountedTwice) {
  tdrv_->reports = {1, 1, 7};
  std::uint64_t seen_early = 0;
  tdrv_->outcome = [&](std::uint64_t) -> Status {
    seen_early = count(y_);
    EXPECT_EQ(count(x_), 0u);
    return {};
  };
  ASSERT_TRUE(manager_->execute(model_, in_, out_).is_ok());
  EXPECT_EQ(seen_early, 1u);
  EXPECT_EQ(count(x_), 1u);
  EXPECT_EQ(count(y_), 1u);
  // The next run begins anew; what was finished stays so when the run fails.
  tdrv_->outcome = [](std::uint64_t) { return Status::make(NRT_EXEC_OOB, "x"); };
  EXPECT_EQ(manager_->execute(model_, in_, out_).code(), NRT_EXEC_OOB);
  EXPECT_EQ(count(x_), 1u);
  EXPECT_EQ(count(y_), 2u);
  tdrv_->outcome = nullptr;
}

TEST_F(Executions, AReportWakesWhoWaits) {
  tdrv_->reports = {0};
  std::atomic<bool> may_end{false};
  tdrv_->outcome = [&](std::uint64_t) -> Status {
    may_end.wait(false);
    return {};
  };
  std::thread executor([&] { EXPECT_TRUE(manager_->execute(model_, in_, out_).is_ok()); });
  const Status status =
      wait_for_completions([&]() -> Result<std::uint64_t> { return count(x_); }, 30'000'000, 1);
  EXPECT_TRUE(status.is_ok()) << status.message();
  EXPECT_EQ(count(y_), 0u);  // the run is still on its way
  may_end = true;
  may_end.notify_one();
  executor.join();
  EXPECT_EQ(count(x_), 1u);
  EXPECT_EQ(count(y_), 1u);
  tdrv_->outcome = nullptr;
}

// What lies in a stand-in is not yet in the caller's tensor.
TEST_F(Executions, ReportedHostOutputsCountWhenTheyHaveBeenCopied) {
  Tensors& tensors = Tensors::instance();
  const TensorHandle host = *manager_->allocate_tensor(NRT_TENSOR_PLACEMENT_VIRTUAL, 0, 4, "host");
  ASSERT_TRUE(tensors.add_to_set(out_, "y", host).is_ok());
  tdrv_->reports = {1};
  std::uint64_t seen_early = 9;
  tdrv_->outcome = [&](std::uint64_t) -> Status {
    seen_early = count(host);
    return {};
  };
  ASSERT_TRUE(manager_->execute(model_, in_, out_).is_ok());
  EXPECT_EQ(seen_early, 0u);
  EXPECT_EQ(count(host), 1u);
  tdrv_->outcome = nullptr;
}

TEST_F(Executions, BatchesWaitUnlessUnchecked) {
  std::array<char, 4> bytes = {1, 2, 3, 4}, back{};
  nrt_tensor_batch_op_t op{0, 4, bytes.data()};
  const auto tensor = [](TensorHandle t) { return reinterpret_cast<const nrt_tensor_t*>(t); };
  const nrt_tensor_batch_t batch{tensor(a_), &op, 1};
  EXPECT_TRUE(manager_->copy_batches({&batch, 1}, tdrv::CopyDirection::kToTensor, false).is_ok());
  EXPECT_EQ(tdrv_->waited_batches, 1);
  op.buffer = back.data();
  EXPECT_TRUE(manager_->copy_batches({&batch, 1}, tdrv::CopyDirection::kFromTensor, true).is_ok());
  EXPECT_EQ(tdrv_->waited_batches, 1);
  EXPECT_EQ(back, bytes);
  const nrt_tensor_batch_t wrong[] = {batch, {nullptr, &op, 1}},
                           gone[] = {{tensor(a_ + 1), &op, 1}},
                           no_ops[] = {{tensor(a_), nullptr, 1}};
  EXPECT_EQ(manager_->copy_batches(wrong, tdrv::CopyDirection::kToTensor, false).code(),
            NRT_INVALID);
  EXPECT_EQ(manager_->copy_batches(gone, tdrv::CopyDirection::kToTensor, false).code(),
            NRT_INVALID);
  EXPECT_EQ(manager_->copy_batches(no_ops, tdrv::CopyDirection::kToTensor, false).code(),
            NRT_INVALID);
  EXPECT_EQ(tdrv_->waited_batches, 1);
}

TEST_F(Executions, CoresOfQuestions) {
  EXPECT_TRUE(manager_->drain(1).is_ok());
  EXPECT_TRUE(manager_->memory_use(0).is_ok());
  for (std::int64_t core : {std::int64_t{-1}, std::int64_t{2}, std::int64_t{1} << 32}) {
    EXPECT_EQ(manager_->drain(core).code(), NRT_INVALID);
    EXPECT_EQ(manager_->memory_use(core).status().code(), NRT_INVALID);
  }
}

}  // namespace
}  // namespace opennrt::kmgr
