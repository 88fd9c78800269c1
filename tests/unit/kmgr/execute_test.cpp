// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "fake_tdrv.h"
#include "kmgr/manager.h"

namespace opennrt::kmgr {
namespace {

using ::testing::HasSubstr;

class ManagerTest : public ::testing::Test {
 protected:
  ManagerTest() {
    auto tdrv = std::make_unique<FakeTdrv>();
    tdrv_ = tdrv.get();
    manager_ = *Manager::over(std::move(tdrv), 2, 4);
  }
  ~ManagerTest() override { Tensors::instance().clear(); }

  ModelId load(std::int32_t core = 0) {
    auto id = manager_->place(fake_program("m", {{"a", 4}, {"b", 8}}, {{"x", 4}, {"y", 8}}),
                              {.logical_core = core});
    EXPECT_TRUE(id.is_ok()) << id.status().message();
    return id.is_ok() ? *id : 0;
  }
  TensorHandle tensor(std::uint64_t bytes,
                      nrt_tensor_placement_t placement = NRT_TENSOR_PLACEMENT_DEVICE,
                      std::int32_t core = 0) {
    auto t = manager_->allocate_tensor(placement, core, bytes, "t");
    EXPECT_TRUE(t.is_ok()) << t.status().message();
    return *t;
  }
  TensorSetHandle set(std::vector<std::pair<std::string, TensorHandle>> entries) {
    const TensorSetHandle s = *tensors_.allocate_set();
    for (const auto& [name, t] : entries) EXPECT_TRUE(tensors_.add_to_set(s, name, t).is_ok());
    return s;
  }
  FakeTdrv* tdrv_;
  std::unique_ptr<Manager> manager_;
  Tensors& tensors_ = Tensors::instance();
};

TEST_F(ManagerTest, ExecutesByNameWhateverTheOrder) {
  const ModelId m = load();
  const auto a = tensor(4), b = tensor(8), x = tensor(4), y = tensor(100);
  ASSERT_TRUE(tensors_.set(a, 10, 0, 4).is_ok());
  ASSERT_TRUE(tensors_.set(b, 20, 0, 8).is_ok());
  ASSERT_TRUE(tensors_.set(y, 77, 0, 100).is_ok());
  const auto in = set({{"b", b}, {"a", a}}), out = set({{"y", y}, {"unused", a}, {"x", x}});
  ASSERT_TRUE(manager_->execute(m, in, out).is_ok());
  std::uint8_t got[9];
  ASSERT_TRUE(tensors_.read(x, got, 0, 4).is_ok());
  EXPECT_EQ(got[0], 11);
  ASSERT_TRUE(tensors_.read(y, got, 0, 9).is_ok());
  EXPECT_EQ(got[7], 21);
  EXPECT_EQ(got[8], 77);  // a larger tensor keeps its tail
  EXPECT_EQ(tdrv_->stagings, 0);
}

TEST_F(ManagerTest, WrongSets) {
  const ModelId m = load();
  const auto a = tensor(4), b = tensor(8), x = tensor(4), y = tensor(8);
  const auto in = set({{"a", a}, {"b", b}}), out = set({{"x", x}, {"y", y}});
  auto code = [&](TensorSetHandle i, TensorSetHandle o, const char* text) {
    const Status s = manager_->execute(m, i, o);
    EXPECT_THAT(std::string(s.message()), HasSubstr(text));
    return s.code();
  };
  EXPECT_EQ(code(set({{"a", a}}), out, "has 1 tensors, model m has 2 inputs"), NRT_INVALID);
  EXPECT_EQ(code(set({{"a", a}, {"b", b}, {"c", a}}), out, "has 3 tensors"), NRT_INVALID);
  EXPECT_EQ(code(set({{"a", a}, {"c", b}}), out, "input tensor b (8 bytes): is missing"),
            NRT_EXEC_BAD_INPUT);
  EXPECT_EQ(code(set({{"a", b}, {"b", a}}), out, "input tensor b (8 bytes): the tensor has 4"),
            NRT_EXEC_BAD_INPUT);
  EXPECT_EQ(code(in, set({{"x", x}}), "output tensor y (8 bytes): is missing"), NRT_EXEC_BAD_INPUT);
  EXPECT_EQ(code(in, set({{"x", x}, {"y", x}}), "the tensor has 4 bytes"), NRT_EXEC_BAD_INPUT);
  EXPECT_EQ(code(set({{"a", a}, {"b", *tensors_.allocate_empty("e")}}), out, "has no storage"),
            NRT_EXEC_BAD_INPUT);
  EXPECT_EQ(code(in, 0, "output_set is not a live tensor set"), NRT_INVALID);
  EXPECT_EQ(code(a, out, "input_set is not a live tensor set"), NRT_INVALID);
  tensors_.free(b);
  EXPECT_EQ(code(in, out, "input tensor b (8 bytes): has been freed"), NRT_EXEC_BAD_INPUT);
  EXPECT_EQ(manager_->execute(m + 1, in, out).code(), NRT_INVALID_HANDLE);
  EXPECT_EQ(tdrv_->binds, 0);
}

TEST_F(ManagerTest, HostTensorsTravelThroughStandIns) {
  const ModelId m = load();
  const auto a = tensor(4, NRT_TENSOR_PLACEMENT_VIRTUAL, -1), b = tensor(8);
  const auto x = tensor(4, NRT_TENSOR_PLACEMENT_VIRTUAL, -1), y = tensor(8);
  ASSERT_TRUE(tensors_.set(a, 1, 0, 4).is_ok());
  ASSERT_TRUE(tensors_.set(b, 2, 0, 8).is_ok());
  const auto in = set({{"a", a}, {"b", b}}), out = set({{"x", x}, {"y", y}});
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(manager_->execute(m, in, out).is_ok());
  std::uint8_t got = 0;
  ASSERT_TRUE(tensors_.read(x, &got, 3, 1).is_ok());
  EXPECT_EQ(got, 2);
  ASSERT_TRUE(tensors_.read(y, &got, 7, 1).is_ok());
  EXPECT_EQ(got, 3);
  EXPECT_EQ(tdrv_->stagings, 1);  // reused
  EXPECT_EQ(tdrv_->copies_in, 5);
  EXPECT_EQ(tdrv_->copies_out, 5);
}

TEST_F(ManagerTest, OutputsAreCopiedAfterNumericalErrorsButNotAfterOthers) {
  const ModelId m = load();
  const auto a = tensor(4), b = tensor(8), y = tensor(8);
  const auto x = tensor(4, NRT_TENSOR_PLACEMENT_VIRTUAL, -1);
  const auto in = set({{"a", a}, {"b", b}}), out = set({{"x", x}, {"y", y}});
  tdrv_->outcome = [](std::uint64_t n) {
    return Status::make(n == 1 ? NRT_EXEC_COMPLETED_WITH_NUM_ERR : NRT_EXEC_OOB, "x");
  };
  EXPECT_EQ(manager_->execute(m, in, out).code(), NRT_EXEC_COMPLETED_WITH_NUM_ERR);
  EXPECT_EQ(tdrv_->copies_out, 1);
  EXPECT_EQ(manager_->execute(m, in, out).code(), NRT_EXEC_OOB);
  EXPECT_EQ(tdrv_->copies_out, 1);
}

TEST_F(ManagerTest, StagingPoolIsBoundedUnderThreads) {
  const ModelId m = load();
  std::vector<std::thread> threads;
  std::atomic<int> failed{0};
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&] {
      const auto a = tensor(4, NRT_TENSOR_PLACEMENT_VIRTUAL, -1), b = tensor(8);
      const auto x = tensor(4), y = tensor(8);
      const auto in = set({{"a", a}, {"b", b}}), out = set({{"x", x}, {"y", y}});
      for (int i = 0; i < 50; ++i)
        if (!manager_->execute(m, in, out)) ++failed;
    });
  for (auto& t : threads) t.join();
  EXPECT_EQ(failed, 0);
  EXPECT_LE(tdrv_->stagings, 4);
  EXPECT_EQ(tdrv_->misuse, 0);
}

