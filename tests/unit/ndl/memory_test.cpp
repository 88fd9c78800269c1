// SPDX-License-Identifier: Apache-2.0
//
// Memory objects and notification queues: handles, mappings, misuse.
#include <gmock/gmock.h>

#include <atomic>
#include <thread>

#include "fake_port.h"

namespace opennrt::ndl_test {
namespace {

constexpr uint32_t kGetPaCode = 0x80084E19;
constexpr uint32_t kNqInitCode = 0x80084E36;

struct MemoryTest : NdlTest {
  void SetUp() override {
    NdlTest::SetUp();
    dev = open_device();
    port.on(kMemFreeCode, 8, [](void*) { return int64_t{0}; });
  }
  void answer_queue(uint64_t cookie) {
    port.on(kNqInitCode, 56, [cookie](void* arg) {
      put<uint64_t>(arg, 40, cookie);
      put<uint64_t>(arg, 48, 321);
      return int64_t{0};
    });
  }
  uint64_t dev = 0;
};

TEST_F(MemoryTest, AllocSendsTheNewestForm) {
  uint64_t mem = 0;
  ASSERT_EQ(ops->mem->alloc(ctx, dev, 5000, 65536, 0, 1, 0, 6, NRTP_MEM_CODE_DEVICE, &mem), 0);
  const auto call = port.calls_of(kMemAllocCode).at(0);
  ASSERT_EQ(call.arg.size(), 56u);
  const uint8_t* arg = call.arg.data();
  EXPECT_EQ(get<uint64_t>(arg, 0), 5000u);
  EXPECT_EQ(get<uint64_t>(arg, 8), 65536u);
  EXPECT_EQ(get<uint32_t>(arg, 16), 0u);
  EXPECT_EQ(get<uint32_t>(arg, 20), 1u);
  EXPECT_EQ(get<uint32_t>(arg, 24), 0u);
  EXPECT_EQ(get<uint32_t>(arg, 28), 6u);
  EXPECT_EQ(get<uint32_t>(arg, 32), 8u);
  EXPECT_EQ(get<uint32_t>(arg, 36), 0u);
  EXPECT_EQ(get<uint64_t>(arg, 48), 0u);
}

TEST_F(MemoryTest, ContiguousScratchpadIsAType) {
  uint64_t mem = 0;
  ASSERT_EQ(ops->mem->alloc_contig(ctx, dev, 4096, 2, 5, &mem), 0);
  const auto call = port.calls_of(kMemAllocCode).at(0);
  EXPECT_EQ(get<uint32_t>(call.arg.data(), 20), 2u);
  EXPECT_EQ(get<uint32_t>(call.arg.data(), 28), 5u);
  EXPECT_EQ(get<uint32_t>(call.arg.data(), 32), 19u);
}

TEST_F(MemoryTest, AllocErrors) {
  uint64_t mem = 77;
  EXPECT_EQ(ops->mem->alloc(ctx, dev, 1, 0, 0, 0, 0, 0, 9, nullptr), -EINVAL);
  EXPECT_EQ(ops->mem->alloc(ctx, 0, 1, 0, 0, 0, 0, 0, 9, &mem), -EINVAL);
  port.fail(kMemAllocCode, -ENOMEM);
  EXPECT_EQ(ops->mem->alloc(ctx, dev, 1, 0, 0, 0, 0, 0, 9, &mem), -ENOMEM);
  port.fail(kMemAllocCode, 8);
  EXPECT_EQ(ops->mem->alloc(ctx, dev, 1, 0, 0, 0, 0, 0, 9, &mem), -EFAULT);
  EXPECT_EQ(mem, 77u);
}

TEST_F(MemoryTest, FreeNamesTheDriversHandle) {
  const uint64_t a = alloc(dev), b = alloc(dev);
  EXPECT_EQ(ops->mem->free(ctx, b), 0);
  EXPECT_EQ(get<uint64_t>(port.calls_of(kMemFreeCode).at(0).arg.data(), 0), 2u);
  EXPECT_EQ(ops->mem->free(ctx, a), 0);
  EXPECT_EQ(get<uint64_t>(port.calls_of(kMemFreeCode).at(1).arg.data(), 0), 1u);
}

TEST_F(MemoryTest, EveryOperationRefusesAStaleHandle) {
  const uint64_t mem = alloc(dev), live = alloc(dev);
  ASSERT_EQ(ops->mem->free(ctx, mem), 0);
  const size_t before = port.calls.size();
  char buffer[16] = {};
  for (const uint64_t bad : {mem, uint64_t{0}, uint64_t{1}, dev, ~uint64_t{0}}) {
    uint64_t pa = 0;
    void* va = nullptr;
    int32_t wait = -1;
    EXPECT_EQ(ops->mem->free(ctx, bad), -EINVAL);
    EXPECT_EQ(ops->mem->get_pa(ctx, bad, &pa), -EINVAL);
    EXPECT_EQ(ops->mem->map(ctx, bad, &va), -EINVAL);
    EXPECT_EQ(ops->mem->map_contig(ctx, bad, 4096, &va), -EINVAL);
    EXPECT_EQ(ops->mem->unmap(ctx, bad), -EINVAL);
    EXPECT_EQ(ops->copy->in(ctx, bad, 0, buffer, 16), -EINVAL);
    EXPECT_EQ(ops->copy->out(ctx, bad, 0, buffer, 16), -EINVAL);
    EXPECT_EQ(ops->copy->zc_in(ctx, bad, 0, buffer, 16, -1, 0), -EINVAL);
    EXPECT_EQ(ops->copy->zc_out(ctx, bad, 0, buffer, 16, -1), -EINVAL);
    EXPECT_EQ(ops->copy->copy(ctx, bad, live, 0, 0, 16), -EINVAL);
    EXPECT_EQ(ops->copy->copy(ctx, live, bad, 0, 0, 16), -EINVAL);
    EXPECT_EQ(ops->copy->copy_async(ctx, live, bad, 0, 0, 16, 0, &wait), -EINVAL);
    EXPECT_EQ(ops->copy->copy_wait(ctx, bad, 1), -EINVAL);
    EXPECT_EQ(ops->copy->set(ctx, bad, 0, 1, 16), -EINVAL);
    EXPECT_EQ(ops->dma->desc_write(ctx, bad, buffer, 0, 1, 0), -EINVAL);
  }
  EXPECT_EQ(port.calls.size(), before);
}

TEST_F(MemoryTest, AReusedSlotDoesNotReviveTheOldHandle) {
  const uint64_t first = alloc(dev);
  ASSERT_EQ(ops->mem->free(ctx, first), 0);
  for (int i = 0; i < 5000; ++i) {
    const uint64_t next = alloc(dev);
    ASSERT_NE(next, first);
    ASSERT_EQ(ops->mem->free(ctx, next), 0);
  }
  EXPECT_EQ(ops->mem->free(ctx, first), -EINVAL);
}

TEST_F(MemoryTest, TwoThreadsFreeOnce) {
  for (int round = 0; round < 100; ++round) {
    const uint64_t mem = alloc(dev);
    std::atomic<int> freed{0}, refused{0};
    const auto run = [&] {
      const int result = ops->mem->free(ctx, mem);
      freed += result == 0;
      refused += result == -EINVAL;
    };
    std::thread a(run), b(run);
    a.join();
    b.join();
    ASSERT_EQ(freed, 1);
    ASSERT_EQ(refused, 1);
  }
  EXPECT_EQ(port.calls_of(kMemFreeCode).size(), 100u);
}

TEST_F(MemoryTest, TheAddressIsAskedOnce) {
  const uint64_t mem = alloc(dev);
  port.on(kGetPaCode, 16, [](void* arg) {
    EXPECT_EQ(get<uint64_t>(arg, 0), 1u);
    *get<uint64_t*>(arg, 8) = 0x123456000;
    return int64_t{0};
  });
  uint64_t pa = 0;
  EXPECT_EQ(ops->mem->get_pa(ctx, mem, &pa), 0);
  EXPECT_EQ(ops->mem->get_pa(ctx, mem, &pa), 0);
  EXPECT_EQ(pa, 0x123456000u);
  EXPECT_EQ(port.calls_of(kGetPaCode).size(), 1u);
  EXPECT_EQ(ops->mem->get_pa(ctx, mem, nullptr), -EINVAL);
}

TEST_F(MemoryTest, AFailedAddressIsAskedAgain) {
  const uint64_t mem = alloc(dev);
  port.fail(kGetPaCode, -EINVAL);
  uint64_t pa = 5;
  EXPECT_EQ(ops->mem->get_pa(ctx, mem, &pa), -EINVAL);
  EXPECT_EQ(pa, 5u);
  port.on(kGetPaCode, 16, [](void* arg) {
    *get<uint64_t*>(arg, 8) = 0;
    return int64_t{0};
  });
  EXPECT_EQ(ops->mem->get_pa(ctx, mem, &pa), 0);
  EXPECT_EQ(pa, 0u);
}

// --- mappings

TEST_F(MemoryTest, AMappingIsTheRoundedWhole) {
  const uint64_t mem = alloc(dev, 5000);
  void *first = nullptr, *second = nullptr;
  ASSERT_EQ(ops->mem->map(ctx, mem, &first), 0);
  EXPECT_EQ(port.maps[first].bytes, 8192u);
  EXPECT_EQ(port.maps[first].offset, 1u << 20);
  EXPECT_EQ(port.maps[first].prot, uint32_t{NRTP_PROT_READ | NRTP_PROT_WRITE});
  EXPECT_EQ(port.file(port.maps[first].fd).flags, uint32_t{NRTP_OPEN_READ_WRITE});
  ASSERT_EQ(ops->mem->map(ctx, mem, &second), 0);
  EXPECT_EQ(first, second);
  EXPECT_EQ(port.maps.size(), 1u);
  EXPECT_EQ(ops->mem->free(ctx, mem), 0);
  EXPECT_TRUE(port.maps.empty());
}

TEST_F(MemoryTest, TheMappingGoesBeforeTheMemory) {
  const uint64_t mem = alloc(dev);
  void* va = nullptr;
  ASSERT_EQ(ops->mem->map(ctx, mem, &va), 0);
  port.on(kMemFreeCode, 8, [this](void*) {
    EXPECT_TRUE(port.maps.empty());
    return int64_t{0};
  });
  EXPECT_EQ(ops->mem->free(ctx, mem), 0);
}

TEST_F(MemoryTest, UnmapAndMapAgain) {
  const uint64_t mem = alloc(dev);
  void* va = nullptr;
  EXPECT_EQ(ops->mem->unmap(ctx, mem), -EINVAL) << "not mapped";
  ASSERT_EQ(ops->mem->map(ctx, mem, &va), 0);
  EXPECT_EQ(ops->mem->unmap(ctx, mem), 0);
  EXPECT_EQ(ops->mem->unmap(ctx, mem), -EINVAL);
  EXPECT_EQ(ops->mem->map(ctx, mem, &va), 0);
  EXPECT_EQ(ops->mem->map(ctx, mem, nullptr), -EINVAL);
}

TEST_F(MemoryTest, AFailedMapIsTriedAgain) {
  const uint64_t mem = alloc(dev);
  void* va = nullptr;
  port.mmap_error = -ENOMEM;
  EXPECT_EQ(ops->mem->map(ctx, mem, &va), -ENOMEM);
  EXPECT_EQ(va, nullptr);
  port.mmap_error = 0;
  EXPECT_EQ(ops->mem->map(ctx, mem, &va), 0);
}

TEST_F(MemoryTest, AScratchpadMayBeMappedPastItsChunk) {
  uint64_t mem = 0;
  ASSERT_EQ(ops->mem->alloc_contig(ctx, dev, 4096, 0, 0, &mem), 0);
  void *va = nullptr, *again = nullptr;
  ASSERT_EQ(ops->mem->map_contig(ctx, mem, 10000, &va), 0);
  EXPECT_EQ(port.maps[va].bytes, 12288u);
  EXPECT_EQ(ops->mem->map(ctx, mem, &again), 0);
  EXPECT_EQ(va, again);
  EXPECT_EQ(ops->mem->map_contig(ctx, mem, 12288, &again), 0);
  EXPECT_EQ(ops->mem->map_contig(ctx, mem, 12289, &again), -EINVAL) << "mapped smaller already";
  EXPECT_EQ(ops->mem->map_contig(ctx, mem, 0, &again), -EINVAL);
  EXPECT_EQ(ops->mem->map_contig(ctx, mem, ~uint64_t{0}, &again), -EINVAL);
}

TEST_F(MemoryTest, ThreadsMapOnce) {
  for (int round = 0; round < 20; ++round) {
    const uint64_t mem = alloc(dev);
    std::vector<void*> addresses(4);
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&, i] { EXPECT_EQ(ops->mem->map(ctx, mem, &addresses[i]), 0); });
    for (std::thread& thread : threads) thread.join();
    for (void* va : addresses) EXPECT_EQ(va, addresses[0]);
    EXPECT_EQ(port.maps.size(), 1u);
    ASSERT_EQ(ops->mem->free(ctx, mem), 0);
  }
}

