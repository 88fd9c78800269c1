// SPDX-License-Identifier: Apache-2.0
//
// ndl-kernel on the emulated driver, as built: both sides state the driver's
// interface on their own, so what works here was read the same way twice.
#include <gmock/gmock.h>

#include <array>
#include <cerrno>
#include <numeric>
#include <thread>

#include "support/device_stack.h"

namespace opennrt::ndl_test {
namespace {

constexpr uint64_t kMiB = 1 << 20;

class OnEmulator : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    stack = std::make_unique<test::DeviceStack>(
        OPENNRT_TEST_PLUGIN_DIR, "sunda",
        std::map<std::string, std::string>{{"emulator.driver_version", GetParam()}});
    ops = stack->bindings().ndl;
    ctx = stack->bindings().ndl_ctx;
    ASSERT_EQ(ops->device->open(ctx, 0, &dev, &info), 0);
    std::iota(pattern.begin(), pattern.end(), uint8_t{1});
  }
  void TearDown() override {
    if (dev) {
      EXPECT_EQ(ops->device->close(ctx, dev), 0);
    }
    ops->device->close_all(ctx);
  }
  uint64_t alloc(uint64_t bytes, uint32_t host, uint32_t core = 0) {
    uint64_t mem = 0;
    EXPECT_EQ(ops->mem->alloc(ctx, dev, bytes, 0, host, 0, 0, core,
                              host ? NRTP_MEM_TENSORS_HOST : NRTP_MEM_TENSORS_DEVICE, &mem),
              0);
    return mem;
  }

  std::unique_ptr<test::DeviceStack> stack;
  const nrtp_ndl_ops* ops = nullptr;
  void* ctx = nullptr;
  uint64_t dev = 0;
  nrtp_ndl_device_info info{};
  std::array<uint8_t, 10000> pattern{};
};

TEST_P(OnEmulator, TellsWhatItIs) {
  int32_t indexes[64];
  EXPECT_EQ(ops->device->available(ctx, indexes, 64), 1);
  EXPECT_EQ(indexes[0], 0);
  uint32_t arch = 0, revision = 0, zerocopy = 9;
  EXPECT_EQ(ops->device->board_info(ctx, &arch, &revision), 0);
  EXPECT_EQ(arch, 2u);
  EXPECT_EQ(revision, 240u);
  EXPECT_EQ(info.arch, 2u);
  EXPECT_GT(info.bar_size[0], 0u);
  EXPECT_EQ(ops->caps(ctx) & 0xFF, 0xFFu);
  EXPECT_EQ(ops->probe->feature_supported(ctx, NRTP_FEATURE_ZEROCOPY, &zerocopy), 0);
  EXPECT_EQ(zerocopy, std::string_view(GetParam()) == "2.24.7.0" ? 0u : 1u);
  nrtp_ndl_version version{};
  EXPECT_EQ(ops->probe->get_version(ctx, &version), 0);
  EXPECT_STREQ(version.text, GetParam());
  nrtp_ndl_bdf bdf{};
  EXPECT_EQ(ops->device->bdf_ext(ctx, 0, &bdf), 0);
  EXPECT_EQ(ops->device->bdf_ext(ctx, 1, &bdf), -EINVAL);
  uint32_t map[64], count = 64, id = 9, pairs[8];
  EXPECT_EQ(ops->device->host_device_id(ctx, dev, &id), 0);
  EXPECT_EQ(ops->device->rid_map(ctx, &count, map), 0);
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(ops->device->nc_map(ctx, 4, &count, pairs), -524) << "arch 2 has no core map";
  uint32_t type = 9, size = 9, state = 9;
  int32_t node = 9;
  EXPECT_EQ(ops->pod->status(ctx, nullptr, &state, &type, &size, &node, nullptr, nullptr), 0);
  EXPECT_EQ(state, 4u);
  EXPECT_EQ(type, 0u);
  EXPECT_EQ(node, -1);
  EXPECT_EQ(ops->pod->info(ctx, &type, &size), 0);
  EXPECT_EQ(ops->misc->printk(ctx, "test", 5, 0), 0);
}

