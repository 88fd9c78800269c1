// SPDX-License-Identifier: Apache-2.0
//
// Every model of the corpus through the C ABI, its outputs compared with a
// double-precision reference.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <ostream>
#include <string>
#include <vector>

#include "support/model_client.h"
#include "support/model_reference.h"

namespace opennrt::test {
namespace {

struct Run {
  ModelCase model;
  InputKind kind;
};

const char* kind_name(InputKind kind) {
  static constexpr const char* kNames[] = {"Uniform", "Signed", "Peaked", "Flat"};
  return kNames[static_cast<int>(kind)];
}

void PrintTo(const Run& run, std::ostream* out) {
  *out << run.model.id << " " << kind_name(run.kind);
}

std::vector<Run> runs() {
  std::vector<Run> out;
  if (!have_corpus()) return out;
  for (const ModelCase& m : read_manifest(corpus_file("manifest.yaml"))) {
    // The experts of the block are chosen by their scores: inputs all of one
    // sign make ties, which a graph does not order.
    if (m.check != "moe") out.push_back({m, InputKind::kUniform});
    out.push_back({m, InputKind::kSigned});
    if (m.check == "attention") {
      out.push_back({m, InputKind::kPeaked});
      out.push_back({m, InputKind::kFlat});
    }
  }
  return out;
}

class Models : public ::testing::TestWithParam<Run> {};

TEST_P(Models, GiveTheRightNumbers) {
  const ModelCase& model = GetParam().model;
  select_product(model);
  const TensorBytes inputs = make_inputs(model, GetParam().kind, 1);
  TensorBytes outputs;
  ASSERT_EQ(run_model(model, inputs, &outputs), NRT_SUCCESS);
  EXPECT_EQ(check_outputs(model, inputs, outputs, corpus_file("")), "");
}

INSTANTIATE_TEST_SUITE_P(Corpus, Models, ::testing::ValuesIn(runs()), [](const auto& test) {
  return test.param.model.id + "_" + kind_name(test.param.kind);
});
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Models);

// However many threads run a core.
TEST(Threads, GiveTheSameBits) {
  if (!have_corpus()) GTEST_SKIP() << "corpus absent: set OPENNRT_CORPUS";
  for (const ModelCase& model : read_manifest(corpus_file("manifest.yaml"))) {
    if (model.id != "conv_f16_n1_sunda_a" && model.id != "conv_f32_n1_sunda" &&
        model.id != "attention_bf16_s1024_cayman_fused")
      continue;
    select_product(model);
    const TensorBytes inputs = make_inputs(model, InputKind::kSigned, 7);
    TensorBytes outputs[2];
    for (const int several : {0, 1}) {
      setenv("OPENNRT_EMULATOR_THREADS", several ? "3" : "1", 1);
      // The threads come when a program has shown that it has much to do.
      EXPECT_EQ(run_model(model, inputs, &outputs[several], 2), NRT_SUCCESS);
    }
    unsetenv("OPENNRT_EMULATOR_THREADS");
    EXPECT_TRUE(outputs[0] == outputs[1]) << model.id;
  }
}

TEST(Corpus, IsThere) {
  if (!have_corpus()) GTEST_SKIP() << "corpus absent: set OPENNRT_CORPUS";
  EXPECT_GE(runs().size(), 60u);
}

}  // namespace
}  // namespace opennrt::test
