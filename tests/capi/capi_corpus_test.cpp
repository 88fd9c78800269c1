// SPDX-License-Identifier: Apache-2.0
//
// Real vector-add models through the C ABI, bit exact; models of other silicon
// refused. The rounding of a + b in double to float equals the float sum.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "support/repeats.h"
#include "support/vecadd_client.h"

namespace opennrt::test {
namespace {

std::string corpus_file(const std::string& name) {
  const char* folder = std::getenv("OPENNRT_CORPUS");
  return std::string(folder != nullptr ? folder : OPENNRT_DEFAULT_CORPUS) + "/" + name;
}

bool have_corpus() { return access(corpus_file("manifest.yaml").c_str(), R_OK) == 0; }

// Lines the runtime logs while alive, stderr being its default sink.
class CapturedLog {
 public:
  CapturedLog() { ::testing::internal::CaptureStderr(); }
  std::string take() { return ::testing::internal::GetCapturedStderr(); }
};

constexpr const char* kSundaModels[] = {"vecadd_1tile_sunda", "vecadd_2tiles_sunda_a",
                                        "vecadd_2tiles_sunda_b", "vecadd_2tiles_sunda_c"};

class VecAdd : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!have_corpus()) GTEST_SKIP() << "corpus absent: set OPENNRT_CORPUS";
    neff_ = read_file(corpus_file(std::string(GetParam()) + ".neff"));
    ASSERT_EQ(runtime_.status(), NRT_SUCCESS);
  }
  std::vector<char> neff_;
  Runtime runtime_;
};

TEST_P(VecAdd, IsBitExact) {
  VecAddModel model(neff_);
  ASSERT_EQ(model.status(), NRT_SUCCESS);
  VecAddTensors tensors(model, 1);
  tensors.poison_output();
  ASSERT_EQ(tensors.execute(), NRT_SUCCESS);
  EXPECT_EQ(tensors.wrong(), 0u);
}

TEST_P(VecAdd, IsBitExactWithHostTensors) {
  VecAddModel model(neff_);
  ASSERT_EQ(model.status(), NRT_SUCCESS);
  VecAddTensors tensors(model, 2, NRT_TENSOR_PLACEMENT_VIRTUAL, -1);
  tensors.poison_output();
  ASSERT_EQ(tensors.execute(), NRT_SUCCESS);
  EXPECT_EQ(tensors.wrong(), 0u);
}

TEST_P(VecAdd, RunsOnTheSecondCore) {
  VecAddModel model(neff_, 1);
  ASSERT_EQ(model.status(), NRT_SUCCESS);
  VecAddTensors tensors(model, 3, NRT_TENSOR_PLACEMENT_DEVICE, 1);
  tensors.poison_output();
  ASSERT_EQ(tensors.execute(), NRT_SUCCESS);
  EXPECT_EQ(tensors.wrong(), 0u);
}

// Two tensor sets alternate, so that the bound addresses change every time.
TEST_P(VecAdd, ThousandExecutions) {
  VecAddModel model(neff_);
  ASSERT_EQ(model.status(), NRT_SUCCESS);
  VecAddTensors first(model, 4), second(model, 5);
  for (int i = 0; i < repeats(1000); ++i) {
    VecAddTensors& tensors = i % 2 == 0 ? first : second;
    if (i % 100 < 2) tensors.poison_output();
    ASSERT_EQ(tensors.execute(), NRT_SUCCESS) << "execution " << i;
    if (i % 100 < 2) {
      ASSERT_EQ(tensors.wrong(), 0u) << "execution " << i;
    }
  }
}

TEST_P(VecAdd, FourThreadsOnDistinctTensorSets) {
  VecAddModel model(neff_);
  ASSERT_EQ(model.status(), NRT_SUCCESS);
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 4; ++t)
    threads.emplace_back([&model, t] {
      VecAddTensors tensors(model, 100 + t);
      for (int i = 0; i < 250; ++i) {
        if (i % 50 == 0) tensors.poison_output();
        ASSERT_EQ(tensors.execute(), NRT_SUCCESS);
        if (i % 50 == 0) {
          ASSERT_EQ(tensors.wrong(), 0u);
        }
      }
    });
  for (std::thread& thread : threads) thread.join();
}

INSTANTIATE_TEST_SUITE_P(Corpus, VecAdd, ::testing::ValuesIn(kSundaModels),
                         [](const auto& test) { return std::string(test.param); });

TEST(VecAddModels, TwoModelsAlternate) {
  if (!have_corpus()) GTEST_SKIP() << "corpus absent: set OPENNRT_CORPUS";
  Runtime runtime;
  ASSERT_EQ(runtime.status(), NRT_SUCCESS);
  VecAddModel one(read_file(corpus_file("vecadd_1tile_sunda.neff")));
  VecAddModel two(read_file(corpus_file("vecadd_2tiles_sunda_b.neff")));
  ASSERT_EQ(one.status(), NRT_SUCCESS);
  ASSERT_EQ(two.status(), NRT_SUCCESS);
  VecAddTensors t1(one, 6), t2(two, 7);
  for (int i = 0; i < 20; ++i) {
    t1.poison_output();
    t2.poison_output();
    ASSERT_EQ(t1.execute(), NRT_SUCCESS);
    ASSERT_EQ(t2.execute(), NRT_SUCCESS);
    ASSERT_EQ(t1.wrong(), 0u);
    ASSERT_EQ(t2.wrong(), 0u);
  }
}

struct Foreign {
  const char* file;
  const char* built_for;
  NRT_STATUS status;
};

class ForeignNeff : public ::testing::TestWithParam<Foreign> {};

TEST_P(ForeignNeff, IsRefusedNamingBothSides) {
  if (!have_corpus()) GTEST_SKIP() << "corpus absent: set OPENNRT_CORPUS";
  Runtime runtime;
  ASSERT_EQ(runtime.status(), NRT_SUCCESS);
  const std::vector<char> neff = read_file(corpus_file(GetParam().file));
  CapturedLog log;
  nrt_model_t* model = nullptr;
  const NRT_STATUS status = nrt_load(neff.data(), neff.size(), 0, -1, &model);
  const std::string text = log.take();
  EXPECT_EQ(status, GetParam().status);
  EXPECT_EQ(model, nullptr);
  EXPECT_NE(text.find(GetParam().built_for), std::string::npos) << text;
  if (GetParam().status == NRT_INVALID) {
    EXPECT_NE(text.find("sunda"), std::string::npos) << text;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Corpus, ForeignNeff,
    ::testing::Values(Foreign{"vecadd_1tile_cayman.neff", "cayman", NRT_INVALID},
                      Foreign{"matmul_f16_128x256x128_cayman.neff", "cayman", NRT_INVALID},
                      Foreign{"moe_bf16_mariana.neff", "mariana", NRT_INVALID},
                      Foreign{"bert_inf1_rejected.neff", "Inferentia1",
                              NRT_UNSUPPORTED_NEFF_VERSION}),
    [](const auto& test) {
      std::string name = test.param.file;
      for (char& c : name)
        if (c == '.') c = '_';
      return name;
    });

}  // namespace
}  // namespace opennrt::test
