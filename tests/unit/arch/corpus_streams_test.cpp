// SPDX-License-Identifier: Apache-2.0
//
// The validators accept every instruction of real compiled models and every
// image of recorded runs of their family.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "arch_modules.h"
#include "neff/program.h"
#include "opennrt/isa/table.h"
#include "support/ntff.h"

namespace opennrt::arch_test {
namespace {

namespace fs = std::filesystem;

fs::path corpus() {
  const char* folder = std::getenv("OPENNRT_CORPUS");
  return folder != nullptr ? folder : OPENNRT_DEFAULT_CORPUS;
}

std::vector<std::byte> read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const auto* p = reinterpret_cast<const std::byte*>(text.data());
  return {p, p + text.size()};
}

std::vector<fs::path> files(const char* extension) {
  std::vector<fs::path> result;
  for (const auto& entry : fs::directory_iterator(corpus())) {
    if (entry.path().extension() == extension) result.push_back(entry.path());
  }
  std::sort(result.begin(), result.end());
  return result;
}

class CorpusStreams : public testing::TestWithParam<const nrtp_arch_plugin*> {
 protected:
  void SetUp() override {
    if (!fs::exists(corpus())) GTEST_SKIP() << "no corpus in " << corpus();
  }
  const nrtp_arch_plugin& arch() const { return *GetParam(); }
  // The models of this family, whatever their number of cores.
  std::vector<neff::Program> models() const {
    std::vector<neff::Program> result;
    neff::LoadLimits limits;
    for (const char* const* t = arch().neff_targets; *t != nullptr; ++t)
      limits.targets.push_back(*t);
    limits.running_on = "test";
    for (const fs::path& file : files(".neff")) {
      const auto bytes = read_file(file);
      for (limits.lnc_size = 1; limits.lnc_size <= 2; ++limits.lnc_size) {
        auto program = neff::load_program(bytes, limits);
        if (!program.is_ok()) continue;
        result.push_back(*std::move(program));
        result.back().name = file.filename().string();
        break;
      }
    }
    return result;
  }
};

std::vector<const nrtp_arch_plugin*> archs() {
  std::vector<const nrtp_arch_plugin*> result;
  for (const Module& module : modules()) result.push_back(module.plugin);
  return result;
}
INSTANTIATE_TEST_SUITE_P(All, CorpusStreams, testing::ValuesIn(archs()),
                         [](const auto& param_info) {
                           return std::string(param_info.param->name);
                         });

TEST_P(CorpusStreams, EveryInstructionIsAccepted) {
  std::size_t records = 0, refused = 0;
  for (const neff::Program& model : models()) {
    for (const neff::Subgraph& sg : model.subgraphs) {
      for (std::uint32_t engine = 0; engine < sg.streams.size(); ++engine) {
        const auto* bytes = reinterpret_cast<const std::uint8_t*>(sg.streams[engine].data());
        for (std::size_t at = 0; at < sg.streams[engine].size(); at += 64, ++records) {
          nrtp_diag diag{};
          diag.size = sizeof diag;
          if (arch().ib->validate_inst(engine, bytes + at, &diag) == NRTP_OK) continue;
          if (++refused > 20) continue;
          ADD_FAILURE() << model.name << " " << sg.name << " record " << at / 64 << ": "
                        << diag.msg;
        }
      }
    }
  }
  EXPECT_EQ(refused, 0u) << "of " << records;
  EXPECT_GT(records, 900u);
  RecordProperty("records", std::to_string(records));
}

TEST_P(CorpusStreams, EveryRecordedImageIsAccepted) {
  std::size_t images = 0;
  for (const fs::path& file : files(".ntff")) {
    if (file.string().find(arch().name) == std::string::npos) continue;
    SCOPED_TRACE(file.filename().string());
    const auto bytes = read_file(file);
    test::Ntff profile;
    std::string error;
    ASSERT_TRUE(test::read_ntff(bytes, profile, error)) << error;
    for (const test::NtffSubgraph& sg : profile.subgraphs) {
      for (const auto& [engine, e] : sg.engines) {
        nrtp_diag diag{};
        diag.size = sizeof diag;
        EXPECT_EQ(arch().ib->validate_image(static_cast<std::uint32_t>(engine), e.image.data(),
                                            e.image.size(), &diag),
                  NRTP_OK)
            << diag.msg;
        ++images;
      }
    }
  }
  // No run of this family has been published.
  EXPECT_EQ(images == 0, std::string(arch().name) == "mariana");
}

// Damage that the table can tell: each must be noticed in every real record.
TEST_P(CorpusStreams, DamagedInstructionsAreRefused) {
  std::size_t records = 0, noticed = 0;
  for (const neff::Program& model : models()) {
    const neff::Subgraph& sg = model.subgraphs[0];
    for (std::uint32_t engine = 0; engine < sg.streams.size(); ++engine) {
      const auto* bytes = reinterpret_cast<const std::uint8_t*>(sg.streams[engine].data());
      const std::size_t end = std::min<std::size_t>(sg.streams[engine].size(), 64 * 200);
      for (std::size_t at = 0; at < end; at += 64) {
        struct Damage {
          std::size_t byte;
          std::uint8_t value;
        };
        // An opcode that does not exist, a length, a wait mode, an update mode.
        for (const Damage& d : {Damage{0, 0x00}, Damage{0, 0xFE}, Damage{0, 0xFF}, Damage{1, 0x0F},
                                Damage{4, 0x70}, Damage{6, 0x0F}}) {
          std::uint8_t record[64];
          std::memcpy(record, bytes + at, sizeof record);
          if (record[0] == 0xDA && d.byte == 1) continue;  // has no length
          record[d.byte] = d.value;
          ++records;
          noticed += arch().ib->validate_inst(engine, record, nullptr) == NRTP_INVALID ? 1 : 0;
        }
      }
    }
  }
  EXPECT_EQ(noticed, records);
  EXPECT_GT(records, 0u);
}

}  // namespace
}  // namespace opennrt::arch_test
