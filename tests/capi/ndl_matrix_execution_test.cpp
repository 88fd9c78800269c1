// SPDX-License-Identifier: Apache-2.0
//
// A vector addition and tensors of several sizes through the C ABI, on every
// driver the software device can be: the numbers, the forms of the requests, and
// which driver layer `ndl: auto` takes.
#include <gmock/gmock.h>

#include <numeric>

#include "ndl_matrix.h"
#include "support/repeats.h"
#include "support/vecadd_client.h"

namespace opennrt::test {
namespace {

using ::testing::HasSubstr;

class Execution : public Recorded {
 protected:
  void SetUp() override {
    Recorded::SetUp();
    setenv("OPENNRT_DEVICE", "recorder", 1);
    setenv("OPENNRT_PLUGIN_PATH", OPENNRT_RECORDER_DIR, 1);
    setenv("NEURON_RT_LOG_LEVEL", "WARN", 1);
    const char* corpus = std::getenv("OPENNRT_CORPUS");
    neff_ = read_file(std::string(corpus != nullptr ? corpus : "") + "/vecadd_1tile_sunda.neff");
    if (neff_.empty()) neff_ = read_file(OPENNRT_VECADD_NEFF);
    ASSERT_FALSE(neff_.empty());
  }
  void TearDown() override {
    for (const char* name : {"OPENNRT_NDL", "OPENNRT_EMULATOR_DRIVER_VERSION",
                             "OPENNRT_EMULATOR_DRIVER_FEATURES", "OPENNRT_EMULATOR_DRIVER_WITHOUT"})
      unsetenv(name);
    Recorded::TearDown();
  }

  // What a session says on the console.
  std::string run(const std::string& ndl, const Case& at) {
    SCOPED_TRACE(ndl + ", " + at.name());
    setenv("OPENNRT_NDL", ndl.c_str(), 1);
    setenv("OPENNRT_EMULATOR_DRIVER_VERSION", kDrivers[at.release].version, 1);
    setenv("OPENNRT_EMULATOR_DRIVER_FEATURES", at.mask().c_str(), 1);
    setenv("OPENNRT_EMULATOR_DRIVER_WITHOUT", at.without.c_str(), 1);
    take();
    ::testing::internal::CaptureStderr();
    ::testing::internal::CaptureStdout();
    const bool kernel = ndl == "kernel";
    const bool refused = kernel && !at.current();
    // The runtime wants fresh memory for its queues, which no earlier request
    // gives; what board it is, only ndl-compat can ask otherwise.
    const bool stuck =
        !at.has("NOTIFICATIONS_INIT_WITH_REALLOC_V2") || (kernel && !at.has("DEVICE_BASIC_INFO"));
    bool executed = false;
    {
      Runtime runtime;
      EXPECT_EQ(runtime.status() == NRT_SUCCESS, !refused && !stuck) << runtime.status();
      if (runtime.status() == NRT_SUCCESS) executed = execute();
    }
    const std::string text =
        ::testing::internal::GetCapturedStderr() + ::testing::internal::GetCapturedStdout();
    EXPECT_EQ(executed, !refused && !stuck);
    const Trace trace = take();
    const bool compat = ndl == "compat" || (ndl == "auto" && !at.current());
    if (executed) {
      check_forms(trace, at, compat, true);
    } else {
      EXPECT_EQ(trace.count("SEMAPHORE_INCREMENT"), 0);
    }
    if (refused) {
      EXPECT_THAT(text, HasSubstr("ndl-kernel"));
      EXPECT_THAT(text, HasSubstr("`ndl: compat` or `ndl: auto`"));
    }
    return text;
  }

  bool execute() {
    bool good = true;
    {
      VecAddModel model(neff_);
      EXPECT_EQ(model.status(), NRT_SUCCESS);
      if (model.status() != NRT_SUCCESS) return false;
      for (const auto placement :
           {NRT_TENSOR_PLACEMENT_DEVICE, NRT_TENSOR_PLACEMENT_HOST, NRT_TENSOR_PLACEMENT_VIRTUAL}) {
        VecAddTensors tensors(model, 3, placement);
        for (int i = 0; i < 2; ++i) {
          tensors.poison_output();
          good = good && tensors.execute() == NRT_SUCCESS && tensors.wrong() == 0;
        }
      }
    }
    // Sizes around the pieces that copies are staged in.
    for (const std::size_t bytes : {std::size_t{1}, std::size_t{4096}, std::size_t{16385},
                                    std::size_t{(1 << 20) + 3}, std::size_t{5 << 20}}) {
      nrt_tensor_t* tensor = nullptr;
      if (nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, bytes, "t", &tensor) != NRT_SUCCESS)
        return false;
      std::vector<std::uint8_t> data(bytes), back(bytes);
      std::iota(data.begin(), data.end(), static_cast<std::uint8_t>(bytes));
      good = good && nrt_tensor_write(tensor, data.data(), 0, bytes) == NRT_SUCCESS &&
             nrt_tensor_read(tensor, back.data(), 0, bytes) == NRT_SUCCESS && back == data;
      nrt_tensor_free(&tensor);
    }
    return good;
  }

