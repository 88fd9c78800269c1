// SPDX-License-Identifier: Apache-2.0
//
// nrta_* through the C ABI: a real program on the software device, order,
// completion, events, wrong states and arguments.
#include "nrt/nrt_async.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <thread>

#include "support/vecadd_client.h"

namespace opennrt::test {
namespace {

constexpr NRT_STATUS kUntouched = static_cast<NRT_STATUS>(0x5A5A);

void wait_for(nrta_seq_t sequence) {
  bool done = false;
  while (!done) {
    ASSERT_EQ(nrta_is_completed(sequence, &done), NRT_SUCCESS);
    if (!done) std::this_thread::yield();
  }
}

class AsyncApi : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(runtime_.status(), NRT_SUCCESS); }
  std::vector<char> neff_ = read_file(OPENNRT_VECADD_NEFF);
  Runtime runtime_;
};

TEST_F(AsyncApi, ExecutesARealProgram) {
  VecAddModel model(neff_);
  ASSERT_EQ(model.status(), NRT_SUCCESS);
  VecAddTensors tensors(model, 1);
  tensors.poison_output();
  NRT_STATUS status = kUntouched;
  nrta_seq_t sequence = 0;
  ASSERT_EQ(nrta_execute_schedule(model.get(), tensors.in(), tensors.out(), 0, &status, &sequence),
            NRT_SUCCESS);
  EXPECT_EQ(NRTA_SEQ_GET_SEQ_NUM(sequence), 1u);
  wait_for(sequence);
  EXPECT_EQ(status, NRT_SUCCESS);
  EXPECT_EQ(tensors.wrong(), 0u);
  nrta_seq_t last = 0;
  ASSERT_EQ(nrta_get_sequence(0, NRTA_XU_COMPUTE, 0, &last), NRT_SUCCESS);
  EXPECT_EQ(last, sequence);
}

// A chain of transfers and executions, ordered by the caller.
TEST_F(AsyncApi, WriteExecuteReadInAChain) {
  VecAddModel model(neff_);
  ASSERT_EQ(model.status(), NRT_SUCCESS);
  VecAddTensors tensors(model, 2);
  std::vector<char> out(model.bytes());
  for (int i = 0; i < 5; ++i) {
    tensors.poison_output();
    NRT_STATUS status[2] = {kUntouched, kUntouched};
    nrta_seq_t sequence = 0;
    ASSERT_EQ(
        nrta_execute_schedule(model.get(), tensors.in(), tensors.out(), 0, &status[0], &sequence),
        NRT_SUCCESS);
    wait_for(sequence);
    ASSERT_EQ(
        nrta_tensor_read(out.data(), tensors.output(), 0, out.size(), 0, 0, &status[1], &sequence),
        NRT_SUCCESS);
    wait_for(sequence);
    EXPECT_EQ(status[0], NRT_SUCCESS);
    EXPECT_EQ(status[1], NRT_SUCCESS);
    EXPECT_EQ(tensors.wrong(), 0u);
    std::vector<char> direct(out.size());
    ASSERT_EQ(nrt_tensor_read(tensors.output(), direct.data(), 0, direct.size()), NRT_SUCCESS);
    EXPECT_TRUE(out == direct);
  }
}

