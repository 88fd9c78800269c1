// SPDX-License-Identifier: Apache-2.0
#include "plugin/libc_port/libc_port.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace opennrt::plugin {
namespace {

class LibcPortTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(port->attach(nullptr, &ctx), 0);
    char path[] = "/tmp/libc_port_test.XXXXXX";
    const int fd = mkstemp(path);
    ASSERT_GE(fd, 0);
    file = path;
    ASSERT_EQ(write(fd, "2.27.4.0\n", 9), 9);
    ASSERT_EQ(ftruncate(fd, 8192), 0);
    close(fd);
  }
  void TearDown() override {
    port->detach(ctx);
    unlink(file.c_str());
  }
  const nrtp_sys_port* port = libc_port();
  void* ctx = nullptr;
  std::string file;
};

TEST_F(LibcPortTest, TheTableIsComplete) {
  EXPECT_EQ(port->head.size, sizeof(nrtp_sys_port));
  EXPECT_EQ(port->head.magic, NRTP_MAGIC);
  EXPECT_EQ(port->head.kind, uint32_t{NRTP_KIND_PORT});
  EXPECT_STREQ(port->name, "libc");
  EXPECT_NE(ctx, nullptr);
  EXPECT_EQ(port->attach(nullptr, nullptr), -EINVAL);
}

TEST_F(LibcPortTest, OpenModesAndCloseOnExec) {
  const int modes[] = {O_RDONLY, O_WRONLY, O_RDWR};
  for (uint32_t flags = 0; flags < 3; ++flags) {
    const int fd = port->open(ctx, file.c_str(), flags);
    ASSERT_GE(fd, 0);
    EXPECT_EQ(fcntl(fd, F_GETFL) & O_ACCMODE, modes[flags]);
    EXPECT_EQ(fcntl(fd, F_GETFD), FD_CLOEXEC);
    EXPECT_EQ(port->close(ctx, fd), 0);
    EXPECT_EQ(port->close(ctx, fd), -EBADF);
  }
  EXPECT_EQ(port->open(ctx, file.c_str(), 3), -EINVAL);
  EXPECT_EQ(port->open(ctx, nullptr, 0), -EINVAL);
  EXPECT_EQ(port->open(ctx, "/nonexistent/node", 0), -ENOENT);
}

TEST_F(LibcPortTest, IoctlGivesTheResultOrErrno) {
  const int fd = port->open(ctx, file.c_str(), NRTP_OPEN_READ);
  int waiting = 0;
  EXPECT_EQ(port->ioctl(ctx, fd, FIONREAD, reinterpret_cast<uintptr_t>(&waiting)), 0);
  EXPECT_EQ(waiting, 8192);
  EXPECT_EQ(port->ioctl(ctx, fd, 0x80084E03, 0), -ENOTTY);
  EXPECT_EQ(port->close(ctx, fd), 0);
  EXPECT_EQ(port->ioctl(ctx, fd, FIONREAD, reinterpret_cast<uintptr_t>(&waiting)), -EBADF);
}

TEST_F(LibcPortTest, MappingsAreShared) {
  const int fd = port->open(ctx, file.c_str(), NRTP_OPEN_READ_WRITE);
  void *a = nullptr, *b = nullptr;
  ASSERT_EQ(port->mmap(ctx, fd, 4096, NRTP_PROT_READ | NRTP_PROT_WRITE, 4096, &a), 0);
  ASSERT_EQ(port->mmap(ctx, fd, 4096, NRTP_PROT_READ, 4096, &b), 0);
  *static_cast<char*>(a) = 'x';
  EXPECT_EQ(*static_cast<char*>(b), 'x');
  EXPECT_EQ(port->munmap(ctx, a, 4096), 0);
  EXPECT_EQ(port->munmap(ctx, b, 4096), 0);
  EXPECT_EQ(port->mmap(ctx, fd, 4096, NRTP_PROT_READ, 1, &a), -EINVAL);
  EXPECT_EQ(port->mmap(ctx, fd, 0, NRTP_PROT_READ, 0, &a), -EINVAL);
  EXPECT_EQ(port->mmap(ctx, fd, 4096, 4, 0, &a), -EINVAL);
  EXPECT_EQ(port->mmap(ctx, fd, 4096, NRTP_PROT_READ, ~uint64_t{0}, &a), -EINVAL);
  EXPECT_EQ(port->mmap(ctx, fd, 4096, NRTP_PROT_READ, 0, nullptr), -EINVAL);
  EXPECT_EQ(port->close(ctx, fd), 0);
  const int read_only = port->open(ctx, file.c_str(), NRTP_OPEN_READ);
  EXPECT_EQ(port->mmap(ctx, read_only, 4096, NRTP_PROT_WRITE, 0, &a), -EACCES);
  EXPECT_EQ(port->close(ctx, read_only), 0);
}

TEST_F(LibcPortTest, Exists) {
  EXPECT_EQ(port->exists(ctx, file.c_str()), 1);
  EXPECT_EQ(port->exists(ctx, "/nonexistent/node"), 0);
  EXPECT_EQ(port->exists(ctx, (file + "/below").c_str()), 0);
  EXPECT_EQ(port->exists(ctx, std::string(5000, 'x').c_str()), -ENAMETOOLONG);
  EXPECT_EQ(port->exists(ctx, nullptr), -EINVAL);
}

TEST_F(LibcPortTest, ReadText) {
  ASSERT_EQ(truncate(file.c_str(), 9), 0);
  char buf[32];
  std::memset(buf, 'x', sizeof buf);
  EXPECT_EQ(port->read_text(ctx, file.c_str(), buf, sizeof buf), 9);
  EXPECT_STREQ(buf, "2.27.4.0\n");
  EXPECT_EQ(port->read_text(ctx, file.c_str(), buf, 4), 4);
  EXPECT_EQ(std::string(buf, 4), "2.27");
  EXPECT_EQ(port->read_text(ctx, "/nonexistent", buf, sizeof buf), -ENOENT);
  EXPECT_EQ(port->read_text(ctx, "/tmp", buf, sizeof buf), -EISDIR);
  EXPECT_EQ(port->read_text(ctx, file.c_str(), nullptr, 4), -EINVAL);
  EXPECT_EQ(port->read_text(ctx, file.c_str(), buf, 0), -EINVAL);
}

TEST_F(LibcPortTest, SleepWaitsAboutAsLongAsAsked) {
  for (const uint32_t us : {0u, 3u, 20u, 49u, 50u, 2000u}) {
    const uint64_t start = port->now_us(ctx);
    port->sleep_us(ctx, us);
    EXPECT_GE(port->now_us(ctx) - start + 1, us);
  }
}

}  // namespace
}  // namespace opennrt::plugin