TEST_P(OnEmulator, CoresBecomeReady) {
  uint32_t request = 0, ready = 0;
  EXPECT_EQ(ops->life->reset(ctx, dev, 3, &request), 0);
  EXPECT_EQ(ops->life->ready(ctx, dev, request, &ready), 0);
  EXPECT_EQ(ready, 1u);
  EXPECT_EQ(ops->life->ready(ctx, dev, request, &ready), 0);
  EXPECT_EQ(ready, 0u) << "the first wait consumes the request";
}

TEST_P(OnEmulator, BytesComeBackFromDeviceAndHostMemory) {
  for (const uint32_t host : {0u, 1u}) {
    const uint64_t mem = alloc(12000, host);
    EXPECT_EQ(ops->copy->in(ctx, mem, 5, pattern.data(), pattern.size()), 0);
    std::array<uint8_t, 10000> back{};
    EXPECT_EQ(ops->copy->out(ctx, mem, 5, back.data(), back.size()), 0);
    EXPECT_EQ(back, pattern);
    EXPECT_EQ(ops->copy->set(ctx, mem, 100, 0xAB, 50), 0);
    void* va = nullptr;
    ASSERT_EQ(ops->mem->map(ctx, mem, &va), 0);
    const auto* seen = static_cast<const uint8_t*>(va);
    EXPECT_EQ(seen[99], pattern[94]);
    EXPECT_EQ(seen[100], 0xAB);
    EXPECT_EQ(seen[149], 0xAB);
    EXPECT_EQ(seen[150], pattern[145]);
    uint64_t pa = 0, cookie = 0, bytes = 0, handle = 0;
    EXPECT_EQ(ops->mem->get_pa(ctx, mem, &pa), 0);
    EXPECT_EQ(ops->mem->mc_info(ctx, dev, pa + 100, &cookie, &bytes, &handle), 0);
    EXPECT_EQ(cookie, pa);
    EXPECT_EQ(bytes, 12288u);
    EXPECT_EQ(ops->mem->free(ctx, mem), 0);
    EXPECT_EQ(ops->mem->mc_info(ctx, dev, pa, &cookie, &bytes, &handle), -ENOMEM);
  }
}

TEST_P(OnEmulator, StagedCopiesThroughTheCopyBuffer) {
  nrtp_ndl_copy_buf buffer{};
  ASSERT_EQ(ops->mem->copy_buf(ctx, dev, 1, &buffer), 0);
  std::copy(pattern.begin(), pattern.end(), static_cast<uint8_t*>(buffer.va));
  const uint64_t mem = alloc(16384, 0, 1);
  int32_t wait = -1;
  EXPECT_EQ(ops->copy->copy_async(ctx, buffer.mem, mem, 0, 0, 4096, 0, &wait), 0);
  EXPECT_EQ(wait, 1);
  EXPECT_EQ(ops->copy->copy_async(ctx, buffer.mem, mem, 4096, 4096, 4096, 0, &wait), 0);
  EXPECT_EQ(wait, 2);
  EXPECT_EQ(ops->copy->copy_wait(ctx, mem, wait), 0);
  EXPECT_EQ(ops->copy->copy_wait(ctx, mem, wait), -EINVAL) << "the slot is idle";
  std::array<uint8_t, 8192> back{};
  EXPECT_EQ(ops->copy->out(ctx, mem, 0, back.data(), back.size()), 0);
  EXPECT_TRUE(std::equal(back.begin(), back.end(), pattern.begin()));
  EXPECT_EQ(ops->copy->copy(ctx, mem, buffer.mem, 0, 1000000, 8192), 0);
  EXPECT_TRUE(std::equal(back.begin(), back.end(), static_cast<uint8_t*>(buffer.va) + 1000000));
}

TEST_P(OnEmulator, ACopyLargerThanAnAsyncSlot) {
  constexpr uint64_t kBytes = 200 * kMiB;  // a slot takes 127 MiB
  const uint64_t src = alloc(kBytes, 0), dst = alloc(kBytes, 0);
  EXPECT_EQ(ops->copy->set(ctx, src, 0, 0x5A, kBytes), 0);
  EXPECT_EQ(ops->copy->in(ctx, src, kBytes - pattern.size(), pattern.data(), pattern.size()), 0);
  int32_t wait = -1;
  EXPECT_EQ(ops->copy->copy_async(ctx, src, dst, 0, 0, kBytes, 0, &wait), 0);
  EXPECT_EQ(wait, 2);
  EXPECT_EQ(ops->copy->copy_wait(ctx, dst, wait), 0);
  std::array<uint8_t, 10000> back{};
  EXPECT_EQ(ops->copy->out(ctx, dst, kBytes - back.size(), back.data(), back.size()), 0);
  EXPECT_EQ(back, pattern);
}