TEST_F(AsyncApi, EventsOfRequestsAndUnits) {
  VecAddModel model(neff_);
  ASSERT_EQ(model.status(), NRT_SUCCESS);
  VecAddTensors tensors(model, 3);
  const int one = eventfd(0, EFD_CLOEXEC), all = eventfd(0, EFD_CLOEXEC);
  ASSERT_EQ(nrta_event_register_xu_completion(0, NRTA_XU_COMPUTE, 0, all), NRT_SUCCESS);
  NRT_STATUS status = kUntouched;
  nrta_seq_t sequence = 0;
  for (int i = 0; i < 3; ++i)
    ASSERT_EQ(
        nrta_execute_schedule(model.get(), tensors.in(), tensors.out(), 0, &status, &sequence),
        NRT_SUCCESS);
  ASSERT_EQ(nrta_event_register_seq_id_completion(sequence, one), NRT_SUCCESS);
  pollfd p{.fd = one, .events = POLLIN, .revents = 0};
  ASSERT_EQ(poll(&p, 1, 30'000), 1);
  bool done = false;
  ASSERT_EQ(nrta_is_completed(sequence, &done), NRT_SUCCESS);
  EXPECT_TRUE(done);
  std::uint64_t count = 0, seen = 0;
  while (seen < 3 && read(all, &count, sizeof count) == sizeof count) seen += count;
  EXPECT_EQ(seen, 3u);
  close(one);
  close(all);
}

TEST_F(AsyncApi, NullArgumentsQueueNothing) {
  VecAddModel model(neff_);
  ASSERT_EQ(model.status(), NRT_SUCCESS);
  VecAddTensors tensors(model, 4);
  NRT_STATUS status = kUntouched;
  nrta_seq_t s = 0;
  bool done = false;
  char byte = 0;
  nrt_tensor_t* const t = tensors.output();
  EXPECT_EQ(nrta_execute_schedule(nullptr, tensors.in(), tensors.out(), 0, &status, &s),
            NRT_INVALID);
  EXPECT_EQ(nrta_execute_schedule(model.get(), nullptr, tensors.out(), 0, &status, &s),
            NRT_INVALID);
  EXPECT_EQ(nrta_execute_schedule(model.get(), tensors.in(), nullptr, 0, &status, &s), NRT_INVALID);
  EXPECT_EQ(nrta_execute_schedule(model.get(), tensors.in(), tensors.out(), 0, nullptr, &s),
            NRT_INVALID);
  EXPECT_EQ(nrta_execute_schedule(model.get(), tensors.in(), tensors.out(), 0, &status, nullptr),
            NRT_INVALID);
  EXPECT_EQ(nrta_tensor_write(nullptr, &byte, 0, 1, 0, 0, &status, &s), NRT_INVALID);
  EXPECT_EQ(nrta_tensor_write(t, nullptr, 0, 1, 0, 0, &status, &s), NRT_INVALID);
  EXPECT_EQ(nrta_tensor_write(t, &byte, 0, 1, 0, 0, nullptr, &s), NRT_INVALID);
  EXPECT_EQ(nrta_tensor_write(t, &byte, 0, 1, 0, 0, &status, nullptr), NRT_INVALID);
  EXPECT_EQ(nrta_tensor_read(nullptr, t, 0, 1, 0, 0, &status, &s), NRT_INVALID);
  EXPECT_EQ(nrta_tensor_read(&byte, nullptr, 0, 1, 0, 0, &status, &s), NRT_INVALID);
  EXPECT_EQ(nrta_tensor_copy(nullptr, 0, t, 0, 1, 0, 0, &status, &s), NRT_INVALID);
  EXPECT_EQ(nrta_tensor_copy(t, 0, nullptr, 0, 1, 0, 0, &status, &s), NRT_INVALID);
  EXPECT_EQ(nrta_is_completed(1, nullptr), NRT_INVALID);
  EXPECT_EQ(nrta_is_completed(1, &done), NRT_INVALID);
  EXPECT_EQ(nrta_get_sequence(0, NRTA_XU_COMPUTE, 0, nullptr), NRT_INVALID);
  EXPECT_EQ(nrta_get_sequence(0, NRTA_XU_TYPE_NUM, 0, &s), NRT_INVALID);
  EXPECT_EQ(nrta_event_register_xu_completion(-1, NRTA_XU_COMPUTE, 0, 0), NRT_INVALID);
  EXPECT_EQ(status, kUntouched);
}

TEST_F(AsyncApi, CopiesStayInOneHbm) {
  nrt_tensor_t *near = nullptr, *other = nullptr, *far = nullptr;
  constexpr auto kDevice = NRT_TENSOR_PLACEMENT_DEVICE;
  ASSERT_EQ(nrt_tensor_allocate(kDevice, 0, 64, "near", &near), NRT_SUCCESS);
  ASSERT_EQ(nrt_tensor_allocate(kDevice, 0, 64, "other", &other), NRT_SUCCESS);
  ASSERT_EQ(nrt_tensor_allocate(kDevice, 1, 64, "far", &far), NRT_SUCCESS);
  NRT_STATUS status = kUntouched;
  nrta_seq_t s = 0;
  EXPECT_EQ(nrta_tensor_copy(near, 0, far, 0, 64, 0, 0, &status, &s), NRT_INVALID);
  EXPECT_EQ(nrta_tensor_copy(far, 0, near, 0, 64, 0, 0, &status, &s), NRT_INVALID);
  EXPECT_EQ(status, kUntouched);
  EXPECT_EQ(nrta_tensor_copy(near, 0, other, 0, 64, 0, 0, &status, &s), NRT_SUCCESS);
  wait_for(s);
  EXPECT_EQ(status, NRT_SUCCESS);
}

// One rank: needs a communicator first, then every operation copies.
TEST_F(AsyncApi, CollectivesOfOneRank) {
  nrt_tensor_t *in = nullptr, *out = nullptr;
  ASSERT_EQ(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, 64, "in", &in), NRT_SUCCESS);
  ASSERT_EQ(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, 64, "out", &out), NRT_SUCCESS);
  std::vector<char> data(64, 'x'), got(64);
  ASSERT_EQ(nrt_tensor_write(in, data.data(), 0, 64), NRT_SUCCESS);
  uint32_t group[2] = {0, 1};
  nrt_cc_comm_t comm{.replica_group = group,
                     .rank = 0,
                     .rank_n = 1,
                     .ctx_device_id = 0,
                     .ctx_device_count = 1,
                     .vnc = 0};
  nrt_tensor_list_t inputs{&in, 1}, outputs{&out, 1};
  nrt_cc_context_t* context = nullptr;
  const auto prepare = [&](nrt_cc_op_type_t cc_op, nrt_op_type_t op = NRT_OP_ADD,
                           nrt_dtype_t dtype = NRT_DTYPE_FLOAT32) {
    return nrta_cc_prepare(&comm, &inputs, &outputs, dtype, op, cc_op, &context);
  };
  EXPECT_EQ(prepare(NRT_CC_ALLREDUCE), NRT_FAILURE);  // no communicator yet
  ASSERT_EQ(nrt_cc_global_comm_init(0, 0, 1), NRT_SUCCESS);
  EXPECT_EQ(prepare(NRT_CC_ALLREDUCE, NRT_OP_FMA), NRT_INVALID);
  EXPECT_EQ(prepare(static_cast<nrt_cc_op_type_t>(3)), NRT_INVALID);
  EXPECT_EQ(prepare(NRT_CC_ALLREDUCE, NRT_OP_ADD, static_cast<nrt_dtype_t>(99)), NRT_INVALID);
  comm.rank_n = 2;
  EXPECT_EQ(prepare(NRT_CC_ALLREDUCE), NRT_FAILURE);  // several ranks
  comm.rank_n = 1;
  comm.vnc = 9999;
  EXPECT_EQ(prepare(NRT_CC_ALLREDUCE), NRT_INVALID);
  comm.vnc = 0;
  EXPECT_EQ(context, nullptr);
  for (const auto cc_op : {NRT_CC_ALLGATHER, NRT_CC_ALLREDUCE, NRT_CC_REDUCESCATTER}) {
    ASSERT_EQ(nrt_tensor_memset(out, 0, 0, 64), NRT_SUCCESS);
    ASSERT_EQ(prepare(cc_op), NRT_SUCCESS);
    ASSERT_NE(context, nullptr);
    NRT_STATUS status = kUntouched;
    nrta_seq_t sequence = 0;
    ASSERT_EQ(nrta_cc_schedule(&context, 1, &status, &sequence), NRT_SUCCESS);
    EXPECT_EQ(context, nullptr);
    wait_for(sequence);
    EXPECT_EQ(status, NRT_SUCCESS);
    ASSERT_EQ(nrt_tensor_read(out, got.data(), 0, 64), NRT_SUCCESS);
    EXPECT_TRUE(got == data);
  }
  NRT_STATUS status = kUntouched;
  nrta_seq_t sequence = 0;
  EXPECT_EQ(nrta_cc_schedule(nullptr, 0, &status, &sequence), NRT_INVALID);
  EXPECT_EQ(nrta_cc_schedule(&context, 0, &status, &sequence), NRT_INVALID);
  EXPECT_EQ(status, kUntouched);
  nrt_tensor_free(&in);
  nrt_tensor_free(&out);
}

