// SPDX-License-Identifier: Apache-2.0
//
// The manifest beside the library, from which the runtime knows it without opening it.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

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
    std::vector<std::string> files;
    for (fs::directory_iterator entry(directory, error), end; !error && entry != end;
         entry.increment(error))
      if (entry->path().string().ends_with(".plugin.yaml")) files.push_back(entry->path());
    ASSERT_FALSE(error) << directory.string() << ": " << error.message();
    if (files.empty()) GTEST_SKIP() << "there is no manifest in " << directory.string();
    std::sort(files.begin(), files.end());
    std::string others;
    for (const std::string& file : files) {
      const std::string problem = look_at(file);
      others += (files.size() == 1 ? " " : "\n") + problem;
    }
    // The runtime knows plugins from manifests alone.
    if (manifests_.empty())
      FAIL() << "no manifest in " << directory.string() << " names it:" << others;
  }
  const std::vector<plugin::Manifest>& manifests() const { return manifests_; }

 private:
  // Why it is none of this plugin; "": it is one.
  std::string look_at(const std::string& file) {
    const auto read = plugin::read_manifest(file);
    if (!read.is_ok()) return std::string(read.status().message());
    std::error_code error;
    if (fs::equivalent(read->library, subject().path(), error)) {
      manifests_.push_back(*read);
      return "";
    }
    return file + ": library is " + read->library +
           (fs::exists(read->library, error) ? "" : ", which is not there");
  }
  std::vector<plugin::Manifest> manifests_;
};

TEST_F(Manifest, HasTheKindAndTheMajorOfTheTable) {
  for (const plugin::Manifest& manifest : manifests()) {
    EXPECT_EQ(static_cast<std::uint32_t>(manifest.kind), subject().head()->kind) << manifest.path;
    if (!manifest.abi.empty()) {
      EXPECT_EQ(manifest.abi.substr(0, manifest.abi.find('.')),
                std::to_string(subject().head()->abi_major))
          << manifest.path;
    }
  }
}

TEST_F(Manifest, HasTheNameOfTheTable) {
  for (const plugin::Manifest& manifest : manifests())
    EXPECT_EQ(manifest.name, subject().name()) << manifest.path;
}

TEST_F(Manifest, HasTheArchTypeOfTheTable) {
  if (subject().arch() == nullptr) GTEST_SKIP() << "no arch plugin";
  for (const plugin::Manifest& manifest : manifests())
    EXPECT_EQ(manifest.arch_type, subject().arch()->arch_type) << manifest.path;
}

}  // namespace
}  // namespace opennrt::conform
