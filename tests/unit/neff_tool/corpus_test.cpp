// SPDX-License-Identifier: Apache-2.0
//
// Every stream of every real model goes through text without loss, and no real
// model has an error.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "log/log.h"
#include "neff/listing.h"
#include "neff/model.h"
#include "neff/verify.h"

namespace opennrt::tools {
namespace {

std::filesystem::path corpus() {
  const char* configured = std::getenv("OPENNRT_CORPUS");
  const std::filesystem::path folder =
      configured != nullptr ? configured : OPENNRT_SOURCE_DIR "/../shared/corpus";
  return std::filesystem::is_directory(folder) ? folder : std::filesystem::path();
}

class NeffToolCorpus : public ::testing::Test {
 protected:
  void SetUp() override {
    log::set_level(log::Level::kDisabled);
    if (corpus().empty()) GTEST_SKIP() << "no corpus; set OPENNRT_CORPUS";
    for (const auto& entry : std::filesystem::directory_iterator(corpus()))
      if (entry.path().extension() == ".neff" && entry.path().stem() != "bert_inf1_rejected")
        files_.push_back(entry.path().string());
    std::sort(files_.begin(), files_.end());
    ASSERT_GE(files_.size(), 25U);
  }
  std::vector<std::string> files_;
};

TEST_F(NeffToolCorpus, EveryStreamComesBackFromText) {
  std::uint64_t streams = 0, records = 0;
  for (const std::string& file : files_) {
    const auto model = open_and_load(file);
    ASSERT_TRUE(model.is_ok()) << model.status().message();
    for (const neff::Subgraph& graph : model->program.subgraphs) {
      for (const auto stream : graph.streams) {
        std::string text;
        append_records(stream, model->generation, 1, stream.size(), &text);
        append_rest(stream, &text);
        ASSERT_EQ(text.find(".record"), std::string::npos) << file;
        const auto back = assemble_listing(text, file, model->generation);
        ASSERT_TRUE(back.is_ok()) << back.status().message();
        ASSERT_EQ(back->size(), 1U);
        ASSERT_TRUE(std::equal(stream.begin(), stream.end(), back->front().bytes.begin(),
                               back->front().bytes.end()))
            << file;
        ++streams;
        records += stream.size() / isa::kRecordBytes;
      }
    }
  }
  EXPECT_GE(streams, 150U);
  std::printf("%llu streams, %llu records\n", static_cast<unsigned long long>(streams),
              static_cast<unsigned long long>(records));
}

TEST_F(NeffToolCorpus, NoRealModelHasAFinding) {
  for (const std::string& file : files_) {
    auto model = open_model(file);
    ASSERT_TRUE(model.is_ok()) << model.status().message();
    Findings findings(5);
    verify_model(*model, findings);
    for (const Finding& f : findings.kept())
      ADD_FAILURE() << file << ": " << f.member << " " << f.record.value_or(0) << ": " << f.text;
  }
}

}  // namespace
}  // namespace opennrt::tools
