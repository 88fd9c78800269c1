// SPDX-License-Identifier: Apache-2.0
//
// What one execution asks of the kernel boundary, from recorded port calls.
// The process runs with the recording port in front of the software device.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "support/recording_port/recording.h"
#include "support/vecadd_client.h"

namespace opennrt::test {
namespace {

// Request numbers of the kernel driver.
constexpr int kMemCopy = 23;
constexpr int kBufferCopy = 24;
constexpr int kSemaphoreIncrement = 41;
constexpr int kBatchCopy = 129;

class Descent : public ::testing::Test {
 protected:
  void SetUp() override {
    record_ = ::testing::TempDir() + "descent-" + std::to_string(getpid());
    unlink(record_.c_str());
    setenv("OPENNRT_RECORDER_FILE", record_.c_str(), 1);
    setenv("OPENNRT_RECORDER_TARGET", OPENNRT_EMULATOR_LIBRARY, 1);
    setenv("OPENNRT_DEVICE", "recorder", 1);
    setenv("OPENNRT_PLUGIN_PATH", OPENNRT_RECORDER_DIR, 1);
  }
  void TearDown() override { unlink(record_.c_str()); }

  // Calls recorded since the last look: "ioctl 41" -> how often.
  std::map<std::string, int> take() {
    std::map<std::string, int> calls;
    for (const RecordedCall& one : read_recording(record_, &seen_))
      ++calls[one.call == "ioctl" ? ioctl_line(static_cast<int>(one.argument & 0xFF)) : one.call];
    return calls;
  }
  static std::string ioctl_line(int number) { return "ioctl " + std::to_string(number); }

