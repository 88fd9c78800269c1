// SPDX-License-Identifier: Apache-2.0
//
// Containers that must be accepted.
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "limits.h"

namespace opennrt::neff {
namespace {

using testing::HashForm;
using testing::LongNames;
using testing::NeffBuilder;

TEST(Container, BothEncodingsOfMd5) {
  LoadLimits limits = test_limits();
  limits.validate_hash = true;
  NeffBuilder neff = testing::sample_neff();
  for (const HashForm form : {HashForm::kPlain, HashForm::kWordsReversed}) {
    neff.hash = form;
    const auto program = load(neff.build(), limits);
    EXPECT_TRUE(program.is_ok()) << program.status().message();
  }
  neff.hash = HashForm::kZero;
  EXPECT_FALSE(load(neff.build(), limits).is_ok());
}

TEST(Container, BytesBehindMd5AreIgnored) {
  LoadLimits limits = test_limits();
  limits.validate_hash = true;
  std::string file = testing::sample_neff().build();
  file.replace(0xAC + 16, 16, 16, '0');
  EXPECT_TRUE(load(file, limits).is_ok());
}

TEST(Container, PlainTarWithSha256) {
  LoadLimits limits = test_limits();
  limits.validate_hash = true;
  NeffBuilder neff = testing::sample_neff();
  neff.pkg_version = 1;
  const auto program = load(neff.build(), limits);
  ASSERT_TRUE(program.is_ok()) << program.status().message();
  EXPECT_EQ(program->subgraphs.size(), 1U);
}

TEST(Container, WithAndWithoutPadding) {
  NeffBuilder neff = testing::sample_neff();
  for (const std::size_t padding : {1, 512, 10240, 1 << 20}) {
    neff.padding = padding;
    EXPECT_TRUE(load(neff.build()).is_ok()) << padding;
  }
}

TEST(Container, BytesBehindThePayloadAreIgnored) {
  EXPECT_TRUE(load(testing::sample_neff().build() + "more").is_ok());
}

TEST(Container, DotSlashAndDirectories) {
  NeffBuilder neff = testing::sample_neff();
  neff.prefix = "./";
  neff.extra = {{"./", "", '5'}, {"./sg00/", "", '5'}};
  const auto program = load(neff.build());
  EXPECT_TRUE(program.is_ok()) << program.status().message();
}

TEST(Container, WavegraphIsSkippedEvenTwice) {
  NeffBuilder neff = testing::sample_neff();
  neff.extra = {{"sg00/wavegraph-bin.json", "{"}, {"sg00/wavegraph-bin.json", "{"}};
  EXPECT_TRUE(load(neff.build()).is_ok());
}

class LongNameTest : public ::testing::TestWithParam<LongNames> {};

TEST_P(LongNameTest, IsFound) {
  NeffBuilder neff = testing::sample_neff();
  // 89 bytes more: two path components of less than 100.
  const std::string name = std::string(60, 'd') + "/" + std::string(80, 'f') + ".bin";
  neff.members["sg00/" + name] = neff.members.at("sg00/raw.bin");
  neff.members.erase("sg00/raw.bin");
  neff.replace("sg00/def.json", "raw.bin", name);
  neff.long_names = GetParam();
  const auto program = load(neff.build());
  ASSERT_TRUE(program.is_ok()) << program.status().message();
  EXPECT_EQ(program->subgraphs[0].find_variable("raw")->content.size(), 96U);
}

INSTANTIATE_TEST_SUITE_P(All, LongNameTest,
                         ::testing::Values(LongNames::kUstarPrefix, LongNames::kPax,
                                           LongNames::kGnu));

TEST(Container, NamesOutsideAscii) {
  NeffBuilder neff = testing::sample_neff();
  for (const LongNames names : {LongNames::kUstarPrefix, LongNames::kPax, LongNames::kGnu}) {
    NeffBuilder other = neff;
    other.members["sg00/w\xc3\xa4gung.bin"] = other.members.at("sg00/raw.bin");
    other.replace("sg00/def.json", "raw.bin", "w\xc3\xa4gung.bin");
    other.long_names = names;
    const auto program = load(other.build());
    EXPECT_TRUE(program.is_ok()) << program.status().message();
  }
}

TEST(Container, FeatureBitsBindFromMajorTwo) {
  NeffBuilder neff = testing::sample_neff();
  neff.feature_bits = std::uint64_t{1} << 40;
  neff.version_major = 1;
  EXPECT_TRUE(load(neff.build()).is_ok());
  neff.version_major = 0;
  EXPECT_TRUE(load(neff.build()).is_ok());
  neff.version_major = 2;
  EXPECT_EQ(load(neff.build()).status().code(), NRT_UNSUPPORTED_NEFF_VERSION);
  neff.feature_bits = 0x8000000000000000;  // bit 63 is not tested
  EXPECT_TRUE(load(neff.build()).is_ok());
  neff.feature_bits = 0x7FFFFFF & ~std::uint64_t{0x400};
  EXPECT_TRUE(load(neff.build()).is_ok());
}

TEST(Container, DefaultCapFollowsTheMemoryLimit) {
  LoadLimits limits = test_limits();
  limits.max_decompressed_bytes = 0;
  EXPECT_TRUE(load(testing::sample_neff().build(), limits).is_ok());
}

// In a child process whose address space ends below the size of the member.
[[noreturn]] void load_in_little_memory(const std::string& file) {
  rlim_t pages = 0;  // address space in use
  std::ifstream("/proc/self/statm") >> pages;
  const rlim_t bytes = pages * static_cast<rlim_t>(sysconf(_SC_PAGE_SIZE)) + (rlim_t{16} << 20);
  const rlimit limit = {bytes, bytes};
  setrlimit(RLIMIT_AS, &limit);
  LoadLimits limits = test_limits();
  limits.max_decompressed_bytes = std::uint64_t{1} << 40;
  const auto program = load(file, limits);
  std::_Exit(!program.is_ok() && program.status().code() == NRT_RESOURCE ? 0 : 1);
}

TEST(Container, HostMemoryExhaustedIsAResourceError) {
  if (std::string_view(OPENNRT_BUILD_SAN) != "none")
    GTEST_SKIP() << "sanitizers reserve address space and abort at its limit";
  NeffBuilder neff;
  neff.members["weights"] = std::string(std::size_t{48} << 20, '\0');
  const std::string file = neff.build();
  neff.members.clear();
  EXPECT_EXIT(load_in_little_memory(file), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace opennrt::neff
