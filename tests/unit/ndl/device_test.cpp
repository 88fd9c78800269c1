// SPDX-License-Identifier: Apache-2.0
//
// Opening, closing and what belongs to a device: registers, mapped windows,
// data stores, copy buffers.
#include <gmock/gmock.h>

#include <numeric>
#include <thread>

#include "fake_port.h"

namespace opennrt::ndl_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr uint32_t kBarReadCode = 0x80084E0B, kBarWriteCode = 0x40084E0C;
constexpr uint32_t kResourceCode = 0xC0204E70;
constexpr uint32_t kAcquireCode = 0x80084E47, kReleaseCode = 0x80084E48;

struct DeviceTest : NdlTest {
  // Answers RESOURCE_MMAP_INFO with an offset that names the block and its id.
  void answer_resources() {
    port.on(kResourceCode, 32, [](void* arg) {
      put<uint64_t>(arg, 16,
                    0x1000000u * (get<uint32_t>(arg, 0) + 1) + 0x10000u * get<uint32_t>(arg, 4));
      put<uint64_t>(arg, 24, 0x2000);
      return int64_t{0};
    });
  }
  void answer_data_store() {
    port.on(kAcquireCode, 24, [](void* arg) {
      put<uint64_t>(arg, 8, 0x7000);
      put<uint32_t>(arg, 16, 262144);
      return int64_t{0};
    });
    port.on(kReleaseCode, 24, [](void*) { return int64_t{0}; });
  }
};

TEST_F(DeviceTest, OpenTellsTheFacts) {
  uint64_t dev = 0;
  nrtp_ndl_device_info info{};
  ASSERT_EQ(ops->device->open(ctx, 0, &dev, &info), 0);
  EXPECT_NE(dev, 0u);
  EXPECT_EQ(info.arch, 3u);
  EXPECT_EQ(info.revision, 240u);
  EXPECT_EQ(info.n_connected, 2u);
  EXPECT_EQ(info.connected[0], 1u);
  EXPECT_EQ(info.connected[1], 7u);
  EXPECT_EQ(info.bar_address[0], kBarBase);
  EXPECT_EQ(info.bar_size[0], kBarBytes);
  const int fd = port.calls_of(kDeviceInfoCode).at(0).fd;
  EXPECT_EQ(port.file(fd).flags, uint32_t{NRTP_OPEN_READ_WRITE});
  EXPECT_EQ(ops->device->close(ctx, dev), 0);
  EXPECT_TRUE(port.closed.count(fd));
}

TEST_F(DeviceTest, ANeighbourCountThatCannotBeIsCut) {
  port.on(kDeviceInfoCode, 80, [](void* arg) {
    put<uint32_t>(arg, 8, 4000000000u);
    return int64_t{0};
  });
  uint64_t dev = 0;
  nrtp_ndl_device_info info{};
  ASSERT_EQ(ops->device->open(ctx, 0, &dev, &info), 0);
  EXPECT_EQ(info.n_connected, 8u);
}

TEST_F(DeviceTest, OpenRefusesWhatCannotBe) {
  uint64_t dev = 99;
  EXPECT_EQ(ops->device->open(ctx, 64, &dev, nullptr), -EINVAL);
  EXPECT_EQ(ops->device->open(ctx, 0, nullptr, nullptr), -EINVAL);
  EXPECT_EQ(ops->device->open(nullptr, 0, &dev, nullptr), -EINVAL);
  EXPECT_EQ(port.opens, 0);
  EXPECT_EQ(dev, 99u);
}

TEST_F(DeviceTest, OpenErrorsAreToldApart) {
  const std::vector<std::pair<int, const char*>> cases = {
      {-ENOENT, "does not exist"},   {-EACCES, "permission denied"},
      {-EPERM, "permission denied"}, {-ENODEV, "no driver"},
      {-ENXIO, "no driver"},         {-EBUSY, "16 processes"},
      {-EINVAL, "failed reset"},     {-EMFILE, "EMFILE"}};
  for (const auto& [error, text] : cases) {
    port.nodes["/dev/neuron2"] = error;
    host.lines.clear();
    uint64_t dev = 0;
    EXPECT_EQ(ops->device->open(ctx, 2, &dev, nullptr), error);
    ASSERT_EQ(host.errors().size(), 1u);
    EXPECT_THAT(host.errors()[0], AllOf(HasSubstr("/dev/neuron2"), HasSubstr(text)));
  }
}

