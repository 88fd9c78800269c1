// SPDX-License-Identifier: Apache-2.0
#include <cerrno>

#include "bench.h"

namespace opennrt::emu::test {
namespace {

using Registers = Bench;

TEST_F(Registers, MemoryWindowsAreTheRegions) {
  EXPECT_EQ(dev().memory_at(kData, 16), memory_->hbm(0).data() + kData);
  EXPECT_EQ(dev().memory_at(0x1000000000 + 5, 1), memory_->hbm(1).data() + 5);
  EXPECT_EQ(dev().memory_at(sbuf(3, 0x40, 1), 4),
            memory_->sbuf(1).data() + 3 * arch_->geometry->sbuf_partition_stride + 0x40);
  EXPECT_EQ(dev().memory_at(psum(2, 8), 4),
            memory_->psum(0).data() + 2 * arch_->geometry->psum_partition_stride + 8);
  EXPECT_EQ(dev().memory_at(arch_->geometry->host_window_base | 0x1234, 4),
            memory_->host().data() + 0x1234);
}

TEST_F(Registers, RangesThatLeaveAWindowAreNotMemory) {
  const std::uint64_t end = 64 << 20;
  EXPECT_NE(dev().memory_at(end - 8, 8), nullptr);
  EXPECT_EQ(dev().memory_at(end - 8, 9), nullptr);
  EXPECT_EQ(dev().memory_at(end, 1), nullptr);
  EXPECT_EQ(dev().memory_at(8, UINT64_MAX), nullptr);
  EXPECT_EQ(dev().memory_at(sem(0, 0, 0), 4), nullptr);
  std::uint64_t x = 0;
  EXPECT_EQ(dev().read(kData, nullptr, 0), 0);
  EXPECT_EQ(dev().write(kData, nullptr, 0), 0);
  EXPECT_EQ(dev().read(end - 4, &x, 8), -EFAULT);
  EXPECT_EQ(dev().write(end - 4, &x, 8), -EFAULT);
}

TEST_F(Registers, SemaphoreWindows) {
  put<std::uint32_t>(sem(1, 200, NRTP_SEM_SET), 40);
  put<std::uint32_t>(sem(1, 200, NRTP_SEM_INC), 5);
  put<std::uint32_t>(sem(1, 200, NRTP_SEM_DEC), 50);
  for (std::uint32_t op = 0; op < 4; ++op) EXPECT_EQ(get<std::int32_t>(sem(1, 200, op)), -5) << op;
  EXPECT_EQ(dev().semaphore_read(1, 200), static_cast<std::uint32_t>(-5));
  EXPECT_EQ(dev().semaphore_read(0, 200), 0u);
  EXPECT_EQ(dev().semaphore_read(1, 199), 0u);
  const std::uint32_t x = 1;
  EXPECT_EQ(dev().write(sem(1, 200, NRTP_SEM_READ), &x, 4), -EFAULT);
  EXPECT_EQ(dev().write(sem(1, 200, NRTP_SEM_SET) + 2, &x, 4), -EFAULT);
  EXPECT_EQ(dev().write(sem(1, 200, NRTP_SEM_SET), &x, 2), -EFAULT);
  EXPECT_EQ(dev().semaphore_read(1, 200), static_cast<std::uint32_t>(-5));
}

TEST_F(Registers, SemaphoreWrapsAt32Bits) {
  dev().semaphore_set(0, 9, 0x7FFFFFFF);
  dev().semaphore_add(0, 9, 1);
  EXPECT_EQ(dev().semaphore_read(0, 9), 0x80000000u);
}

TEST_F(Registers, EventsAreZeroOrOne) {
  put<std::uint32_t>(event(0, 255), 0x700);
  EXPECT_EQ(get<std::uint32_t>(event(0, 255)), 1u);
  EXPECT_EQ(dev().event_read(0, 255), 1u);
  put<std::uint32_t>(event(0, 255), 0);
  EXPECT_EQ(dev().event_read(0, 255), 0u);
}

TEST_F(Registers, OutOfRangeIndexesAreIgnored) {
  dev().semaphore_set(0, 256, 1);
  dev().semaphore_set(2, 0, 1);
  dev().event_write(7, 0, 1);
  EXPECT_EQ(dev().semaphore_read(0, 256), 0u);
  EXPECT_EQ(dev().semaphore_read(2, 0), 0u);
  EXPECT_EQ(dev().event_read(7, 0), 0u);
}

TEST_F(Registers, Constants) {
  EXPECT_EQ(get<std::uint32_t>(dma().event_const_addr[0]), 0u);
  EXPECT_EQ(get<std::uint32_t>(dma().event_const_addr[1]), 1u);
  EXPECT_EQ(get<std::uint64_t>(dma().event_const_addr[1]), 0x0000000100000001u);
  const std::uint32_t x = 3;
  EXPECT_EQ(dev().write(dma().event_const_addr[1], &x, 4), -EFAULT);
}

TEST_F(Registers, StoredBlocksKeepWhatWasWritten) {
  const std::uint64_t csr = address().tpb_csr_device(product_, 0) + 0x110;
  const std::uint64_t ram = address().misc_ram_device(product_, 0) + 0xC8;
  const std::uint64_t flag = nx(NRTP_ENGINE_POOL, 0x848);
  for (const std::uint64_t pa : {csr, ram, flag}) {
    EXPECT_EQ(get<std::uint32_t>(pa), 0u);
    put<std::uint32_t>(pa, 0x12340000 + static_cast<std::uint32_t>(pa & 0xFFF));
    EXPECT_EQ(get<std::uint32_t>(pa), 0x12340000 + (pa & 0xFFF));
  }
  // A table: bulk, any alignment.
  const nrtp_table_slot& slot = arch_->tables->dve[0];
  const std::uint64_t table = address().local_to_device(product_, 1, slot.local);
  std::vector<std::uint8_t> in(slot.bytes), out(slot.bytes);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<std::uint8_t>(i * 7 + i / 256);
  ASSERT_EQ(dev().write(table, in.data(), in.size()), 0);
  ASSERT_EQ(dev().read(table, out.data(), out.size()), 0);
  EXPECT_EQ(in, out);
  ASSERT_EQ(dev().read(table + 3, out.data(), 7), 0);
  EXPECT_TRUE(std::equal(out.begin(), out.begin() + 7, in.begin() + 3));
}

TEST_F(Registers, BarZeroReachesTheSameRegisters) {
  const std::uint64_t local = sem(1, 17, NRTP_SEM_SET) - address().local_to_device(product_, 1, 0);
  bar0_put(address().local_to_bar0(product_, 1, local), 77);
  EXPECT_EQ(dev().semaphore_read(1, 17), 77u);
  const std::uint64_t q = dma().udma_bar0(product_, 3) + dma().queue_reg(2, 1, NRTP_QREG_LENGTH);
  bar0_put(q, 0xFFFFF0);
  EXPECT_EQ(get<std::uint32_t>(queue_reg(3, 2, 1, NRTP_QREG_LENGTH)), 0xFFFFF0u);
  EXPECT_EQ(bar0_get(q), 0xFFFFF0u);
  bar0_put(address().local_to_bar0(product_, 0, 0x40), 0xABCD);
  EXPECT_EQ(get<std::uint32_t>(sbuf(0, 0x40)), 0xABCDu);
}

TEST_F(Registers, BarZeroOutsideEveryRegion) {
  std::uint32_t n = 0, x = 0;
  const nrtp_csr_region* regions = address().csr_regions(product_, &n);
  ASSERT_GT(n, 0u);
  const std::uint64_t end = regions[n - 1].bar0 + regions[n - 1].bytes;
  EXPECT_EQ(dev().bar0_write32(end, 1), -EINVAL);
  EXPECT_EQ(dev().bar0_read32(end, &x), -EINVAL);
  EXPECT_EQ(dev().bar0_read32(regions[0].bar0 + 2, &x), -EINVAL);
  EXPECT_EQ(dev().bar0_read32(UINT64_MAX, &x), -EINVAL);
  for (std::uint32_t i = 0; i < n; ++i) {
    EXPECT_EQ(dev().bar0_read32(regions[i].bar0, &x), 0) << regions[i].name;
    EXPECT_EQ(dev().bar0_read32(regions[i].bar0 + regions[i].bytes - 4, &x), 0) << regions[i].name;
  }
}

TEST_F(Registers, NotificationClockGoesForward) {
  const std::uint64_t block = address().notific_bar0(product_, 0);
  const auto now = [&] { return std::uint64_t{bar0_get(block + 4)} << 32 | bar0_get(block); };
  const std::uint64_t a = now();
  std::uint64_t b = now();
  for (int i = 0; i < 1000 && b == a; ++i) b = now();
  EXPECT_NE(a, b);
}

TEST_F(Registers, ResetClearsOneCoreAndKeepsMemory) {
  for (std::uint32_t core = 0; core < 2; ++core) {
    dev().semaphore_set(core, 5, 1);
    dev().event_write(core, 5, 1);
    const std::uint32_t engine = dma().core_engine(product_, core, 4);
    dev().queue_init(engine, 3, {kRings, 64}, {kRings + 0x1000, 64});
  }
  put<std::uint32_t>(kData, 4711);
  dev().reset_cores(2);
  EXPECT_EQ(dev().semaphore_read(0, 5), 1u);
  EXPECT_EQ(dev().event_read(0, 5), 1u);
  EXPECT_EQ(dev().semaphore_read(1, 5), 0u);
  EXPECT_EQ(dev().event_read(1, 5), 0u);
  RingState tx, rx;
  dev().queue_state(dma().core_engine(product_, 0, 4), 3, &tx, &rx);
  EXPECT_EQ(tx.base, kRings);
  dev().queue_state(dma().core_engine(product_, 1, 4), 3, &tx, &rx);
  EXPECT_EQ(tx.base, 0u);
  EXPECT_EQ(tx.length, 0u);
  EXPECT_EQ(get<std::uint32_t>(kData), 4711u);
}

TEST_F(Registers, CreateRefusesWrongArguments) {
  std::string error;
  EXPECT_EQ(Device::create({}, memory_, &error), nullptr);
  EXPECT_NE(error.find("missing"), std::string::npos);
  nrtp_product big = *product_;
  big.cores = 3;
  EXPECT_EQ(
      Device::create({.host = &host_, .arch = arch_, .product = &big, .index = 4, .verify = {}},
                     memory_, &error),
      nullptr);
  EXPECT_NE(error.find("device 4"), std::string::npos);
  EXPECT_NE(error.find("3 cores"), std::string::npos);
  nrtp_arch_plugin hollow = *arch_;
  hollow.dma = nullptr;
  EXPECT_EQ(Device::create(
                {.host = &host_, .arch = &hollow, .product = product_, .index = 0, .verify = {}},
                memory_, &error),
            nullptr);
}

}  // namespace
}  // namespace opennrt::emu::test