// A free that overtakes a map leaves no mapping behind.
TEST_F(MemoryTest, MapAgainstFree) {
  for (int round = 0; round < 200; ++round) {
    const uint64_t mem = alloc(dev);
    std::thread mapper([&] {
      void* va = nullptr;
      const int result = ops->mem->map(ctx, mem, &va);
      EXPECT_TRUE(result == 0 || result == -EINVAL);
    });
    EXPECT_EQ(ops->mem->free(ctx, mem), 0);
    mapper.join();
    ASSERT_TRUE(port.maps.empty());
  }
}

TEST_F(MemoryTest, ThreadsDoNotDisturbEachOther) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      char buffer[64] = {};
      for (int round = 0; round < 100; ++round) {
        const uint64_t mem = alloc(dev);
        void* va = nullptr;
        uint64_t pa = 0;
        EXPECT_EQ(ops->mem->map(ctx, mem, &va), 0);
        EXPECT_EQ(ops->mem->get_pa(ctx, mem, &pa), 0);
        EXPECT_EQ(ops->copy->in(ctx, mem, 0, buffer, sizeof buffer), 0);
        EXPECT_EQ(ops->mem->free(ctx, mem), 0);
        EXPECT_EQ(ops->copy->in(ctx, mem, 0, buffer, sizeof buffer), -EINVAL);
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(port.calls_of(kMemFreeCode).size(), 400u);
  EXPECT_TRUE(port.maps.empty());
}

