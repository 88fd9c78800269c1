// SPDX-License-Identifier: Apache-2.0
//
// Every record of compiled programs: known, fully explained by its fields, and
// unchanged by the trip through text.
#include <archive.h>
#include <archive_entry.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "opennrt/isa/codec.h"

namespace opennrt::isa {
namespace {

std::filesystem::path corpus_folder() {
  const char* configured = std::getenv("OPENNRT_CORPUS");
  const std::filesystem::path folder =
      configured != nullptr ? configured : OPENNRT_SOURCE_DIR "/../shared/corpus";
  return std::filesystem::is_directory(folder) ? folder : std::filesystem::path();
}

// Instruction streams of a NEFF: the .bin members below a subgraph folder.
std::map<std::string, std::vector<std::uint8_t>> streams(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  const std::string data((std::istreambuf_iterator<char>(in)), {});
  constexpr std::size_t kHeader = 1024;
  std::map<std::string, std::vector<std::uint8_t>> result;
  if (data.size() <= kHeader) return result;
  archive* reader = archive_read_new();
  archive_read_support_filter_gzip(reader);
  archive_read_support_format_tar(reader);
  EXPECT_EQ(archive_read_open_memory(reader, data.data() + kHeader, data.size() - kHeader),
            ARCHIVE_OK);
  archive_entry* entry = nullptr;
  static const std::set<std::string> kStems = {"PE",    "PE0", "Activation", "Activation0", "Pool",
                                               "Pool0", "DVE", "DVE0",       "SP",          "SP0"};
  while (archive_read_next_header(reader, &entry) == ARCHIVE_OK) {
    const std::filesystem::path name = archive_entry_pathname(entry);
    if (name.extension() != ".bin" || !kStems.contains(name.stem().string())) continue;
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(archive_entry_size(entry)));
    if (archive_read_data(reader, bytes.data(), bytes.size()) ==
        static_cast<la_ssize_t>(bytes.size())) {
      result[name.string()] = std::move(bytes);
    }
  }
  archive_read_free(reader);
  return result;
}

struct Case {
  const char* file;
  Generation generation;
};

class IsaCorpus : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Models, IsaCorpus,
                         testing::Values(Case{"vecadd_2tiles_sunda_b.neff", Generation::kSunda},
                                         Case{"conv_f16_n1_sunda_a.neff", Generation::kSunda},
                                         Case{"conv_f32_n1_sunda.neff", Generation::kSunda},
                                         Case{"attention_bf16_s512_cayman_base.neff",
                                              Generation::kCayman},
                                         Case{"transpose1024_cayman_a.neff", Generation::kCayman},
                                         Case{"moe_bf16_mariana.neff", Generation::kMariana}),
                         [](const auto& param_info) {
                           const std::string name = param_info.param.file;
                           return name.substr(0, name.find('.'));
                         });

TEST_P(IsaCorpus, RecordsAreExplainedAndKept) {
  const auto corpus = corpus_folder();
  if (corpus.empty()) GTEST_SKIP() << "no corpus; set OPENNRT_CORPUS";
  std::size_t records = 0;
  constexpr std::size_t kPerStream = 4000;  // the long streams repeat themselves
  for (const auto& [member, bytes] : streams(corpus / GetParam().file)) {
    ASSERT_EQ(bytes.size() % kRecordBytes, 0u) << member;
    for (std::size_t i = 0; i < std::min(bytes.size() / kRecordBytes, kPerStream); ++i) {
      RecordBytes record{};
      std::memcpy(record.data(), bytes.data() + i * kRecordBytes, kRecordBytes);
      const Instruction* instruction = find_instruction(record[0]);
      ASSERT_NE(instruction, nullptr) << member << " record " << i;
      EXPECT_TRUE(instruction->exists_on(GetParam().generation)) << instruction->name;
      const std::string text = disassemble(record, GetParam().generation);
      ASSERT_EQ(text.find(" @"), std::string::npos) << member << " record " << i << ": " << text;
      std::string error;
      const auto back = assemble(text, GetParam().generation, &error);
      ASSERT_TRUE(back.has_value()) << text << "\n" << error;
      ASSERT_EQ(*back, record) << text;
      ++records;
    }
  }
  EXPECT_GT(records, 10u);
}

}  // namespace
}  // namespace opennrt::isa
