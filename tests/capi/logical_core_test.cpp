// SPDX-License-Identifier: Apache-2.0
//
// Logical cores through the C ABI on the software device: counts, programs of
// two subgraphs, mismatches and the settings they name.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "support/vecadd_client.h"

namespace opennrt::test {
namespace {

constexpr const char* kVariables[] = {"OPENNRT_EMULATOR_PRODUCT", "OPENNRT_EMULATOR_DEVICES",
                                      "OPENNRT_EXEC_RUNTIME_FORM", "NEURON_LOGICAL_NC_CONFIG",
                                      "NEURON_RT_VIRTUAL_CORE_SIZE"};

using Settings = std::map<std::string, std::string>;

void set(const Settings& settings) {
  for (const char* name : kVariables) unsetenv(name);
  for (const auto& [name, value] : settings) setenv(name.c_str(), value.c_str(), 1);
}

std::string corpus_file(const std::string& name) {
  const char* folder = std::getenv("OPENNRT_CORPUS");
  return std::string(folder != nullptr ? folder : OPENNRT_DEFAULT_CORPUS) + "/" + name;
}
bool have_corpus() { return access(corpus_file("manifest.yaml").c_str(), R_OK) == 0; }

// What the runtime logs during a call.
template <typename Call>
std::string log_of(Call call) {
  ::testing::internal::CaptureStderr();
  call();
  std::string text = ::testing::internal::GetCapturedStderr();
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

std::size_t occurrences(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

class LogicalCores : public ::testing::Test {
 protected:
  void TearDown() override { set({}); }
};

// --- counts -----------------------------------------------------------------

struct CountCase {
  const char* name;
  Settings settings;
  std::uint32_t cores;
};
void PrintTo(const CountCase& c, std::ostream* out) { *out << c.name; }

class CoreCounts : public LogicalCores, public ::testing::WithParamInterface<CountCase> {};

TEST_P(CoreCounts, AreTheSameBeforeAndAfterInit) {
  set(GetParam().settings);
  const auto all_counts = [] {
    std::vector<std::uint32_t> counts(4);
    EXPECT_EQ(nrt_get_total_vnc_count(&counts[0]), NRT_SUCCESS);
    EXPECT_EQ(nrt_get_total_nc_count(&counts[1]), NRT_SUCCESS);
    EXPECT_EQ(nrt_get_visible_vnc_count(&counts[2]), NRT_SUCCESS);
    EXPECT_EQ(nrt_get_visible_nc_count(&counts[3]), NRT_SUCCESS);
    return counts;
  };
  const std::vector<std::uint32_t> expected(4, GetParam().cores);
  EXPECT_EQ(all_counts(), expected);
  const Runtime runtime;
  ASSERT_EQ(runtime.status(), NRT_SUCCESS);
  EXPECT_EQ(all_counts(), expected);
}

INSTANTIATE_TEST_SUITE_P(
    Lnc, CoreCounts,
    ::testing::Values(
        CountCase{"Trn2Default", {{"OPENNRT_EMULATOR_PRODUCT", "trn2.3xlarge"}}, 4},
        CountCase{"Trn2One",
                  {{"OPENNRT_EMULATOR_PRODUCT", "trn2.3xlarge"}, {"NEURON_LOGICAL_NC_CONFIG", "1"}},
                  8},
        CountCase{
            "Trn2SecondSpelling",
            {{"OPENNRT_EMULATOR_PRODUCT", "trn2.3xlarge"}, {"NEURON_RT_VIRTUAL_CORE_SIZE", "1"}},
            8},
        CountCase{"Trn2FirstSpellingWins",
                  {{"OPENNRT_EMULATOR_PRODUCT", "trn2.3xlarge"},
                   {"NEURON_LOGICAL_NC_CONFIG", "2"},
                   {"NEURON_RT_VIRTUAL_CORE_SIZE", "1"}},
                  4},
        CountCase{
            "Trn2TwoDevices",
            {{"OPENNRT_EMULATOR_PRODUCT", "trn2.48xlarge"}, {"OPENNRT_EMULATOR_DEVICES", "2"}},
            8},
        CountCase{"Trn3Default", {{"OPENNRT_EMULATOR_PRODUCT", "trn3-gen1-server"}}, 4},
        // Silicon that knows one size only has that size, whatever is asked.
        CountCase{"Trn1IgnoresTheSetting",
                  {{"OPENNRT_EMULATOR_PRODUCT", "trn1.2xlarge"}, {"NEURON_LOGICAL_NC_CONFIG", "2"}},
                  2}),
    [](const auto& test) { return std::string(test.param.name); });

TEST_F(LogicalCores, SizesTheSiliconDoesNotHaveAreRefused) {
  for (const char* size : {"3", "4", "8", "64"}) {
    set({{"OPENNRT_EMULATOR_PRODUCT", "trn2.3xlarge"}, {"NEURON_LOGICAL_NC_CONFIG", size}});
    const std::string log = log_of([] {
      const Runtime runtime;
      EXPECT_EQ(runtime.status(), NRT_INVALID);
    });
    EXPECT_NE(log.find("NEURON_LOGICAL_NC_CONFIG"), std::string::npos) << log;
  }
  set({{"OPENNRT_EMULATOR_PRODUCT", "trn2.3xlarge"}, {"NEURON_LOGICAL_NC_CONFIG", "0"}});
  const Runtime runtime;
  EXPECT_EQ(runtime.status(), NRT_INVALID);
}

// --- programs of two subgraphs ---------------------------------------------------

class VecAddPair : public LogicalCores, public ::testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    if (!have_corpus()) GTEST_SKIP() << "corpus absent: set OPENNRT_CORPUS";
    neff_ = read_file(corpus_file(std::string(GetParam()) + ".neff"));
  }
  static void use(const Settings& more = {}) {
    Settings all = more;
    all["OPENNRT_EMULATOR_PRODUCT"] = "trn2.3xlarge";
    set(all);
  }
  std::vector<char> neff_;
};

TEST_P(VecAddPair, IsBitExactOnTheFirstAndTheLastLogicalCore) {
  use();
  const Runtime runtime;
  ASSERT_EQ(runtime.status(), NRT_SUCCESS);
  for (const int core : {0, 3}) {
    VecAddModel model(neff_, core);
    ASSERT_EQ(model.status(), NRT_SUCCESS);
    VecAddTensors tensors(model, 1, NRT_TENSOR_PLACEMENT_DEVICE, core);
    for (int i = 0; i < 3; ++i) {
      tensors.poison_output();
      ASSERT_EQ(tensors.execute(), NRT_SUCCESS);
      EXPECT_EQ(tensors.wrong(), 0u) << "core " << core << " execution " << i;
    }
  }
}

TEST_P(VecAddPair, IsBitExactWithHostTensors) {
  use();
  const Runtime runtime;
  ASSERT_EQ(runtime.status(), NRT_SUCCESS);
  VecAddModel model(neff_);
  ASSERT_EQ(model.status(), NRT_SUCCESS);
  VecAddTensors tensors(model, 2, NRT_TENSOR_PLACEMENT_VIRTUAL, -1);
  tensors.poison_output();
  ASSERT_EQ(tensors.execute(), NRT_SUCCESS);
  EXPECT_EQ(tensors.wrong(), 0u);
}

TEST_P(VecAddPair, TwoLogicalCoresInParallel) {
  use();
  const Runtime runtime;
  ASSERT_EQ(runtime.status(), NRT_SUCCESS);
  VecAddModel first(neff_, 0), second(neff_, 1);
  ASSERT_EQ(first.status(), NRT_SUCCESS);
  ASSERT_EQ(second.status(), NRT_SUCCESS);
  std::vector<std::thread> threads;
  for (int core = 0; core < 2; ++core)
    threads.emplace_back([&, core] {
      VecAddTensors tensors(core == 0 ? first : second, 10 + static_cast<std::uint64_t>(core),
                            NRT_TENSOR_PLACEMENT_DEVICE, core);
      for (int i = 0; i < 100; ++i) {
        if (i % 25 == 0) tensors.poison_output();
        ASSERT_EQ(tensors.execute(), NRT_SUCCESS);
        if (i % 25 == 0) {
          ASSERT_EQ(tensors.wrong(), 0u);
        }
      }
    });
  for (std::thread& thread : threads) thread.join();
}

TEST_P(VecAddPair, ModelsAlternateAndAreLoadedAgain) {
  use();
  const Runtime runtime;
  ASSERT_EQ(runtime.status(), NRT_SUCCESS);
  VecAddModel stays(neff_);
  ASSERT_EQ(stays.status(), NRT_SUCCESS);
  VecAddTensors tensors(stays, 3);
  for (int i = 0; i < 5; ++i) {
    VecAddModel other(neff_);
    ASSERT_EQ(other.status(), NRT_SUCCESS);
    VecAddTensors others(other, 4);
    for (VecAddTensors* t : {&tensors, &others, &tensors}) {
      t->poison_output();
      ASSERT_EQ(t->execute(), NRT_SUCCESS);
      ASSERT_EQ(t->wrong(), 0u);
    }
  }
}

TEST_P(VecAddPair, RunsInEveryImageFormOfTheSilicon) {
  for (const char* form : {"auto", "2.27", "2.30"}) {
    use({{"OPENNRT_EXEC_RUNTIME_FORM", form}});
    const Runtime runtime;
    ASSERT_EQ(runtime.status(), NRT_SUCCESS) << form;
    VecAddModel model(neff_);
    ASSERT_EQ(model.status(), NRT_SUCCESS) << form;
    VecAddTensors tensors(model, 5);
    tensors.poison_output();
    ASSERT_EQ(tensors.execute(), NRT_SUCCESS) << form;
    EXPECT_EQ(tensors.wrong(), 0u) << form;
  }
}

TEST_P(VecAddPair, OtherSizeIsRefusedNamingTheSetting) {
  use({{"NEURON_LOGICAL_NC_CONFIG", "1"}});
  const Runtime runtime;
  ASSERT_EQ(runtime.status(), NRT_SUCCESS);
  nrt_model_t* model = nullptr;
  const std::string log =
      log_of([&] { EXPECT_EQ(nrt_load(neff_.data(), neff_.size(), 0, -1, &model), NRT_INVALID); });
  EXPECT_EQ(model, nullptr);
  EXPECT_TRUE(log.ends_with("set NEURON_LOGICAL_NC_CONFIG=2")) << log;
}

INSTANTIATE_TEST_SUITE_P(Corpus, VecAddPair,
                         ::testing::Values("vecadd_1tile_cayman", "vecadd_2tiles_cayman"),
                         [](const auto& test) { return std::string(test.param); });

// --- messages ------------------------------------------------------------------

struct MismatchCase {
  const char *file, *product, *ending;
};
void PrintTo(const MismatchCase& c, std::ostream* out) { *out << c.file; }

class OtherSilicon : public LogicalCores, public ::testing::WithParamInterface<MismatchCase> {};

TEST_P(OtherSilicon, MessageEndsWithTheSettingThatHelps) {
  if (!have_corpus()) GTEST_SKIP() << "corpus absent: set OPENNRT_CORPUS";
  set({{"OPENNRT_EMULATOR_PRODUCT", GetParam().product}});
  const std::vector<char> neff = read_file(corpus_file(GetParam().file));
  const Runtime runtime;
  ASSERT_EQ(runtime.status(), NRT_SUCCESS);
  nrt_model_t* model = nullptr;
  const std::string log =
      log_of([&] { EXPECT_EQ(nrt_load(neff.data(), neff.size(), 0, -1, &model), NRT_INVALID); });
  EXPECT_EQ(model, nullptr);
  EXPECT_TRUE(log.ends_with(GetParam().ending)) << log;
}

INSTANTIATE_TEST_SUITE_P(
    Corpus, OtherSilicon,
    ::testing::Values(MismatchCase{"vecadd_1tile_cayman.neff", "trn1.2xlarge",
                                   "set OPENNRT_EMULATOR_PRODUCT=trn2.48xlarge"},
                      MismatchCase{"vecadd_1tile_sunda.neff", "trn2.3xlarge",
                                   "set OPENNRT_EMULATOR_PRODUCT=trn1.32xlarge"},
                      MismatchCase{"moe_bf16_mariana.neff", "trn2.3xlarge",
                                   "set OPENNRT_EMULATOR_PRODUCT=trn3-gen1-server"}),
    [](const auto& test) {
      std::string name =
          std::string(test.param.file).substr(0, std::string(test.param.file).find('.'));
      return name;
    });

TEST_F(LogicalCores, UnknownProductIsSaidOnceWithTheProductsThereAre) {
  set({{"OPENNRT_EMULATOR_PRODUCT", "foo"}});
  const std::string log = log_of([] {
    const Runtime runtime;
    EXPECT_EQ(runtime.status(), NRT_INVALID);
  });
  EXPECT_EQ(occurrences(log, "foo"), 1u) << log;
  for (const char* product : {"trn1.2xlarge", "trn1.32xlarge", "trn2.48xlarge", "trn3-gen1-server"})
    EXPECT_EQ(occurrences(log, product), 1u) << product << ": " << log;
}

TEST_F(LogicalCores, ImageFormOfOtherSiliconIsRefusedNamingTheSetting) {
  set({{"OPENNRT_EMULATOR_PRODUCT", "trn1.2xlarge"}, {"OPENNRT_EXEC_RUNTIME_FORM", "2.30"}});
  const std::string log = log_of([] {
    const Runtime runtime;
    EXPECT_EQ(runtime.status(), NRT_INVALID);
  });
  EXPECT_NE(log.find("exec.runtime_form"), std::string::npos) << log;
  EXPECT_NE(log.find("2.30"), std::string::npos) << log;
}

TEST_F(LogicalCores, MoreDevicesThanAProcessCanUseAreOneMessage) {
  set({{"OPENNRT_EMULATOR_DEVICES", "64"}});
  const std::string log = log_of([] {
    const Runtime runtime;
    EXPECT_EQ(runtime.status(), NRT_INVALID);
  });
  EXPECT_EQ(occurrences(log, "1 to 32"), 1u) << log;
}

TEST_F(LogicalCores, TensorLargerThanEverythingIsAResource) {
  const Runtime runtime;
  ASSERT_EQ(runtime.status(), NRT_SUCCESS);
  for (const auto placement :
       {NRT_TENSOR_PLACEMENT_DEVICE, NRT_TENSOR_PLACEMENT_HOST, NRT_TENSOR_PLACEMENT_VIRTUAL}) {
    for (const std::size_t bytes : {SIZE_MAX, SIZE_MAX / 2, std::size_t{1} << 50}) {
      nrt_tensor_t* tensor = nullptr;
      EXPECT_EQ(nrt_tensor_allocate(placement, 0, bytes, "t", &tensor), NRT_RESOURCE)
          << placement << " " << bytes;
      EXPECT_EQ(tensor, nullptr);
    }
  }
}

}  // namespace
}  // namespace opennrt::test
