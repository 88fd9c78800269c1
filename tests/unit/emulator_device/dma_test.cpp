// SPDX-License-Identifier: Apache-2.0
#include <cerrno>

#include "bench.h"

namespace opennrt::emu::test {
namespace {

class Dma : public Bench {
 protected:
  static constexpr std::uint32_t kE = 6, kQ = 3;  // an engine of core 0

  void pattern(std::uint64_t pa, std::size_t bytes, std::uint32_t seed = 1) {
    std::uint8_t* p = dev().memory_at(pa, bytes);
    ASSERT_NE(p, nullptr);
    for (std::size_t i = 0; i < bytes; ++i)
      p[i] = static_cast<std::uint8_t>((i * 131 + i / 251 + seed * 17) & 0xFF);
  }
  bool equal(std::uint64_t a, std::uint64_t b, std::size_t bytes) {
    return std::memcmp(dev().memory_at(a, bytes), dev().memory_at(b, bytes), bytes) == 0;
  }
  RingState state(std::uint32_t dir) {
    RingState s[2];
    dev().queue_state(kE, kQ, &s[0], &s[1]);
    return s[dir];
  }
};

TEST_F(Dma, CopyBetweenWindowsAndLengthZeroIs65536) {
  pattern(kData, 65536);
  attach(kE, kQ, 64);
  fill(kE, kQ, 0, {tx(kData, 0), tx(kData, 100), tx(kData + 1, 1)});
  fill(kE, kQ, 1,
       {rx(kData + 0x100000, 0), rx(sbuf(5, 0x100, 1), 100),
        rx(arch_->geometry->host_window_base | 0x777, 1)});
  EXPECT_EQ(dev().queue_start(kE, kQ, 3, 3), 0);
  EXPECT_TRUE(equal(kData, kData + 0x100000, 65536));
  EXPECT_EQ(get<std::uint8_t>(kData + 0x110000), 0);
  EXPECT_TRUE(equal(kData, sbuf(5, 0x100, 1), 100));
  EXPECT_EQ(memory_->host().data()[0x777], get<std::uint8_t>(kData + 1));
  EXPECT_EQ(state(0).head, 3u);
  EXPECT_EQ(state(1).tail, 3u);
}

TEST_F(Dma, PacketIsAByteStreamFromTxToRx) {
  pattern(kData, 300);
  attach(kE, kQ, 64);
  // 9/3 and 3/9 descriptors of real blocks, with uneven borders.
  fill(kE, kQ, 0,
       {tx(kData, 10, kFirst), tx(kData + 10, 77, 0), tx(kData + 87, 213, kLast),
        tx(kData, 300, kFirst | kLast)});
  fill(kE, kQ, 1,
       {rx(kData + 0x1000, 200), rx(kData + 0x2000, 100), rx(kData + 0x3000, 1),
        rx(kData + 0x3001, 150), rx(kData + 0x3097, 149)});
  EXPECT_EQ(dev().queue_start(kE, kQ, 4, 5), 0);
  EXPECT_TRUE(equal(kData, kData + 0x1000, 200));
  EXPECT_TRUE(equal(kData + 200, kData + 0x2000, 100));
  EXPECT_TRUE(equal(kData, kData + 0x3000, 300));
  EXPECT_EQ(log_lines(), 0u);
}

TEST_F(Dma, PacketWaitsForItsLastDescriptor) {
  pattern(kData, 64);
  attach(kE, kQ, 64);
  fill(kE, kQ, 0, {tx(kData, 32, kFirst), tx(kData + 32, 32, kLast)});
  fill(kE, kQ, 1, {rx(kData + 0x1000, 64)});
  EXPECT_EQ(dev().queue_start(kE, kQ, 1, 1), 0);
  EXPECT_EQ(get<std::uint32_t>(kData + 0x1000), 0u);
  EXPECT_EQ(state(0).head, 0u);
  EXPECT_EQ(state(0).tail, 1u);
  EXPECT_EQ(dev().queue_start(kE, kQ, 1, 0), 0);
  EXPECT_TRUE(equal(kData, kData + 0x1000, 64));
}

TEST_F(Dma, ReceiveSideArmedLater) {
  pattern(kData, 64);
  attach(kE, kQ, 64);
  fill(kE, kQ, 0, {tx(kData, 32), tx(kData + 32, 32)});
  fill(kE, kQ, 1, {rx(kData + 0x1000, 32), rx(kData + 0x1020, 16), rx(kData + 0x1030, 16)});
  EXPECT_EQ(dev().queue_start(kE, kQ, 2, 0), 0);
  EXPECT_EQ(state(0).head, 0u);
  EXPECT_EQ(dev().queue_start(kE, kQ, 0, 2), 0);
  EXPECT_EQ(state(0).head, 1u);  // the second packet lacks a descriptor
  EXPECT_EQ(get<std::uint32_t>(kData + 0x1020), 0u);
  EXPECT_EQ(dev().queue_start(kE, kQ, 0, 1), 0);
  EXPECT_EQ(state(0).head, 2u);
  EXPECT_TRUE(equal(kData, kData + 0x1000, 64));
}

TEST_F(Dma, WholeReceiveSideArmedOnce) {
  attach(kE, kQ, 64);
  std::vector<Desc> t, r;
  for (std::uint32_t i = 0; i < 8; ++i) {
    put<std::uint32_t>(kData + 4 * i, 100 + i);
    t.push_back(tx(kData + 4 * i, 4));
    r.push_back(rx(kData + 0x1000 + 4 * i, 4));
  }
  fill(kE, kQ, 0, t);
  fill(kE, kQ, 1, r);
  EXPECT_EQ(dev().queue_start(kE, kQ, 0, 8), 0);
  for (std::uint32_t i = 0; i < 8; ++i) {
    EXPECT_EQ(get<std::uint32_t>(kData + 0x1000 + 4 * i), 0u);
    EXPECT_EQ(dev().queue_start(kE, kQ, 1, 0), 0);
    EXPECT_EQ(get<std::uint32_t>(kData + 0x1000 + 4 * i), 100 + i);
  }
}

TEST_F(Dma, RingWrapsAndThePhaseAdvances) {
  attach(kE, kQ, 8);
  // 5 laps of 8: every lap writes its descriptors with its own ring id.
  std::uint32_t value = 0;
  for (std::uint32_t n = 0; n < 40; ++n) {
    const std::uint32_t lap = n / 8, id = (1 + lap) & 3;
    put<std::uint32_t>(kData, ++value);
    fill(kE, kQ, 0, {tx(kData, 4, kFirst | kLast, id)}, n % 8);
    fill(kE, kQ, 1, {rx(kData + 0x1000, 4, id)}, n % 8);
    ASSERT_EQ(dev().queue_start(kE, kQ, 1, 1), 0);
    ASSERT_EQ(get<std::uint32_t>(kData + 0x1000), value) << n;
  }
  EXPECT_EQ(state(0).head, 0u);
  EXPECT_EQ(get<std::uint32_t>(queue_reg(kE, kQ, 0, NRTP_QREG_HEAD)), (1u + 5) % 4 << 30);
}

// The tail points behind the last released descriptor: the first of the next lap.
TEST_F(Dma, TailOfAWhollyReleasedRingIsOnTheNextLap) {
  attach(kE, kQ, 8);
  EXPECT_EQ(dev().queue_start(kE, kQ, 0, 7), 0);
  EXPECT_EQ(get<std::uint32_t>(queue_reg(kE, kQ, 1, NRTP_QREG_TAIL)), 1u << 30 | 7);
  EXPECT_EQ(dev().queue_start(kE, kQ, 0, 1), 0);
  EXPECT_EQ(get<std::uint32_t>(queue_reg(kE, kQ, 1, NRTP_QREG_TAIL)), 2u << 30);
  EXPECT_EQ(get<std::uint32_t>(queue_reg(kE, kQ, 1, NRTP_QREG_HEAD)), 1u << 30);
  EXPECT_EQ(state(1).head, 0u);
  EXPECT_EQ(state(1).tail, 0u);
}

TEST_F(Dma, PacketAcrossTheWrap) {
  pattern(kData, 48);
  attach(kE, kQ, 4);
  fill(kE, kQ, 0, {tx(kData, 4), tx(kData, 4), tx(kData, 4), tx(kData, 16, kFirst)});
  fill(kE, kQ, 1,
       {rx(kData + 0x800, 4), rx(kData + 0x800, 4), rx(kData + 0x800, 4), rx(kData + 0x1000, 8)});
  EXPECT_EQ(dev().queue_start(kE, kQ, 3, 3), 0);
  fill(kE, kQ, 0, {tx(kData + 16, 32, kLast, 2)});
  fill(kE, kQ, 1, {rx(kData + 0x1008, 40, 2)});
  EXPECT_EQ(dev().queue_start(kE, kQ, 2, 2), 0);
  EXPECT_TRUE(equal(kData, kData + 0x1000, 48));
  EXPECT_EQ(state(1).head, 1u);
}

TEST_F(Dma, StaleDescriptorStopsTheQueueUntilReset) {
  nq_init(arch_->geometry->error_queue, 0, 4096);
  attach(kE, kQ, 64);
  put<std::uint32_t>(kData, 42);
  fill(kE, kQ, 0, {tx(kData, 4, kFirst | kLast, 2), tx(kData, 4)});
  fill(kE, kQ, 1, {rx(kData + 8, 4), rx(kData + 12, 4)});
  EXPECT_EQ(dev().queue_start(kE, kQ, 2, 2), 0);
  EXPECT_EQ(get<std::uint64_t>(kData + 8), 0u);
  EXPECT_EQ(state(0).head, 0u);
  expect_logged({"DMA engine 6 queue 3 descriptor at", "stale TX", "ring id 2, expected 1"});
  std::uint8_t record[16];
  std::memcpy(record, memory_->host().data(), 16);
  EXPECT_EQ(record[4], 10);
  EXPECT_EQ(record[5], 0x80 | 6);
  EXPECT_EQ(record[6], 3);
  fill(kE, kQ, 0, {tx(kData, 4)});
  put<std::uint32_t>(queue_reg(kE, kQ, 0, NRTP_QREG_SW_CTRL), 0x100);
  put<std::uint32_t>(queue_reg(kE, kQ, 1, NRTP_QREG_SW_CTRL), 0x100);
  EXPECT_EQ(dev().queue_start(kE, kQ, 2, 2), 0);
  EXPECT_EQ(get<std::uint64_t>(kData + 8), 0x0000002A0000002Au);
}

TEST_F(Dma, QueueResetRunsTheSameDescriptorsAgain) {
  attach(kE, kQ, 0xFFFFF0);
  fill(kE, kQ, 0, {tx(kData, 4), tx(dma().event_const_addr[1], 4)});
  fill(kE, kQ, 1, {rx(kData + 0x1000, 4), rx(sem(0, 33, NRTP_SEM_INC), 4)});
  for (std::uint32_t round = 1; round <= 3; ++round) {
    put<std::uint32_t>(kData, round * 11);
    EXPECT_EQ(dev().queue_start(kE, kQ, 2, 2), 0);
    EXPECT_EQ(get<std::uint32_t>(kData + 0x1000), round * 11);
    EXPECT_EQ(dev().semaphore_read(0, 33), round);
    EXPECT_EQ(state(0).head, 2u);
    put<std::uint32_t>(queue_reg(kE, kQ, 0, NRTP_QREG_SW_CTRL), 0x100);
    put<std::uint32_t>(queue_reg(kE, kQ, 1, NRTP_QREG_SW_CTRL), 0x100);
    EXPECT_EQ(state(0).head, 0u);
    EXPECT_EQ(state(1).tail, 0u);
    EXPECT_EQ(state(0).base, ring_base(kE, kQ, 0));
  }
}

TEST_F(Dma, ResetDropsPendingWorkOfItsSideOnly) {
  attach(kE, kQ, 64);
  fill(kE, kQ, 0, {tx(kData, 4)});
  fill(kE, kQ, 1, {rx(kData + 8, 4)});
  put<std::uint32_t>(kData, 5);
  dev().queue_start(kE, kQ, 0, 1);
  put<std::uint32_t>(queue_reg(kE, kQ, 1, NRTP_QREG_SW_CTRL), 0x100);
  dev().queue_start(kE, kQ, 1, 0);
  EXPECT_EQ(get<std::uint32_t>(kData + 8), 0u);
  EXPECT_EQ(state(0).tail, 1u);
  EXPECT_EQ(state(1).tail, 0u);
}

TEST_F(Dma, BroadcastDoorbellWithExcludeMask) {
  for (std::uint32_t e = 0; e < 16; ++e) {
    attach(e, 0, 64);
    fill(e, 0, 0, {tx(dma().event_const_addr[1], 4), tx(dma().event_const_addr[1], 4)});
    fill(e, 0, 1, {rx(sem(0, 100 + e, NRTP_SEM_INC), 4), rx(sem(0, 90, NRTP_SEM_INC), 4)});
  }
  put<std::uint32_t>(bcast_reg(0, 1, NRTP_QREG_TAIL_INC), 0x00030002);
  put<std::uint32_t>(bcast_reg(0, 0, NRTP_QREG_TAIL_INC), 0x80000002);
  for (std::uint32_t e = 0; e < 16; ++e) {
    // 0 and 1 have no receive side yet, 15 no transmit side.
    const bool done = e != 0 && e != 1 && e != 15;
    EXPECT_EQ(dev().semaphore_read(0, 100 + e), done ? 1u : 0u) << e;
  }
  EXPECT_EQ(dev().semaphore_read(0, 90), 13u);
  put<std::uint32_t>(bcast_reg(0, 0, NRTP_QREG_SW_CTRL), 0x100);
  for (std::uint32_t e = 0; e < 16; ++e)
    EXPECT_EQ(get<std::uint32_t>(queue_reg(e, 0, 0, NRTP_QREG_TAIL)), 1u << 30) << e;
}

// What the images of an owner engine do: reset, bases, lengths, arm, trigger.
TEST_F(Dma, QueueSetUpAndTriggerByInstructions) {
  pattern(kData, 16 * 64);
  auto bases = [&](std::uint32_t dir, std::uint32_t first) {
    auto r = isa::zero_record<isa::MemRecord>(isa::kOpTensorStore);
    r.dtype = isa::kDtUint32;
    r.immediate = 1;
    r.count_inner = 2;
    r.count_outer = 4;
    r.address = queue_reg(first, 2, dir, NRTP_QREG_BASE_LO);
    r.step_inner = 1;
    r.step_outer = static_cast<std::int32_t>(dma().engine_stride / 4);
    for (std::uint32_t e = 0; e < 4; ++e)
      r.data[2 * e] = static_cast<std::uint32_t>(ring_base(first + e, 2, dir));
    return r;
  };
  Program p;
  p.add(
      write(bcast_reg(2, 1, NRTP_QREG_SW_CTRL), 0x100, bcast_reg(2, 0, NRTP_QREG_SW_CTRL), 0x100));
  for (std::uint32_t first = 0; first < 16; first += 4)
    for (std::uint32_t dir = 0; dir < 2; ++dir) p.add(bases(dir, first));
  for (std::uint32_t e = 0; e < 16; ++e)
    for (std::uint32_t dir = 0; dir < 2; ++dir)
      p.add(write(queue_reg(e, 2, dir, NRTP_QREG_LENGTH), 0xFFFFF0));
  p.add(write(bcast_reg(2, 1, NRTP_QREG_TAIL_INC), 2, bcast_reg(2, 0, NRTP_QREG_TAIL_INC), 2));
  auto waiter = isa::zero_record<isa::EventSemaphoreRecord>(isa::kOpEventSemaphore);
  waiter.h.wait_mode = isa::kWaitSemGe;
  waiter.h.wait_index = 8;
  waiter.h.value = 16;
  waiter.update_mode = isa::kUpdateSemInc;
  waiter.update_index = 70;
  p.add(waiter).add(halt());
  for (std::uint32_t e = 0; e < 16; ++e) {
    fill(e, 2, 0, {tx(kData + 64 * e, 64), tx(dma().event_const_addr[1], 4)});
    fill(e, 2, 1, {rx(sbuf(e, 0), 64), rx(sem(0, 8, NRTP_SEM_INC), 4)});
  }
  execute(p, NRTP_ENGINE_POOL);
  EXPECT_EQ(dev().semaphore_read(0, 70), 1u);
  for (std::uint32_t e = 0; e < 16; ++e) EXPECT_TRUE(equal(kData + 64 * e, sbuf(e, 0), 64)) << e;
  EXPECT_EQ(log_lines(), 0u);
}

TEST_F(Dma, EventAndSemaphoreWritesWakeTheOtherCore) {
  auto waiter = mark(71);
  waiter.h.wait_mode = isa::kWaitEvtSetThenClear;
  waiter.h.wait_index = 4;
  load(Program{}.add(waiter).add(halt()));
  start(NRTP_ENGINE_PE, kProgram, 1);
  run();
  attach(kE, kQ, 64);
  fill(kE, kQ, 0, {tx(dma().event_const_addr[1], 4), tx(dma().event_const_addr[0], 4)});
  fill(kE, kQ, 1, {rx(event(1, 4), 4), rx(event(1, 5), 4)});
  dev().event_write(1, 5, 1);
  run();
  dev().queue_start(kE, kQ, 1, 1);
  EXPECT_TRUE(dev().runnable());
  run();
  EXPECT_EQ(dev().semaphore_read(1, 71), 1u);
  EXPECT_EQ(dev().event_read(1, 4), 0u);
  dev().queue_start(kE, kQ, 1, 1);
  EXPECT_EQ(dev().event_read(1, 5), 0u);
}

// Byte 7 of a record is the index of its update.
TEST_F(Dma, RecordRewrittenByATransferIsExecutedInItsNewForm) {
  load(Program{}.add(mark(70)).add(halt()));
  start(NRTP_ENGINE_PE);
  run();
  auto other = mark(71);
  put(kData, other);
  attach(kE, kQ, 64);
  fill(kE, kQ, 0, {tx(kData, 64)});
  fill(kE, kQ, 1, {rx(kProgram, 64)});
  dev().queue_start(kE, kQ, 1, 1);
  start(NRTP_ENGINE_PE);
  run();
  EXPECT_EQ(dev().semaphore_read(0, 70), 1u);
  EXPECT_EQ(dev().semaphore_read(0, 71), 1u);
}

// A record at which an engine waits was fetched: its wait counts, and what it does
// is what stands there once the wait is over.
TEST_F(Dma, RecordRewrittenWhileItsEngineWaits) {
  auto waiter = mark(70);
  waiter.h.wait_mode = isa::kWaitEvtSet;
  waiter.h.wait_index = 4;
  load(Program{}.add(waiter).add(halt()));
  start(NRTP_ENGINE_PE);
  run();
  auto other = mark(71);
  put(kData, other);
  attach(kE, kQ, 64);
  fill(kE, kQ, 0, {tx(kData, 64)});
  fill(kE, kQ, 1, {rx(kProgram, 64)});
  dev().queue_start(kE, kQ, 1, 1);
  run();
  EXPECT_EQ(dev().semaphore_read(0, 71), 0u);
  dev().event_write(0, 4, 1);
  run();
  EXPECT_EQ(dev().semaphore_read(0, 70), 0u);
  EXPECT_EQ(dev().semaphore_read(0, 71), 1u);
}

// The exec ring rewrites the base of another queue, then sets an event.
TEST_F(Dma, RingBaseWrittenByAnotherQueue) {
  dev().queue_init(2, 0, {0, 0xFFFFF0}, {ring_base(2, 0, 1), 0xFFFFF0});
  fill(2, 0, 0, {tx(kData + 0x100, 4)});
  fill(2, 0, 1, {rx(kData + 0x200, 4)});
  put<std::uint32_t>(kData + 0x100, 31337);
  put<std::uint64_t>(kData, ring_base(2, 0, 0));
  attach(kE, kQ, 64);
  fill(kE, kQ, 0, {tx(kData, 8), tx(dma().event_const_addr[1], 4)});
  fill(kE, kQ, 1, {rx(queue_reg(2, 0, 0, NRTP_QREG_BASE_LO), 8), rx(event(0, 4), 4)});
  dev().queue_start(kE, kQ, 2, 2);
  EXPECT_EQ(dev().event_read(0, 4), 1u);
  dev().queue_start(2, 0, 1, 1);
  EXPECT_EQ(get<std::uint32_t>(kData + 0x200), 31337u);
}

TEST_F(Dma, DoorbellsRungByTransfers) {
  // Queue 3 rings queue 4, which rings queue 3 again.
  attach(kE, 3, 64);
  attach(kE, 4, 64);
  put<std::uint32_t>(kData, 1);
  fill(kE, 3, 0, {tx(kData, 4), tx(dma().event_const_addr[1], 4)});
  fill(kE, 3, 1, {rx(queue_reg(kE, 4, 0, NRTP_QREG_TAIL_INC), 4), rx(event(0, 9), 4)});
  fill(kE, 4, 0, {tx(kData, 4)});
  fill(kE, 4, 1, {rx(queue_reg(kE, 3, 0, NRTP_QREG_TAIL_INC), 4)});
  dev().queue_start(kE, 4, 0, 1);
  dev().queue_start(kE, 3, 1, 2);
  EXPECT_EQ(dev().event_read(0, 9), 1u);
}

TEST_F(Dma, DoorbellsWithoutEndAreStopped) {
  // A ring of four laps, all phases present, that rings itself.
  attach(kE, kQ, 4);
  put<std::uint32_t>(kData, 1);
  // Reset TX, reset RX, arm both: the queue starts over for ever.
  put<std::uint32_t>(kData + 4, 0x100);
  put<std::uint32_t>(kData + 8, 4);
  fill(kE, kQ, 0, {tx(kData + 4, 4), tx(kData + 4, 4), tx(kData + 8, 4), tx(kData + 8, 4)});
  fill(kE, kQ, 1,
       {rx(queue_reg(kE, kQ, 0, NRTP_QREG_SW_CTRL), 4),
        rx(queue_reg(kE, kQ, 1, NRTP_QREG_SW_CTRL), 4),
        rx(queue_reg(kE, kQ, 1, NRTP_QREG_TAIL_INC), 4),
        rx(queue_reg(kE, kQ, 0, NRTP_QREG_TAIL_INC), 4)});
  EXPECT_EQ(dev().queue_start(kE, kQ, 4, 4), 0);
  expect_logged({"doorbells without end"});
}

TEST_F(Dma, RefusedDescriptors) {
  struct Case {
    Desc t, r;
    const char* text;
  };
  auto meta = tx(kData, 4);
  meta.len_ctrl |= 1u << 23;
  auto crc = tx(kData, 4);
  crc.meta_ctrl |= 1u << 14;
  auto swap = tx(kData, 4);
  swap.meta_ctrl |= 1u << 6;
  auto mask = tx(kData, 4);
  mask.meta_ctrl |= 1u << 28;
  auto selector = tx(kData, 4);
  selector.meta_ctrl |= 1u << 22;
  auto order = tx(kData, 4);
  order.len_ctrl |= 1u << 29;
  auto endless = tx(kData, 4);
  endless.len_ctrl |= 1u << 31;
  auto reserved = tx(kData, 4);
  reserved.len_ctrl |= 1u << 18;
  auto barrier = rx(kData + 8, 4);
  barrier.len_ctrl |= 1u << 30;
  auto strong = rx(kData + 8, 4);
  strong.len_ctrl |= 1u << 29;
  auto embedded = rx(kData + 8, 4);
  embedded.meta_ctrl = 0x100;
  const Case cases[] = {
      {meta, rx(kData + 8, 4), "compute packets of this form are not implemented"},
      {crc, rx(kData + 8, 4), "CRC operations are not implemented"},
      {swap, rx(kData + 8, 4), "byte swaps are not implemented"},
      {mask, rx(kData + 8, 4), "this silicon has no notification mask"},
      {selector, rx(kData + 8, 4), "unknown bits 0x400000"},
      {order, rx(kData + 8, 4), "strong-ordered write asked for on the TX side"},
      {endless, rx(kData + 8, 4), "LAST and asks to continue"},
      {reserved, rx(kData + 8, 4), "reserved bits"},
      {tx(kData, 4), barrier, "data barrier asked for on the RX side"},
      {tx(kData, 4), strong, "strong-ordered"},
      {tx(kData, 4), embedded, "embedded semaphores"},
      {tx(kData, 4, kLast), rx(kData + 8, 4), "without FIRST"},
      {tx(kData, 4), rx(kData + 8, 8), "ends inside an RX descriptor"},
      {tx(kData, 4), rx(kData + 8, 4, 3), "stale RX"},
  };
  put<std::uint32_t>(kData, 1);
  for (const Case& c : cases) {
    attach(kE, kQ, 64);
    fill(kE, kQ, 0, {c.t});
    fill(kE, kQ, 1, {c.r});
    dev().queue_start(kE, kQ, 1, 1);
    expect_logged({"DMA engine 6 queue 3", c.text, "stops until it is reset"});
    EXPECT_EQ(get<std::uint64_t>(kData + 8), 0u) << c.text;
    EXPECT_EQ(state(0).head, 0u) << c.text;
  }
}

TEST_F(Dma, BarriersOfPlainCopiesPass) {
  auto t = tx(kData, 4, kFirst | kLast | 1u << 30);
  t.meta_ctrl |= 1u << 26;
  put<std::uint32_t>(kData, 6);
  attach(kE, kQ, 64);
  fill(kE, kQ, 0, {t});
  fill(kE, kQ, 1, {rx(kData + 8, 4)});
  dev().queue_start(kE, kQ, 1, 1);
  EXPECT_EQ(get<std::uint32_t>(kData + 8), 6u);
}

TEST_F(Dma, AccessToNothingIsReportedAndTheQueueGoesOn) {
  const std::uint64_t nowhere = 0x0F00000000000;
  attach(kE, kQ, 64);
  put<std::uint32_t>(kData + 8, 77);
  fill(kE, kQ, 0, {tx(nowhere, 8192), tx(kData, 4), tx(dma().event_const_addr[1], 4)});
  fill(kE, kQ, 1, {rx(kData + 8, 8192), rx(nowhere, 4), rx(event(0, 11), 4)});
  dev().queue_start(kE, kQ, 3, 3);
  EXPECT_EQ(get<std::uint32_t>(kData + 8), 0u);
  EXPECT_EQ(dev().event_read(0, 11), 1u);
  expect_logged({"DMA engine 6 queue 3", "read", "0xf00000000000"});
  expect_logged({"DMA engine 6 queue 3", "write", "0xf00000000000"});
  EXPECT_EQ(log_lines(), 2u);
}

TEST_F(Dma, BadCountsAndUnknownQueues) {
  attach(kE, kQ, 8);
  EXPECT_EQ(dev().queue_start(kE, kQ, 9, 0), -EINVAL);
  EXPECT_EQ(dev().queue_start(kE, kQ, 0, 9), -EINVAL);
  EXPECT_EQ(dev().queue_start(34, 0, 1, 1), -EINVAL);
  EXPECT_EQ(dev().queue_start(0, 16, 1, 1), -EINVAL);
  put<std::uint32_t>(queue_reg(kE, kQ, 0, NRTP_QREG_TAIL_INC), 9);
  expect_logged({"9 descriptors", "ring length 8"});
  EXPECT_EQ(state(0).tail, 0u);
  // Pending work counts.
  EXPECT_EQ(dev().queue_start(kE, kQ, 0, 8), 0);
  put<std::uint32_t>(queue_reg(kE, kQ, 1, NRTP_QREG_TAIL_INC), 1);
  expect_logged({"RX of DMA engine 6 queue 3", "8 pending"});
}

TEST_F(Dma, RingOutsideMemory) {
  dev().queue_init(kE, kQ, {0x0F00000000000, 8}, {ring_base(kE, kQ, 1), 8});
  dev().queue_start(kE, kQ, 1, 1);
  expect_logged({"DMA engine 6 queue 3", "TX ring is not in memory"});
}

TEST_F(Dma, TableDestinationsTakeLargeCopies) {
  const nrtp_arch_tables& tables = *arch_->tables;
  const nrtp_table_slot& slot =
      *std::max_element(tables.dve, tables.dve + tables.n_dve,
                        [](const auto& a, const auto& b) { return a.bytes < b.bytes; });
  ASSERT_GT(slot.bytes, 4096u);
  const std::uint64_t table = address().local_to_device(product_, 0, slot.local);
  pattern(kData, slot.bytes);
  attach(kE, kQ, 64);
  fill(kE, kQ, 0, {tx(kData, static_cast<std::uint32_t>(slot.bytes))});
  fill(kE, kQ, 1, {rx(table, static_cast<std::uint32_t>(slot.bytes))});
  dev().queue_start(kE, kQ, 1, 1);
  std::vector<std::uint8_t> out(slot.bytes);
  ASSERT_EQ(dev().read(table, out.data(), out.size()), 0);
  EXPECT_EQ(std::memcmp(out.data(), dev().memory_at(kData, out.size()), out.size()), 0);
}

}  // namespace
}  // namespace opennrt::emu::test
