// SPDX-License-Identifier: Apache-2.0
//
// The driver layer on the software device: first things first. What each group does in
// detail is in the files beside this one.
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

#include "ndl/ndl_case.h"

namespace opennrt::conform {
namespace {

class NdlProbe : public NdlCase {};
class NdlDevice : public NdlCase {};
class NdlMemory : public NdlDeviceCase {};
class NdlSync : public NdlDeviceCase {};
class NdlFork : public NdlDeviceCase {};

TEST_F(NdlProbe, WindowIsARange) {
  EXPECT_NE(ndl().window_min, 0u);
  EXPECT_LE(ndl().window_min, ndl().window_max);
}

TEST_F(NdlProbe, VersionLiesInTheDriversWindow) {
  std::uint32_t low = 0, high = 0;
  ASSERT_EQ(ndl().probe->get_compatible_version(ctx(), &low, &high), 0);
  EXPECT_LE(low, high);
  EXPECT_LE(low, ndl().window_max);
  EXPECT_GE(high, ndl().window_min);
  nrtp_ndl_version version{};
  ASSERT_EQ(ndl().probe->get_version(ctx(), &version), 0);
  EXPECT_NE(std::memchr(version.text, 0, sizeof version.text), nullptr);
  EXPECT_STRNE(version.text, "");
}

TEST_F(NdlProbe, FeaturesAgreeWithTheCapabilityWord) {
  const std::uint64_t word = ndl().caps(ctx());
  for (std::uint32_t bit = 0; bit < 64; ++bit) {
    std::uint32_t there = 77;
    const int status = ndl().probe->feature_supported(ctx(), bit, &there);
    if (status != 0) continue;  // a bit that the layer does not know
    EXPECT_EQ(there, word >> bit & 1) << bit;
  }
}

TEST_F(NdlDevice, AvailableOnesOpenAndOthersDoNot) {
  std::array<std::int32_t, 64> indexes{};
  const int count = ndl().device->available(ctx(), indexes.data(), indexes.size());
  ASSERT_GT(count, 0);
  ASSERT_LE(count, 64);
  for (int i = 0; i < count; ++i) {
    std::uint64_t dev = 0;
    nrtp_ndl_device_info info{};
    ASSERT_EQ(ndl().device->open(ctx(), static_cast<std::uint32_t>(indexes[i]), &dev, &info), 0);
    EXPECT_NE(info.arch, 0u);
    EXPECT_LE(info.n_connected, 8u);
    EXPECT_EQ(ndl().device->close(ctx(), dev), 0);
  }
  std::uint64_t dev = 0;
  nrtp_ndl_device_info info{};
  EXPECT_LT(ndl().device->open(ctx(), 63, &dev, &info), 0);
  EXPECT_LT(ndl().device->open(ctx(), UINT32_MAX, &dev, &info), 0);
}

TEST_F(NdlMemory, KeepsWhatIsWritten) {
  constexpr std::size_t kBytes = 1 << 20;
  const std::uint64_t mem = allocate(kBytes);
  ASSERT_NE(mem, 0u);
  std::vector<std::uint8_t> in(kBytes), out(kBytes, 0xEE);
  for (std::size_t i = 0; i < kBytes; ++i) in[i] = static_cast<std::uint8_t>(i * 31 + i / 251);
  ASSERT_EQ(ndl().copy->in(ctx(), mem, 0, in.data(), kBytes), 0);
  ASSERT_EQ(ndl().copy->out(ctx(), mem, 0, out.data(), kBytes), 0);
  EXPECT_EQ(in, out);
  ASSERT_EQ(ndl().copy->out(ctx(), mem, 4097, out.data(), 63), 0);
  EXPECT_EQ(std::memcmp(out.data(), in.data() + 4097, 63), 0);
}

TEST_F(NdlMemory, CopiesBeyondTheEndAreRefused) {
  const std::uint64_t mem = allocate(4096);
  ASSERT_NE(mem, 0u);
  std::vector<std::uint8_t> buffer(8192, 0x5A);
  EXPECT_LT(ndl().copy->in(ctx(), mem, 1, buffer.data(), 4096), 0);
  EXPECT_LT(ndl().copy->out(ctx(), mem, 4096, buffer.data(), 1), 0);
  EXPECT_LT(ndl().copy->out(ctx(), mem, UINT64_MAX, buffer.data(), 2), 0);
  EXPECT_EQ(buffer, std::vector<std::uint8_t>(8192, 0x5A));
}

TEST_F(NdlSync, SemaphoresCountUpAndDown) {
  const auto& sync = *ndl().sync;
  std::uint32_t value = 0;
  ASSERT_EQ(sync.sem_write(ctx(), dev(), 0, 40, 5), 0);
  ASSERT_EQ(sync.sem_inc(ctx(), dev(), 0, 40, 7), 0);
  ASSERT_EQ(sync.sem_dec(ctx(), dev(), 0, 40, 2), 0);
  ASSERT_EQ(sync.sem_read(ctx(), dev(), 0, 40, &value), 0);
  EXPECT_EQ(value, 10u);
  ASSERT_EQ(sync.sem_write(ctx(), dev(), 0, 40, 0), 0);
}

TEST_F(NdlFork, EveryMemberIsRefusedInTheChild) {
  const std::uint64_t mem = allocate(4096);
  const pid_t child = fork();
  if (child == 0) {
    std::uint32_t value = 0;
    char byte = 0;
    nrtp_ndl_version version{};
    int wrong = 0;
    wrong += ndl().sync->sem_read(ctx(), dev(), 0, 0, &value) != -EACCES;
    wrong += ndl().copy->in(ctx(), mem, 0, &byte, 1) != -EACCES;
    wrong += ndl().probe->get_version(ctx(), &version) != -EACCES;
    wrong += ndl().device->close(ctx(), dev()) != -EACCES;
    _exit(wrong);
  }
  ASSERT_GT(child, 0);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0) << "members that do not answer -EACCES";
  std::uint32_t value = 0;
  EXPECT_EQ(ndl().sync->sem_read(ctx(), dev(), 0, 0, &value), 0) << "the parent is as it was";
}

}  // namespace
}  // namespace opennrt::conform
