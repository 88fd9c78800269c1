// SPDX-License-Identifier: Apache-2.0
//
// opennrt link as a process.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "nrt/nrt.h"
#include "support/repeats.h"

namespace opennrt {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class ToolLink : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/opennrt-link-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    root_ = fs::canonical(name);
    directory_ = root_ / "opt/vendor/lib";
  }
  void TearDown() override { fs::remove_all(root_); }
  int run(const std::string& arguments, const std::string& before = "") {
    const std::string command = before + " '" OPENNRT_TOOL "' link " + arguments + " >" +
                                (root_ / "out").string() + " 2>&1";
    const int status = std::system(command.c_str());
    std::ifstream in(root_ / "out");
    said_.assign(std::istreambuf_iterator<char>(in), {});
    in.close();
    fs::remove(root_ / "out");
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  std::string quoted() const { return directory_.string(); }

  fs::path root_, directory_;
  std::string said_;
};

TEST_F(ToolLink, LinksAndTakesAllOfItBack) {
  ASSERT_EQ(run(quoted(), "umask 077;"), 0) << said_;
  for (const char* name : {"libnrt.so.1", "libnrt.so"})
    EXPECT_EQ(fs::canonical(directory_ / name), fs::canonical(OPENNRT_LIBRARY)) << name;
  struct stat info{};
  ASSERT_EQ(stat(quoted().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0755u);
  // A client that has the path in its code gets a runtime that finds its plugins.
  setenv("OPENNRT_DEVICE", "emulator", 1);
  setenv("OPENNRT_EMULATOR_PRODUCT", "trn1.2xlarge", 1);
  void* library = dlopen((directory_ / "libnrt.so.1").c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  const auto init = reinterpret_cast<decltype(&nrt_init)>(dlsym(library, "nrt_init"));
  const auto close = reinterpret_cast<decltype(&nrt_close)>(dlsym(library, "nrt_close"));
  EXPECT_EQ(init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""), NRT_SUCCESS);
  close();
  EXPECT_EQ(run(quoted()), 0);
  EXPECT_THAT(said_, HasSubstr("already"));
  ASSERT_EQ(run("--undo " + quoted()), 0) << said_;
  EXPECT_TRUE(fs::is_empty(root_));
  EXPECT_EQ(run("--undo " + quoted()), 1);
  EXPECT_THAT(said_, HasSubstr("does not exist"));
}

TEST_F(ToolLink, WhatIsThereStays) {
  fs::create_directories(directory_);
  EXPECT_EQ(run(quoted()), 1);
  EXPECT_THAT(said_, HasSubstr("exists already"));
  std::ofstream(directory_ / "libnrt.so.1") << "the vendor's";
  EXPECT_EQ(run(quoted()), 1);
  EXPECT_THAT(said_, HasSubstr("holds a libnrt already"));
  EXPECT_THAT(said_, HasSubstr("LD_LIBRARY_PATH="));
  EXPECT_EQ(run("--undo " + quoted()), 1);
  EXPECT_THAT(said_, HasSubstr("was not made by opennrt link"));
  EXPECT_EQ(fs::file_size(directory_ / "libnrt.so.1"), 12u);
  // Nor is a link followed or replaced, wherever it leads.
  fs::remove_all(directory_);
  fs::create_symlink(root_ / "nowhere", directory_);
  EXPECT_EQ(run(quoted()), 1);
  EXPECT_EQ(run("--undo " + quoted()), 1);
  EXPECT_TRUE(fs::is_symlink(directory_));
}

TEST_F(ToolLink, UndoLeavesWhatIsNotItsOwn) {
  ASSERT_EQ(run(quoted()), 0) << said_;
  std::ofstream(directory_ / "other") << "x";
  EXPECT_EQ(run("--undo " + quoted()), 1);
  EXPECT_THAT(said_, HasSubstr("other was not made by opennrt link"));
  EXPECT_TRUE(fs::is_symlink(directory_ / "libnrt.so.1"));
  fs::remove(directory_ / "other");
  std::ofstream(root_ / "opt/vendor/file") << "x";
  EXPECT_EQ(run("--undo " + quoted()), 0) << said_;
  EXPECT_TRUE(fs::exists(root_ / "opt/vendor/file"));
  EXPECT_FALSE(fs::exists(directory_));
}

TEST_F(ToolLink, ParentsThatWereThereStay) {
  fs::create_directories(root_ / "opt");
  ASSERT_EQ(run(quoted()), 0) << said_;
  ASSERT_EQ(run("--undo " + quoted()), 0) << said_;
  EXPECT_TRUE(fs::exists(root_ / "opt"));
  EXPECT_FALSE(fs::exists(root_ / "opt/vendor"));
}

TEST_F(ToolLink, LinksToAnotherRuntimeAreNotReplaced) {
  ASSERT_EQ(run(quoted()), 0) << said_;
  fs::remove(directory_ / "libnrt.so.1");
  fs::create_symlink("/elsewhere/libnrt.so.1", directory_ / "libnrt.so.1");
  EXPECT_EQ(run(quoted()), 1);
  EXPECT_THAT(said_, HasSubstr("/elsewhere/libnrt.so.1"));
  EXPECT_THAT(said_, HasSubstr("opennrt link --undo"));
  EXPECT_EQ(fs::read_symlink(directory_ / "libnrt.so.1"), "/elsewhere/libnrt.so.1");
}

TEST_F(ToolLink, BothNamesAreLookedAt) {
  ASSERT_EQ(run(quoted()), 0) << said_;
  fs::remove(directory_ / "libnrt.so");
  EXPECT_EQ(run(quoted()), 1);
  EXPECT_THAT(said_, HasSubstr("libnrt.so is missing"));
  fs::create_symlink("/etc/passwd", directory_ / "libnrt.so");
  EXPECT_EQ(run(quoted()), 1);
  EXPECT_THAT(said_, HasSubstr("libnrt.so links to /etc/passwd, not to this runtime"));
}

// All of them find the links there at the end, whoever made what.
TEST_F(ToolLink, CallsAtTheSameTime) {
  const fs::path deep = root_ / "a/b/c/d/lib";
  std::string calls;
  for (int i = 0; i < 3; ++i)
    calls +=
        "'" OPENNRT_TOOL "' link '" + deep.string() + "' 2>&1 & p" + std::to_string(i) + "=$!; ";
  calls += "wait $p0 && wait $p1 && wait $p2";
  for (int round = 0; round < test::repeats(40); ++round) {
    const std::string command = "(" + calls + ") >" + (root_ / "out").string();
    const int status = std::system(command.c_str());
    std::ifstream in(root_ / "out");
    said_.assign(std::istreambuf_iterator<char>(in), {});
    ASSERT_EQ(status, 0) << round << ": " << said_;
    ASSERT_EQ(fs::canonical(deep / "libnrt.so.1"), fs::canonical(OPENNRT_LIBRARY)) << said_;
    fs::remove(root_ / "out");
    ASSERT_EQ(run("--undo " + deep.string()), 0) << said_;
    ASSERT_TRUE(fs::is_empty(root_)) << round;
  }
}

TEST_F(ToolLink, LinksAreFollowedBeforeDots) {
  fs::create_directories(root_ / "far/away");
  fs::create_directory_symlink(root_ / "far/away", root_ / "near");
  EXPECT_EQ(run((root_ / "near/../lib").string()), 0) << said_;
  EXPECT_TRUE(fs::is_symlink(root_ / "far/lib/libnrt.so"));
  EXPECT_FALSE(fs::exists(root_ / "lib"));
  EXPECT_EQ(run("--undo " + (root_ / "near/../lib/.").string()), 0) << said_;
  EXPECT_FALSE(fs::exists(root_ / "far/lib"));
}

TEST_F(ToolLink, AFailureLeavesNothing) {
  std::ofstream(root_ / "file") << "x";
  EXPECT_EQ(run((root_ / "file/vendor/lib").string()), 1);
  EXPECT_TRUE(fs::is_regular_file(root_ / "file"));
  // No directory can be made below /proc.
  EXPECT_EQ(run("/proc/vendor/lib"), 1);
  EXPECT_THAT(said_, HasSubstr("/proc/vendor: cannot be made"));
}

TEST_F(ToolLink, WordsThatAreNone) {
  EXPECT_EQ(run("--nonsense"), 2);
  EXPECT_EQ(run("a b"), 2);
  EXPECT_EQ(run("''"), 2);
  EXPECT_EQ(run("\"$(printf '" + (root_ / "x").string() + "\\ny/lib')\""), 2);
  EXPECT_THAT(said_, HasSubstr("line break"));
  EXPECT_TRUE(fs::is_empty(root_));
  EXPECT_EQ(run("--help"), 0);
  EXPECT_THAT(said_, HasSubstr("--undo"));
}

}  // namespace
}  // namespace opennrt
