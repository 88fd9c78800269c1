// SPDX-License-Identifier: Apache-2.0
#include "neff/pack.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "neff/files.h"
#include "small_model.h"
#include "support/neff_builder.h"

namespace opennrt::tools {
namespace {

std::vector<std::byte> bytes_of(const std::string& text) {
  const auto bytes = testing::as_bytes(text);
  return {bytes.begin(), bytes.end()};
}

Status unpacked(const std::vector<std::byte>& neff, const std::string& directory) {
  ONRT_ASSIGN(const Model model, open_model("m.neff", neff));
  return unpack_model(model, std::span(neff).subspan(1024, model.header.data_size), directory);
}

std::vector<std::byte> packed(const std::string& directory, const PackOptions& options = {}) {
  auto neff = pack_directory(directory, options);
  EXPECT_TRUE(neff.is_ok()) << neff.status().message();
  return neff.is_ok() ? *std::move(neff) : std::vector<std::byte>{};
}

std::map<std::string, std::string> contents(const std::vector<std::byte>& neff) {
  const Model model = opened(neff);
  EXPECT_TRUE(model.hash.is_ok()) << model.hash.message();
  std::map<std::string, std::string> out;
  model.members->for_each([&](std::string_view name, const neff::Member& member, bool) {
    out[std::string(name)] = {reinterpret_cast<const char*>(member.bytes().data()),
                              member.bytes().size()};
  });
  return out;
}

class Pack : public ::testing::TestWithParam<std::pair<unsigned, testing::HashForm>> {};
INSTANTIATE_TEST_SUITE_P(Containers, Pack,
                         ::testing::Values(std::pair(1U, testing::HashForm::kPlain),
                                           std::pair(2U, testing::HashForm::kPlain),
                                           std::pair(2U, testing::HashForm::kWordsReversed)));

TEST_P(Pack, KeepsMembersHeaderAndFormOfTheHash) {
  testing::NeffBuilder builder = testing::sample_neff("cayman", 2);
  builder.pkg_version = GetParam().first;
  builder.hash = GetParam().second;
  builder.long_names = testing::LongNames::kPax;
  builder.members["sg00/" + std::string(120, 'l') + "/" + std::string(90, 'm')] = "prefix";
  builder.members["sg00/" + std::string(170, 'n')] = "too long for a prefix";
  builder.members["empty"] = "";
  const std::vector<std::byte> neff = bytes_of(builder.build());
  const Scratch scratch;
  ASSERT_TRUE(unpacked(neff, scratch / "d").is_ok());
  const std::vector<std::byte> again = packed(scratch / "d");
  EXPECT_EQ(contents(again), builder.members);
  // All of the header but data_size and hash.
  for (std::size_t i = 0; i < 1024; ++i) {
    if ((i >= 0x10 && i < 0x18) || (i >= 0xAC && i < 0xCC)) continue;
    ASSERT_EQ(again[i], neff[i]) << "byte " << i;
  }
  // The same directory, the same bytes; also after another round.
  EXPECT_EQ(packed(scratch / "d"), again);
  ASSERT_TRUE(unpacked(again, scratch / "e").is_ok());
  EXPECT_EQ(packed(scratch / "e"), again);
  if (GetParam().second == testing::HashForm::kWordsReversed) {
    testing::NeffBuilder plain;
    plain.hash = testing::HashForm::kWordsReversed;
    const std::string payload(reinterpret_cast<const char*>(again.data()) + 1024,
                              again.size() - 1024);
    const std::string expected = plain.wrap(payload);
    EXPECT_EQ(std::memcmp(expected.data() + 0xAC, again.data() + 0xAC, 16), 0);
  }
}

TEST(PackOptions, NameAndIdentity) {
  const Scratch scratch;
  const auto neff = small_neff();
  ASSERT_TRUE(unpacked(neff, scratch / "d").is_ok());
  const Model same = opened(packed(scratch / "d"));
  const Model other = opened(packed(scratch / "d", {.name = "other", .new_uuid = true}));
  EXPECT_EQ(same.header.uuid, opened(neff).header.uuid);
  EXPECT_NE(other.header.uuid, same.header.uuid);
  EXPECT_EQ(other.header.name, "other");
  EXPECT_FALSE(pack_directory(scratch / "d", {.name = std::string(256, 'x')}).is_ok());
}

TEST(PackRefusals, DirectoriesThatAreNoModel) {
  const Scratch scratch;
  EXPECT_FALSE(pack_directory(scratch / "missing", {}).is_ok());
  const auto refused = pack_directory(scratch.path(), {});
  ASSERT_FALSE(refused.is_ok());
  EXPECT_NE(refused.status().message().find("neff-header.bin is missing"), std::string_view::npos);
  ASSERT_TRUE(unpacked(small_neff(), scratch / "d").is_ok());
  std::filesystem::resize_file(scratch / "d/neff-header.bin", 1023);
  EXPECT_FALSE(pack_directory(scratch / "d", {}).is_ok());
  std::filesystem::resize_file(scratch / "d/neff-header.bin", 1024);
  ASSERT_EQ(symlink("/etc/passwd", (scratch / "d/sg00/link").c_str()), 0);
  EXPECT_FALSE(pack_directory(scratch / "d", {}).is_ok());
}

TEST(UnpackRefusals, NothingIsWritten) {
  const Scratch scratch;
  const auto refused = [&](const std::string& file, std::string_view part) {
    const Status status = unpacked(bytes_of(file), scratch / "d");
    EXPECT_FALSE(status.is_ok()) << part;
    EXPECT_NE(status.message().find(part), std::string_view::npos) << status.message();
    EXPECT_TRUE(std::filesystem::is_empty(scratch.path())) << part;
  };
  for (const char* name : {"../evil", "/tmp/evil", "sg00/../../evil", "a\\b"}) {
    testing::NeffBuilder builder = testing::sample_neff();
    builder.extra = {{name, "evil"}};
    refused(builder.build(), "NEFF archive: member");
  }
  for (const char type : {'1', '2', '3', '6'}) {
    testing::NeffBuilder builder = testing::sample_neff();
    builder.extra = {{"link", "", type, "/etc/passwd"}, {"link/x", "evil"}};
    refused(builder.build(), "only regular files");
  }
  testing::NeffBuilder builder = testing::sample_neff();
  builder.members["neff-header.bin"] = "mine";
  refused(builder.build(), "neff-header.bin");
  builder = testing::sample_neff();
  builder.members["file"] = builder.members["file/below"] = "x";
  refused(builder.build(), "cannot create");
  const std::string whole = testing::sample_neff().build();
  refused(whole.substr(0, 1024 + 600), "truncated");
}

TEST(UnpackRefusals, ADecompressionBomb) {
  const Scratch scratch;
  testing::NeffBuilder builder = testing::sample_neff();
  // A member that claims more than any payload of this size can hold.
  builder.members["bomb"] = std::string(64 << 20, '\0');
  builder.padding = 1;
  const std::string honest = builder.build();
  // Deflate reaches about 1030; the limit is 1100 times and 1 MiB: it passes.
  EXPECT_TRUE(unpacked(bytes_of(honest), scratch / "ok").is_ok());
  std::string tar = testing::make_tar({{"bomb", std::string(8 << 20, '\0')}},
                                      testing::LongNames::kUstarPrefix, 512);
  // Size field of the entry: 8 GiB - 1; its checksum follows.
  tar.replace(124, 12, std::string("77777777777\0", 12));
  tar.replace(148, 8, "        ");
  unsigned sum = 0;
  for (std::size_t i = 0; i < 512; ++i) sum += static_cast<unsigned char>(tar[i]);
  char field[9];
  std::snprintf(field, sizeof field, "%06o", sum);
  tar.replace(148, 7, std::string(field, 7));
  const Status status = unpacked(bytes_of(builder.wrap(testing::gzip(tar))), scratch / "d");
  ASSERT_FALSE(status.is_ok());
  EXPECT_NE(status.message().find("decompresses to more than"), std::string_view::npos)
      << status.message();
  EXPECT_FALSE(std::filesystem::exists(scratch / "d"));
}

}  // namespace
}  // namespace opennrt::tools
