// SPDX-License-Identifier: Apache-2.0
//
// Header, hash and archive, read back without our own code.
#include <Poco/DigestEngine.h>
#include <Poco/MD5Engine.h>
#include <archive.h>
#include <archive_entry.h>

#include <cstring>
#include <map>

#include "test_source.h"

namespace opennrt::neffkit {
namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes build(std::string_view source) {
  Bytes neff;
  std::string error;
  EXPECT_TRUE(build_neff(source, "s.yaml", &neff, &error)) << error;
  return neff;
}

std::uint64_t word(const Bytes& bytes, std::size_t at, std::size_t width) {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data() + at, width);
  return value;
}

std::map<std::string, Bytes> members(const Bytes& neff) {
  std::map<std::string, Bytes> result;
  archive* reader = archive_read_new();
  archive_read_support_filter_gzip(reader);
  archive_read_support_format_tar(reader);
  EXPECT_EQ(archive_read_open_memory(reader, neff.data() + 1024, neff.size() - 1024), ARCHIVE_OK);
  archive_entry* entry = nullptr;
  while (archive_read_next_header(reader, &entry) == ARCHIVE_OK) {
    Bytes bytes(static_cast<std::size_t>(archive_entry_size(entry)));
    EXPECT_EQ(archive_read_data(reader, bytes.data(), bytes.size()),
              static_cast<la_ssize_t>(bytes.size()));
    EXPECT_EQ(archive_entry_filetype(entry), static_cast<unsigned>(AE_IFREG));
    EXPECT_TRUE(result.emplace(archive_entry_pathname(entry), std::move(bytes)).second);
  }
  archive_read_free(reader);
  return result;
}

TEST(Container, HeaderFields) {
  const Bytes neff = build(kSource);
  EXPECT_EQ(word(neff, 0x000, 8), 2u);
  EXPECT_EQ(word(neff, 0x008, 8), 1024u);
  EXPECT_EQ(word(neff, 0x010, 8), neff.size() - 1024);
  EXPECT_EQ(word(neff, 0x010, 8) % 10240, 0u);
  EXPECT_EQ(word(neff, 0x018, 8), 1u);
  EXPECT_EQ(word(neff, 0x0A8, 4), 1u);
  EXPECT_STREQ(reinterpret_cast<const char*>(neff.data() + 0x0DC), "small.neff");
  EXPECT_EQ(word(neff, 0x1DC, 4), 1u);
  EXPECT_EQ(neff[0x1E0], 1);
  EXPECT_EQ(word(neff, 0x220, 8), 0u);
  EXPECT_EQ(word(neff, 0x228, 4), 1u);
  EXPECT_EQ(std::count(neff.begin() + 0x0CC, neff.begin() + 0x0DC, 0), 0);
  EXPECT_EQ(neff[1024], 0x1F);
  EXPECT_EQ(neff[1025], 0x8B);
  EXPECT_EQ(word(neff, 1028, 4), 0u);  // gzip time stamp
}

TEST(Container, HashIsTheMd5OfThePayload) {
  const Bytes neff = build(kSource);
  Poco::MD5Engine md5;
  md5.update(neff.data() + 1024, neff.size() - 1024);
  const auto digest = md5.digest();
  EXPECT_TRUE(std::equal(digest.begin(), digest.end(), neff.begin() + 0x0AC));
}

TEST(Container, TheSameSourceGivesTheSameBytes) {
  EXPECT_EQ(build(kSource), build(kSource));
  EXPECT_NE(build(kSource), build(broken("values: [1.5", "values: [1.25")));
}

TEST(Container, HoldsTheMembersANeffNeeds) {
  const auto found = members(build(kSource));
  for (const char* name :
       {"neff.json", "kelf-0.json", "info.json", "sg00/def.json", "sg00/PE.json", "sg00/PE.bin",
        "sg00/Activation.json", "sg00/Activation.bin", "sg00/Pool.json", "sg00/Pool.bin",
        "sg00/DVE.json", "sg00/DVE.bin", "sg00/SP.json", "sg00/SP.bin", "sg00/w.bin"}) {
    EXPECT_TRUE(found.contains(name)) << name;
  }
  EXPECT_EQ(found.at("sg00/w.bin").size(), 16u);
  EXPECT_EQ(found.at("sg00/SP.bin").size(), 128u);
  EXPECT_EQ(found.at("sg00/PE.bin").size(), 64u);
}

TEST(Container, FeatureBitsRaiseTheVersion) {
  const Bytes neff = build(broken("target: sunda", "target: sunda\nfeature_bits: 0x1000"));
  EXPECT_EQ(word(neff, 0x018, 8), 2u);
  EXPECT_EQ(word(neff, 0x220, 8), 0x1000u);
}

TEST(Container, LongMemberNamesAreKept) {
  // 100 fits, 101 needs a prefix or, without a folder, an extended header; so
  // does a last part of more than 100.
  std::map<std::string, Bytes> expected = {
      {std::string(100, 'a'), {1}},
      {std::string(101, 'b'), {2}},
      {std::string(155, 'c') + "/" + std::string(100, 'd'), {3}},
      {std::string(156, 'e') + "/" + std::string(100, 'f'), {4}},
      {"g/" + std::string(101, 'h'), {5}},
      {std::string(1000, 'i'), {6}},
  };
  std::vector<Member> list;
  for (const auto& [name, bytes] : expected) list.push_back({name, bytes});
  Bytes neff;
  std::string error;
  ASSERT_TRUE(pack_neff(Program{}, list, &neff, &error)) << error;
  EXPECT_EQ(members(neff), expected);
}

}  // namespace
}  // namespace opennrt::neffkit
