// SPDX-License-Identifier: Apache-2.0
#include "trace/debug_stream.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace opennrt::trace {
namespace {

void send(std::uint32_t core, std::uint32_t type, std::string_view first,
          std::string_view second = {}) {
  const std::span<const std::byte> parts[] = {std::as_bytes(std::span(first)),
                                              std::as_bytes(std::span(second))};
  debug_stream::publish(core, type, parts);
}

bool readable(int fd) {
  pollfd wait{.fd = fd, .events = POLLIN, .revents = 0};
  return poll(&wait, 1, 0) == 1;
}

class DebugStream : public ::testing::Test {
 protected:
  void TearDown() override { debug_stream::close_all(); }
  // Text of the next event, "-" without one.
  static std::string next(int fd, std::uint32_t* type = nullptr) {
    debug_stream::Header header;
    void* payload = nullptr;
    if (debug_stream::read(fd, header, &payload).code() == NRT_QUEUE_EMPTY) return "-";
    std::string text(static_cast<char*>(payload), header.bytes);
    if (type != nullptr) *type = header.type;
    free(payload);
    return text;
  }
};

TEST_F(DebugStream, GivesEventsInOrderAndPollsReadable) {
  EXPECT_FALSE(debug_stream::has_client(0));
  send(0, 1, "lost");
  const int fd = *debug_stream::connect(0, 4);
  EXPECT_TRUE(debug_stream::has_client(0));
  EXPECT_FALSE(readable(fd));
  EXPECT_EQ(next(fd), "-");
  send(0, 1, "ab", "cd");
  send(0, 2, "");
  send(1, 1, "other core");
  EXPECT_TRUE(readable(fd));
  std::uint32_t type = 0;
  EXPECT_EQ(next(fd, &type), "abcd");
  EXPECT_EQ(type, 1u);
  EXPECT_TRUE(readable(fd));
  EXPECT_EQ(next(fd, &type), "");
  EXPECT_EQ(type, 2u);
  EXPECT_FALSE(readable(fd));
  EXPECT_EQ(next(fd), "-");
}

TEST_F(DebugStream, OneClientPerCore) {
  const int fd = *debug_stream::connect(0, 4);
  EXPECT_EQ(debug_stream::connect(0, 4).status().code(), NRT_INVALID);
  const auto other = debug_stream::connect(1, 4);
  ASSERT_TRUE(other.is_ok());
  EXPECT_NE(*other, fd);
  EXPECT_TRUE(debug_stream::close(fd));
  EXPECT_FALSE(debug_stream::close(fd));
  EXPECT_EQ(fcntl(fd, F_GETFD), -1);  // closed
  EXPECT_TRUE(debug_stream::connect(0, 4).is_ok());
  EXPECT_EQ(debug_stream::connect(256, 4).status().code(), NRT_INVALID);
}

TEST_F(DebugStream, FullStreamDropsTheNewest) {
  const int fd = *debug_stream::connect(0, 2);
  for (const char* text : {"1", "2", "3"}) send(0, 1, text);
  EXPECT_EQ(next(fd), "1");
  send(0, 1, "4");
  EXPECT_EQ(next(fd), "2");
  EXPECT_EQ(next(fd), "4");
  EXPECT_EQ(next(fd), "-");
}

TEST_F(DebugStream, ForeignDescriptorsAreRefused) {
  debug_stream::Header header;
  void* payload = nullptr;
  for (const int fd : {-1, 0, 2, 12345})
    EXPECT_EQ(debug_stream::read(fd, header, &payload).code(), NRT_INVALID) << fd;
  EXPECT_FALSE(debug_stream::close(2));
  EXPECT_GE(fcntl(2, F_GETFD), 0);
}

TEST_F(DebugStream, EightPublishersAndAReader) {
  constexpr int kPublishers = 8, kEach = 500;
  const int fd = *debug_stream::connect(0, kPublishers * kEach);
  std::vector<std::thread> publishers;
  for (int p = 0; p < kPublishers; ++p)
    publishers.emplace_back([p] {
      for (int i = 0; i < kEach; ++i) send(0, 1, std::to_string(p), ":");
    });
  int seen = 0;
  while (seen < kPublishers * kEach) {
    pollfd wait{.fd = fd, .events = POLLIN, .revents = 0};
    ASSERT_EQ(poll(&wait, 1, 10'000), 1);
    const std::string text = next(fd);
    ASSERT_EQ(text.size(), 2u);
    ++seen;
  }
  for (auto& t : publishers) t.join();
  EXPECT_FALSE(readable(fd));
}

TEST_F(DebugStream, ForkedChildHasNone) {
  const int fd = *debug_stream::connect(0, 4);
  const pid_t child = fork();
  if (child == 0) {
    debug_stream::enter_forked_child();
    debug_stream::Header header;
    void* payload = nullptr;
    const bool good = !debug_stream::has_client(0) &&
                      debug_stream::read(fd, header, &payload).code() == NRT_INVALID;
    _exit(good ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  send(0, 1, "x");
  EXPECT_EQ(next(fd), "x");
}

}  // namespace
}  // namespace opennrt::trace