  std::string record_;
  std::streamoff seen_ = 0;
};

TEST_F(Descent, DeviceTensorsNeedTheIncrementAlone) {
  Runtime runtime;
  ASSERT_EQ(runtime.status(), NRT_SUCCESS);
  VecAddModel model(read_file(OPENNRT_VECADD_NEFF));
  ASSERT_EQ(model.status(), NRT_SUCCESS);
  VecAddTensors tensors(model, 1);
  ASSERT_EQ(tensors.execute(), NRT_SUCCESS);
  EXPECT_FALSE(take().empty());  // the recorder works
  ASSERT_EQ(tensors.execute(), NRT_SUCCESS);
  EXPECT_EQ(take(), (std::map<std::string, int>{{ioctl_line(kSemaphoreIncrement), 1}}));
  EXPECT_EQ(tensors.wrong(), 0u);
}

// The example model with 8 inputs and 2 outputs: outputs are the sums of four.
TEST_F(Descent, HostTensorsTravelInOneRequestEachWay) {
  Runtime runtime;
  ASSERT_EQ(runtime.status(), NRT_SUCCESS);
  const std::vector<char> neff = read_file(OPENNRT_ADD8_NEFF);
  nrt_model_t* model = nullptr;
  ASSERT_EQ(nrt_load(neff.data(), neff.size(), 0, -1, &model), NRT_SUCCESS);
  nrt_tensor_info_array_t* info = nullptr;
  ASSERT_EQ(nrt_get_model_tensor_info(model, &info), NRT_SUCCESS);
  nrt_tensor_set_t *in = nullptr, *out = nullptr;
  ASSERT_EQ(nrt_allocate_tensor_set(&in), NRT_SUCCESS);
  ASSERT_EQ(nrt_allocate_tensor_set(&out), NRT_SUCCESS);
  std::vector<nrt_tensor_t*> tensors;
  int inputs = 0, outputs = 0;
  for (std::uint64_t i = 0; i < info->tensor_count; ++i) {
    const nrt_tensor_info_t& t = info->tensor_array[i];
    nrt_tensor_t* tensor = nullptr;
    ASSERT_EQ(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_VIRTUAL, -1, t.size, t.name, &tensor),
              NRT_SUCCESS);
    tensors.push_back(tensor);
    const bool is_input = t.usage == NRT_TENSOR_USAGE_INPUT;
    const std::vector<float> data(t.size / 4, static_cast<float>(1 << i));
    if (is_input) {
      ASSERT_EQ(nrt_tensor_write(tensor, data.data(), 0, t.size), NRT_SUCCESS);
    }
    ASSERT_EQ(nrt_add_tensor_to_tensor_set(is_input ? in : out, t.name, tensor), NRT_SUCCESS);
    (is_input ? inputs : outputs) += 1;
  }
  EXPECT_EQ(inputs, 8);
  EXPECT_EQ(outputs, 2);
  ASSERT_EQ(nrt_execute(model, in, out), NRT_SUCCESS);
  take();
  ASSERT_EQ(nrt_execute(model, in, out), NRT_SUCCESS);
  std::map<std::string, int> calls = take();
  EXPECT_EQ(calls[ioctl_line(kSemaphoreIncrement)], 1);
  EXPECT_EQ(calls[ioctl_line(kMemCopy)] + calls[ioctl_line(kBatchCopy)], 2);
  EXPECT_EQ(calls[ioctl_line(kBufferCopy)], 0);
  int total = 0;
  for (const auto& [line, count] : calls) total += count;
  EXPECT_EQ(total, 3);
  // inputs a0..a7 hold 1, 2, 4 .. 128 in the order of their names
  float first = 0;
  ASSERT_EQ(nrt_tensor_read(tensors[8], &first, 0, 4), NRT_SUCCESS);
  EXPECT_EQ(first, 1 + 2 + 4 + 8);
  ASSERT_EQ(nrt_tensor_read(tensors[9], &first, 0, 4), NRT_SUCCESS);
  EXPECT_EQ(first, 16 + 32 + 64 + 128);
  for (nrt_tensor_t*& t : tensors) nrt_tensor_free(&t);
  nrt_destroy_tensor_set(&in);
  nrt_destroy_tensor_set(&out);
  nrt_free_model_tensor_info(info);
  EXPECT_EQ(nrt_unload(model), NRT_SUCCESS);
}

// Where the driver has batches, all device tensors travel in one request.
TEST_F(Descent, BatchIsOneRequest) {
  setenv("OPENNRT_EMULATOR_PRODUCT", "trn2.3xlarge", 1);
  {
    Runtime runtime;
    ASSERT_EQ(runtime.status(), NRT_SUCCESS);
    std::vector<char> data(3 * 1024, 'x'), back(data.size());
    std::vector<nrt_tensor_t*> tensors(3);
    std::vector<nrt_tensor_batch_op_t> ops;
    for (std::size_t i = 0; i < 3; ++i) {
      ASSERT_EQ(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, 1024, "t", &tensors[i]),
                NRT_SUCCESS);
      ops.push_back({0, 1024, data.data() + i * 1024});
    }
    std::vector<nrt_tensor_batch_t> batches;
    for (std::size_t i = 0; i < 3; ++i) batches.push_back({tensors[i], &ops[i], 1});
    take();
    ASSERT_EQ(nrt_tensor_write_batch(batches.data(), 3, false), NRT_SUCCESS);
    EXPECT_EQ(take(), (std::map<std::string, int>{{ioctl_line(kBatchCopy), 1}}));
    for (std::size_t i = 0; i < 3; ++i) ops[i].buffer = back.data() + i * 1024;
    ASSERT_EQ(nrt_tensor_read_batch(batches.data(), 3, false), NRT_SUCCESS);
    EXPECT_EQ(take(), (std::map<std::string, int>{{ioctl_line(kBatchCopy), 1}}));
    EXPECT_EQ(back, data);
    for (nrt_tensor_t*& t : tensors) nrt_tensor_free(&t);
  }
  unsetenv("OPENNRT_EMULATOR_PRODUCT");
}

// One DEBUG line per layer crossing of a register access and of an execution.
TEST_F(Descent, DebugTraceNamesEveryLayer) {
  setenv("NEURON_RT_LOG_LEVEL", "DEBUG", 1);
  ::testing::internal::CaptureStderr();
  {
    Runtime runtime;
    ASSERT_EQ(runtime.status(), NRT_SUCCESS);
    VecAddModel model(read_file(OPENNRT_VECADD_NEFF));
    ASSERT_EQ(model.status(), NRT_SUCCESS);
    VecAddTensors tensors(model, 1);
    ASSERT_EQ(tensors.execute(), NRT_SUCCESS);
  }
  unsetenv("NEURON_RT_LOG_LEVEL");
  const std::string text = ::testing::internal::GetCapturedStderr();
  for (const char* name :
       {"API:IN", "nrt_execute", " NMGR:", " TDRV:", "  HAL:", "  NDL:", "al_reg_write32", "csr"})
    EXPECT_NE(text.find(name), std::string::npos) << name;
}

}  // namespace
}  // namespace opennrt::test
