// SPDX-License-Identifier: Apache-2.0
//
// The system port through its own table: results are values or -errno, nothing blocks,
// wrong arguments are errors.
#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "port/port_case.h"

namespace opennrt::conform {
namespace {

class PortTable : public PortCase {};
class PortFiles : public PortCase {};
class PortTime : public PortCase {};
class PortControl : public PortCase {};

constexpr char kMissing[] = "/dev/neuron-none-such";

TEST_F(PortTable, EveryMandatoryFunctionIsThere) {
  const nrtp_sys_port& p = port();
  EXPECT_NE(p.open, nullptr);
  EXPECT_NE(p.close, nullptr);
  EXPECT_NE(p.ioctl, nullptr);
  EXPECT_NE(p.mmap, nullptr);
  EXPECT_NE(p.munmap, nullptr);
  EXPECT_NE(p.exists, nullptr);
  EXPECT_NE(p.read_text, nullptr);
  EXPECT_NE(p.now_us, nullptr);
  EXPECT_NE(p.sleep_us, nullptr);
}

TEST_F(PortTable, AttachesAgainAfterDetach) {
  for (int round = 0; round < 3; ++round) {
    void* again = nullptr;
    ASSERT_EQ(port().attach(TestHost::instance().table(), &again), 0);
    port().now_us(again);
    port().detach(again);
  }
}

TEST_F(PortFiles, MissingNodesAreErrors) {
  EXPECT_EQ(port().exists(ctx(), kMissing), 0);
  EXPECT_EQ(port().open(ctx(), kMissing, NRTP_OPEN_READ_WRITE), -ENOENT);
  char text[64] = "unchanged";
  EXPECT_LT(port().read_text(ctx(), "/sys/none/such", text, sizeof text), 0);
}

TEST_F(PortFiles, BadDescriptorsAreErrors) {
  for (const int fd : {-1, -1000, 1'000'000, INT32_MAX}) {
    EXPECT_EQ(port().close(ctx(), fd), -EBADF) << fd;
    EXPECT_EQ(port().ioctl(ctx(), fd, 0x4E01, 0), -EBADF) << fd;
    void* out = nullptr;
    EXPECT_EQ(port().mmap(ctx(), fd, 4096, NRTP_PROT_READ, 0, &out), -EBADF) << fd;
    EXPECT_EQ(out, nullptr);
  }
}

TEST_F(PortTime, NeverGoesBack) {
  std::uint64_t last = port().now_us(ctx());
  for (int i = 0; i < 10'000; ++i) {
    const std::uint64_t now = port().now_us(ctx());
    ASSERT_GE(now, last);
    last = now;
  }
}

TEST_F(PortTime, SleepsEnd) {
  for (const std::uint32_t us : {0u, 1u, 49u, 50u, 1000u}) port().sleep_us(ctx(), us);
}

TEST_F(PortControl, UnknownCommandsAreRefusedAndRepliesAreCut) {
  const nrtp_sys_port& p = port();
  if (!NRTP_HAS(nrtp_sys_port, &p, control) || p.control == nullptr) GTEST_SKIP() << "not offered";
  std::vector<char> reply(64, 'x');
  EXPECT_EQ(p.control(ctx(), "no such command", reply.data(), reply.size()), -EINVAL);
  EXPECT_EQ(p.control(ctx(), "", reply.data(), reply.size()), -EINVAL);
}

}  // namespace
}  // namespace opennrt::conform
