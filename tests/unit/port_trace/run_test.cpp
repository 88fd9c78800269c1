// SPDX-License-Identifier: Apache-2.0
//
// Whole programs through the C ABI: recorded on the software device, then
// answered from the recording.
#include <gmock/gmock.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdio>

#include "ndl-common/record/trace.h"
#include "scratch.h"
#include "support/vecadd_client.h"

namespace opennrt::test {
namespace {

using ::testing::HasSubstr;

class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    if (const char* old = getenv(name)) old_ = old, had_ = true;
    setenv(name, value.c_str(), 1);
  }
  ~Variable() {
    if (had_)
      setenv(name_, old_.c_str(), 1);
    else
      unsetenv(name_);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::string old_;
  bool had_ = false;
};

struct Result {
  NRT_STATUS init = NRT_FAILURE, load = NRT_FAILURE;
  std::vector<NRT_STATUS> executions;
  std::size_t wrong = ~std::size_t{0};
  std::vector<char> output;
};

// init, load, execute, read, unload, close.
Result run(const std::vector<char>& neff, int executions = 2) {
  Result out;
  Runtime runtime;
  out.init = runtime.status();
  if (out.init != NRT_SUCCESS) return out;
  VecAddModel model(neff);
  out.load = model.status();
  if (out.load != NRT_SUCCESS) return out;
  VecAddTensors tensors(model, 3);
  for (int i = 0; i < executions; ++i) out.executions.push_back(tensors.execute());
  if (out.executions.back() != NRT_SUCCESS) return out;
  out.wrong = tensors.wrong();
  out.output.resize(model.bytes());
  EXPECT_EQ(nrt_tensor_read(tensors.output(), out.output.data(), 0, out.output.size()),
            NRT_SUCCESS);
  return out;
}

class Programs : public ::testing::Test {
 protected:
  Programs() : path(scratch.file("run.trace")) {}

  Result record(const std::vector<char>& neff) {
    const Variable device("OPENNRT_DEVICE", "emulator"), file("OPENNRT_NDL_RECORD", path);
    return run(neff);
  }
  Result replay(const std::vector<char>& neff, int executions = 2) {
    const Variable device("OPENNRT_DEVICE", "replay"), file("OPENNRT_REPLAY_FILE", path);
    ::testing::internal::CaptureStderr();
    ::testing::internal::CaptureStdout();
    Result out = run(neff, executions);
    log = ::testing::internal::GetCapturedStderr() + ::testing::internal::GetCapturedStdout();
    return out;
  }
  void same_again(const std::vector<char>& neff) {
    ASSERT_FALSE(neff.empty());
    const Result recorded = record(neff);
    ASSERT_EQ(recorded.init, NRT_SUCCESS);
    ASSERT_EQ(recorded.load, NRT_SUCCESS);
    ASSERT_EQ(recorded.wrong, 0u);
    const Result replayed = replay(neff);
    EXPECT_EQ(replayed.init, NRT_SUCCESS) << log;
    EXPECT_EQ(replayed.load, NRT_SUCCESS) << log;
    EXPECT_EQ(replayed.executions, recorded.executions) << log;
    EXPECT_EQ(replayed.wrong, 0u);
    EXPECT_EQ(replayed.output, recorded.output);
    EXPECT_THAT(log, ::testing::Not(HasSubstr("leaves the recording")));
  }

