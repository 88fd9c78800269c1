// SPDX-License-Identifier: Apache-2.0
//
// What every plugin must do before anything in its table is called.
#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "plugin/validate.h"
#include "subject.h"

namespace opennrt::conform {
namespace {

// Names that the dynamic symbol table defines; empty when there is no such section.
std::vector<std::string> exports_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  std::vector<std::string> out;
  const auto read = [&bytes](std::uint64_t at, auto* to) {
    if (at > bytes.size() || bytes.size() - at < sizeof *to) return false;
    std::memcpy(to, bytes.data() + at, sizeof *to);
    return true;
  };
  Elf64_Ehdr head;
  if (!read(0, &head)) return out;
  for (std::uint64_t i = 0; i < head.e_shnum; ++i) {
    Elf64_Shdr symbols, strings;
    if (!read(head.e_shoff + i * sizeof symbols, &symbols) || symbols.sh_type != SHT_DYNSYM ||
        !read(head.e_shoff + symbols.sh_link * sizeof strings, &strings))
      continue;
    Elf64_Sym symbol;
    for (std::uint64_t at = 0; at + sizeof symbol <= symbols.sh_size; at += sizeof symbol) {
      if (!read(symbols.sh_offset + at, &symbol)) break;
      const bool visible = ELF64_ST_BIND(symbol.st_info) != STB_LOCAL &&
                           symbol.st_shndx != SHN_UNDEF && symbol.st_shndx != SHN_ABS;
      const std::uint64_t name = strings.sh_offset + symbol.st_name;
      if (visible && name < bytes.size()) out.emplace_back(bytes.c_str() + name);
    }
  }
  return out;
}

class Load : public testing::Test {};

// Suites that need the query function.
class Query : public testing::Test {
 protected:
  void SetUp() override { ASSERT_NE(subject().kind(), 0u) << subject().problem(); }
};

class Head : public Query {
 protected:
  void SetUp() override {
    Query::SetUp();
    if (HasFatalFailure()) return;
    ASSERT_NE(subject().head(), nullptr) << subject().problem();
  }
  const nrtp_head& head() const { return *subject().head(); }
};

TEST_F(Load, OpensAndDescribesItself) {
  if (!subject().problem().empty()) FAIL() << subject().problem();
}

TEST_F(Load, ExportsOneQueryOfItsOwn) {
  ASSERT_NE(subject().kind(), 0u) << subject().problem();
  std::error_code error;
  EXPECT_TRUE(std::filesystem::equivalent(subject().query_file(), subject().path(), error))
      << subject().query_symbol() << " comes from " << subject().query_file();
}

TEST_F(Load, ExportsNothingElse) {
  ASSERT_NE(subject().kind(), 0u) << subject().problem();
  const std::vector<std::string> names = exports_of(subject().path());
  if (names.empty()) GTEST_SKIP() << "the file has no section headers";
  for (const std::string& name : names) {
    // Two underscores: the tool chain's.
    const bool theirs = name.starts_with("__") || name == "_init" || name == "_fini" ||
                        name == "_edata" || name == "_end";
    EXPECT_TRUE(theirs || name == subject().query_symbol())
        << name << " is visible to other libraries; limit exports with a version script";
  }
}

TEST_F(Query, AnswersTheSameTableEveryTime) {
  const Subject& s = subject();
  const void* first = s.query(s.abi_major(), 0);
  ASSERT_NE(first, nullptr);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(s.query(s.abi_major(), 0), first);
}

TEST_F(Query, AnswersOlderAndNewerMinors) {
  const Subject& s = subject();
  EXPECT_EQ(s.query(s.abi_major(), 0), s.head());
  EXPECT_EQ(s.query(s.abi_major(), 99), s.head());
  EXPECT_EQ(s.query(s.abi_major(), UINT32_MAX), s.head());
}

TEST_F(Query, RefusesOtherMajors) {
  const Subject& s = subject();
  for (const std::uint32_t major : {0u, s.abi_major() + 1, s.abi_major() + 2, UINT32_MAX})
    EXPECT_EQ(s.query(major, 0), nullptr) << major;
  EXPECT_EQ(s.query(s.abi_major(), 0), s.head());
}

TEST_F(Head, MagicKindAndMajor) {
  EXPECT_EQ(head().magic, NRTP_MAGIC);
  EXPECT_EQ(head().kind, subject().kind());
  EXPECT_EQ(head().abi_major, subject().abi_major());
}

TEST_F(Head, SizeIsAtLeastThatOfTheFirstVersion) {
  EXPECT_GE(head().size, subject().table_bytes());
  EXPECT_EQ(head().size % sizeof(void*), 0u);
}

// A table of a minor that this kit knows has that minor's size; the sizes come from
// the compiler, so that a wrong one is a wrong initialiser.
TEST_F(Head, SizeAndMinorAgree) {
  struct Minor {
    std::uint32_t kind, minor, bytes;
  };
  constexpr Minor kNewest[] = {
      {NRTP_KIND_ARCH, NRTP_ARCH_ABI_MINOR, sizeof(nrtp_arch_plugin)},
      {NRTP_KIND_NDL, NRTP_NDL_ABI_MINOR, sizeof(nrtp_ndl_ops)},
      {NRTP_KIND_PORT, NRTP_PORT_ABI_MINOR, sizeof(nrtp_sys_port)},
  };
  for (const Minor& newest : kNewest) {
    if (newest.kind != head().kind) continue;
    if (head().abi_minor == newest.minor) {
      EXPECT_EQ(head().size, newest.bytes);
    } else if (head().abi_minor > newest.minor) {
      EXPECT_GE(head().size, newest.bytes);
    } else {
      EXPECT_LE(head().size, newest.bytes);
    }
  }
}

TEST_F(Head, NeedsNoMoreThanTheHostHas) {
  EXPECT_LE(head().host_minor_min, NRTP_ABI_MINOR);
  EXPECT_EQ(head().host_features_required, 0u);
}

// "san=none;version=1.2.3"
TEST_F(Head, BuildNamesSanitizerAndVersion) {
  ASSERT_NE(head().build, nullptr);
  const std::string build = head().build;
  EXPECT_LT(build.size(), 256u);
  EXPECT_EQ(build.rfind("san=", 0), 0u) << build;
  const std::string sanitizer = build.substr(4, build.find(';') - 4);
  EXPECT_TRUE(sanitizer == "none" || sanitizer == "asan" || sanitizer == "tsan" ||
              sanitizer == "ubsan")
      << build;
  EXPECT_EQ(sanitizer, OPENNRT_BUILD_SAN)
      << "this kit and the runtime are built with '" << OPENNRT_BUILD_SAN << "'";
  const std::size_t at = build.find(";version=");
  ASSERT_NE(at, build.npos) << build;
  EXPECT_GT(build.size(), at + 9) << "the version is empty";
}

TEST_F(Head, NameIsAWord) {
  const std::string name = subject().name();
  ASSERT_FALSE(name.empty());
  EXPECT_LE(name.size(), 32u);
  for (const char c : name)
    EXPECT_TRUE((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_') << name;
}

// The loader of the runtime itself judges the table.
TEST_F(Head, RuntimeAcceptsTheTable) {
  const Subject& s = subject();
  constexpr std::uint64_t kNoFeatures = 0;
  Status status = plugin::check_head(head(), static_cast<nrtp_kind>(s.kind()), s.abi_major(),
                                     s.table_bytes(), kNoFeatures, s.path());
  ASSERT_TRUE(status.is_ok()) << status.message();
  if (s.arch() != nullptr) status = plugin::check_arch(*s.arch(), s.arch()->arch_type, s.path());
  if (s.port() != nullptr) status = plugin::check_port(*s.port(), s.path());
  if (s.ndl() != nullptr) status = plugin::complete_ndl(*s.ndl(), s.path()).status();
  EXPECT_TRUE(status.is_ok()) << status.message();
}

}  // namespace
}  // namespace opennrt::conform