TEST_F(DeviceTest, AnOpenThatFailsMidwayIsUndone) {
  port.fail(kDeviceInfoCode, -EINVAL);
  uint64_t dev = 99;
  nrtp_ndl_device_info info{};
  EXPECT_EQ(ops->device->open(ctx, 0, &dev, &info), -EINVAL);
  EXPECT_EQ(port.open_count(), 0u);
  EXPECT_EQ(dev, 99u);
  EXPECT_EQ(info.arch, 0u);
  EXPECT_EQ(host.errors().size(), 1u);
}

TEST_F(DeviceTest, ClosedHandlesAreStale) {
  const uint64_t first = open_device();
  EXPECT_EQ(ops->device->close(ctx, first), 0);
  EXPECT_EQ(ops->device->close(ctx, first), -EINVAL);
  const uint64_t second = open_device();
  EXPECT_NE(first, second);
  uint32_t value = 0;
  EXPECT_EQ(ops->sync->sem_read(ctx, first, 0, 0, &value), -EINVAL);
  EXPECT_EQ(ops->device->close(ctx, 0), -EINVAL);
  EXPECT_EQ(ops->device->close(ctx, ~uint64_t{0}), -EINVAL);
}

TEST_F(DeviceTest, HandlesOfAnotherContextAreForeign) {
  void* other = nullptr;
  ASSERT_EQ(ops->attach(&host.table, port.table(), &port, &other), 0);
  const uint64_t dev = open_device();
  uint32_t value = 0;
  EXPECT_EQ(ops->sync->sem_read(other, dev, 0, 0, &value), -EINVAL);
  ops->detach(other);
}

// Everything a caller forgot goes with the device: the driver would keep
// memory alive as long as a cached descriptor is open.
TEST_F(DeviceTest, CloseGivesBackWhatIsLeft) {
  answer_resources();
  answer_data_store();
  const uint64_t dev = open_device();
  port.add_device(1);
  const uint64_t other = open_device(1);
  const uint64_t kept = alloc(other);
  const uint64_t mem = alloc(dev);
  void* va = nullptr;
  uint64_t bytes = 0;
  ASSERT_EQ(ops->mem->map(ctx, mem, &va), 0);
  nrtp_ndl_copy_buf buffer{};
  ASSERT_EQ(ops->mem->copy_buf(ctx, dev, 3, &buffer), 0);
  ASSERT_EQ(ops->reg->map_region(ctx, dev, 0, 1, 0, &va, &bytes), 0);
  ASSERT_EQ(ops->share->nds_open(ctx, dev, 0, &va, &bytes), 0);
  EXPECT_EQ(port.maps.size(), 4u);
  EXPECT_EQ(ops->device->close(ctx, dev), 0);
  EXPECT_TRUE(port.maps.empty());
  EXPECT_EQ(port.calls_of(kMemFreeCode).size(), 2u);
  EXPECT_EQ(port.calls_of(kReleaseCode).size(), 1u);
  EXPECT_EQ(ops->mem->map(ctx, mem, &va), -EINVAL);
  EXPECT_EQ(ops->mem->map(ctx, kept, &va), 0);
}

TEST_F(DeviceTest, DetachClosesEverything) {
  open_device();
  alloc(open_device());
  uint32_t arch = 0;
  EXPECT_EQ(ops->device->board_info(ctx, &arch, &arch), 0);
  ops->detach(ctx);
  ctx = nullptr;
  EXPECT_EQ(port.open_count(), 0u);
}

// --- registers

TEST_F(DeviceTest, RegistersAreRelativeToTheDriversBase) {
  const uint64_t dev = open_device();
  port.on(kBarReadCode, 32, [](void* arg) {
    EXPECT_EQ(get<uint32_t>(arg, 0), 0u);
    const auto* addresses = get<const uint64_t*>(arg, 8);
    auto* data = get<uint32_t*>(arg, 16);
    for (uint32_t i = 0; i < get<uint32_t>(arg, 24); ++i)
      data[i] = static_cast<uint32_t>(addresses[i] - kBarBase);
    return int64_t{0};
  });
  const uint64_t offsets[] = {0x100, 0x20, 0};
  uint32_t values[3] = {};
  EXPECT_EQ(ops->reg->read(ctx, dev, offsets, 3, values), 0);
  EXPECT_THAT(values, ::testing::ElementsAre(0x100, 0x20, 0));
}

