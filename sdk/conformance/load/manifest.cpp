// SPDX-License-Identifier: Apache-2.0
//
// The manifest beside the library, from which the runtime knows it without opening it.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "plugin/manifest.h"
#include "subject.h"

namespace opennrt::conform {
namespace {

namespace fs = std::filesystem;

class Manifest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(subject().head(), nullptr) << subject().problem();
    std::error_code error;
    const fs::path directory = fs::absolute(subject().path(), error).parent_path();
    for (const auto& entry : fs::directory_iterator(directory, error)) {
      const std::string file = entry.path().string();
      if (!file.ends_with(".plugin.yaml")) continue;
      const auto read = plugin::read_manifest(file);
      if (!read.is_ok() || !fs::equivalent(read->library, subject().path(), error)) continue;
      manifest_ = *read;
      return;
    }
    GTEST_SKIP() << "no manifest in " << directory.string() << " names it";
  }
  const plugin::Manifest& manifest() const { return manifest_; }

 private:
  plugin::Manifest manifest_;
};

TEST_F(Manifest, HasTheKindAndTheMajorOfTheTable) {
  EXPECT_EQ(static_cast<std::uint32_t>(manifest().kind), subject().head()->kind);
  if (!manifest().abi.empty()) {
    EXPECT_EQ(manifest().abi.substr(0, manifest().abi.find('.')),
              std::to_string(subject().head()->abi_major));
  }
}

TEST_F(Manifest, HasTheNameOfTheTable) { EXPECT_EQ(manifest().name, subject().name()); }

TEST_F(Manifest, HasTheArchTypeOfTheTable) {
  if (subject().arch() == nullptr) GTEST_SKIP() << "no arch plugin";
  EXPECT_EQ(manifest().arch_type, subject().arch()->arch_type);
}

}  // namespace
}  // namespace opennrt::conform