  std::vector<char> neff_;
};

// Whole executions take long in builds with a sanitizer, where only some are made.
std::vector<Case> executed() {
  const std::vector<Case> all = one_by_one();
  const auto step = static_cast<std::size_t>(4 / test::repeats(4));
  std::vector<Case> out;
  for (std::size_t i = 0; i < all.size(); i += step) out.push_back(all[i]);
  return out;
}

TEST_F(Execution, KernelOnEveryDriver) {
  for (const Case& at : executed())
    if (at.without.empty() || at.release == k2_27) run("kernel", at);
}
TEST_F(Execution, CompatOnEveryDriver) {
  for (const Case& at : executed())
    if (at.without.empty() || at.release == k2_27) run("compat", at);
}

// The plugin is chosen by what the driver has, and one line says why.
TEST_F(Execution, AutoChooses) {
  for (const Case& at : one_by_one()) {
    const bool asked = at.without == "MEM_MC_GET_INFO_V2" || at.without == "DRIVER_INFO_GET";
    if (at.release == k2_27 ? !at.without.empty() && !asked : at.masked >= 0 || !at.without.empty())
      continue;
    SCOPED_TRACE(at.name());
    const std::string text = run("auto", at);
    std::size_t lines = 0;
    for (std::size_t from = text.find(" lacks "); from != std::string::npos;
         from = text.find(" lacks ", from + 1))
      ++lines;
    EXPECT_EQ(lines, at.current() ? 0u : 1u) << text;
    EXPECT_EQ(text.find("ndl-compat drives it") != std::string::npos, !at.current()) << text;
    EXPECT_EQ(text.find("ndl-kernel"), std::string::npos) << text;
  }
}

TEST_F(Execution, FourGigabytesNeedTheWideForms) {
  constexpr std::size_t k4G = std::size_t{1} << 32;
  for (const Release release : {k2_19, k2_27}) {
    setenv("OPENNRT_EMULATOR_DRIVER_VERSION", kDrivers[release].version, 1);
    ::testing::internal::CaptureStderr();
    ::testing::internal::CaptureStdout();
    NRT_STATUS status = NRT_FAILURE;
    {
      Runtime runtime;
      nrt_tensor_t* tensor = nullptr;
      status = nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, k4G, "t", &tensor);
      nrt_tensor_free(&tensor);
    }
    const std::string text =
        ::testing::internal::GetCapturedStderr() + ::testing::internal::GetCapturedStdout();
    EXPECT_EQ(status, release == k2_19 ? NRT_RESOURCE : NRT_SUCCESS) << text;
    EXPECT_EQ(text.find("less than 4 GiB at once") != std::string::npos, release == k2_19) << text;
  }
}

TEST_F(Execution, WrongSettingsAreNamed) {
  const struct {
    const char *variable, *value, *says;
  } rows[] = {{"OPENNRT_EMULATOR_DRIVER_VERSION", "2.18", "2.19.64.0"},
              {"OPENNRT_EMULATOR_DRIVER_FEATURES", "many", "emulator.driver_features"},
              {"OPENNRT_EMULATOR_DRIVER_FEATURES", "0x3FF", "0 to 0x1FF"},
              {"OPENNRT_EMULATOR_DRIVER_WITHOUT", "PRINTK,PRINTF", "PRINTF"}};
  for (const auto& row : rows) {
    setenv(row.variable, row.value, 1);
    ::testing::internal::CaptureStderr();
    ::testing::internal::CaptureStdout();
    {
      Runtime runtime;
      EXPECT_EQ(runtime.status(), NRT_INVALID) << row.value;
    }
    const std::string text =
        ::testing::internal::GetCapturedStderr() + ::testing::internal::GetCapturedStdout();
    EXPECT_THAT(text, HasSubstr(row.says)) << row.value;
    unsetenv(row.variable);
  }
}

}  // namespace
}  // namespace opennrt::test
