// SPDX-License-Identifier: Apache-2.0
//
// Every way in which an execution can fail on a device, produced by
// emulator.faults: its status, what the message says, what becomes of the core,
// and that the runtime can be closed and used again.
#include <gtest/gtest.h>

#include <cstdlib>
#include <ostream>
#include <string>
#include <vector>

#include "nrt/ndebug_stream.h"
#include "support/vecadd_client.h"

namespace opennrt::test {
namespace {

struct Row {
  const char* name;
  const char* faults;
  NRT_STATUS status;
  NRT_STATUS next;                     // of the execution that follows
  std::vector<const char*> says = {};  // parts of the log
};

void PrintTo(const Row& row, std::ostream* out) { *out << row.name; }

constexpr NRT_STATUS kDead = NRT_EXEC_UNIT_UNRECOVERABLE;
constexpr NRT_STATUS kError = NRT_EXEC_COMPLETED_WITH_ERR;

// Faults of the first execution; n = 1 is what an entry says by itself.
const Row kRows[] = {
    // Records of the error queue by raw type.
    {"Underflow", "[{point: error_record, type: 0}]", NRT_SUCCESS, NRT_SUCCESS},
    {"NanUnreported", "[{point: error_record, type: 1}]", NRT_SUCCESS, NRT_SUCCESS},
    {"Infinity", "[{point: error_record, type: 2}]", NRT_SUCCESS, NRT_SUCCESS},
    {"Overflow", "[{point: error_record, type: 3}]", NRT_SUCCESS, NRT_SUCCESS},
    {"MemoryUncorrectable",
     "[{point: error_record, type: 4, engine: DVE}]",
     NRT_EXEC_HW_ERR_NC_UE,
     kDead,
     {"[ND 0][NC 0]", "uncorrectable memory error on DVE"}},
    {"MemoryCorrected",
     "[{point: error_record, type: 4, detail: 0x8001, engine: ACT}]",
     NRT_SUCCESS,
     NRT_SUCCESS,
     {"[ND 0][NC 0]", "corrected memory error on ACT"}},
    {"Fake", "[{point: error_record, type: 5}]", kError, NRT_SUCCESS, {"injected error on PE"}},
    {"Semaphore",
     "[{point: error_record, type: 6, engine: SP, detail: 77}]",
     kError,
     NRT_SUCCESS,
     {"semaphore error on SP", "detail 77"}},
    {"Event", "[{point: error_record, type: 7}]", kError, NRT_SUCCESS, {"event error"}},
    {"PsumCollision", "[{point: error_record, type: 8}]", kError, NRT_SUCCESS, {"PSUM collision"}},
    {"SequencerTransient",
     "[{point: error_record, type: 9, engine: POOL}]",
     kError,
     NRT_SUCCESS,
     {"sequencer error on POOL"}},
    {"SequencerFatal",
     "[{point: error_record, type: 10}]",
     kError,
     NRT_SUCCESS,
     {"fatal sequencer error"}},
    {"UnknownType",
     "[{point: error_record, type: 11}]",
     NRT_HW_ERROR,
     kDead,
     {"unknown error", "type 11"}},
    // CUSTOM records by sub-id.
    {"Custom0",
     "[{point: custom_record, sub_id: 0}]",
     NRT_EXEC_OOB,
     NRT_SUCCESS,
     {"embedding update out of bounds", "[ND 0][NC 0]", "sub-id 0"}},
    {"Custom1", "[{point: custom_record, sub_id: 1}]", NRT_EXEC_OOB, NRT_SUCCESS},
    {"Custom2", "[{point: custom_record, sub_id: 2}]", NRT_EXEC_OOB, NRT_SUCCESS},
    {"Custom3", "[{point: custom_record, sub_id: 3}]", NRT_EXEC_OOB, NRT_SUCCESS},
    {"Custom4", "[{point: custom_record, sub_id: 4}]", NRT_EXEC_OOB, NRT_SUCCESS},
    {"Custom5", "[{point: custom_record, sub_id: 5}]", NRT_EXEC_OOB, NRT_SUCCESS},
    {"Custom6", "[{point: custom_record, sub_id: 6}]", NRT_SUCCESS, NRT_SUCCESS},
    {"Custom7", "[{point: custom_record, sub_id: 7}]", NRT_SUCCESS, NRT_SUCCESS},
    {"Custom8", "[{point: custom_record, sub_id: 8}]", NRT_SUCCESS, NRT_SUCCESS},
    {"Custom9", "[{point: custom_record, sub_id: 9}]", NRT_EXEC_OOB, NRT_SUCCESS},
    {"Custom10", "[{point: custom_record, sub_id: 10}]", NRT_EXEC_OOB, NRT_SUCCESS},
    {"CustomUnknown",
     "[{point: custom_record, sub_id: 11}]",
     NRT_HW_ERROR,
     kDead,
     {"unknown custom notification"}},
    // Executions that do not end, in the order of the tests.
    {"LostRecords",
     "[{point: queue_overflow, engine: POOL}]",
     NRT_EXEC_SW_NQ_OVERFLOW,
     kDead,
     {"notification queue overflow", "POOL END"}},
    {"HbmUncorrected",
     "[{point: hbm_uncorrected, count: 3}, {point: hang}]",
     NRT_EXEC_HW_ERR_HBM_UE,
     kDead,
     {"uncorrectable HBM error", "0 -> 3", "PE END"}},
    {"HbmRepairable",
     "[{point: hbm_repairable}, {point: hang, engine: ACT}]",
     NRT_EXEC_HW_ERR_REPAIRABLE_HBM_UE,
     kDead,
     {"repairable HBM error", "ACT END"}},
    {"DmaAbort",
     "[{point: dma_abort, ring: 2}, {point: hang}]",
     NRT_EXEC_HW_ERR_DMA_ABORT,
     kDead,
     {"DMA abort", "aborted: DMA engine"}},
    {"SramParity",
     "[{point: sram_uncorrected}, {point: hang}]",
     NRT_EXEC_HW_ERR_NC_UE,
     kDead,
     {"on-chip memory parity error"}},
    {"HangOnCompute",
     "[{point: hang, engine: DVE}]",
     NRT_TIMEOUT,
     kDead,
     {"hang on compute", "DVE END", "injected fault"}},
    {"OverflowBeforeHbm", "[{point: queue_overflow}, {point: hbm_uncorrected}]",
     NRT_EXEC_SW_NQ_OVERFLOW, kDead},
    {"HbmBeforeRepairable", "[{point: hbm_repairable}, {point: hbm_uncorrected}, {point: hang}]",
     NRT_EXEC_HW_ERR_HBM_UE, kDead},
    {"RepairableBeforeDma", "[{point: dma_abort}, {point: hbm_repairable}, {point: hang}]",
     NRT_EXEC_HW_ERR_REPAIRABLE_HBM_UE, kDead},
    {"DmaBeforeSram", "[{point: sram_uncorrected}, {point: dma_abort}, {point: hang}]",
     NRT_EXEC_HW_ERR_DMA_ABORT, kDead},
    // Counters that grow do not fail an execution that ends.
    {"CountersAlone",
     "[{point: hbm_uncorrected}, {point: hbm_repairable}, {point: sram_uncorrected}]", NRT_SUCCESS,
     NRT_SUCCESS},
    // The highest rank wins, the first seen on ties.
    {"ErrorOutranksHang",
     "[{point: error_record, type: 9}, {point: hang}]",
     kError,
     kDead,
     {"sequencer error", "missing: "}},
    {"HangOutranksOutOfBounds",
     "[{point: custom_record, sub_id: 0}, {point: hang}]",
     NRT_TIMEOUT,
     kDead,
     {"embedding update out of bounds"}},
    {"FirstOfEqualRank",
     "[{point: error_record, type: 4}, {point: hbm_uncorrected}, {point: hang}]",
     NRT_EXEC_HW_ERR_NC_UE, kDead},
    {"ErrorOutranksOutOfBounds",
     "[{point: custom_record, sub_id: 3}, {point: error_record, type: 7, engine: SP}]",
     kError,
     NRT_SUCCESS,
     {"event error on SP"}},
};

class Faults : public ::testing::Test {
 protected:
  Faults() : neff_(read_file(OPENNRT_VECADD_NEFF)) { setenv("NEURON_RT_LOG_LEVEL", "WARN", 1); }
  ~Faults() override {
    unsetenv("OPENNRT_EMULATOR_FAULTS");
    unsetenv("NEURON_RT_LOG_LEVEL");
  }
  static void ask_for(const char* faults) { setenv("OPENNRT_EMULATOR_FAULTS", faults, 1); }
  // Everything works as if nothing had happened.
  void expect_sound_runtime() {
    unsetenv("OPENNRT_EMULATOR_FAULTS");
    const Runtime again;
    ASSERT_EQ(again.status(), NRT_SUCCESS);
    const VecAddModel model(neff_);
    ASSERT_EQ(model.status(), NRT_SUCCESS);
    VecAddTensors tensors(model, 2);
    EXPECT_EQ(tensors.execute(), NRT_SUCCESS);
    EXPECT_EQ(tensors.wrong(), 0u);
  }