// --- queries

TEST_F(MemoryTest, DmabufGivesADescriptor) {
  port.on(0x80084E6B, 24, [](void* arg) {
    EXPECT_EQ(get<uint64_t>(arg, 0), 0x7000u);
    EXPECT_EQ(get<uint64_t>(arg, 8), 0x2000u);
    *get<int32_t*>(arg, 16) = 55;
    return int64_t{0};
  });
  int fd = -1;
  EXPECT_EQ(ops->mem->dmabuf_fd(ctx, 0x7000, 0x2000, &fd), 0);
  EXPECT_EQ(fd, 55);
  EXPECT_EQ(ops->mem->dmabuf_fd(ctx, 0x7000, 0x2000, nullptr), -EINVAL);
  port.fail(0x80084E6B, -EPROTONOSUPPORT);
  EXPECT_EQ(ops->mem->dmabuf_fd(ctx, 0x7000, 0x2000, &fd), -EPROTONOSUPPORT);
  EXPECT_EQ(fd, 55);
}

TEST_F(MemoryTest, AnAddressThatIsNoDeviceMemory) {
  port.fail(0x40104E83, -ENXIO);
  int32_t device = 3, hbm = 3;
  EXPECT_EQ(ops->mem->va_placement(ctx, &device, &device, &hbm), -ENXIO);
  EXPECT_EQ(device, -1);
  EXPECT_EQ(hbm, -1);
  EXPECT_EQ(ops->mem->va_placement(ctx, &device, nullptr, &hbm), -EINVAL);
}