// Close while requests are queued: they complete first.
TEST(AsyncLifecycle, CloseCompletesWhatIsQueued) {
  const std::vector<char> neff = read_file(OPENNRT_VECADD_NEFF);
  NRT_STATUS status[6];
  std::fill(std::begin(status), std::end(status), kUntouched);
  {
    Runtime runtime;
    nrt_model_t* model = nullptr;
    ASSERT_EQ(nrt_load(neff.data(), neff.size(), 0, -1, &model), NRT_SUCCESS);
    const VecAddModel reader(neff);
    VecAddTensors tensors(reader, 5);
    nrta_seq_t sequence = 0;
    for (NRT_STATUS& s : status)
      ASSERT_EQ(nrta_execute_schedule(model, tensors.in(), tensors.out(), 0, &s, &sequence),
                NRT_SUCCESS);
    nrt_close();
    for (const NRT_STATUS s : status) EXPECT_EQ(s, NRT_SUCCESS);
  }
}

TEST(AsyncLifecycle, EveryCallNeedsAnInitialisedRuntime) {
  NRT_STATUS status = kUntouched;
  nrta_seq_t s = 0;
  bool done = false;
  EXPECT_EQ(nrta_execute_schedule(nullptr, nullptr, nullptr, 0, &status, &s), NRT_UNINITIALIZED);
  EXPECT_EQ(nrta_tensor_write(nullptr, nullptr, 0, 0, 0, 0, &status, &s), NRT_UNINITIALIZED);
  EXPECT_EQ(nrta_tensor_read(nullptr, nullptr, 0, 0, 0, 0, &status, &s), NRT_UNINITIALIZED);
  EXPECT_EQ(nrta_tensor_copy(nullptr, 0, nullptr, 0, 0, 0, 0, &status, &s), NRT_UNINITIALIZED);
  EXPECT_EQ(nrta_is_completed(0, &done), NRT_UNINITIALIZED);
  EXPECT_EQ(nrta_get_sequence(0, NRTA_XU_COMPUTE, 0, &s), NRT_UNINITIALIZED);
  EXPECT_EQ(nrta_event_register_seq_id_completion(0, 0), NRT_UNINITIALIZED);
  EXPECT_EQ(nrta_event_register_xu_completion(0, NRTA_XU_COMPUTE, 0, 0), NRT_UNINITIALIZED);
}

TEST(AsyncLifecycle, ImplicitModeExcludesExplicitRequests) {
  setenv("NEURON_RT_ASYNC_EXEC_MAX_INFLIGHT_REQUESTS", "4", 1);
  {
    Runtime runtime;
    ASSERT_EQ(runtime.status(), NRT_SUCCESS);
    bool done = false;
    EXPECT_EQ(nrta_is_completed(1, &done), NRT_FAILURE);
    EXPECT_EQ(nrta_execute_schedule(nullptr, nullptr, nullptr, 0, nullptr, nullptr), NRT_FAILURE);
  }
  unsetenv("NEURON_RT_ASYNC_EXEC_MAX_INFLIGHT_REQUESTS");
}

}  // namespace
}  // namespace opennrt::test
