// SPDX-License-Identifier: Apache-2.0
//
// Accesses from several threads, meant for the thread sanitizer; the counts are
// checked in every build.
#include <atomic>
#include <thread>

#include "bench.h"
#include "raw_record.h"

namespace opennrt::emu::test {
namespace {

class Threads : public Bench {
 protected:
  // Loops for ever: takes one from semaphore `from`, adds one to `to`.
  Program relay(std::uint8_t from, std::uint8_t to) {
    auto take = isa::zero_record<isa::EventSemaphoreRecord>(isa::kOpEventSemaphore);
    take.wait_mode = isa::kWaitSemGt;
    take.wait_index = from;
    take.update_mode = isa::kUpdateSemDec;
    take.update_index = from;
    return Program{}.add(take).add(mark(to)).add(branch(0, 0, 0, -2));
  }
};

TEST_F(Threads, NoIncrementIsLostWhileTheCoreRuns) {
  constexpr std::uint32_t kEach = 3000;
  load(relay(40, 41));
  load(relay(41, 42), kProgram + 0x8000);
  start(NRTP_ENGINE_PE);
  start(NRTP_ENGINE_ACT, kProgram + 0x8000);
  std::atomic<int> producers{2};
  const auto produce = [&] {
    for (std::uint32_t i = 0; i < kEach; ++i) {
      if (i % 2)
        dev().semaphore_add(0, 40, 1);
      else
        put<std::uint32_t>(sem(0, 40, NRTP_SEM_INC), 1);
    }
    producers.fetch_sub(1);
  };
  const auto consume = [&] {
    while (producers.load() != 0 || dev().runnable()) dev().run(1000);
  };
  std::thread a(produce), b(produce), c(consume), d(consume);
  a.join();
  b.join();
  c.join();
  d.join();
  // No wake-up is lost: without another one the work is complete.
  EXPECT_EQ(dev().semaphore_read(0, 42), 2 * kEach);
  EXPECT_EQ(dev().semaphore_read(0, 40), 0u);
}

// As when a process is killed: nothing of its program happens once end_programs
// has returned, and another program on the core loses no wake-up.
TEST_F(Threads, AProgramEndsWhileItRuns) {
  constexpr std::uint64_t kOther = kProgram + 0x8000;
  constexpr std::uint32_t kEach = 200;
  const MemoryRange gone[] = {{kProgram, 0x8000}};
  load(relay(40, 41), kOther);
  start(NRTP_ENGINE_ACT, kOther);
  std::atomic<bool> over{false};
  const auto work = [&] {
    while (!over.load() || dev().runnable()) dev().run(1000);
  };
  std::thread a(work), b(work);
  for (std::uint32_t i = 0; i < kEach; ++i) {
    load(Program{}.add(mark(50)).add(branch(0, 0, 0, -1)));
    start(NRTP_ENGINE_PE);
    while (dev().semaphore_read(0, 50) == 0) std::this_thread::yield();
    dev().semaphore_add(0, 40, 1);
    dev().end_programs(gone);
    const std::uint32_t reached = dev().semaphore_read(0, 50);
    load(Program{}.add(mark(51)).add(halt()));
    std::this_thread::yield();
    ASSERT_EQ(dev().semaphore_read(0, 50), reached) << "round " << i;
    dev().semaphore_add(0, 50, -static_cast<std::int32_t>(reached));
  }
  over = true;
  a.join();
  b.join();
  EXPECT_EQ(dev().semaphore_read(0, 50), 0u);
  EXPECT_EQ(dev().semaphore_read(0, 51), 0u);
  EXPECT_EQ(dev().semaphore_read(0, 41), kEach);
}

TEST_F(Threads, TwoCoresRunAndSignalEachOther) {
  constexpr std::uint32_t kRounds = 2000;
  // Each core: wait own semaphore 1, count it down, ring the peer.
  for (std::uint32_t core = 0; core < 2; ++core) {
    auto take = isa::zero_record<isa::EventSemaphoreRecord>(isa::kOpEventSemaphore);
    take.wait_mode = isa::kWaitSemGe;
    take.wait_index = 1;
    take.wait_value = 1;
    take.update_mode = isa::kUpdateSemDec;
    take.update_index = 1;
    load(Program{}
             .add(take)
             .add(mark(50))
             .add(write(sem(1 - core, 1, NRTP_SEM_INC), 1))
             .add(branch(0, 0, 0, -3)),
         kProgram + core * 0x8000);
    start(NRTP_ENGINE_SP, kProgram + core * 0x8000, core);
  }
  dev().semaphore_add(0, 1, 1);
  const auto worker = [&] {
    while (dev().semaphore_read(0, 50) < kRounds) dev().run(100);
  };
  std::thread a(worker), b(worker);
  a.join();
  b.join();
  EXPECT_GE(dev().semaphore_read(1, 50), kRounds - 1);
}

TEST_F(Threads, NotificationsArePublishedWhole) {
  // One thread runs the core, this one consumes as the runtime does: it polls
  // the phase bit of the first word and advances the head.
  constexpr std::uint32_t kQueue = 4 + NRTP_ENGINE_SP, kRecords = 16;
  constexpr std::uint32_t kTotal = 600;
  nq_init(kQueue, 0, kRecords * 16);
  auto notify = isa::zero_record<isa::ControlRecord>(isa::kOpNotify);
  notify.notify_kind = 3;
  notify.h.wait_mode = isa::kWaitSemGt;
  notify.h.wait_index = 40;
  auto down = nop();
  down.h.update_mode = isa::kUpdateSemDec;
  down.h.update_index = 40;
  load(Program{}.add(notify).add(down).add(branch(0, 0, 0, -2)));
  start(NRTP_ENGINE_SP);
  std::atomic<bool> done{false};
  std::thread runner([&] {
    while (!done.load())
      if (!dev().run(1000)) std::this_thread::yield();
  });
  std::uint64_t last = 0;
  for (std::uint32_t n = 0; n < kTotal; ++n) {
    dev().semaphore_add(0, 40, 1);
    auto* word = reinterpret_cast<std::uint32_t*>(memory_->host().data() + n % kRecords * 16);
    const std::uint32_t phase = n / kRecords % 2 == 0 ? 1 : 0;
    while (std::atomic_ref<std::uint32_t>(*word).load(std::memory_order_acquire) >> 31 != phase)
      std::this_thread::yield();
    std::uint32_t rest[3];
    std::memcpy(rest, word + 1, sizeof rest);
    ASSERT_EQ(rest[0] >> 16, 3u) << n;
    const std::uint64_t time = std::uint64_t{rest[2]} << 32 | rest[1];
    ASSERT_GE(time, last);
    last = time;
    bar0_put(nq_bar0(kQueue, 0xC), (n + 1) % kRecords * 16);
  }
  done = true;
  runner.join();
  EXPECT_FALSE(dev().notification_overflow(0));
}

TEST_F(Threads, TwoThreadsRingTwoQueuesThatTouchEachOther) {
  // Each queue's transfers ring the other queue: no deadlock, nothing lost.
  constexpr std::uint32_t kRounds = 300;
  put<std::uint32_t>(kData, 1);
  for (std::uint32_t q = 0; q < 2; ++q) {
    attach(q, 0, 0xFFFFF0);
    attach(q, 1, 0xFFFFF0);
    std::vector<Desc> t, r;
    for (std::uint32_t i = 0; i < 100; ++i) {
      // Rings the transmit side of queue 1 of the other engine.
      fill(q, 0, 0, {tx(kData, 4)}, i);
      fill(q, 0, 1, {rx(queue_reg(1 - q, 1, 0, NRTP_QREG_TAIL_INC), 4)}, i);
      fill(q, 1, 0, {tx(dma().event_const_addr[1], 4)}, i);
      fill(q, 1, 1, {rx(sem(0, 60 + q, NRTP_SEM_INC), 4)}, i);
    }
  }
  for (std::uint32_t round = 0; round < kRounds / 100; ++round) {
    for (std::uint32_t q = 0; q < 2; ++q)
      for (std::uint32_t n = 0; n < 2; ++n)
        for (std::uint32_t dir = 0; dir < 2; ++dir)
          put<std::uint32_t>(queue_reg(q, n, dir, NRTP_QREG_SW_CTRL), 0x100);
    for (std::uint32_t q = 0; q < 2; ++q) ASSERT_EQ(dev().queue_start(q, 1, 0, 100), 0);
    const auto ring = [&](std::uint32_t q) {
      for (std::uint32_t i = 0; i < 100; ++i) dev().queue_start(q, 0, 1, 1);
    };
    std::thread a(ring, 0), b(ring, 1);
    a.join();
    b.join();
  }
  EXPECT_EQ(dev().semaphore_read(0, 60), kRounds);
  EXPECT_EQ(dev().semaphore_read(0, 61), kRounds);
}

// A generated copy per round: the host writes the source, kicks, sees the
// completion and reads the result.
TEST_F(Threads, GeneratedCopiesAreVisibleBeforeTheirSemaphore) {
  constexpr std::uint32_t kRounds = 400, kWords = 64;
  namespace D2 = isa::layout::DMA_DIRECT2D;
  auto take = isa::zero_record<isa::EventSemaphoreRecord>(isa::kOpEventSemaphore);
  take.wait_mode = isa::kWaitSemGt;
  take.wait_index = 40;
  take.update_mode = isa::kUpdateSemDec;
  take.update_index = 40;
  RawRecord copy(isa::op::DMAMEMCPY);
  copy.set(D2::semaphore, 30).set(D2::sem_increment, 16);
  copy.set(D2::src_addr, kData).set(D2::src_num_0, kWords).set(D2::src_num_1, 1);
  copy.set(D2::src_elem_size, 4).set(D2::src_step_0, 4);
  copy.set(D2::dst_addr, sbuf(0, 0)).set(D2::dst_num_0, kWords).set(D2::dst_num_1, 1);
  copy.set(D2::dst_elem_size, 4).set(D2::dst_step_0, 0x40000);
  load(Program{}.add(take).add(copy).add(branch(0, 0, 0, -2)));
  start(NRTP_ENGINE_SP);
  std::atomic<bool> done{false};
  const auto work = [&] {
    while (!done.load())
      if (!dev().run(1000)) std::this_thread::yield();
  };
  std::thread a(work), b(work);
  for (std::uint32_t round = 1; round <= kRounds; ++round) {
    for (std::uint32_t i = 0; i < kWords; ++i) put<std::uint32_t>(kData + 4 * i, round * 1000 + i);
    dev().semaphore_add(0, 40, 1);
    while (dev().semaphore_read(0, 30) != 16 * round) std::this_thread::yield();
    for (std::uint32_t i = 0; i < kWords; ++i)
      ASSERT_EQ(get<std::uint32_t>(sbuf(i, 0)), round * 1000 + i);
  }
  done = true;
  a.join();
  b.join();
  EXPECT_EQ(log_lines(), 0u);
}

// Operations of several queues on their own threads; another thread consumes
// what their semaphores announce.
TEST_F(Threads, QueuesComputeOnTheThreadsThatRing) {
  constexpr std::uint32_t kQueues = 3, kRounds = 100, kElements = 700;
  constexpr std::uint32_t kCast = 0x2400001 | 10 << 12 | 8 << 16;  // FP32 to INT32
  for (std::uint32_t q = 0; q < kQueues; ++q) {
    std::vector<Desc> t, r;
    for (std::uint32_t i = 0; i < kRounds; ++i) {
      const std::uint32_t id = 1;
      t.push_back({1u << 23 | id << 24 | kFirst, kCast, kElements});
      t.push_back(tx(kData + q * 0x10000, 4 * kElements, kLast, id));
      t.push_back(tx(dma().event_const_addr[1], 4, kFirst | kLast, id));
      r.push_back(rx(kData + 0x100000 + q * 0x10000, 4 * kElements, id));
      r.push_back(rx(sem(0, 60 + q, NRTP_SEM_INC), 4, id));
    }
    const std::uint64_t rings = kRings + 0x200000 + q * 0x10000;
    ASSERT_EQ(dev().write(rings, t.data(), 16 * t.size()), 0);
    ASSERT_EQ(dev().write(rings + 0x8000, r.data(), 16 * r.size()), 0);
    dev().queue_init(q, 0, {rings, 3 * kRounds}, {rings + 0x8000, 2 * kRounds});
  }
  std::atomic<std::uint32_t> consumed[kQueues] = {};
  const auto produce = [&](std::uint32_t q) {
    for (std::uint32_t round = 1; round <= kRounds; ++round) {
      float* in = reinterpret_cast<float*>(dev().memory_at(kData + q * 0x10000, 4 * kElements));
      for (std::uint32_t i = 0; i < kElements; ++i) in[i] = static_cast<float>(round * 10 + i);
      ASSERT_EQ(dev().queue_start(q, 0, 3, 2), 0);
      while (consumed[q].load(std::memory_order_acquire) != round) std::this_thread::yield();
    }
  };
  std::vector<std::thread> threads;
  for (std::uint32_t q = 0; q < kQueues; ++q) threads.emplace_back(produce, q);
  std::uint32_t wrong = 0;
  for (std::uint32_t left = kQueues * kRounds; left != 0;)
    for (std::uint32_t q = 0; q < kQueues; ++q) {
      const std::uint32_t round = dev().semaphore_read(0, 60 + q);
      if (round == consumed[q].load(std::memory_order_relaxed)) continue;
      const auto* out = reinterpret_cast<const std::int32_t*>(
          dev().memory_at(kData + 0x100000 + q * 0x10000, 4 * kElements));
      for (std::uint32_t i = 0; i < kElements; ++i)
        wrong += out[i] != static_cast<std::int32_t>(round * 10 + i);
      consumed[q].store(round, std::memory_order_release);
      --left;
    }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0u);
  EXPECT_EQ(log_lines(), 0u);
}

TEST_F(Threads, ResetEndsARunThatWouldNotEnd) {
  load(Program{}.add(branch(0, 0, 0, 0)));
  start(NRTP_ENGINE_PE);
  std::thread runner([&] { dev().run(UINT64_MAX); });
  while (dev().runnable()) std::this_thread::yield();  // the runner has the token
  EXPECT_FALSE(dev().run(1000));                       // taken: this thread leaves
  dev().reset_cores(1);
  runner.join();
  EXPECT_EQ(dev().describe(0), "core 0: all engines stopped");
}

}  // namespace
}  // namespace opennrt::emu::test