TEST_F(MemoryTest, DumpTellsHowManyEntriesItNeeds) {
  port.on(0x80084E74, 24, [](void* arg) {
    EXPECT_EQ(get<uint32_t>(arg, 0), 1u);
    put<uint32_t>(arg, 8, 801);
    if (get<uint32_t>(arg, 4) < 801) return int64_t{-EAGAIN};
    put<uint64_t>(get<void*>(arg, 16), 0, uint64_t{0xAAAA});
    return int64_t{0};
  });
  uint32_t count = 0;
  EXPECT_EQ(ops->mem->dump(ctx, dev, 1, nullptr, &count), -EAGAIN);
  EXPECT_EQ(count, 801u);
  std::vector<uint8_t> out(count * 24);
  EXPECT_EQ(ops->mem->dump(ctx, dev, 1, out.data(), &count), 0);
  EXPECT_EQ(get<uint64_t>(out.data(), 0), 0xAAAAu);
  EXPECT_EQ(ops->mem->dump(ctx, dev, 1, nullptr, &count), -EINVAL);
  EXPECT_EQ(ops->mem->dump(ctx, dev, 1, out.data(), nullptr), -EINVAL);
}

// --- notification queues

nrtp_ndl_nq_config queue_config() {
  nrtp_ndl_nq_config config{};
  config.size = sizeof config;
  config.device_type = 1;
  config.device_id = 2;
  config.nq_type = 3;
  config.engine_index = 4;
  config.bytes = 2048;
  config.host_memory = 1;
  config.force_alloc = 1;
  return config;
}