  const std::vector<char> neff_;
};

class ErrorClassification : public Faults, public ::testing::WithParamInterface<Row> {};

TEST_P(ErrorClassification, StatusMessageAndHealth) {
  const Row& row = GetParam();
  ask_for(row.faults);
  {
    const Runtime runtime;
    ASSERT_EQ(runtime.status(), NRT_SUCCESS);
    const VecAddModel model(neff_);
    ASSERT_EQ(model.status(), NRT_SUCCESS);
    VecAddTensors tensors(model, 1);
    ::testing::internal::CaptureStderr();
    const NRT_STATUS status = tensors.execute();
    const std::string log = ::testing::internal::GetCapturedStderr();
    EXPECT_EQ(status, row.status) << log;
    for (const char* part : row.says)
      EXPECT_NE(log.find(part), std::string::npos) << part << " in\n" << log;
    const bool lost = log.find("missing: ") != std::string::npos;
    if (lost) {
      for (const char* part : {"(FATAL-RT-UNDEFINED-STATE) [ND 0][NC 0] ", "model 'vecadd.neff'",
                               "timeout of 30000 ms"})
        EXPECT_NE(log.find(part), std::string::npos) << part << " in\n" << log;
    }
    EXPECT_EQ(tensors.execute(), row.next);
    if (row.next == NRT_SUCCESS) {
      EXPECT_EQ(tensors.wrong(), 0u);
      EXPECT_FALSE(lost) << log;
    }
  }
  expect_sound_runtime();
}

INSTANTIATE_TEST_SUITE_P(Rows, ErrorClassification, ::testing::ValuesIn(kRows),
                         [](const auto& test) { return std::string(test.param.name); });

TEST_F(Faults, OneTextPerKindOfErrorAndExecution) {
  ask_for(
      "[{point: error_record, type: 4, detail: 0x8000}, {point: error_record, type: 4, detail: "
      "0x8000}, {point: error_record, type: 4, detail: 0x8000, engine: SP}, {point: error_record, "
      "type: 4, detail: 0x8000, n: 2}]");
  const Runtime runtime;
  const VecAddModel model(neff_);
  ASSERT_EQ(model.status(), NRT_SUCCESS);
  VecAddTensors tensors(model, 1);
  for (const std::size_t texts : {1u, 1u, 0u}) {
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(tensors.execute(), NRT_SUCCESS);
    const std::string log = ::testing::internal::GetCapturedStderr();
    std::size_t seen = 0;
    for (std::size_t at = 0; (at = log.find("corrected memory error", at)) != std::string::npos;
         ++at)
      ++seen;
    EXPECT_EQ(seen, texts) << log;
  }
}

TEST_F(Faults, ActAtTheirOwnRequestAndCore) {
  ask_for("[{point: error_record, type: 6, n: 3}, {point: hang, core: 1}]");
  const Runtime runtime;
  const VecAddModel model(neff_, 0), other(neff_, 1);
  ASSERT_EQ(other.status(), NRT_SUCCESS);
  VecAddTensors tensors(model, 1), others(other, 1, NRT_TENSOR_PLACEMENT_DEVICE, 1);
  for (const NRT_STATUS status : {NRT_SUCCESS, NRT_SUCCESS, kError, NRT_SUCCESS})
    EXPECT_EQ(tensors.execute(), status);
  EXPECT_EQ(others.execute(), NRT_TIMEOUT);
  EXPECT_EQ(others.execute(), kDead);
  EXPECT_EQ(tensors.execute(), NRT_SUCCESS);  // the other core's fate is its own
}

// The counters of a device before the load are history.
TEST_F(Faults, CountersOfBeforeTheLoadDoNotExplainAHang) {
  ask_for("[{point: hbm_uncorrected}, {point: hang, n: 3}]");
  const Runtime runtime;
  {
    const VecAddModel first(neff_);
    VecAddTensors tensors(first, 1);
    EXPECT_EQ(tensors.execute(), NRT_SUCCESS);
  }  // the stop is request 2
  const VecAddModel model(neff_);
  ASSERT_EQ(model.status(), NRT_SUCCESS);
  VecAddTensors tensors(model, 1);
  EXPECT_EQ(tensors.execute(), NRT_TIMEOUT);
}

TEST_F(Faults, StopThatHangsFailsTheUnload) {
  ask_for("[{point: hang, n: 2}]");
  {
    const Runtime runtime;
    const VecAddModel stays(neff_);
    nrt_model_t* model = nullptr;
    ASSERT_EQ(nrt_load(neff_.data(), neff_.size(), 0, -1, &model), NRT_SUCCESS);
    VecAddTensors tensors(stays, 1);
    ASSERT_EQ(nrt_execute(model, tensors.in(), tensors.out()), NRT_SUCCESS);
    EXPECT_EQ(nrt_unload(model), NRT_TIMEOUT);
    EXPECT_EQ(tensors.execute(), kDead);
  }
  expect_sound_runtime();
}

TEST_F(Faults, SelfTestThatHangsFailsTheInit) {
  ask_for("[{point: hang, n: 0}]");
  {
    const Runtime runtime;
    EXPECT_EQ(runtime.status(), NRT_TIMEOUT);
  }
  expect_sound_runtime();
}

TEST_F(Faults, FinishedOutputCountsOnceAndAtOnce) {
  ask_for(
      "[{point: custom_record, sub_id: 7}, {point: custom_record, sub_id: 7, engine: SP}, {point: "
      "custom_record, sub_id: 7, hint: 1}, {point: custom_record, sub_id: 7, n: 2, engine: SP}, "
      "{point: hang, n: 2}]");
  const Runtime runtime;
  const VecAddModel model(neff_);
  VecAddTensors tensors(model, 1);
  ASSERT_EQ(tensors.execute(), NRT_SUCCESS);
  EXPECT_EQ(nrt_tensor_check_output_completion(tensors.output(), 0, 1), NRT_SUCCESS);
  EXPECT_EQ(nrt_tensor_check_output_completion(tensors.output(), 0, 2), NRT_TIMEOUT);
  // Finished although the execution never ends.
  ASSERT_EQ(tensors.execute(), NRT_TIMEOUT);
  EXPECT_EQ(nrt_tensor_check_output_completion(tensors.output(), 0, 2), NRT_SUCCESS);
  EXPECT_EQ(nrt_tensor_check_output_completion(tensors.output(), 0, 3), NRT_TIMEOUT);
}

TEST_F(Faults, DebugTensorGoesToTheClient) {
  ask_for(
      "[{point: custom_record, sub_id: 8, engine: POOL, n: 2}, {point: custom_record, sub_id: 8, "
      "hint: 9, n: 2}]");
  const Runtime runtime;
  const VecAddModel model(neff_);
  VecAddTensors tensors(model, 1);
  int fd = -1;
  ASSERT_EQ(nrt_debug_client_connect(0, &fd), NRT_SUCCESS);
  ASSERT_EQ(tensors.execute(), NRT_SUCCESS);
  ndebug_stream_event_header_t header{};
  void* payload = nullptr;
  EXPECT_EQ(nrt_debug_client_read_one_event(fd, &header, &payload), NRT_QUEUE_EMPTY);
  ASSERT_EQ(tensors.execute(), NRT_SUCCESS);
  ASSERT_EQ(nrt_debug_client_read_one_event(fd, &header, &payload), NRT_SUCCESS);
  EXPECT_EQ(header.type, static_cast<std::uint32_t>(NDEBUG_STREAM_EVENT_TYPE_DEBUG_TENSOR_READ));
  ASSERT_EQ(header.data_size, sizeof(ndebug_stream_payload_debug_tensor_read_t) + model.bytes());
  auto* const event = static_cast<ndebug_stream_payload_debug_tensor_read_t*>(payload);
  EXPECT_EQ(event->logical_nc_id, 0u);
  EXPECT_EQ(event->pipe, 2u);
  EXPECT_STREQ(event->tensor_dtype, "float32");
  EXPECT_EQ(event->tensor_data_size, model.bytes());
  EXPECT_NE(std::string(event->prefix).find(model.outputs().at(0)), std::string::npos);
  // The second run wrote over the same numbers.
  std::vector<char> output(model.bytes());
  ASSERT_EQ(nrt_tensor_read(tensors.output(), output.data(), 0, output.size()), NRT_SUCCESS);
  EXPECT_EQ(std::memcmp(event->tensor_data, output.data(), output.size()), 0);
  std::free(payload);
  EXPECT_EQ(nrt_debug_client_read_one_event(fd, &header, &payload), NRT_QUEUE_EMPTY);
  nrt_debug_client_connect_close(fd);
}

struct BadSetting {
  const char* faults;
  const char* says;
};

TEST_F(Faults, BadSettingsAreRefusedByMessage) {
  const BadSetting settings[] = {
      {"hang", "expected '['"},
      {"[{point: hang", "expected ',' or '}'"},
      {"[{point: hang}", "expected ',' or ']'"},
      {"[{point: hang}] x", "expected the end"},
      {"[{point: hang, point: hang}]", "comes twice"},
      {"[{n: 1}]", "key point is missing"},
      {"[{point: explode}]", "allowed are error_record"},
      {"[{point: hang}, {point: hang, engine: XX}]", "entry 2: engine is \"XX\""},
      {"[{point: hang, type: 3}]", "key type is not known"},
      {"[{point: error_record}]", "needs the key type"},
      {"[{point: error_record, type: 256}]", "allowed are 0 to 255"},
      {"[{point: custom_record}]", "needs the key sub_id"},
      {"[{point: custom_record, sub_id: 7, hint: 16}]", "allowed are 0 to 15"},
      {"[{point: hang, core: 2}]", "core is \"2\", allowed are 0 to 1"},
      {"[{point: hang, device: 1}]", "device is \"1\", allowed are 0 to 0"},
      {"[{point: dma_abort, ring: 16}]", "allowed are 0 to 15"},
      {"[{point: hang, n: -1}]", "n is \"-1\""},
  };
  for (const BadSetting& bad : settings) {
    ask_for(bad.faults);
    ::testing::internal::CaptureStderr();
    {
      const Runtime runtime;
      EXPECT_EQ(runtime.status(), NRT_INVALID) << bad.faults;
    }
    const std::string log = ::testing::internal::GetCapturedStderr();
    EXPECT_NE(log.find(bad.says), std::string::npos) << bad.faults << "\n" << log;
    EXPECT_NE(log.find("emulator.faults"), std::string::npos) << log;
  }
  expect_sound_runtime();
}

}  // namespace
}  // namespace opennrt::test
