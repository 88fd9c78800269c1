// SPDX-License-Identifier: Apache-2.0
#include "neff/files.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "input_file.h"
#include "model_file.h"
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

std::string refusal(const std::string& path) {
  const auto read = read_whole(path);
  return read.is_ok() ? "" : std::string(read.status().message());
}
std::string model_refusal(const std::string& path) {
  const auto read = read_model_file(path);
  return read.is_ok() ? "" : std::string(read.status().message());
}
void put(const std::string& path, std::span<const std::byte> bytes, std::uint64_t size) {
  ASSERT_TRUE(write_whole(path, bytes).is_ok());
  ASSERT_EQ(truncate(path.c_str(), static_cast<off_t>(size)), 0) << strerror(errno);
}

TEST(Files, WhatIsNoFileIsNotWaitedFor) {
  const Scratch scratch;
  ASSERT_EQ(mkfifo((scratch / "fifo").c_str(), 0600), 0);
  ASSERT_EQ(symlink("/dev/zero", (scratch / "zero").c_str()), 0);
  const int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  (scratch / "socket").copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  for (const auto& refused : {refusal, model_refusal}) {
    const std::string behind = "; a regular file is read here";
    EXPECT_EQ(refused(scratch / "fifo"), scratch / "fifo" + ": is a pipe" + behind);
    EXPECT_EQ(refused(scratch / "zero"), scratch / "zero" + ": is a device" + behind);
    EXPECT_EQ(refused(scratch / "socket"), scratch / "socket" + ": is a socket" + behind);
    EXPECT_EQ(refused(scratch.path()), scratch.path() + ": is a directory" + behind);
    EXPECT_EQ(refused("/dev/null"), "");
    EXPECT_EQ(refused("/proc/self/maps"), "");  // has no size
  }
  close(listener);
}

TEST(Files, NoMoreIsReadThanIsAllowed) {
  const Scratch scratch;
  put(scratch / "sparse", {}, std::uint64_t{1} << 42);
  EXPECT_NE(refusal(scratch / "sparse").find(": has 4398046511104 bytes; at most "),
            std::string::npos);
  std::vector<std::byte> bytes;
  std::string error;
  ASSERT_TRUE(write_whole(scratch / "ten", std::string_view("0123456789")).is_ok());
  EXPECT_TRUE(read_input(scratch / "ten", 10, &bytes, &error)) << error;
  EXPECT_EQ(bytes.size(), 10U);
  EXPECT_FALSE(read_input(scratch / "ten", 9, &bytes, &error));
  EXPECT_EQ(error, scratch / "ten" + ": has 10 bytes; at most 9 are read");
  EXPECT_FALSE(read_input("/proc/self/maps", 9, &bytes, &error));
  EXPECT_EQ(error, "/proc/self/maps: has more than 9 bytes; at most 9 are read");
}

// The header decides before a large file is read.
TEST(Files, LargeModelsAreWhatTheirHeaderSays) {
  const Scratch scratch;
  const std::string path = scratch / "m.neff";
  constexpr std::uint64_t kLarge = std::uint64_t{1} << 41;
  put(path, {}, kLarge);
  EXPECT_NE(model_refusal(path).find(path + ": NEFF header: header_size (offset 8) is 0"),
            std::string::npos);
  std::vector<std::byte> model = small_neff();
  put(path, model, kLarge);
  EXPECT_EQ(model_refusal(path), path + ": has 2199023255552 bytes, but its header states " +
                                     std::to_string(model.size()) + "; copy it again");
  const std::uint64_t stated = kLarge - neff::kHeaderBytes;
  std::memcpy(&model[16], &stated, sizeof stated);
  put(path, model, kLarge);
  EXPECT_NE(model_refusal(path).find(path + ": has 2199023255552 bytes; this process may use "),
            std::string::npos);
  put(path, model, kLarge - 1);
  EXPECT_NE(model_refusal(path).find("the file is truncated"), std::string::npos);
  // What is wrong in a small one is the loader's to tell.
  put(path, {}, 2000);
  const auto small = read_model_file(path);
  ASSERT_TRUE(small.is_ok());
  EXPECT_EQ(small->size(), 2000U);
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