TEST_P(OnEmulator, Arch2HasNoZeroCopy) {
  const uint64_t mem = alloc(65536, 0);
  EXPECT_EQ(ops->copy->zc_out(ctx, mem, 0, pattern.data(), 8192, -1), -EINVAL);
  const nrtp_copy_op op = {0, 8192, pattern.data()};
  const nrtp_copy_batch batch = {mem, 0, &op, 1, 0};
  EXPECT_EQ(ops->copy->batch(ctx, dev, &batch, 1, 0, -1), -EINVAL);
}

TEST_P(OnEmulator, SemaphoresAndEvents) {
  uint32_t value = 0;
  EXPECT_EQ(ops->sync->sem_write(ctx, dev, 1, 200, 5), 0);
  EXPECT_EQ(ops->sync->sem_inc(ctx, dev, 1, 200, 3), 0);
  EXPECT_EQ(ops->sync->sem_dec(ctx, dev, 1, 200, 2), 0);
  EXPECT_EQ(ops->sync->sem_read(ctx, dev, 1, 200, &value), 0);
  EXPECT_EQ(value, 6u);
  EXPECT_EQ(ops->sync->sem_inc(ctx, dev, 2, 200, 1), -E2BIG) << "two cores";
  EXPECT_EQ(ops->sync->event_set(ctx, dev, 0, 7, 1), 0);
  EXPECT_EQ(ops->sync->event_get(ctx, dev, 0, 7, &value), 0);
  EXPECT_EQ(value, 1u);
}

TEST_P(OnEmulator, QueuesTakeTheirRings) {
  const uint64_t tx = alloc(4096, 0), rx = alloc(4096, 0);
  const nrtp_ndl_queue queue = {3, 1, 64, 128, tx, rx};
  EXPECT_EQ(ops->dma->queue_init(ctx, dev, &queue), 0);
  nrtp_ndl_queue_state tx_state{}, rx_state{};
  EXPECT_EQ(ops->dma->queue_state(ctx, dev, 3, 1, &tx_state, &rx_state), 0);
  uint64_t tx_pa = 0, rx_pa = 0;
  EXPECT_EQ(ops->mem->get_pa(ctx, tx, &tx_pa), 0);
  EXPECT_EQ(ops->mem->get_pa(ctx, rx, &rx_pa), 0);
  EXPECT_EQ(tx_state.base, tx_pa);
  EXPECT_EQ(rx_state.base, rx_pa);
  EXPECT_EQ(tx_state.length, 64u);
  EXPECT_EQ(rx_state.length, 128u);
  std::vector<nrtp_ndl_queue> many(300, nrtp_ndl_queue{4, 2, 64, 64, tx, rx});
  EXPECT_EQ(ops->dma->queue_init_batch(ctx, dev, many.data(), 300), 0);
  std::array<uint8_t, 32> descs{}, back{};
  descs[0] = 64;
  descs[16] = 32;
  EXPECT_EQ(ops->dma->desc_write(ctx, tx, descs.data(), 0, 2, 0), 0);
  EXPECT_EQ(ops->copy->out(ctx, tx, 0, back.data(), 32), 0);
  EXPECT_EQ(back, descs);
  EXPECT_EQ(ops->dma->queue_start(ctx, dev, 3, 1, 65, 65), -EPERM) << "more than the ring holds";
}

TEST_P(OnEmulator, NotificationQueuesOutliveTheirMapping) {
  nrtp_ndl_nq_config config{};
  config.size = sizeof config;
  config.nq_type = 1;
  config.engine_index = 2;
  config.bytes = 16384;
  config.host_memory = 1;
  uint64_t first = 0, second = 0, mem = 0;
  void *va = nullptr, *again = nullptr;
  ASSERT_EQ(ops->nq->init(ctx, dev, &config, &first), 0);
  ASSERT_EQ(ops->nq->map(ctx, first, &va), 0);
  static_cast<uint8_t*>(va)[100] = 77;
  EXPECT_EQ(ops->nq->destroy(ctx, first), 0);
  ASSERT_EQ(ops->nq->init(ctx, dev, &config, &second), 0);
  ASSERT_EQ(ops->nq->map(ctx, second, &again), 0);
  EXPECT_EQ(static_cast<uint8_t*>(again)[100], 77) << "the driver keeps the memory";
  EXPECT_EQ(ops->nq->handle(ctx, second, &mem), 0);
  uint8_t byte = 0;
  EXPECT_EQ(ops->copy->out(ctx, mem, 100, &byte, 1), 0);
  EXPECT_EQ(byte, 77);
  config.bytes = 10000;
  EXPECT_EQ(ops->nq->init(ctx, dev, &config, &first), -EINVAL) << "no power of two";
}

