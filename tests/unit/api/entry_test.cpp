// SPDX-License-Identifier: Apache-2.0
//
// The frame of the public functions: states, counting, exceptions.
#include "api/entry.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "api/model_handle.h"
#include "api/tensor_info.h"

namespace opennrt::api {
namespace {

class EntryTest : public ::testing::Test {
 protected:
  void TearDown() override { set_state(State::kStart); }
};

TEST_F(EntryTest, EveryStateHasItsAnswer) {
  int ran = 0;
  auto call = [&] {
    return guarded("nrt_test", [&](Session&) -> Status {
      ++ran;
      return {};
    });
  };
  set_state(State::kStart);
  EXPECT_EQ(call(), NRT_UNINITIALIZED);
  set_state(State::kClosed);
  EXPECT_EQ(call(), NRT_CLOSED);
  set_state(State::kChild);
  EXPECT_EQ(call(), NRT_FAILURE);
  EXPECT_EQ(ran, 0);
}

TEST_F(EntryTest, RejectionsAreLoggedAsDocumented) {
  auto text = [](State s) {
    log::set_level(log::Level::kWarn);
    testing::internal::CaptureStderr();
    log_rejection("nrt_test", s);
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_NE(text(State::kStart).find("ERROR   NRT:nrt_test"), std::string::npos);
  EXPECT_NE(text(State::kStart).find("NRT uninitialized"), std::string::npos);
  EXPECT_NE(text(State::kClosed).find(" WARN   NRT:nrt_test"), std::string::npos);
  EXPECT_NE(text(State::kClosed).find("NRT already closed"), std::string::npos);
  EXPECT_NE(text(State::kChild).find("Incompatible runtime state: NRT_STATE_CHILD"),
            std::string::npos);
}

TEST_F(EntryTest, NoExceptionPasses) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(run("f", []() -> Status { throw std::bad_alloc(); }), NRT_RESOURCE);
  EXPECT_EQ(run("f", []() -> Status { throw std::runtime_error("why"); }), NRT_FAILURE);
  EXPECT_EQ(run("f", []() -> Status { throw 1; }), NRT_FAILURE);
  EXPECT_EQ(run("f", []() -> Status { return Status::make(NRT_EXEC_OOB, "x"); }), NRT_EXEC_OOB);
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find("out of host memory"), std::string::npos);
  EXPECT_NE(text.find("NRT_FAILURE (1): why"), std::string::npos);
  EXPECT_NE(text.find("NRT_EXEC_OOB (1006): x"), std::string::npos);
}

TEST_F(EntryTest, CloserWaitsForThoseInside) {
  set_state(State::kInit);
  ASSERT_EQ(enter(), State::kInit);
  std::atomic<bool> left{false};
  std::thread closer([&] {
    set_state(State::kClosed);
    wait_until_left();
    left = true;
  });
  while (state() != State::kClosed) std::this_thread::yield();
  EXPECT_NE(enter(), State::kInit);
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_FALSE(left);
  leave();
  closer.join();
  EXPECT_TRUE(left);
}

// The state may change between the look and the answer; the answer belongs to
// the look.
TEST_F(EntryTest, RefusedCallNamesTheStateItSaw) {
  std::atomic<bool> stop{false};
  std::thread life([&] {
    for (int i = 0; i < 20000; ++i) {
      set_state(State::kInit);
      set_state(State::kClosed);
      wait_until_left();
      set_state(State::kStart);
    }
    stop = true;
  });
  int other = 0;
  while (!stop) {
    const Entry entry;
    if (!entry && rejection(entry.seen()) == NRT_FAILURE) ++other;
  }
  life.join();
  EXPECT_EQ(other, 0);
}

TEST_F(EntryTest, ForkMakesAChild) {
  ASSERT_EQ(install_fork_handler(), 0);
  ASSERT_EQ(install_fork_handler(), 0);
  set_state(State::kInit);
  const pid_t child = fork();
  if (child == 0) _exit(state() == State::kChild ? 0 : 1);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(state(), State::kInit);
}

TEST(ModelHandles, RoundTripAndRefuseOthers) {
  for (kmgr::ModelId id : {1u, 10001u, 0xFFFFFFFFu})
    EXPECT_EQ(model_of_handle(handle_of_model(id)), id);
  for (std::uintptr_t bad : {std::uintptr_t{0}, std::uintptr_t{8}, ~std::uintptr_t{0},
                             reinterpret_cast<std::uintptr_t>(handle_of_model(5)) + 1})
    EXPECT_EQ(model_of_handle(reinterpret_cast<nrt_model_t*>(bad)), 0u);
}

TEST(TensorInfoArray, InputsThenOutputsWithCutNames) {
  neff::Program p;
  p.inputs.push_back(
      {.name = std::string(300, 'n'), .dtype = NRT_DTYPE_INT8, .shape = {2, 3}, .size = 6});
  p.outputs.push_back({.name = "scalar", .dtype = NRT_DTYPE_FLOAT32, .shape = {}, .size = 4});
  auto made = make_tensor_info(p);
  ASSERT_TRUE(made.is_ok());
  const nrt_tensor_info_array_t& a = **made;
  ASSERT_EQ(a.tensor_count, 2u);
  EXPECT_EQ(std::string(a.tensor_array[0].name), std::string(255, 'n'));
  EXPECT_EQ(a.tensor_array[0].usage, NRT_TENSOR_USAGE_INPUT);
  EXPECT_EQ(a.tensor_array[0].ndim, 2u);
  EXPECT_EQ(a.tensor_array[0].shape[1], 3u);
  EXPECT_EQ(a.tensor_array[1].usage, NRT_TENSOR_USAGE_OUTPUT);
  EXPECT_EQ(a.tensor_array[1].shape, nullptr);
  EXPECT_EQ(a.tensor_array[1].size, 4u);
  free_tensor_info(*made);
  free_tensor_info(nullptr);
}

}  // namespace
}  // namespace opennrt::api
