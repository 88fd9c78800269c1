// SPDX-License-Identifier: Apache-2.0
//
// Requests that the driver refuses, memory that ends, resets that fail, produced by
// emulator.faults: the status of the call that met it, what the log says, that
// nothing is lost, and that the runtime can be used again.
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "support/vecadd_client.h"

namespace opennrt::test {
namespace {

// The calls of a run, in their order.
enum Phase { kInit, kLoad, kTensors, kWrite, kExecute, kRead, kAll };
constexpr const char* kPhases[] = {"init", "load", "tensors", "write", "execute", "read", "all"};

struct Row {
  const char* name;
  const char* faults;
  Phase fails;  // kAll: nothing does
  NRT_STATUS status;
  std::vector<const char*> says = {};  // parts of the log
};

void PrintTo(const Row& row, std::ostream* out) { *out << row.name; }

// Errors of requests become the status that their errno has: memory is a resource,
// a bad argument is invalid, all others are failures.
const Row kRows[] = {
    {"FirstAllocation", "[{ioctl: MEM_ALLOC_V2MT64, n: 1, errno: ENOMEM}]", kInit, NRT_RESOURCE},
    {"ThirdAllocation", "[{ioctl: MEM_ALLOC_V2MT64, n: 3, errno: ENOMEM}]", kInit, NRT_RESOURCE},
    {"HostMemoryEnds", "[{point: memory_exhausted, host: 1, after_bytes: 65536}]", kInit,
     NRT_RESOURCE},
    {"DeviceMemoryEnds", "[{point: memory_exhausted, channel: 0, after_bytes: 0x10000}]", kInit,
     NRT_RESOURCE},
    {"ResetFails", "[{point: reset_failed, n: 1}]", kInit, NRT_FAILURE},
    {"StartUpResetFails", "[{point: reset_failed, n: 0}]", kInit, NRT_INVALID},
    {"ResetTakesTime", "[{point: reset_delayed, n: 0, count: 2, reset_delay_ms: 50}]", kAll,
     NRT_SUCCESS},
    {"SlowRequests", "[{ioctl: SEMAPHORE_INCREMENT, latency_us: 2000}]", kAll, NRT_SUCCESS},
};

class Faults : public ::testing::Test {
 protected:
  Faults() : neff_(read_file(OPENNRT_VECADD_NEFF)) { setenv("NEURON_RT_LOG_LEVEL", "WARN", 1); }
  ~Faults() override {
    unsetenv("OPENNRT_EMULATOR_FAULTS");
    unsetenv("NEURON_RT_LOG_LEVEL");
  }
  static void ask_for(const char* faults) { setenv("OPENNRT_EMULATOR_FAULTS", faults, 1); }

