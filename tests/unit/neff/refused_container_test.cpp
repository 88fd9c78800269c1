// SPDX-License-Identifier: Apache-2.0
//
// Files whose container is wrong: refused with the exact status and a message
// that names the fault.
#include "limits.h"
#include "neff/members.h"

namespace opennrt::neff {
namespace {

using testing::NeffBuilder;

struct BadFile {
  const char* name;
  std::function<std::string()> file;
  NRT_STATUS status;
  std::vector<std::string> texts;
};
void PrintTo(const BadFile& bad, std::ostream* out) { *out << bad.name; }

std::string with_header(const std::function<void(NeffBuilder&)>& change) {
  NeffBuilder neff = testing::sample_neff();
  change(neff);
  return neff.build();
}

std::string with_byte(std::size_t at_from_end, char value) {
  NeffBuilder neff = testing::sample_neff();
  neff.padding = 1;
  std::string data = neff.payload();
  data[data.size() - at_from_end] = value;
  return neff.wrap(data);
}

// The member table only: no valid model is needed.
std::string archive(const std::vector<testing::TarEntry>& entries) {
  NeffBuilder neff;
  neff.extra = entries;
  return neff.build();
}

std::string tar_only(const std::function<void(std::string&)>& change) {
  NeffBuilder neff = testing::sample_neff();
  neff.pkg_version = 1;
  std::string tar = neff.payload();
  change(tar);
  return neff.wrap(tar);
}

std::string zeros_bomb() {
  // 48 MiB of zeros in one member, about 200 KiB stored.
  NeffBuilder neff;
  neff.members["zeros"] = std::string(std::size_t{48} << 20, '\0');
  return neff.build();
}

const BadFile kBadFiles[] = {
    {"Empty", [] { return std::string(); }, NRT_INVALID, {"empty (0 bytes)"}},
    {"OneByteShortOfHeader", [] { return std::string(1023, '\1'); }, NRT_INVALID, {"1023", "1024"}},
    {"ZeroHeader", [] { return std::string(4096, '\0'); }, NRT_INVALID, {"header_size", "0"}},
    {"TextFile", [] { return std::string(4096, 'x'); }, NRT_INVALID, {"header_size", "not a NEFF"}},
    {"HeaderSize",
     [] { return with_header([](auto& n) { n.header_size = 2048; }); },
     NRT_INVALID,
     {"header_size", "2048"}},
    {"NoPayload", [] { return NeffBuilder().wrap(""); }, NRT_INVALID, {"data_size", "0"}},
    {"TruncatedFile",
     [] {
       std::string file = testing::sample_neff().build();
       file.resize(file.size() - 1);
       return file;
     },
     NRT_INVALID,
     {"data_size", "truncated"}},
    {"PkgVersion",
     [] { return with_header([](auto& n) { n.pkg_version = 3; }); },
     NRT_UNSUPPORTED_NEFF_VERSION,
     {"pkg_version", "3"}},
    {"MajorVersion",
     [] { return with_header([](auto& n) { n.version_major = 3; }); },
     NRT_UNSUPPORTED_NEFF_VERSION,
     {"version 3.0", "newer"}},
    {"FeatureBit",
     [] {
       return with_header([](auto& n) {
         n.version_major = 2;
         n.feature_bits = (std::uint64_t{1} << 27) | (std::uint64_t{1} << 31) | 0xC00;
       });
     },
     NRT_UNSUPPORTED_NEFF_VERSION,
     {"2.0", "0x88000c00", "27, 31", "0x7ffffff"}},
    {"NotGzip",
     [] { return NeffBuilder().wrap(std::string(10240, 'x')); },
     NRT_INVALID,
     {"gzip", "byte"}},
    {"TruncatedGzip",
     [] {
       NeffBuilder neff = testing::sample_neff();
       neff.padding = 1;
       const std::string data = neff.payload();
       return neff.wrap(data.substr(0, data.size() / 2));
     },
     NRT_INVALID,
     {"gzip", "truncated"}},
    {"GzipWithoutTrailer",
     [] {
       NeffBuilder neff = testing::sample_neff();
       const std::string data = neff.payload();
       return neff.wrap(data.substr(0, data.size() - 4));
     },
     NRT_INVALID,
     {"gzip", "trailer"}},
    {"GzipCrc", [] { return with_byte(8, '\x55'); }, NRT_INVALID, {"gzip", "incorrect data check"}},
    {"GzipLength",
     [] { return with_byte(4, '\x55'); },
     NRT_INVALID,
     {"gzip", "incorrect length check"}},
    {"GarbageBehindGzip",
     [] {
       NeffBuilder neff = testing::sample_neff();
       return neff.wrap(neff.payload() + std::string(100, '\0') + "z");
     },
     NRT_INVALID,
     {"behind the gzip trailer", "0x7a"}},
    {"SecondGzipMember",
     [] {
       NeffBuilder neff = testing::sample_neff();
       return neff.wrap(neff.payload() + neff.payload());
     },
     NRT_INVALID,
     {"behind the gzip trailer", "0x1f"}},
    {"NotTar",
     [] { return NeffBuilder().wrap(testing::gzip(std::string(20480, 'q'))); },
     NRT_INVALID,
     {"NEFF archive", "damaged"}},
    {"EmptyTar", [] { return NeffBuilder().build(); }, NRT_INVALID, {"neff.json", "missing"}},
    {"TarChecksum",
     [] { return tar_only([](std::string& tar) { tar[0] ^= 1; }); },
     NRT_INVALID,
     {"NEFF archive", "damaged"}},
    {"TruncatedTar",
     [] { return tar_only([](std::string& tar) { tar.resize(700); }); },
     NRT_INVALID,
     {"NEFF archive"}},
    {"SymbolicLink",
     [] { return archive({{"neff.json", "", '2', "/etc/passwd"}}); },
     NRT_INVALID,
     {"\"neff.json\"", "link"}},
    {"HardLink",
     [] { return archive({{"a", "x"}, {"b", "", '1', "a"}}); },
     NRT_INVALID,
     {"\"b\"", "link"}},
    {"Device", [] { return archive({{"null", "", '3'}}); }, NRT_INVALID, {"\"null\"", "device"}},
    {"Fifo", [] { return archive({{"pipe", "", '6'}}); }, NRT_INVALID, {"\"pipe\"", "fifo"}},
    {"AbsoluteName",
     [] { return archive({{"/etc/passwd", "x"}}); },
     NRT_INVALID,
     {"/etc/passwd", "absolute"}},
    {"ParentDirectory",
     [] { return archive({{"sg00/../../x", "x"}}); },
     NRT_INVALID,
     {"sg00/../../x", "\"..\""}},
    {"Backslash",
     [] { return archive({{"sg00\\def.json", "x"}}); },
     NRT_INVALID,
     {"sg00\\def.json", "backslash"}},
    {"EmptyName",
     [] { return archive({{"./", "x", '0'}, {"./x", "x"}, {"", "y"}}); },
     NRT_INVALID,
     {"damaged"}},
    {"LongName",
     [] {
       NeffBuilder neff;
       neff.long_names = testing::LongNames::kGnu;
       neff.extra = {{std::string(4097, 'n'), "x"}};
       return neff.build();
     },
     NRT_INVALID,
     {"4097", "4096"}},
    {"DuplicateName",
     [] { return archive({{"a", "x"}, {"./a", "y"}}); },
     NRT_INVALID,
     {"\"a\"", "twice"}},
    {"TooManyMembers",
     [] {
       std::vector<testing::TarEntry> entries;
       for (int i = 0; i <= 65536; ++i) entries.push_back({"m" + std::to_string(i), ""});
       return archive(entries);
     },
     NRT_INVALID,
     {"\"m65536\"", "65536"}},
    {"OverTheCap", zeros_bomb, NRT_RESOURCE, {"41943040", "memory limit"}},
    {"MemberLargerThanTar",
     [] {
       return tar_only([](std::string& tar) {
         // size field of the first header: 1 GiB; its checksum follows.
         const std::string size = "10000000000";
         int sum = 0;
         for (std::size_t i = 0; i < size.size(); ++i) sum += size[i] - tar[124 + i];
         tar.replace(124, size.size(), size);
         const int old = std::stoi(tar.substr(148, 6), nullptr, 8);
         char text[8];
         std::snprintf(text, sizeof text, "%06o", static_cast<unsigned>(old + sum) & 0777777U);
         tar.replace(148, 6, text, 6);
       });
     },
     NRT_INVALID,
     {"decompresses to more than"}},
};

class BadFileTest : public ::testing::TestWithParam<BadFile> {};

TEST_P(BadFileTest, IsRefused) {
  const BadFile& bad = GetParam();
  LoadLimits limits = test_limits();
  limits.max_decompressed_bytes = std::uint64_t{40} << 20;  // more than 65536 empty members
  expect_refused({bad.name, nullptr, bad.status, bad.texts}, bad.file(), limits);
}

INSTANTIATE_TEST_SUITE_P(All, BadFileTest, ::testing::ValuesIn(kBadFiles),
                         [](const ::testing::TestParamInfo<BadFile>& test) {
                           return std::string(test.param.name);
                         });

TEST(RefusedContainer, NullBufferOfAnySize) {
  const auto program = load_program(
      std::span<const std::byte>(static_cast<const std::byte*>(nullptr), 0), test_limits());
  ASSERT_FALSE(program.is_ok());
  EXPECT_EQ(program.status().code(), NRT_INVALID);
  EXPECT_EQ(program.status().message(), "NEFF: no buffer given");
}

TEST(RefusedContainer, MemberNames) {
  for (const char* good : {"a", "sg00/a..b", "..a", "a/b./c..", "wei\xc3\x9f"})
    EXPECT_TRUE(check_member_name(good).is_ok()) << good;
  for (const char* bad : {"", "/", "..", "../a", "a/..", "a/../b", "a\\b"})
    EXPECT_EQ(check_member_name(bad).code(), NRT_INVALID) << bad;
}

TEST(RefusedContainer, HashOnlyWhenAsked) {
  NeffBuilder neff = testing::sample_neff();
  std::string file = neff.build();
  file[0xAC] ^= 1;
  EXPECT_TRUE(load(file).is_ok());
  LoadLimits limits = test_limits();
  limits.validate_hash = true;
  expect_refused({"Md5", nullptr, NRT_INVALID, {"MD5", "header says"}}, file, limits);

  neff.pkg_version = 1;
  file = neff.build();
  file[0xAC + 31] ^= 1;
  EXPECT_TRUE(load(file).is_ok());
  expect_refused({"Sha256", nullptr, NRT_INVALID, {"SHA-256", "header says"}}, file, limits);
}

}  // namespace
}  // namespace opennrt::neff
