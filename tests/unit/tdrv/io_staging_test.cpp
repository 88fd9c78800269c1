// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cerrno>
#include <vector>

#include "fake_driver.h"
#include "tdrv/tdrv.h"

namespace opennrt::tdrv {
namespace {

class IoStagingTest : public ::testing::Test {
 protected:
  IoStagingTest() {
    BringUpOptions options;
    options.logical_cores = {{PhysicalCore{0, 0}}};
    tdrv_ = *Tdrv::bring_up(driver_.bindings(), options);
    auto program = std::make_shared<neff::Program>(*test::small_program());
    // A second input that no descriptor reads.
    program->inputs.push_back({"z", NRT_DTYPE_UINT8, {100}, 100});
    model_ = *tdrv_->stage(program, 0, 1);
    x_ = host(8192);
    z_ = host(100);
    y_ = host(8192);
  }
  std::unique_ptr<Tensor> host(std::uint64_t bytes) {
    return *tdrv_->allocate_tensor(NRT_TENSOR_PLACEMENT_VIRTUAL, 0, bytes, "h");
  }
  void round_trip(IoStaging& io) {
    ASSERT_TRUE(x_->set(0x11, 0, 8192).is_ok());
    ASSERT_TRUE(z_->set(0x22, 0, 100).is_ok());
    Tensor* const in[] = {x_.get(), z_.get()};
    Tensor* const out[] = {y_.get()};
    Status status = io.copy_in(in);
    ASSERT_TRUE(status.is_ok()) << status.message();
    std::vector<std::uint8_t> back(8192);
    ASSERT_TRUE(io.inputs()[0]->read(back.data(), 0, 8192).is_ok());
    EXPECT_EQ(back, std::vector<std::uint8_t>(8192, 0x11));
    back.resize(100);
    ASSERT_TRUE(io.inputs()[1]->read(back.data(), 0, 100).is_ok());
    EXPECT_EQ(back, std::vector<std::uint8_t>(100, 0x22));
    ASSERT_TRUE(io.outputs()[0]->set(0x33, 0, 8192).is_ok());
    status = io.copy_out(out);
    ASSERT_TRUE(status.is_ok()) << status.message();
    back.resize(8192);
    ASSERT_TRUE(y_->read(back.data(), 0, 8192).is_ok());
    EXPECT_EQ(back, std::vector<std::uint8_t>(8192, 0x33));
  }
  test::FakeDriver driver_;
  std::unique_ptr<Tdrv> tdrv_;
  std::shared_ptr<Model> model_;
  std::unique_ptr<Tensor> x_, y_, z_;
};

TEST_F(IoStagingTest, OneBatchPerDirectionWhereTheDriverHasIt) {
  driver_.has_batch = true;
  auto io = *tdrv_->make_io_staging(*model_);
  round_trip(*io);
  EXPECT_EQ(driver_.count["batch"], 2u);
}

TEST_F(IoStagingTest, OneCopyPerDirectionOtherwise) {
  auto io = *tdrv_->make_io_staging(*model_);
  round_trip(*io);
  EXPECT_EQ(driver_.count["batch"], 1u);  // refused once, remembered
  const std::uint64_t calls = driver_.calls;
  Tensor* const in[] = {x_.get(), z_.get()};
  Tensor* const out[] = {y_.get()};
  ASSERT_TRUE(io->copy_in(in).is_ok());
  EXPECT_EQ(driver_.calls, calls + 1);
  ASSERT_TRUE(io->copy_out(out).is_ok());
  EXPECT_EQ(driver_.calls, calls + 2);
  auto another = *tdrv_->make_io_staging(*model_);
  ASSERT_TRUE(another->copy_in(in).is_ok());
  EXPECT_EQ(driver_.count["batch"], 1u);
}

TEST_F(IoStagingTest, OtherBatchFailuresAreReported) {
  driver_.has_batch = true;
  auto io = *tdrv_->make_io_staging(*model_);
  Tensor* const in[] = {x_.get(), z_.get()};
  driver_.fail_at = driver_.calls + 1;
  EXPECT_EQ(io->copy_in(in).code(), NRT_FAILURE);
  EXPECT_TRUE(io->copy_in(in).is_ok());  // still batched
  EXPECT_EQ(driver_.count["batch"], 2u);
}

TEST_F(IoStagingTest, TensorsLeftOutAreLeftAlone) {
  for (const bool batch : {true, false}) {
    driver_.has_batch = batch;
    auto io = *tdrv_->make_io_staging(*model_);
    ASSERT_TRUE(y_->set(0x44, 0, 8192).is_ok());
    Tensor* const in[] = {nullptr, z_.get()};
    Tensor* const none[] = {nullptr};
    EXPECT_TRUE(io->copy_in(in).is_ok());
    const std::uint64_t calls = driver_.calls;
    EXPECT_TRUE(io->copy_out(none).is_ok());
    EXPECT_EQ(driver_.calls, calls);
  }
}

TEST_F(IoStagingTest, WrongArguments) {
  auto io = *tdrv_->make_io_staging(*model_);
  auto small = host(8191);
  auto empty = *make_empty_tensor("e");
  Tensor* const too_small[] = {small.get(), nullptr};
  Tensor* const no_memory[] = {empty.get(), nullptr};
  EXPECT_EQ(io->copy_in({}).code(), NRT_INVALID);
  EXPECT_EQ(io->copy_in(too_small).code(), NRT_EXEC_BAD_INPUT);
  EXPECT_EQ(io->copy_in(no_memory).code(), NRT_EXEC_BAD_INPUT);
  ASSERT_TRUE(tdrv_->unstage(model_).is_ok());
  EXPECT_EQ(tdrv_->make_io_staging(*model_).status().code(), NRT_INVALID_HANDLE);
}

TEST_F(IoStagingTest, StandInsAreDeviceTensorsOfTheModel) {
  auto io = *tdrv_->make_io_staging(*model_);
  ASSERT_EQ(io->inputs().size(), 2u);
  ASSERT_EQ(io->outputs().size(), 1u);
  auto execution = *tdrv_->make_execution(0);
  const Status status = tdrv_->bind(*execution, *model_, io->inputs(), io->outputs());
  EXPECT_TRUE(status.is_ok()) << status.message();
}

}  // namespace
}  // namespace opennrt::tdrv