TEST_F(DeviceTest, LongReadsAreSplit) {
  const uint64_t dev = open_device();
  std::vector<uint32_t> counts;
  port.on(kBarReadCode, 32, [&](void* arg) {
    const auto count = get<uint32_t>(arg, 24);
    counts.push_back(count);
    const auto* addresses = get<const uint64_t*>(arg, 8);
    for (uint32_t i = 0; i < count; ++i)
      get<uint32_t*>(arg, 16)[i] = static_cast<uint32_t>(addresses[i] - kBarBase);
    return int64_t{0};
  });
  std::vector<uint64_t> offsets(250);
  for (size_t i = 0; i < offsets.size(); ++i) offsets[i] = 4 * i;
  std::vector<uint32_t> values(250, ~0u);
  EXPECT_EQ(ops->reg->read(ctx, dev, offsets.data(), 250, values.data()), 0);
  EXPECT_THAT(counts, ::testing::ElementsAre(100, 100, 50));
  for (size_t i = 0; i < values.size(); ++i) EXPECT_EQ(values[i], 4 * i);
}

TEST_F(DeviceTest, WritesKeepTheirOrderAndStopAtTheFirstFailure) {
  const uint64_t dev = open_device();
  std::vector<uint32_t> written;
  port.on(kBarWriteCode, 32, [&](void* arg) {
    if (written.size() >= 100) return int64_t{-EINVAL};
    const auto* data = get<const uint32_t*>(arg, 16);
    written.insert(written.end(), data, data + get<uint32_t>(arg, 24));
    return int64_t{0};
  });
  std::vector<uint64_t> offsets(150, 8);
  std::vector<uint32_t> values(150);
  std::iota(values.begin(), values.end(), 0u);
  EXPECT_EQ(ops->reg->write(ctx, dev, offsets.data(), 150, values.data()), -EINVAL);
  ASSERT_EQ(written.size(), 100u);
  EXPECT_TRUE(std::equal(written.begin(), written.end(), values.begin()));
}

TEST_F(DeviceTest, RegistersOutsideTheBarAreRefused) {
  const uint64_t dev = open_device();
  uint32_t values[2] = {};
  for (const uint64_t bad : {kBarBytes, kBarBytes - 2, kBarBytes - 3, ~uint64_t{0}, uint64_t{2}}) {
    const uint64_t offsets[] = {0, bad};
    EXPECT_EQ(ops->reg->read(ctx, dev, offsets, 2, values), -EINVAL) << bad;
    EXPECT_EQ(ops->reg->write(ctx, dev, offsets, 2, values), -EINVAL) << bad;
  }
  EXPECT_TRUE(port.calls_of(kBarReadCode).empty());
  EXPECT_TRUE(port.calls_of(kBarWriteCode).empty());
  const uint64_t last = kBarBytes - 4;
  EXPECT_EQ(ops->reg->read(ctx, dev, &last, 1, values), 0);
}

TEST_F(DeviceTest, NoRegistersMeansNoRequest) {
  const uint64_t dev = open_device();
  EXPECT_EQ(ops->reg->read(ctx, dev, nullptr, 0, nullptr), 0);
  EXPECT_EQ(ops->reg->write(ctx, dev, nullptr, 0, nullptr), 0);
  EXPECT_EQ(ops->reg->hw_counters(ctx, dev, nullptr, 0, nullptr), 0);
  const uint64_t offset = 0;
  uint32_t value = 0;
  EXPECT_EQ(ops->reg->read(ctx, dev, nullptr, 1, &value), -EINVAL);
  EXPECT_EQ(ops->reg->read(ctx, dev, &offset, 1, nullptr), -EINVAL);
  EXPECT_EQ(ops->reg->write(ctx, dev, nullptr, 1, &value), -EINVAL);
  EXPECT_EQ(ops->reg->write(ctx, dev, &offset, 1, nullptr), -EINVAL);
  EXPECT_EQ(ops->reg->hw_counters(ctx, dev, &offset, 1, nullptr), -EINVAL);
  EXPECT_EQ(port.calls.size(), 1u);  // DEVICE_INFO
}

TEST_F(DeviceTest, AFaultingRegisterBufferIsEfault) {
  const uint64_t dev = open_device();
  port.fail(kBarReadCode, 32);
  const uint64_t offset = 0;
  uint32_t value = 0;
  EXPECT_EQ(ops->reg->read(ctx, dev, &offset, 1, &value), -EFAULT);
}

TEST_F(DeviceTest, HwCountersTakeDeviceAddresses) {
  const uint64_t dev = open_device();
  port.on(0x80084E3D, 24, [](void* arg) {
    EXPECT_EQ(get<const uint64_t*>(arg, 0)[0], 0xABCDEF0123u);
    EXPECT_EQ(get<uint32_t>(arg, 16), 1u);
    get<uint32_t*>(arg, 8)[0] = 5;
    return int64_t{0};
  });
  const uint64_t address = 0xABCDEF0123;
  uint32_t value = 0;
  EXPECT_EQ(ops->reg->hw_counters(ctx, dev, &address, 1, &value), 0);
  EXPECT_EQ(value, 5u);
}

