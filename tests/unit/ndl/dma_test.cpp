// SPDX-License-Identifier: Apache-2.0
//
// DMA engines, queues and descriptors.
#include <gmock/gmock.h>

#include <array>

#include "fake_port.h"

namespace opennrt::ndl_test {
namespace {

using ::testing::ElementsAre;

struct DmaTest : NdlTest {
  void SetUp() override {
    NdlTest::SetUp();
    dev = open_device();
  }
  uint64_t dev = 0;
};

TEST_F(DmaTest, QueueInitNamesRingsByDriverHandle) {
  const uint64_t tx = alloc(dev), rx = alloc(dev);
  port.on(0x80084E21, 48, [](void*) { return int64_t{0}; });
  const nrtp_ndl_queue queue = {4, 2, 64, 128, tx, rx};
  EXPECT_EQ(ops->dma->queue_init(ctx, dev, &queue), 0);
  const auto call = port.calls_of(0x80084E21).at(0);
  const std::vector<uint8_t> expected =
      Bytes().u32(4).u32(2).u32(64).u32(128).u64(1).u64(2).u64(0).u32(0).u32(0);
  EXPECT_EQ(call.arg, expected);
  EXPECT_EQ(port.file(call.fd).flags, uint32_t{NRTP_OPEN_READ});
}

TEST_F(DmaTest, QueueInitRefusesAHandleTheDriverWouldIgnore) {
  const uint64_t mem = alloc(dev);
  ASSERT_EQ(ops->mem->free(ctx, mem), 0);
  port.add_device(1);
  const uint64_t other = open_device(1);
  for (const uint64_t bad : {mem, dev, uint64_t{1}, alloc(other)}) {
    const nrtp_ndl_queue queue = {4, 2, 64, 64, bad, 0};
    EXPECT_EQ(ops->dma->queue_init(ctx, dev, &queue), -EINVAL);
    const nrtp_ndl_queue swapped = {4, 2, 64, 64, 0, bad};
    EXPECT_EQ(ops->dma->queue_init_batch(ctx, dev, &swapped, 1), -EINVAL);
  }
  EXPECT_TRUE(port.calls_of(0x80084E21).empty());
  EXPECT_TRUE(port.calls_of(0xB0084E85).empty());
}

TEST_F(DmaTest, ABatchIsSplitAtTheDriversLimit) {
  std::vector<nrtp_ndl_queue> queues(300);
  for (uint32_t i = 0; i < 300; ++i) queues[i] = {i % 132, i % 16, 64, 64, 0, 0};
  EXPECT_EQ(ops->dma->queue_init_batch(ctx, dev, queues.data(), 300), 0);
  const auto calls = port.calls_of(0xB0084E85);
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(calls[0].arg.size(), 12296u);
  EXPECT_EQ(get<uint32_t>(calls[0].arg.data(), 0), 255u);
  EXPECT_EQ(get<uint32_t>(calls[1].arg.data(), 0), 45u);
  EXPECT_EQ(get<uint32_t>(calls[1].arg.data(), 8), 255u % 132);
  EXPECT_EQ(get<uint32_t>(calls[1].arg.data(), 8 + 48 + 4), 256u % 16);
  EXPECT_EQ(ops->dma->queue_init_batch(ctx, dev, nullptr, 0), 0);
  EXPECT_EQ(ops->dma->queue_init_batch(ctx, dev, nullptr, 1), -EINVAL);
}

TEST_F(DmaTest, QueueNumbersOutOfRangeAreRefused) {
  const nrtp_ndl_queue bad_engine = {132, 0, 64, 64, 0, 0}, bad_queue = {0, 16, 64, 64, 0, 0};
  EXPECT_EQ(ops->dma->queue_init(ctx, dev, &bad_engine), -EINVAL);
  EXPECT_EQ(ops->dma->queue_init(ctx, dev, &bad_queue), -EINVAL);
  EXPECT_EQ(ops->dma->queue_init(ctx, dev, nullptr), -EINVAL);
  EXPECT_EQ(ops->dma->queue_release(ctx, dev, 132, 0), -EINVAL);
  EXPECT_EQ(ops->dma->queue_start(ctx, dev, 0, 16, 1, 1), -EINVAL);
  EXPECT_EQ(ops->dma->queue_start(ctx, dev, 0, 0, 1, 0), -EINVAL);  // would stop old kernels
  EXPECT_EQ(ops->dma->queue_ack(ctx, dev, 0, 16, 1), -EINVAL);
  EXPECT_EQ(ops->dma->queue_state(ctx, dev, 132, 0, nullptr, nullptr), -EINVAL);
  char out[16];
  EXPECT_EQ(ops->dma->desc_read(ctx, dev, 0, 16, 0, 0, 1, out), -EINVAL);
  EXPECT_EQ(ops->dma->desc_read(ctx, dev, 0, 0, 2, 0, 1, out), -EINVAL);
  EXPECT_EQ(ops->dma->desc_read(ctx, dev, 0, 0, 0, 0, 0, out), -EINVAL);
  EXPECT_EQ(ops->dma->desc_read(ctx, dev, 0, 0, 0, 0, 1, nullptr), -EINVAL);
  EXPECT_EQ(port.calls.size(), 1u);  // DEVICE_INFO
}

TEST_F(DmaTest, QueueStateComesFromBothDirections) {
  port.on(0xC0084E25, 24, [](void* arg) {
    EXPECT_EQ(get<uint32_t>(arg, 0), 7u);
    EXPECT_EQ(get<uint32_t>(arg, 4), 3u);
    for (uint32_t i = 0; i < 2; ++i) {
      void* state = get<void*>(arg, 8 + 8 * i);
      put<uint32_t>(state, 0, 10 + i);
      put<uint32_t>(state, 4, 20 + i);
      put<uint64_t>(state, 8, 30 + i);
      put<uint32_t>(state, 16, 40 + i);
      put<uint32_t>(state, 20, 50 + i);
      put<uint32_t>(state, 24, 60 + i);
    }
    return int64_t{0};
  });
  nrtp_ndl_queue_state tx{}, rx{};
  EXPECT_EQ(ops->dma->queue_state(ctx, dev, 7, 3, &tx, &rx), 0);
  EXPECT_EQ(tx.hw_status, 10u);
  EXPECT_EQ(tx.sw_status, 20u);
  EXPECT_EQ(tx.base, 30u);
  EXPECT_EQ(rx.length, 41u);
  EXPECT_EQ(rx.head, 51u);
  EXPECT_EQ(rx.tail, 61u);
  EXPECT_EQ(ops->dma->queue_state(ctx, dev, 7, 3, nullptr, &rx), 0);
}

TEST_F(DmaTest, EngineStateIsCutToTheCallersBuffer) {
  port.on(0xC0084E20, 16, [](void* arg) {
    EXPECT_EQ(get<uint32_t>(arg, 0), 7u);
    void* state = get<void*>(arg, 8);
    for (uint32_t i = 0; i < 5; ++i) put<uint32_t>(state, 4 * i, i + 1);
    return int64_t{0};
  });
  uint32_t out[3] = {0, 0, 99};
  EXPECT_EQ(ops->dma->eng_get_state(ctx, dev, 7, out, 8), 0);
  EXPECT_THAT(out, ElementsAre(1, 2, 99));
  EXPECT_EQ(ops->dma->eng_get_state(ctx, dev, 7, nullptr, 8), -EINVAL);
}

TEST_F(DmaTest, DescriptorsAreWrittenIntoTheRing) {
  const uint64_t ring = alloc(dev, 4096);
  const std::array<uint8_t, 32> descs = {1, 2, 3};
  EXPECT_EQ(ops->dma->desc_write(ctx, ring, descs.data(), 4096 - 32, 2, 1), 0);
  const auto call = port.calls_of(0x80284E26).at(0);
  const std::vector<uint8_t> expected = Bytes()
                                            .u64(1)
                                            .u64(reinterpret_cast<uintptr_t>(descs.data()))
                                            .u32(2)
                                            .u32(0)
                                            .u64(4064)
                                            .u32(1)
                                            .u32(0);
  EXPECT_EQ(call.arg, expected);
  EXPECT_EQ(ops->dma->desc_write(ctx, ring, descs.data(), 4096 - 31, 2, 1), -EINVAL);
  EXPECT_EQ(ops->dma->desc_write(ctx, ring, descs.data(), ~uint64_t{0}, 2, 1), -EINVAL);
  EXPECT_EQ(ops->dma->desc_write(ctx, ring, descs.data(), 0, 1, 2), -EINVAL);
  EXPECT_EQ(ops->dma->desc_write(ctx, ring, nullptr, 0, 1, 0), -EINVAL);
  EXPECT_EQ(ops->dma->desc_write(ctx, ring, nullptr, 0, 0, 0), 0);
  EXPECT_EQ(port.calls_of(0x80284E26).size(), 1u);
}

TEST_F(DmaTest, DescriptorsAreReadBack) {
  std::array<uint8_t, 32> out{};
  port.on(0xC0084E27, 32, [](void* arg) {
    std::memset(get<void*>(arg, 24), 0x5A, 32);
    return int64_t{0};
  });
  EXPECT_EQ(ops->dma->desc_read(ctx, dev, 3, 1, 1, 10, 2, out.data()), 0);
  EXPECT_EQ(out[31], 0x5A);
  const auto call = port.calls_of(0xC0084E27).at(0);
  for (const auto& [offset, value] :
       std::vector<std::pair<size_t, uint32_t>>{{0, 3}, {4, 1}, {8, 1}, {12, 10}, {16, 2}})
    EXPECT_EQ(get<uint32_t>(call.arg.data(), offset), value);
}

}  // namespace
}  // namespace opennrt::ndl_test