  Scratch scratch;
  std::string path, log;
};

TEST_F(Programs, ExampleRunsFromItsRecording) { same_again(read_file(OPENNRT_VECADD_NEFF)); }

TEST_F(Programs, RealModelRunsFromItsRecording) {
  const char* folder = getenv("OPENNRT_CORPUS");
  const std::string file =
      std::string(folder ? folder : OPENNRT_DEFAULT_CORPUS) + "/vecadd_2tiles_sunda_a.neff";
  if (!std::filesystem::exists(file)) GTEST_SKIP() << file << " is absent: set OPENNRT_CORPUS";
  same_again(read_file(file));
}

// ndl: auto attaches ndl-kernel, which finds the driver too old, then ndl-compat.
TEST_F(Programs, AnOldDriverIsReplayedThroughBothAttaches) {
  {
    const Variable version("OPENNRT_EMULATOR_DRIVER_VERSION", "2.19.64.0");
    const Result recorded = record(read_file(OPENNRT_VECADD_NEFF));
    ASSERT_EQ(recorded.wrong, 0u);
  }
  trace::Trace recording;
  std::string error;
  ASSERT_EQ(trace::read_trace(path, &recording, &error), 0) << error;
  ASSERT_EQ(recording.sessions.size(), 2u);
  EXPECT_EQ(find(recording.sessions[0].header, "ndl")->text, "ndl-kernel");
  EXPECT_EQ(find(recording.sessions[1].header, "ndl")->text, "ndl-compat");
  const Result replayed = replay(read_file(OPENNRT_VECADD_NEFF));
  EXPECT_EQ(replayed.wrong, 0u) << log;
}

TEST_F(Programs, TheRecordingShowsTheRun) {
  record(read_file(OPENNRT_VECADD_NEFF));
  trace::Trace recording;
  std::string error;
  ASSERT_EQ(trace::read_trace(path, &recording, &error), 0) << error;
  ASSERT_EQ(recording.sessions.size(), 1u);
  EXPECT_TRUE(recording.sessions[0].ended);
  std::map<std::string, int> seen;
  std::size_t failed = 0;
  for (const trace::Line& line : recording.sessions[0].lines) {
    ++seen[line.call];
    // The driver layer asks for an address that no memory has, to see which form answers.
    const bool meant = line.call == "MEM_MC_GET_INFO_V2";
    failed += line.answered && line.result < 0 && !meant;
    EXPECT_NE(line.call, "ioctl") << "a request without a shape";
  }
  EXPECT_GE(seen["SEMAPHORE_INCREMENT"], 2);
  EXPECT_GE(seen["MEM_ALLOC_V2MT64"], 3);
  EXPECT_EQ(seen["MEM_ALLOC_V2MT64"], seen["MEM_FREE"]);
  EXPECT_EQ(seen["mmap"], seen["munmap"]);
  EXPECT_GE(seen["mem"], 1);
  EXPECT_EQ(failed, 0u);
}

TEST_F(Programs, AnotherModelIsToldItsFirstDivergence) {
  ASSERT_EQ(record(read_file(OPENNRT_VECADD_NEFF)).wrong, 0u);
  const Result other = replay(read_file(OPENNRT_ADD8_NEFF));
  EXPECT_EQ(other.init, NRT_SUCCESS) << log;
  EXPECT_NE(other.load, NRT_SUCCESS);
  EXPECT_THAT(log, HasSubstr(path + ":"));
  EXPECT_THAT(log, HasSubstr("the run leaves the recording after"));
  EXPECT_THAT(log, HasSubstr(": recorded "));
}

TEST_F(Programs, OneExecutionMoreIsToldItsFirstDivergence) {
  ASSERT_EQ(record(read_file(OPENNRT_VECADD_NEFF)).wrong, 0u);
  const Result more = replay(read_file(OPENNRT_VECADD_NEFF), 3);
  ASSERT_EQ(more.executions.size(), 3u) << log;
  EXPECT_EQ(more.executions[1], NRT_SUCCESS) << log;
  EXPECT_NE(more.executions[2], NRT_SUCCESS);
  EXPECT_THAT(log, HasSubstr("now SEMAPHORE_INCREMENT"));
}

// The run goes on, and says what is missing.
TEST_F(Programs, AFileThatCannotBeWrittenIsTold) {
  for (const std::string& bad : {std::string("/dev/full"), scratch.file("nowhere/run.trace")}) {
    path = bad;
    ::testing::internal::CaptureStderr();
    const Result result = record(read_file(OPENNRT_VECADD_NEFF));
    const std::string said = ::testing::internal::GetCapturedStderr();
    EXPECT_EQ(result.wrong, 0u) << bad;
    EXPECT_THAT(said, HasSubstr("ndl.record: " + bad + ": "));
    EXPECT_THAT(said, HasSubstr("nothing is recorded"));
  }
}

TEST_F(Programs, WithoutAFileTheDeviceIsRefused) {
  const Result none = replay(read_file(OPENNRT_VECADD_NEFF));
  EXPECT_EQ(none.init, NRT_INVALID);
  EXPECT_THAT(log, HasSubstr("No such file"));
}

}  // namespace
}  // namespace opennrt::test
