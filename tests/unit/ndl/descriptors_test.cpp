// SPDX-License-Identifier: Apache-2.0
#include "ndl-common/descriptors.h"

#include <atomic>
#include <barrier>
#include <thread>

#include "fake_port.h"

namespace opennrt::ndl_test {
namespace {

struct DescriptorsTest : ::testing::Test {
  FakePort port;
  ndl::Descriptors descriptors{port.table(), &port};
  int misc() {
    uint32_t index = 0;
    return descriptors.misc(&index);
  }
};

TEST_F(DescriptorsTest, ADeviceIsOpenedReadOnlyOnce) {
  const int fd = descriptors.device(0);
  ASSERT_GE(fd, 0);
  EXPECT_EQ(descriptors.device(0), fd);
  EXPECT_EQ(port.opens, 1);
  EXPECT_EQ(port.file(fd).path, "/dev/neuron0");
  EXPECT_EQ(port.file(fd).flags, uint32_t{NRTP_OPEN_READ});
}

TEST_F(DescriptorsTest, IndexAbove63OpensNothing) {
  EXPECT_EQ(descriptors.device(64), -EINVAL);
  EXPECT_EQ(descriptors.device(~0u), -EINVAL);
  EXPECT_EQ(port.opens, 0);
}

TEST_F(DescriptorsTest, Index63IsADevice) {
  port.add_device(63);
  EXPECT_GE(descriptors.device(63), 0);
}

TEST_F(DescriptorsTest, AFailedOpenIsTriedAgain) {
  port.nodes["/dev/neuron0"] = -EBUSY;
  EXPECT_EQ(descriptors.device(0), -EBUSY);
  port.nodes["/dev/neuron0"] = 0;
  EXPECT_GE(descriptors.device(0), 0);
}

// Both threads are inside open() at the same time; one descriptor survives.
TEST_F(DescriptorsTest, TheLoserOfARaceClosesItsOwn) {
  std::barrier both(2);
  port.before_open = [&] { both.arrive_and_wait(); };
  int fds[2] = {-1, -1};
  std::thread a([&] { fds[0] = descriptors.device(0); });
  std::thread b([&] { fds[1] = descriptors.device(0); });
  a.join();
  b.join();
  EXPECT_EQ(port.opens, 2);
  EXPECT_EQ(port.open_count(), 1u);
  EXPECT_EQ(fds[0], fds[1]);
  EXPECT_EQ(port.file(fds[0]).path, "/dev/neuron0");
}

TEST_F(DescriptorsTest, TheMiscRaceLeavesOneDescriptor) {
  std::barrier both(2);
  port.before_open = [&] { both.arrive_and_wait(); };
  int fds[2] = {-1, -1};
  std::thread a([&] { fds[0] = misc(); });
  std::thread b([&] { fds[1] = misc(); });
  a.join();
  b.join();
  EXPECT_EQ(port.open_count(), 1u);
  EXPECT_EQ(fds[0], fds[1]);
}

TEST_F(DescriptorsTest, MiscIsWriteOnlyOnDevice0) {
  uint32_t index = 99;
  const int fd = descriptors.misc(&index);
  ASSERT_GE(fd, 0);
  EXPECT_EQ(index, 0u);
  EXPECT_EQ(port.file(fd).path, "/dev/neuron0");
  EXPECT_EQ(port.file(fd).flags, uint32_t{NRTP_OPEN_WRITE});
  EXPECT_EQ(misc(), fd);
  EXPECT_EQ(port.opens, 1);
}

TEST_F(DescriptorsTest, MiscTakesTheFirstDeviceThereIs) {
  port.nodes.clear();
  port.add_device(5);
  uint32_t index = 0;
  EXPECT_EQ(port.file(descriptors.misc(&index)).path, "/dev/neuron5");
  EXPECT_EQ(index, 5u);
}

TEST_F(DescriptorsTest, MiscWithoutAnyDevice) {
  port.nodes.clear();
  EXPECT_EQ(misc(), -ENOENT);
  EXPECT_EQ(port.open_count(), 0u);
}

TEST_F(DescriptorsTest, MiscDoesNotHideAPermissionProblem) {
  port.add_device(1);
  port.nodes["/dev/neuron0"] = -EACCES;
  EXPECT_EQ(misc(), -EACCES);
  port.nodes = {{"/dev/neuron5", -EACCES}, {"/dev/neuron6", 0}};
  uint32_t index = 0;
  EXPECT_EQ(descriptors.misc(&index), -EACCES);
  EXPECT_EQ(index, 5u);
}

TEST_F(DescriptorsTest, CloseAllClosesAndTheNextUseOpensAnew) {
  port.add_device(3);
  const int first = descriptors.device(0);
  descriptors.device(3);
  misc();
  EXPECT_EQ(port.open_count(), 3u);
  descriptors.close_all();
  EXPECT_EQ(port.open_count(), 0u);
  descriptors.close_all();
  EXPECT_EQ(port.closed.size(), 3u);
  EXPECT_NE(descriptors.device(0), first);
}

}  // namespace
}  // namespace opennrt::ndl_test