TEST_F(ManagerTest, StagingMemoryRefused) {
  const ModelId m = load();
  tdrv_->on_staging = [] { return Status::resource("no memory"); };
  const auto a = tensor(4, NRT_TENSOR_PLACEMENT_VIRTUAL, -1), b = tensor(8), x = tensor(4),
             y = tensor(8);
  const auto in = set({{"a", a}, {"b", b}}), out = set({{"x", x}, {"y", y}});
  EXPECT_EQ(manager_->execute(m, in, out).code(), NRT_RESOURCE);
  tdrv_->on_staging = nullptr;
  EXPECT_TRUE(manager_->execute(m, in, out).is_ok());
}

TEST_F(ManagerTest, TensorAllocationArguments) {
  auto code = [&](int placement, std::int32_t core, std::uint64_t bytes) {
    return manager_
        ->allocate_tensor(static_cast<nrt_tensor_placement_t>(placement), core, bytes, "t")
        .status()
        .code();
  };
  EXPECT_EQ(code(0, 0, 1), NRT_SUCCESS);
  EXPECT_EQ(code(0, 1, 1), NRT_SUCCESS);
  EXPECT_EQ(code(0, 2, 1), NRT_INVALID);
  EXPECT_EQ(code(0, -1, 1), NRT_INVALID);
  EXPECT_EQ(code(0, 0, 0), NRT_INVALID);
  EXPECT_EQ(code(1, 0, 4 << 20), NRT_SUCCESS);
  EXPECT_EQ(code(1, 0, (4 << 20) + 1), NRT_RESOURCE);
  EXPECT_EQ(code(2, -1, 1), NRT_SUCCESS);
  EXPECT_EQ(code(2, 7, 1), NRT_INVALID);
  EXPECT_EQ(code(3, 0, 1), NRT_INVALID);
  EXPECT_EQ(code(-1, 0, 1), NRT_INVALID);
}

TEST_F(ManagerTest, CloseUnloadsWhatIsLeftAndTearsDown) {
  load(0);
  load(1);
  // The fake dies with the manager: observe through its last calls.
  std::atomic<int> unstaged{0};
  tdrv_->on_unstage = [&] {
    ++unstaged;
    return Status();
  };
  manager_.reset();
  EXPECT_EQ(unstaged, 2);
}

}  // namespace
}  // namespace opennrt::kmgr
