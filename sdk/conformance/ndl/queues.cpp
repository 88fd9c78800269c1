// SPDX-License-Identifier: Apache-2.0
//
// DMA queues and notification queues.
#include <array>
#include <cerrno>
#include <cstring>

#include "ndl/ndl_silicon.h"

namespace opennrt::conform {
namespace {

constexpr std::uint32_t kDescriptorBytes = 16;

class NdlQueues : public NdlSiliconCase {
 protected:
  std::uint64_t address(std::uint64_t mem) {
    std::uint64_t pa = 0;
    EXPECT_EQ(ndl().mem->get_pa(ctx(), mem, &pa), 0);
    return pa;
  }
  // A queue of 64 descriptors each way.
  nrtp_ndl_queue queue() {
    const nrtp_dma_slot slot = model_queue();
    return {slot.engine,
            slot.queue,
            64,
            64,
            allocate(64 * kDescriptorBytes),
            allocate(64 * kDescriptorBytes)};
  }
  // One descriptor of the first lap: a whole packet.
  int write_descriptor(std::uint64_t ring, std::uint32_t type, std::uint64_t pa,
                       std::uint32_t bytes) {
    constexpr std::uint32_t kFirstLap = 1u << 24, kFirst = 1u << 26, kLast = 1u << 27;
    constexpr std::uint32_t kPlainCopy = 0x01080003;
    std::array<std::uint8_t, kDescriptorBytes> d{};
    const std::uint32_t control = bytes | kFirstLap | kFirst | kLast;
    const std::uint32_t meta = type == 0 ? kPlainCopy : 0;
    std::memcpy(d.data(), &control, 4);
    std::memcpy(d.data() + 4, &meta, 4);
    std::memcpy(d.data() + 8, &pa, 8);
    const int status = ndl().dma->desc_write(ctx(), ring, d.data(), 0, 1, type);
    // A member that need not be there: a ring is memory.
    return status == -EINVAL ? ndl().copy->in(ctx(), ring, 0, d.data(), d.size()) : status;
  }
};

TEST_F(NdlQueues, ATransferMovesTheBytes) {
  const nrtp_ndl_queue q = queue();
  const std::uint64_t src = allocate(4096), dst = allocate(4096);
  std::array<std::uint8_t, 4096> in{}, out{};
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<std::uint8_t>(i * 7 + i / 256);
  ASSERT_EQ(ndl().copy->in(ctx(), src, 0, in.data(), in.size()), 0);
  ASSERT_EQ(ndl().copy->in(ctx(), dst, 0, out.data(), out.size()), 0);
  ASSERT_EQ(ndl().dma->queue_init(ctx(), dev(), &q), 0);
  ASSERT_EQ(write_descriptor(q.tx_mem, 0, address(src), 4096), 0);
  ASSERT_EQ(write_descriptor(q.rx_mem, 1, address(dst), 4096), 0);
  ASSERT_EQ(ndl().dma->queue_start(ctx(), dev(), q.engine, q.queue, 1, 1), 0);
  at("waiting for the transfer");
  for (int i = 0; i < 10'000 && out != in; ++i) {
    ndl().misc->sleep_us(ctx(), 100);
    ASSERT_EQ(ndl().copy->out(ctx(), dst, 0, out.data(), out.size()), 0);
  }
  EXPECT_EQ(in, out);
}

TEST_F(NdlQueues, TheRingsAreWhereTheyWerePut) {
  const nrtp_ndl_queue q = queue();
  ASSERT_EQ(ndl().dma->queue_init(ctx(), dev(), &q), 0);
  nrtp_ndl_queue_state tx{}, rx{};
  const int status = ndl().dma->queue_state(ctx(), dev(), q.engine, q.queue, &tx, &rx);
  if (status == -EINVAL) GTEST_SKIP() << "not offered";
  ASSERT_EQ(status, 0);
  EXPECT_EQ(tx.base, address(q.tx_mem));
  EXPECT_EQ(rx.base, address(q.rx_mem));
  EXPECT_EQ(tx.length, 64u);
  EXPECT_EQ(rx.length, 64u);
}

TEST_F(NdlQueues, OthersAreRefused) {
  const nrtp_ndl_queue good = queue();
  const auto init = [&](nrtp_ndl_queue q) { return ndl().dma->queue_init(ctx(), dev(), &q); };
  for (const std::uint32_t engine : {1000u, UINT32_MAX}) {
    nrtp_ndl_queue q = good;
    q.engine = engine;
    EXPECT_LT(init(q), 0) << "engine " << engine;
    EXPECT_LT(ndl().dma->queue_start(ctx(), dev(), engine, 0, 1, 1), 0) << "engine " << engine;
  }
  for (const std::uint32_t number : {1000u, UINT32_MAX}) {
    nrtp_ndl_queue q = good;
    q.queue = number;
    EXPECT_LT(init(q), 0) << "queue " << number;
    EXPECT_LT(ndl().dma->queue_start(ctx(), dev(), good.engine, number, 1, 1), 0)
        << "queue " << number;
  }
  std::uint64_t freed = 0;
  ASSERT_EQ(ndl().mem->alloc(ctx(), dev(), 4096, 0, 0, 0, 0, 0, NRTP_MEM_DMA_RINGS_DEVICE, &freed),
            0);
  ASSERT_EQ(ndl().mem->free(ctx(), freed), 0);
  nrtp_ndl_queue q = good;
  q.tx_mem = freed;
  EXPECT_LT(init(q), 0) << "a ring in freed memory";
  q = good;
  q.rx_mem = UINT64_MAX;
  EXPECT_LT(init(q), 0) << "a ring in memory that never was";
}

TEST_F(NdlQueues, MoreThanTheRingHoldsIsRefused) {
  const nrtp_ndl_queue q = queue();
  ASSERT_EQ(ndl().dma->queue_init(ctx(), dev(), &q), 0);
  EXPECT_LT(ndl().dma->queue_start(ctx(), dev(), q.engine, q.queue, 65, 65), 0);
  EXPECT_LT(ndl().dma->queue_start(ctx(), dev(), q.engine, q.queue, 1, 0), 0) << "no receiver";
}

// --- notification queues

class NdlNotifications : public NdlSiliconCase {
 protected:
  static nrtp_ndl_nq_config config(std::uint32_t bytes = 16384) {
    nrtp_ndl_nq_config out{};
    out.size = sizeof out;
    out.nq_type = 1;
    out.engine_index = 2;
    out.bytes = bytes;
    out.host_memory = 1;
    return out;
  }
};

TEST_F(NdlNotifications, AQueueIsMemoryThatCanBeMapped) {
  const nrtp_ndl_nq_config c = config();
  std::uint64_t nq = 0, mem = 0;
  void* va = nullptr;
  ASSERT_EQ(ndl().nq->init(ctx(), dev(), &c, &nq), 0);
  ASSERT_EQ(ndl().nq->map(ctx(), nq, &va), 0);
  ASSERT_NE(va, nullptr);
  std::memset(va, 0x42, c.bytes);
  if (ndl().nq->handle(ctx(), nq, &mem) == 0) {
    char last = 0;
    EXPECT_EQ(ndl().copy->out(ctx(), mem, c.bytes - 1, &last, 1), 0);
    EXPECT_EQ(last, 0x42);
    EXPECT_LT(ndl().mem->free(ctx(), mem), 0) << "it belongs to the queue";
  }
  std::uint32_t bytes = 0;
  if (ndl().nq->bytes(ctx(), nq, &bytes) == 0) {
    EXPECT_EQ(bytes, c.bytes);
  }
  const int status = ndl().nq->destroy(ctx(), nq);
  if (status == -EINVAL) return;  // not offered
  ASSERT_EQ(status, 0);
  EXPECT_LT(ndl().nq->map(ctx(), nq, &va), 0) << "a queue that is gone";
  EXPECT_LT(ndl().nq->destroy(ctx(), nq), 0) << "twice";
}

TEST_F(NdlNotifications, OthersAreRefused) {
  std::uint64_t nq = 0;
  const auto expect_refused = [&](const nrtp_ndl_nq_config& c, const char* what) {
    EXPECT_LT(ndl().nq->init(ctx(), dev(), &c, &nq), 0) << what;
  };
  expect_refused(config(10'000), "a size that is no power of two");
  expect_refused(config(0), "no size");
  nrtp_ndl_nq_config c = config();
  c.size = 4;
  expect_refused(c, "a configuration that ends before its members");
  c = config();
  c.device_id = 1000;
  expect_refused(c, "a core that is not there");
  c = config();
  c.engine_index = 1000;
  expect_refused(c, "a hardware queue that is not there");
  void* va = nullptr;
  for (const std::uint64_t made_up : {std::uint64_t{0}, std::uint64_t{12345}, UINT64_MAX})
    EXPECT_LT(ndl().nq->map(ctx(), made_up, &va), 0) << made_up;
}

}  // namespace
}  // namespace opennrt::conform
