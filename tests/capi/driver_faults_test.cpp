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

// Errors of requests become the status of their errno: ENOMEM a resource, EBUSY and
// EINVAL what they say where the caller could cause them, all others failures.
const Row kRows[] = {
    {"Allocation",
     "[{ioctl: MEM_ALLOC_V2MT64, n: 3, errno: ENOMEM}]",
     kInit,
     NRT_RESOURCE,
     {"exec queue: host generic memory 'exec requests'", "[ND 0][NC 0]", "out of memory"}},
    {"AllocationFails",
     "[{ioctl: MEM_ALLOC_V2MT64, n: 1, errno: EIO}]",
     kInit,
     NRT_FAILURE,
     {"exec queue: host dma ring memory 'exec ring tx' of [ND 0][NC 0]", "Input/output error"}},
    {"BadPointer",
     "[{ioctl: MEM_ALLOC_V2MT64, n: 1, residue: 8}]",
     kInit,
     NRT_FAILURE,
     {"'exec ring tx'", "Bad address"}},
    {"Address",
     "[{ioctl: MEM_GET_PA, n: 2, errno: EIO}]",
     kInit,
     NRT_FAILURE,
     {"'exec ring rx'", "no physical address", "Input/output error"}},
    {"Mapping",
     "[{ioctl: MEM_GET_INFO, n: 1, errno: EIO}]",
     kInit,
     NRT_FAILURE,
     {"mapping 262144 bytes at offset 0 of 'exec ring tx'", "Input/output error"}},
    {"NotificationQueue",
     "[{ioctl: NOTIFICATIONS_INIT_WITH_REALLOC_V2, n: 2, errno: ENOMEM}]",
     kInit,
     NRT_RESOURCE,
     {"[ND 0][NC 0]"}},
    {"Ring", "[{ioctl: DMA_QUEUE_INIT, n: 1, errno: EIO}]", kInit, NRT_FAILURE, {"[ND 0]"}},
    {"Register", "[{ioctl: BAR_WRITE, n: 1, errno: EIO}]", kInit, NRT_HW_ERROR, {"ND 0"}},
    {"Doorbell", "[{ioctl: SEMAPHORE_INCREMENT, n: 1, errno: EIO}]", kInit, NRT_FAILURE},
    {"Version",
     "[{ioctl: COMPATIBLE_VERSION, n: 1, errno: EIO}]",
     kInit,
     NRT_INVALID,
     {"which runtimes it accepts: EIO"}},
    {"ResetRequest", "[{ioctl: NC_RESET, n: 1, errno: EBUSY}]", kInit, NRT_EXEC_NC_BUSY},
    {"ResetWait", "[{ioctl: NC_RESET_READY, n: 1, errno: EIO}]", kInit, NRT_FAILURE},
    {"CoreReservation", "[{ioctl: CRWL_NC_RANGE_MARK_EXT0, n: 1, errno: EINVAL}]", kInit,
     NRT_INVALID},
    {"CopyAtLoad",
     "[{ioctl: MEM_COPY_ASYNC64, n: 1, errno: ENOMEM}]",
     kLoad,
     NRT_RESOURCE,
     {"model 'vecadd.neff'", "[ND 0][NC 0] writing"}},
    {"CopyOfATensor",
     "[{ioctl: MEM_COPY_ASYNC64, n: 5, errno: EIO}]",
     kWrite,
     NRT_FAILURE,
     {"nrt_tensor_write", "[ND 0][NC 0] writing", "of 'a' failed: Input/output error"}},
    {"CopyAtExecute",
     "[{ioctl: MEM_COPY_ASYNC_WAIT, n: 5, errno: EIO}]",
     kExecute,
     NRT_FAILURE,
     {"nrt_execute", "'io rings' failed: Input/output error"}},
    {"HostMemoryEnds",
     "[{point: memory_exhausted, host: 1, after_bytes: 65536}]",
     kInit,
     NRT_RESOURCE,
     {"[ND 0][NC 0] notification queue", "Cannot allocate memory"}},
    {"DeviceMemoryEnds",
     "[{point: memory_exhausted, channel: 0, after_bytes: 0x10000}]",
     kLoad,
     NRT_RESOURCE,
     {"model 'vecadd.neff'", "[ND 0][NC 0]", "out of memory", "Resolution: "}},
    {"DeviceMemoryEndsAtATensor",
     "[{point: memory_exhausted, channel: 0, after_bytes: 0x200000}]",
     kTensors,
     NRT_RESOURCE,
     {"nrt_tensor_allocate", "out of memory"}},
    {"ResetFails", "[{point: reset_failed, n: 1}]", kInit, NRT_FAILURE, {"device 0"}},
    {"StartUpResetFails",
     "[{point: reset_failed, n: 0}]",
     kInit,
     NRT_INVALID,
     {"/dev/neuron0", "invalid after a failed reset", "opening device 0"}},
    // What can fail without harm: the run goes on, the log says it.
    {"FreeFails",
     "[{ioctl: MEM_FREE, n: 1, errno: EIO}]",
     kAll,
     NRT_SUCCESS,
     {"freeing 'a' failed: Input/output error"}},
    {"GivingCoresBackFails",
     "[{ioctl: CRWL_NC_RANGE_UNMARK_EXT0, n: 1, errno: EIO}]",
     kAll,
     NRT_SUCCESS,
     {"giving back cores: Input/output error"}},
    {"NoDataStore", "[{ioctl: ACQUIRE_NEURON_DS, errno: ENOMEM}]", kAll, NRT_SUCCESS},
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
    if (model != nullptr) {
      EXPECT_EQ(nrt_unload(model), NRT_SUCCESS);
    }
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

struct BadSetting {
  const char* faults;
  const char* says;
};

TEST_F(Faults, BadEntriesFailTheInit) {
  const BadSetting rows[] = {
      {"[{ioctl: MEM_ALLOC_V3, errno: EIO}]", "entry 1: ioctl is \"MEM_ALLOC_V3\""},
      {"[{point: hang}, {ioctl: MEM_FREE, errno: ENOTHING}]", "entry 2: errno is \"ENOTHING\""},
      {"[{ioctl: MEM_FREE, n: 1}]", "needs one of the keys errno, residue, latency_us"},
      {"[{point: memory_exhausted, channel: 9, after_bytes: 1}]", "channel is \"9\""},
      {"[{point: reset_failed, reset_delay_ms: x}]", "reset_delay_ms is \"x\""},
      {"[{point: reboot}]", "allowed are error_record"}};
  for (const BadSetting& row : rows) {
    ask_for(row.faults);
    ::testing::internal::CaptureStderr();
    const Outcome out = run();
    const std::string log = ::testing::internal::GetCapturedStderr();
    EXPECT_EQ(out.phase, kInit) << row.faults;
    EXPECT_NE(out.status, NRT_SUCCESS);
    EXPECT_NE(log.find("emulator.faults, "), std::string::npos) << log;
    EXPECT_NE(log.find(row.says), std::string::npos) << row.says << " in\n" << log;
  }
  expect_sound_runtime();
}

// The process dies in the middle of a request, as by the kernel.
TEST_F(Faults, KilledProcess) {
  ::testing::GTEST_FLAG(death_test_style) = "threadsafe";
  ask_for("[{point: kill_process, ioctl: SEMAPHORE_INCREMENT, n: 2}]");
  EXPECT_EXIT(run(), ::testing::KilledBySignal(SIGKILL), "");
  expect_sound_runtime();
}

// Whichever allocation fails, nothing is lost.
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
  EXPECT_GT(failed, 5);
  expect_sound_runtime();
}

}  // namespace
}  // namespace opennrt::test
