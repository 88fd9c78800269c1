// SPDX-License-Identifier: Apache-2.0
//
// What every plugin must do before anything in its table is called.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <string>

#include "plugin/validate.h"
#include "subject.h"

namespace opennrt::conform {
namespace {

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

// The loader opens with RTLD_LOCAL, so that another library cannot be meant either.
TEST_F(Load, NothingOfItIsVisibleToOthers) {
  ASSERT_NE(subject().kind(), 0u) << subject().problem();
  EXPECT_EQ(dlsym(RTLD_DEFAULT, subject().query_symbol()), nullptr);
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
