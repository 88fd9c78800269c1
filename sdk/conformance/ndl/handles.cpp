// SPDX-License-Identifier: Apache-2.0
//
// Handles and contexts: one that is closed, freed, stale or made up is refused by every
// member, before anything is touched.
#include <array>
#include <cerrno>
#include <filesystem>
#include <set>
#include <vector>

#include "ndl/ndl_case.h"

namespace opennrt::conform {
namespace {

class NdlHandles : public NdlDeviceCase {
 protected:
  std::uint64_t open_again() {
    std::uint64_t other = 0;
    nrtp_ndl_device_info info{};
    EXPECT_EQ(ndl().device->open(ctx(), 0, &other, &info), 0);
    return other;
  }
  // Every mandatory member that takes a device.
  void expect_device_refused(std::uint64_t device) {
    const nrtp_ndl_ops& n = ndl();
    std::uint64_t bar0 = 0, handle = 0;
    std::uint32_t value = 0;
    EXPECT_LT(n.device->close(ctx(), device), 0) << "device.close";
    EXPECT_LT(n.reg->read(ctx(), device, &bar0, 1, &value), 0) << "reg.read";
    EXPECT_LT(n.reg->write(ctx(), device, &bar0, 1, &value), 0) << "reg.write";
    EXPECT_LT(n.mem->alloc(ctx(), device, 4096, 0, 0, 0, 0, 0, NRTP_MEM_TENSORS_DEVICE, &handle), 0)
        << "mem.alloc";
    EXPECT_LT(n.sync->sem_inc(ctx(), device, 0, 1, 1), 0) << "sync.sem_inc";
    EXPECT_LT(n.sync->sem_dec(ctx(), device, 0, 1, 1), 0) << "sync.sem_dec";
    EXPECT_LT(n.sync->sem_write(ctx(), device, 0, 1, 1), 0) << "sync.sem_write";
    EXPECT_LT(n.sync->sem_read(ctx(), device, 0, 1, &value), 0) << "sync.sem_read";
    EXPECT_LT(n.sync->event_set(ctx(), device, 0, 1, 1), 0) << "sync.event_set";
    EXPECT_LT(n.sync->event_get(ctx(), device, 0, 1, &value), 0) << "sync.event_get";
    const nrtp_ndl_queue queue{0, 0, 64, 64, 0, 0};
    EXPECT_LT(n.dma->queue_init(ctx(), device, &queue), 0) << "dma.queue_init";
    EXPECT_LT(n.dma->queue_start(ctx(), device, 0, 0, 1, 1), 0) << "dma.queue_start";
    nrtp_ndl_nq_config config{};
    config.size = sizeof config;
    config.bytes = 16384;
    config.host_memory = 1;
    EXPECT_LT(n.nq->init(ctx(), device, &config, &handle), 0) << "nq.init";
    EXPECT_LT(n.life->reset(ctx(), device, 1, &value), 0) << "life.reset";
    EXPECT_LT(n.life->ready(ctx(), device, 1, &value), 0) << "life.ready";
  }
  // Every mandatory member that takes memory.
  void expect_memory_refused(std::uint64_t mem) {
    const nrtp_ndl_ops& n = ndl();
    const std::uint64_t good = allocate(4096);
    std::uint64_t pa = 0;
    void* va = nullptr;
    char byte = 0;
    std::int32_t wait = -1;
    EXPECT_LT(n.mem->get_pa(ctx(), mem, &pa), 0) << "mem.get_pa";
    EXPECT_LT(n.mem->map(ctx(), mem, &va), 0) << "mem.map";
    EXPECT_LT(n.mem->unmap(ctx(), mem), 0) << "mem.unmap";
    EXPECT_LT(n.copy->in(ctx(), mem, 0, &byte, 1), 0) << "copy.in";
    EXPECT_LT(n.copy->out(ctx(), mem, 0, &byte, 1), 0) << "copy.out";
    EXPECT_LT(n.copy->copy_async(ctx(), mem, good, 0, 0, 64, 0, &wait), 0) << "copy.copy_async";
    EXPECT_LT(n.copy->copy_async(ctx(), good, mem, 0, 0, 64, 0, &wait), 0) << "copy.copy_async";
    EXPECT_LT(n.copy->copy_wait(ctx(), mem, 1), 0) << "copy.copy_wait";
    EXPECT_LT(n.mem->free(ctx(), mem), 0) << "mem.free";
  }
};

TEST_F(NdlHandles, AClosedDeviceIsRefused) {
  const std::uint64_t device = open_again();
  ASSERT_EQ(ndl().device->close(ctx(), device), 0);
  expect_device_refused(device);
}

TEST_F(NdlHandles, AStaleDeviceIsNotTheNextOne) {
  const std::uint64_t stale = open_again();
  ASSERT_EQ(ndl().device->close(ctx(), stale), 0);
  const std::uint64_t next = open_again();
  EXPECT_NE(stale, next);
  expect_device_refused(stale);
  EXPECT_EQ(ndl().device->close(ctx(), next), 0);
}

TEST_F(NdlHandles, MadeUpDevicesAreRefused) {
  for (const std::uint64_t device :
       {std::uint64_t{0}, dev() + 1, dev() ^ std::uint64_t{1} << 40, UINT64_MAX})
    expect_device_refused(device);
}

TEST_F(NdlHandles, FreedMemoryIsRefused) {
  std::uint64_t mem = 0;
  ASSERT_EQ(ndl().mem->alloc(ctx(), dev(), 4096, 0, 0, 0, 0, 0, NRTP_MEM_TENSORS_DEVICE, &mem), 0);
  ASSERT_EQ(ndl().mem->free(ctx(), mem), 0);
  expect_memory_refused(mem);
}

TEST_F(NdlHandles, StaleMemoryIsNotTheNextOne) {
  std::uint64_t stale = 0;
  ASSERT_EQ(ndl().mem->alloc(ctx(), dev(), 4096, 0, 0, 0, 0, 0, NRTP_MEM_TENSORS_DEVICE, &stale),
            0);
  ASSERT_EQ(ndl().mem->free(ctx(), stale), 0);
  const std::uint64_t next = allocate(4096);
  const std::array<char, 4> good = {1, 2, 3, 4};
  ASSERT_EQ(ndl().copy->in(ctx(), next, 0, good.data(), good.size()), 0);
  expect_memory_refused(stale);
  std::array<char, 4> kept{};
  ASSERT_EQ(ndl().copy->out(ctx(), next, 0, kept.data(), kept.size()), 0);
  EXPECT_EQ(kept, good);
}

TEST_F(NdlHandles, MadeUpMemoryIsRefused) {
  const std::uint64_t mem = allocate(4096);
  for (const std::uint64_t made_up :
       {std::uint64_t{0}, mem ^ std::uint64_t{1} << 40, dev(), UINT64_MAX})
    expect_memory_refused(made_up);
}

TEST_F(NdlHandles, MemoryEndsWithItsDevice) {
  const std::uint64_t device = open_again();
  std::uint64_t mem = 0;
  ASSERT_EQ(ndl().mem->alloc(ctx(), device, 4096, 0, 0, 0, 0, 0, NRTP_MEM_TENSORS_DEVICE, &mem), 0);
  ASSERT_EQ(ndl().device->close(ctx(), device), 0);
  expect_memory_refused(mem);
}

TEST_F(NdlHandles, HandlesDiffer) {
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(seen.insert(allocate(4096)).second);
  EXPECT_EQ(seen.count(0), 0u);
}

TEST_F(NdlHandles, OneDeviceOpensSeveralTimes) {
  std::array<std::uint64_t, 4> devices{};
  for (std::uint64_t& device : devices) device = open_again();
  for (const std::uint64_t device : devices) {
    EXPECT_EQ(ndl().sync->sem_inc(ctx(), device, 0, 30, 1), 0);
    EXPECT_EQ(ndl().device->close(ctx(), device), 0);
  }
  std::uint32_t value = 0;
  EXPECT_EQ(ndl().sync->sem_read(ctx(), dev(), 0, 30, &value), 0);
  EXPECT_EQ(value, devices.size()) << "all are one device";
}

TEST_F(NdlHandles, OpeningAndClosingLeavesNothing) {
  const auto descriptors = [] {
    const std::filesystem::directory_iterator all("/proc/self/fd");
    return std::distance(begin(all), end(all));
  };
  EXPECT_EQ(ndl().device->close(ctx(), open_again()), 0);
  const auto before = descriptors();
  for (int i = 0; i < 200; ++i) {
    const std::uint64_t device = open_again();
    ASSERT_NE(device, 0u) << "round " << i;
    std::uint64_t mem = 0;
    ASSERT_EQ(
        ndl().mem->alloc(ctx(), device, 16 << 20, 0, 0, 0, 0, 0, NRTP_MEM_TENSORS_DEVICE, &mem), 0)
        << "round " << i << ": what a device leaves behind goes with it";
    ASSERT_EQ(ndl().device->close(ctx(), device), 0);
  }
  EXPECT_EQ(descriptors(), before);
}

TEST_F(NdlHandles, ASecondContextIsApart) {
  const SoftwareDevice& device = software_device();
  const std::uint64_t mem = allocate(4096);
  for (int round = 0; round < 20; ++round) {
    void* other = nullptr;
    ASSERT_EQ(
        subject().ndl()->attach(TestHost::instance().table(), device.port, device.ctx, &other), 0);
    EXPECT_NE(other, ctx());
    std::uint64_t pa = 0;
    EXPECT_LT(ndl().mem->get_pa(other, mem, &pa), 0) << "memory of another context";
    subject().ndl()->detach(other);
  }
  char byte = 7;
  EXPECT_EQ(ndl().copy->in(ctx(), mem, 0, &byte, 1), 0) << "the first is as it was";
}

// --- arguments

class NdlArguments : public NdlDeviceCase {};

TEST_F(NdlArguments, MissingOutputsAreRefused) {
  const nrtp_ndl_ops& n = ndl();
  const std::uint64_t mem = allocate(4096);
  std::uint64_t word = 0;
  std::uint32_t value = 0;
  nrtp_ndl_nq_config config{};
  config.size = sizeof config;
  config.bytes = 16384;
  config.host_memory = 1;
  EXPECT_LT(n.device->open(ctx(), 0, nullptr, nullptr), 0) << "device.open";
  EXPECT_LT(n.device->available(ctx(), nullptr, 1), 0) << "device.available";
  EXPECT_LT(n.device->board_info(ctx(), nullptr, &value), 0) << "device.board_info";
  EXPECT_LT(n.device->board_info(ctx(), &value, nullptr), 0) << "device.board_info";
  EXPECT_LT(n.probe->get_version(ctx(), nullptr), 0) << "probe.get_version";
  EXPECT_LT(n.probe->get_compatible_version(ctx(), nullptr, &value), 0)
      << "probe.get_compatible_version";
  EXPECT_LT(n.probe->feature_supported(ctx(), 0, nullptr), 0) << "probe.feature_supported";
  EXPECT_LT(n.probe->product_name(ctx(), nullptr, 8), 0) << "probe.product_name";
  EXPECT_LT(n.mem->alloc(ctx(), dev(), 4096, 0, 0, 0, 0, 0, NRTP_MEM_TENSORS_DEVICE, nullptr), 0)
      << "mem.alloc";
  EXPECT_LT(n.mem->get_pa(ctx(), mem, nullptr), 0) << "mem.get_pa";
  EXPECT_LT(n.mem->map(ctx(), mem, nullptr), 0) << "mem.map";
  EXPECT_LT(n.copy->copy_async(ctx(), mem, mem, 0, 1024, 64, 0, nullptr), 0) << "copy.copy_async";
  EXPECT_LT(n.sync->sem_read(ctx(), dev(), 0, 1, nullptr), 0) << "sync.sem_read";
  EXPECT_LT(n.sync->event_get(ctx(), dev(), 0, 1, nullptr), 0) << "sync.event_get";
  EXPECT_LT(n.nq->init(ctx(), dev(), &config, nullptr), 0) << "nq.init";
  EXPECT_LT(n.life->reset(ctx(), dev(), 1, nullptr), 0) << "life.reset";
  EXPECT_LT(n.life->ready(ctx(), dev(), 1, nullptr), 0) << "life.ready";
  std::uint64_t bitmap[8] = {};
  EXPECT_LT(n.share->range_mark(ctx(), 1, 0, 0, nullptr, bitmap), 0) << "share.range_mark";
  EXPECT_LT(n.share->range_mark(ctx(), 1, 0, 0, &value, nullptr), 0) << "share.range_mark";
  EXPECT_LT(n.reg->read(ctx(), dev(), &word, 1, nullptr), 0) << "reg.read";
}

TEST_F(NdlArguments, MissingInputsAreRefused) {
  const nrtp_ndl_ops& n = ndl();
  const std::uint64_t mem = allocate(4096);
  std::uint64_t word = 0;
  std::uint32_t value = 0;
  EXPECT_LT(n.copy->in(ctx(), mem, 0, nullptr, 1), 0) << "copy.in";
  EXPECT_LT(n.copy->out(ctx(), mem, 0, nullptr, 1), 0) << "copy.out";
  EXPECT_LT(n.dma->queue_init(ctx(), dev(), nullptr), 0) << "dma.queue_init";
  EXPECT_LT(n.nq->init(ctx(), dev(), nullptr, &word), 0) << "nq.init";
  EXPECT_LT(n.reg->read(ctx(), dev(), nullptr, 1, &value), 0) << "reg.read";
  EXPECT_LT(n.reg->write(ctx(), dev(), nullptr, 1, &value), 0) << "reg.write";
  EXPECT_LT(n.reg->write(ctx(), dev(), &word, 1, nullptr), 0) << "reg.write";
  EXPECT_LT(n.share->range_unmark(ctx(), nullptr), 0) << "share.range_unmark";
}

TEST_F(NdlArguments, OptionalOutputMayBeMissing) {
  std::uint64_t device = 0;
  ASSERT_EQ(ndl().device->open(ctx(), 0, &device, nullptr), 0) << "out_info";
  EXPECT_EQ(ndl().device->close(ctx(), device), 0);
  EXPECT_GT(ndl().device->available(ctx(), nullptr, 0), 0) << "the number alone";
}

TEST_F(NdlArguments, NoMoreIsWrittenThanFits) {
  std::array<std::int32_t, 3> indexes = {-7, -7, -7};
  ASSERT_GT(ndl().device->available(ctx(), indexes.data(), 1), 0);
  EXPECT_EQ(indexes[0], 0);
  EXPECT_EQ(indexes[1], -7);
  std::vector<char> whole(128, '#');
  const int status = ndl().probe->product_name(ctx(), whole.data(), whole.size());
  if (status != 0) {
    EXPECT_EQ(status, -ENOENT);
    return;
  }
  const std::string name(whole.data());
  ASSERT_FALSE(name.empty());
  ASSERT_LT(name.size(), whole.size());
  std::vector<char> tight(name.size() + 2, '#');
  EXPECT_EQ(ndl().probe->product_name(ctx(), tight.data(), name.size() + 1), 0);
  EXPECT_EQ(name, std::string(tight.data(), name.size()));
  EXPECT_EQ(tight[name.size()], 0);
  EXPECT_EQ(tight.back(), '#');
  std::vector<char> small(name.size() + 1, '#');
  EXPECT_LT(ndl().probe->product_name(ctx(), small.data(), name.size()), 0);
  EXPECT_EQ(small.back(), '#');
}

TEST_F(NdlArguments, BoardAgreesWithTheOpenDevice) {
  std::uint32_t arch = 0, revision = 0;
  ASSERT_EQ(ndl().device->board_info(ctx(), &arch, &revision), 0);
  EXPECT_EQ(arch, info().arch);
  EXPECT_EQ(revision, info().revision);
  EXPECT_GT(info().bar_size[0], 0u);
}

}  // namespace
}  // namespace opennrt::conform