  // Runs all of it, each call once. Where and how it first fails; *used: bytes in
  // use on the core before the first call after nrt_init, and at the end.
  struct Outcome {
    Phase phase = kAll;
    NRT_STATUS status = NRT_SUCCESS;
    std::uint64_t before = 0, after = 0;
  };
  static std::uint64_t used() {
    nrt_vnc_memory_stats_t stats{};
    size_t size = 0;
    EXPECT_EQ(nrt_get_vnc_memory_stats(0, &stats, sizeof stats, &size), NRT_SUCCESS);
    return stats.bytes_used;
  }
  Outcome run() {
    Outcome out;
    const auto failed = [&](Phase phase, NRT_STATUS status) {
      if (status == NRT_SUCCESS) return false;
      out.phase = phase;
      out.status = status;
      return true;
    };
    if (failed(kInit, nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""))) {
      nrt_close();
      return out;
    }
    out.before = used();
    nrt_model_t* model = nullptr;
    nrt_tensor_t* tensors[3] = {};
    nrt_tensor_set_t *in = nullptr, *outputs = nullptr;
    std::vector<float> numbers(kElements, 1.5f);
    const auto go = [&] {
      if (failed(kLoad, nrt_load(neff_.data(), neff_.size(), 0, -1, &model))) return;
      std::vector<std::string> names;
      nrt_tensor_info_array_t* info = nullptr;
      if (failed(kLoad, nrt_get_model_tensor_info(model, &info))) return;
      const std::size_t bytes = info->tensor_array[0].size;
      for (std::uint64_t i = 0; i < info->tensor_count; ++i)
        names.push_back(info->tensor_array[i].name);
      std::vector<bool> is_input;
      for (std::uint64_t i = 0; i < info->tensor_count; ++i)
        is_input.push_back(info->tensor_array[i].usage == NRT_TENSOR_USAGE_INPUT);
      nrt_free_model_tensor_info(info);
      numbers.resize(bytes / sizeof(float), 1.5f);
      EXPECT_EQ(nrt_allocate_tensor_set(&in), NRT_SUCCESS);
      EXPECT_EQ(nrt_allocate_tensor_set(&outputs), NRT_SUCCESS);
      for (std::size_t i = 0; i < 3; ++i) {
        if (failed(kTensors, nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, bytes,
                                                 names[i].c_str(), &tensors[i])))
          return;
        EXPECT_EQ(
            nrt_add_tensor_to_tensor_set(is_input[i] ? in : outputs, names[i].c_str(), tensors[i]),
            NRT_SUCCESS);
      }
      for (std::size_t i = 0; i < 3; ++i)
        if (is_input[i] && failed(kWrite, nrt_tensor_write(tensors[i], numbers.data(), 0, bytes)))
          return;
      if (failed(kExecute, nrt_execute(model, in, outputs))) return;
      std::vector<float> sum(numbers.size());
      for (std::size_t i = 0; i < 3; ++i)
        if (!is_input[i] && failed(kRead, nrt_tensor_read(tensors[i], sum.data(), 0, bytes)))
          return;
      for (const float x : sum) EXPECT_EQ(x, 3.0f);
    };
    go();
    for (nrt_tensor_t*& t : tensors)
      if (t != nullptr) nrt_tensor_free(&t);
    if (in != nullptr) nrt_destroy_tensor_set(&in);
    if (outputs != nullptr) nrt_destroy_tensor_set(&outputs);
    if (model != nullptr) EXPECT_EQ(nrt_unload(model), NRT_SUCCESS);
    out.after = used();
    nrt_close();
    return out;
  }
  // Everything works as if nothing had happened.
  void expect_sound_runtime() {
    unsetenv("OPENNRT_EMULATOR_FAULTS");
    const Outcome again = run();
    EXPECT_EQ(again.phase, kAll) << kPhases[again.phase] << " " << again.status;
    EXPECT_EQ(again.after, again.before);
  }

  static constexpr std::size_t kElements = 1024;
  const std::vector<char> neff_;
};

class DriverFaults : public Faults, public ::testing::WithParamInterface<Row> {};

TEST_P(DriverFaults, StatusMessageAndNothingLost) {
  const Row& row = GetParam();
  ask_for(row.faults);
  ::testing::internal::CaptureStderr();
  const Outcome out = run();
  const std::string log = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(out.phase, row.fails) << kPhases[out.phase] << "\n" << log;
  EXPECT_EQ(out.status, row.status) << log;
  EXPECT_EQ(out.after, out.before) << "bytes in use on the core";
  for (const char* part : row.says)
    EXPECT_NE(log.find(part), std::string::npos) << part << " in\n" << log;
  expect_sound_runtime();
}

INSTANTIATE_TEST_SUITE_P(Rows, DriverFaults, ::testing::ValuesIn(kRows),
                         [](const auto& test) { return std::string(test.param.name); });

// The process dies in the middle of a request, as by the kernel.
TEST_F(Faults, KilledProcess) {
  ::testing::GTEST_FLAG(death_test_style) = "threadsafe";
  ask_for("[{point: kill_process, ioctl: SEMAPHORE_INCREMENT, n: 2}]");
  EXPECT_EXIT(run(), ::testing::KilledBySignal(SIGKILL), "");
  expect_sound_runtime();
}

// One request in a thousand ways: whichever allocation fails, nothing is lost.
TEST_F(Faults, EveryAllocationOnce) {
  unsetenv("OPENNRT_EMULATOR_FAULTS");
  int failed = 0;
  for (int n = 1;; ++n) {
    ask_for(("[{ioctl: MEM_ALLOC_V2MT64, n: " + std::to_string(n) + ", errno: ENOMEM}]").c_str());
    ::testing::internal::CaptureStderr();
    const Outcome out = run();
    const std::string log = ::testing::internal::GetCapturedStderr();
    EXPECT_EQ(out.after, out.before) << "allocation " << n << "\n" << log;
    if (out.phase == kAll) break;
    ++failed;
    EXPECT_EQ(out.status, NRT_RESOURCE)
        << "allocation " << n << " in " << kPhases[out.phase] << "\n"
        << log;
  }
  EXPECT_GT(failed, 10);
  expect_sound_runtime();
}

}  // namespace
}  // namespace opennrt::test