TEST_F(MemoryTest, AQueueIsInitialisedAndMappedByItsCookie) {
  answer_queue(0xC0000);
  const nrtp_ndl_nq_config config = queue_config();
  uint64_t nq = 0;
  ASSERT_EQ(ops->nq->init(ctx, dev, &config, &nq), 0);
  const auto call = port.calls_of(kNqInitCode).at(0);
  const uint32_t expected[] = {2, 1, 3, 4, 2048, 1, 0, 0, 1, 0};
  for (size_t i = 0; i < std::size(expected); ++i)
    EXPECT_EQ(get<uint32_t>(call.arg.data(), 4 * i), expected[i]) << i;
  uint32_t bytes = 0;
  EXPECT_EQ(ops->nq->bytes(ctx, nq, &bytes), 0);
  EXPECT_EQ(bytes, 2048u);
  void* va = nullptr;
  ASSERT_EQ(ops->nq->map(ctx, nq, &va), 0);
  EXPECT_EQ(port.maps[va].offset, 0xC0000u);
  EXPECT_EQ(port.maps[va].bytes, 4096u) << "the driver wants its page-rounded size";
  EXPECT_TRUE(port.calls_of(kMemGetInfoCode).empty());
  EXPECT_EQ(ops->nq->destroy(ctx, nq), 0);
  EXPECT_TRUE(port.maps.empty());
  EXPECT_TRUE(port.calls_of(kMemFreeCode).empty()) << "the driver keeps the queue";
  EXPECT_EQ(ops->nq->destroy(ctx, nq), -EINVAL);
  EXPECT_EQ(ops->nq->map(ctx, nq, &va), -EINVAL);
}

TEST_F(MemoryTest, AQueueInDeviceMemoryIsMappedByHandle) {
  answer_queue(~uint64_t{0});
  const nrtp_ndl_nq_config config = queue_config();
  uint64_t nq = 0, mem = 0;
  ASSERT_EQ(ops->nq->init(ctx, dev, &config, &nq), 0);
  void* va = nullptr;
  ASSERT_EQ(ops->nq->map(ctx, nq, &va), 0);
  EXPECT_EQ(port.maps[va].offset, uint64_t{321} << 20);
  ASSERT_EQ(ops->nq->handle(ctx, nq, &mem), 0);
  EXPECT_EQ(ops->mem->free(ctx, mem), -EINVAL) << "goes with its queue";
  void* same = nullptr;
  EXPECT_EQ(ops->mem->map(ctx, mem, &same), 0);
  EXPECT_EQ(va, same);
  EXPECT_EQ(ops->nq->destroy(ctx, nq), 0);
  EXPECT_EQ(ops->mem->map(ctx, mem, &same), -EINVAL);
}

TEST_F(MemoryTest, QueueErrors) {
  answer_queue(0xC0000);
  nrtp_ndl_nq_config config = queue_config();
  uint64_t nq = 66;
  EXPECT_EQ(ops->nq->init(ctx, dev, nullptr, &nq), -EINVAL);
  EXPECT_EQ(ops->nq->init(ctx, dev, &config, nullptr), -EINVAL);
  EXPECT_EQ(ops->nq->init(ctx, 0, &config, &nq), -EINVAL);
  config.size = 8;
  EXPECT_EQ(ops->nq->init(ctx, dev, &config, &nq), -EINVAL);
  config = queue_config();
  config.device_id = 256;  // the driver would take it for 0
  EXPECT_EQ(ops->nq->init(ctx, dev, &config, &nq), -EINVAL);
  config = queue_config();
  config.engine_index = 256;
  EXPECT_EQ(ops->nq->init(ctx, dev, &config, &nq), -EINVAL);
  EXPECT_TRUE(port.calls_of(kNqInitCode).empty());
  port.fail(kNqInitCode, -ENOSYS);
  config = queue_config();
  EXPECT_EQ(ops->nq->init(ctx, dev, &config, &nq), -ENOSYS);
  EXPECT_EQ(nq, 66u);
  uint64_t mem = 0;
  uint32_t bytes = 0;
  void* va = nullptr;
  for (const uint64_t bad : {uint64_t{0}, dev, alloc(dev), ~uint64_t{0}}) {
    EXPECT_EQ(ops->nq->handle(ctx, bad, &mem), -EINVAL);
    EXPECT_EQ(ops->nq->bytes(ctx, bad, &bytes), -EINVAL);
    EXPECT_EQ(ops->nq->map(ctx, bad, &va), -EINVAL);
    EXPECT_EQ(ops->nq->destroy(ctx, bad), -EINVAL);
  }
}

TEST_F(MemoryTest, QueuesGoWithTheirDevice) {
  answer_queue(0xC0000);
  const nrtp_ndl_nq_config config = queue_config();
  uint64_t nq = 0;
  ASSERT_EQ(ops->nq->init(ctx, dev, &config, &nq), 0);
  void* va = nullptr;
  ASSERT_EQ(ops->nq->map(ctx, nq, &va), 0);
  EXPECT_EQ(ops->device->close(ctx, dev), 0);
  EXPECT_TRUE(port.maps.empty());
  EXPECT_EQ(ops->nq->map(ctx, nq, &va), -EINVAL);
}

}  // namespace
}  // namespace opennrt::ndl_test
