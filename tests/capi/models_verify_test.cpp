// SPDX-License-Identifier: Apache-2.0
//
// Every model of the corpus under random interleavings of engines and DMA
// queues, with all checks of the software device on: the same bits as in
// default mode, and no finding. VERIFY_SEEDS: interleavings per model.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "support/model_client.h"
#include "support/model_reference.h"

namespace opennrt::test {

// For messages of GoogleTest, which looks in the namespace of the type.
static void PrintTo(const ModelCase& model, std::ostream* out) { *out << model.id; }

namespace {

std::vector<ModelCase> models() {
  return have_corpus() ? read_manifest(corpus_file("manifest.yaml")) : std::vector<ModelCase>{};
}

int seeds() {
  const char* text = std::getenv("VERIFY_SEEDS");
  return text != nullptr ? std::atoi(text) : 2;
}

class VerifiedModels : public ::testing::TestWithParam<ModelCase> {};

TEST_P(VerifiedModels, SameBitsAndNoFindingInAnyOrder) {
  const ModelCase& model = GetParam();
  select_product(model);
  const TensorBytes inputs = make_inputs(model, InputKind::kSigned, 2);
  unsetenv("OPENNRT_EMULATOR_VERIFY");
  TensorBytes plain;
  ASSERT_EQ(run_model(model, inputs, &plain), NRT_SUCCESS);
  for (int seed = 1; seed <= seeds(); ++seed) {
    const std::string checks = "poison,races,coverage,bounds,order=" + std::to_string(seed);
    setenv("OPENNRT_EMULATOR_VERIFY", checks.c_str(), 1);
    TensorBytes verified;
    ::testing::internal::CaptureStderr();
    const NRT_STATUS status = run_model(model, inputs, &verified);
    const std::string log = ::testing::internal::GetCapturedStderr();
    unsetenv("OPENNRT_EMULATOR_VERIFY");
    ASSERT_EQ(status, NRT_SUCCESS) << "seed " << seed << "\n" << log.substr(0, 4000);
    EXPECT_EQ(log.find("verify:"), std::string::npos) << log.substr(0, 4000);
    for (const TensorSpec& t : model.outputs)
      EXPECT_TRUE(verified.at(t.name) == plain.at(t.name)) << "seed " << seed << " " << t.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Corpus, VerifiedModels, ::testing::ValuesIn(models()),
                         [](const auto& test) { return test.param.id; });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(VerifiedModels);

TEST(VerifiedCorpus, IsThere) {
  if (!have_corpus()) GTEST_SKIP() << "corpus absent: set OPENNRT_CORPUS";
  EXPECT_EQ(models().size(), 29u);
}

}  // namespace
}  // namespace opennrt::test