// --- mapped windows

TEST_F(DeviceTest, AWindowIsMappedOnceAndUnmappedWhole) {
  answer_resources();
  const uint64_t dev = open_device();
  void *first = nullptr, *second = nullptr;
  uint64_t bytes = 0;
  ASSERT_EQ(ops->reg->map_region(ctx, dev, 0, 1, 0, &first, &bytes), 0);
  EXPECT_EQ(bytes, 0x2000u);
  EXPECT_EQ(port.maps[first].offset, 0x1010000u);
  EXPECT_EQ(port.maps[first].prot, uint32_t{NRTP_PROT_READ}) << "semaphores change by request";
  ASSERT_EQ(ops->reg->map_region(ctx, dev, 0, 1, 0, &second, &bytes), 0);
  EXPECT_EQ(first, second);
  ASSERT_EQ(ops->reg->map_region(ctx, dev, 0, 2, 0, &second, &bytes), 0);
  EXPECT_NE(first, second);
  ASSERT_EQ(ops->reg->map_region(ctx, dev, 0, 1, 2, &second, &bytes), 0);
  EXPECT_EQ(port.maps[second].prot, uint32_t{NRTP_PROT_READ | NRTP_PROT_WRITE});
  EXPECT_EQ(port.maps.size(), 3u);
  EXPECT_EQ(ops->device->close(ctx, dev), 0);
  EXPECT_EQ(port.unmaps.size(), 3u);
}

TEST_F(DeviceTest, HbmIsTheThirdBlock) {
  answer_resources();
  const uint64_t dev = open_device();
  void* va = nullptr;
  uint64_t bytes = 0;
  ASSERT_EQ(ops->reg->hbm_va(ctx, dev, 3, &va, &bytes), 0);
  const auto call = port.calls_of(kResourceCode).at(0);
  EXPECT_EQ(get<uint32_t>(call.arg.data(), 0), 2u);
  EXPECT_EQ(get<uint32_t>(call.arg.data(), 4), 3u);
  EXPECT_EQ(get<uint32_t>(call.arg.data(), 8), 3u);
  EXPECT_EQ(port.maps[va].prot, uint32_t{NRTP_PROT_READ | NRTP_PROT_WRITE});
}

TEST_F(DeviceTest, AbsentHbmWindowsAreToldApart) {
  const uint64_t dev = open_device();
  port.fail(kResourceCode, -EINVAL);
  void* va = nullptr;
  uint64_t bytes = 0;
  EXPECT_EQ(ops->reg->hbm_va(ctx, dev, 0, &va, &bytes), -ENOENT);
  EXPECT_EQ(ops->reg->map_region(ctx, dev, 0, 0, 0, &va, &bytes), -EINVAL);
  EXPECT_EQ(ops->reg->map_region(ctx, dev, 0, 0, 0, nullptr, &bytes), -EINVAL);
  EXPECT_EQ(ops->reg->hbm_va(ctx, dev, 0, &va, nullptr), -EINVAL);
}

TEST_F(DeviceTest, AWindowThatCannotBeMappedLeavesNothing) {
  answer_resources();
  const uint64_t dev = open_device();
  port.mmap_error = -EPERM;
  void* va = nullptr;
  uint64_t bytes = 0;
  EXPECT_EQ(ops->reg->map_region(ctx, dev, 0, 1, 0, &va, &bytes), -EPERM);
  port.mmap_error = 0;
  EXPECT_EQ(ops->reg->map_region(ctx, dev, 0, 1, 0, &va, &bytes), 0);
}

// --- data stores

TEST_F(DeviceTest, ADataStoreIsMappedAndReleased) {
  answer_data_store();
  const uint64_t dev = open_device();
  void* va = nullptr;
  uint64_t bytes = 0;
  ASSERT_EQ(ops->share->nds_open(ctx, dev, 1234, &va, &bytes), 0);
  EXPECT_EQ(bytes, 262144u);
  EXPECT_EQ(port.maps[va].offset, 0x7000u);
  EXPECT_EQ(get<int32_t>(port.calls_of(kAcquireCode).at(0).arg.data(), 0), 1234);
  EXPECT_EQ(ops->share->nds_close(ctx, dev, 1234, va, bytes - 1), -EINVAL);
  EXPECT_EQ(ops->share->nds_close(ctx, dev, 1, va, bytes), -EINVAL);
  EXPECT_EQ(ops->share->nds_close(ctx, dev, 1234, nullptr, bytes), -EINVAL);
  EXPECT_TRUE(port.calls_of(kReleaseCode).empty());
  EXPECT_EQ(ops->share->nds_close(ctx, dev, 1234, va, bytes), 0);
  EXPECT_TRUE(port.maps.empty());
  EXPECT_EQ(get<int32_t>(port.calls_of(kReleaseCode).at(0).arg.data(), 0), 1234);
  EXPECT_EQ(ops->share->nds_close(ctx, dev, 1234, va, bytes), -EINVAL);
}