TEST_P(OnEmulator, DataStoreAndReservation) {
  void* va = nullptr;
  uint64_t bytes = 0;
  ASSERT_EQ(ops->share->nds_open(ctx, dev, 0, &va, &bytes), 0);
  EXPECT_EQ(bytes, 262144u);
  static_cast<uint8_t*>(va)[2000] = 1;
  EXPECT_EQ(ops->share->nds_close(ctx, dev, 0, va, bytes), 0);
  EXPECT_EQ(ops->share->nds_open(ctx, dev, 999999, &va, &bytes), -ENOENT);

  uint64_t all[8] = {}, more[8] = {};
  uint32_t longest = 9;
  EXPECT_EQ(ops->share->range_mark(ctx, 2, 0, 1, &longest, all), 0);
  EXPECT_EQ(all[0], 3u);
  EXPECT_EQ(ops->share->range_mark(ctx, 1, 0, 1, &longest, more), -EBUSY);
  EXPECT_EQ(longest, 0u);
  EXPECT_EQ(ops->share->range_unmark(ctx, all), 0);
  EXPECT_EQ(ops->share->range_mark(ctx, 1, 0, 1, &longest, more), 0);
  // Closing the misc descriptor gives the reservation up.
  ops->device->close_all(ctx);
  EXPECT_EQ(ops->share->range_mark(ctx, 2, 0, 1, &longest, all), 0);
}

TEST_P(OnEmulator, ThreadsShareADevice) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      std::array<uint8_t, 3000> in{}, out{};
      in.fill(static_cast<uint8_t>(t + 1));
      for (int round = 0; round < 50; ++round) {
        const uint64_t mem = alloc(4096, round % 2);
        void* va = nullptr;
        EXPECT_EQ(ops->copy->in(ctx, mem, 7, in.data(), in.size()), 0);
        EXPECT_EQ(ops->mem->map(ctx, mem, &va), 0);
        EXPECT_EQ(ops->copy->out(ctx, mem, 7, out.data(), out.size()), 0);
        EXPECT_EQ(in, out);
        EXPECT_EQ(ops->sync->sem_inc(ctx, dev, 0, 50, 1), 0);
        EXPECT_EQ(ops->mem->free(ctx, mem), 0);
      }
    });
  for (std::thread& thread : threads) thread.join();
  uint32_t value = 0;
  EXPECT_EQ(ops->sync->sem_read(ctx, dev, 0, 50, &value), 0);
  EXPECT_EQ(value, 200u);
}

TEST_P(OnEmulator, CloseGivesTheMemoryBack) {
  uint32_t before = 0, after = 0;
  EXPECT_EQ(ops->mem->dump(ctx, dev, 0, nullptr, &before), -EAGAIN);
  for (int i = 0; i < 10; ++i) alloc(4096, 0);
  uint32_t request = 0;  // a cached descriptor keeps this process attached
  EXPECT_EQ(ops->life->reset(ctx, dev, 1, &request), 0);
  EXPECT_EQ(ops->device->close(ctx, dev), 0);
  ASSERT_EQ(ops->device->open(ctx, 0, &dev, nullptr), 0);
  EXPECT_EQ(ops->mem->dump(ctx, dev, 0, nullptr, &after), -EAGAIN);
  EXPECT_EQ(after, before);
}

INSTANTIATE_TEST_SUITE_P(Drivers, OnEmulator,
                         ::testing::Values("2.24.7.0", "2.25.4.0", "2.26.5.0", "2.27.4.0"),
                         [](const auto& param) {
                           std::string name = param.param;
                           std::replace(name.begin(), name.end(), '.', '_');
                           return name;
                         });

}  // namespace
}  // namespace opennrt::ndl_test
