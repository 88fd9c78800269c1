// SPDX-License-Identifier: Apache-2.0
#include "trace/output_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace opennrt::trace {
namespace {

namespace fs = std::filesystem;

class OutputFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/opennrt-output-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    dir_ = name;
  }
  void TearDown() override { fs::remove_all(dir_); }
  std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(dir_), {}));
  }
  std::string read(const std::string& path) const {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::string dir_;
};

TEST_F(OutputFiles, AppearsWhenComplete) {
  const std::string path = dir_ + "/f";
  auto file = OutputFile::create(path);
  ASSERT_TRUE(file.is_ok());
  ASSERT_TRUE(file->write("abc").is_ok());
  EXPECT_FALSE(fs::exists(path));
  ASSERT_TRUE(file->commit().is_ok());
  EXPECT_EQ(read(path), "abc");
  ASSERT_TRUE(write_file(path, "new").is_ok());
  EXPECT_EQ(read(path), "new");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(OutputFiles, NothingStaysOfOneThatIsGivenUp) {
  {
    auto file = OutputFile::create(dir_ + "/f");
  }
  EXPECT_EQ(entries(), 0u);
}

TEST_F(OutputFiles, FailuresNameThePath) {
  const auto missing = OutputFile::create(dir_ + "/none/f");
  ASSERT_FALSE(missing.is_ok());
  EXPECT_EQ(missing.status().code(), NRT_FAILURE);
  EXPECT_NE(missing.status().message().find("/none/f"), std::string::npos);
  EXPECT_EQ(write_file(dir_, "x").code(), NRT_FAILURE);  // a directory
  EXPECT_EQ(entries(), 0u);
  ASSERT_TRUE(write_file(dir_ + "/f", "x").is_ok());
  EXPECT_EQ(make_directories(dir_ + "/f/g").code(), NRT_FAILURE);
  EXPECT_TRUE(make_directories(dir_ + "/a/b/c").is_ok());
  EXPECT_TRUE(fs::is_directory(dir_ + "/a/b/c"));
}

// Renaming onto a device would take it away from the whole machine.
TEST_F(OutputFiles, WhatIsNoRegularFileIsNeverReplaced) {
  const std::string fifo = dir_ + "/fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  const auto refused = OutputFile::create(fifo);
  ASSERT_FALSE(refused.is_ok());
  EXPECT_NE(refused.status().message().find("neither a file nor a device"), std::string::npos);
  // A device by another name: if it were replaced, only the link would be lost.
  const std::string link = dir_ + "/null";
  ASSERT_EQ(symlink("/dev/null", link.c_str()), 0);
  EXPECT_TRUE(write_file(link, "x").is_ok());
  EXPECT_TRUE(fs::is_symlink(link)) << "replaced";
  EXPECT_TRUE(fs::is_character_file(link));
  const std::string full = dir_ + "/full";
  ASSERT_EQ(symlink("/dev/full", full.c_str()), 0);
  EXPECT_NE(write_file(full, "x").message().find("No space left"), std::string::npos);
  EXPECT_EQ(entries(), 3u);
}

}  // namespace
}  // namespace opennrt::trace