TEST_F(DeviceTest, ADataStoreThatCannotBeMappedIsReleased) {
  answer_data_store();
  const uint64_t dev = open_device();
  port.mmap_error = -ENOMEM;
  void* va = nullptr;
  uint64_t bytes = 0;
  EXPECT_EQ(ops->share->nds_open(ctx, dev, 0, &va, &bytes), -ENOMEM);
  EXPECT_EQ(port.calls_of(kReleaseCode).size(), 1u);
  port.fail(kAcquireCode, -ENOENT);
  EXPECT_EQ(ops->share->nds_open(ctx, dev, 5, &va, &bytes), -ENOENT);
  EXPECT_EQ(port.calls_of(kReleaseCode).size(), 1u);
  EXPECT_EQ(ops->share->nds_open(ctx, dev, 5, nullptr, &bytes), -EINVAL);
}

// --- copy buffers

TEST_F(DeviceTest, CopyBuffersAreMadeAtFirstUse) {
  const uint64_t dev = open_device();
  EXPECT_TRUE(port.calls_of(kMemAllocCode).empty());
  nrtp_ndl_copy_buf buffer{};
  ASSERT_EQ(ops->mem->copy_buf(ctx, dev, 2, &buffer), 0);
  EXPECT_EQ(buffer.bytes, 2097152u);
  EXPECT_EQ(port.maps[buffer.va].bytes, 2097152u);
  const auto call = port.calls_of(kMemAllocCode).at(0);
  EXPECT_EQ(get<uint64_t>(call.arg.data(), 0), 2097152u);
  EXPECT_EQ(get<uint64_t>(call.arg.data(), 8), 0u) << "host memory takes no alignment";
  EXPECT_EQ(get<uint32_t>(call.arg.data(), 16), 1u);
  EXPECT_EQ(get<uint32_t>(call.arg.data(), 28), 2u) << "the core whose ring copies from it";
  nrtp_ndl_copy_buf again{};
  ASSERT_EQ(ops->mem->copy_buf(ctx, dev, 2, &again), 0);
  EXPECT_EQ(again.mem, buffer.mem);
  ASSERT_EQ(ops->mem->copy_buf(ctx, dev, 3, &again), 0);
  EXPECT_NE(again.mem, buffer.mem);
  EXPECT_EQ(ops->mem->copy_buf(ctx, dev, 8, &again), -EINVAL);
  EXPECT_EQ(ops->mem->copy_buf(ctx, dev, 0, nullptr), -EINVAL);
}

TEST_F(DeviceTest, ACopyBufferBelongsToTheDevice) {
  const uint64_t dev = open_device();
  nrtp_ndl_copy_buf buffer{};
  ASSERT_EQ(ops->mem->copy_buf(ctx, dev, 0, &buffer), 0);
  EXPECT_EQ(ops->mem->free(ctx, buffer.mem), -EINVAL);
  EXPECT_EQ(ops->mem->unmap(ctx, buffer.mem), -EINVAL);
  EXPECT_EQ(port.maps.size(), 1u);
}

TEST_F(DeviceTest, ACopyBufferThatCannotBeMappedIsFreed) {
  const uint64_t dev = open_device();
  port.mmap_error = -EPERM;
  nrtp_ndl_copy_buf buffer{};
  EXPECT_EQ(ops->mem->copy_buf(ctx, dev, 0, &buffer), -EPERM);
  EXPECT_EQ(port.calls_of(kMemFreeCode).size(), 1u);
  EXPECT_EQ(buffer.mem, 0u);
  port.mmap_error = 0;
  EXPECT_EQ(ops->mem->copy_buf(ctx, dev, 0, &buffer), 0);
}

TEST_F(DeviceTest, ThreadsShareOneCopyBuffer) {
  const uint64_t dev = open_device();
  std::vector<std::thread> threads;
  std::vector<nrtp_ndl_copy_buf> buffers(4);
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] { ops->mem->copy_buf(ctx, dev, 1, &buffers[i]); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(port.calls_of(kMemAllocCode).size(), 1u);
  for (const auto& buffer : buffers) EXPECT_EQ(buffer.mem, buffers[0].mem);
}

}  // namespace
}  // namespace opennrt::ndl_test
