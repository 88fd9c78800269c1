// SPDX-License-Identifier: Apache-2.0
#include "neff/files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "neff/directory.h"
#include "small_model.h"

namespace opennrt::tools {
namespace {

std::size_t entries(const std::string& path) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path), {}));
}

TEST(Files, WrittenWholeAndUnderItsNameOnly) {
  const Scratch scratch;
  const std::string path = scratch / "out.bin";
  ASSERT_TRUE(write_whole(path, std::string_view("first")).is_ok());
  ASSERT_TRUE(write_whole(path, std::string_view("second\0!", 8)).is_ok());
  const auto read = read_whole(path);
  ASSERT_TRUE(read.is_ok());
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(read->data()), read->size()),
            std::string("second\0!", 8));
  EXPECT_EQ(entries(scratch.path()), 1U);
}

TEST(Files, AFullDeviceIsReported) {
  const Status status = write_whole("/dev/full", std::string_view("x"));
  EXPECT_EQ(status.message(), "/dev/full: cannot write: No space left on device");
}

TEST(Files, WhatCannotBeIsNamed) {
  const Scratch scratch;
  const Status status = write_whole(scratch / "no/such", std::string_view("x"));
  EXPECT_NE(status.message().find("No such file or directory"), std::string_view::npos);
  EXPECT_FALSE(read_whole(scratch / "missing").is_ok());
  EXPECT_FALSE(read_whole(scratch.path()).is_ok());
  EXPECT_FALSE(write_whole(scratch.path(), std::string_view("x")).is_ok());
  EXPECT_EQ(entries(scratch.path()), 0U);
}

TEST(NewDirectory, AppearsWhenItIsComplete) {
  const Scratch scratch;
  {
    auto directory = NewDirectory::create(scratch / "d");
    ASSERT_TRUE(directory.is_ok());
    ASSERT_TRUE(directory->write("a/b/c.bin", {}).is_ok());
    EXPECT_FALSE(std::filesystem::exists(scratch / "d"));
    ASSERT_TRUE(directory->finish().is_ok());
  }
  EXPECT_TRUE(std::filesystem::exists(scratch / "d/a/b/c.bin"));
  EXPECT_EQ(entries(scratch.path()), 1U);
}

TEST(NewDirectory, LeavesNothingBehindWhenItFails) {
  const Scratch scratch;
  {
    auto directory = NewDirectory::create(scratch / "d");
    ASSERT_TRUE(directory.is_ok());
    ASSERT_TRUE(directory->write("a", {}).is_ok());
    EXPECT_FALSE(directory->write("a/b", {}).is_ok()) << "a is a file";
    EXPECT_FALSE(directory->write("a", {}).is_ok()) << "replaces nothing";
    EXPECT_FALSE(directory->write(std::string(300, 'n'), {}).is_ok());
  }
  EXPECT_EQ(entries(scratch.path()), 0U);
}

TEST(NewDirectory, NamesThatLeaveItAreRefused) {
  const Scratch scratch;
  auto directory = NewDirectory::create(scratch / "d");
  ASSERT_TRUE(directory.is_ok());
  for (const char* name : {"", "/etc/x", "../x", "a/../../x", "a/..", "..", "a\\b"})
    EXPECT_FALSE(directory->write(name, {}).is_ok()) << name;
  EXPECT_EQ(entries(scratch.path()), 1U) << "the unfinished directory";
}

TEST(NewDirectory, TakesAnEmptyOneAndNoOther) {
  const Scratch scratch;
  ASSERT_EQ(mkdir((scratch / "empty").c_str(), 0777), 0);
  auto directory = NewDirectory::create(scratch / "empty/");
  ASSERT_TRUE(directory.is_ok());
  ASSERT_TRUE(directory->write("x", {}).is_ok());
  ASSERT_TRUE(directory->finish().is_ok());
  EXPECT_FALSE(NewDirectory::create(scratch / "empty").is_ok());
  ASSERT_EQ(symlink("/tmp", (scratch / "link").c_str()), 0);
  EXPECT_FALSE(NewDirectory::create(scratch / "link").is_ok());
}

TEST(FilesBelow, SortedAndWithoutLinks) {
  const Scratch scratch;
  auto directory = NewDirectory::create(scratch / "d");
  ASSERT_TRUE(directory.is_ok());
  for (const char* name : {"b", "a/z", "a/c/d", "a!"}) (void)directory->write(name, {});
  ASSERT_TRUE(directory->finish().is_ok());
  const auto names = files_below(scratch / "d");
  ASSERT_TRUE(names.is_ok());
  EXPECT_EQ(*names, (std::vector<std::string>{"a!", "a/c/d", "a/z", "b"}));
  ASSERT_EQ(symlink("/etc/passwd", (scratch / "d/link").c_str()), 0);
  const auto refused = files_below(scratch / "d");
  ASSERT_FALSE(refused.is_ok());
  EXPECT_NE(refused.status().message().find("\"link\" is a link"), std::string_view::npos);
  EXPECT_FALSE(files_below(scratch / "missing").is_ok());
}

}  // namespace
}  // namespace opennrt::tools
