// SPDX-License-Identifier: Apache-2.0
//
// Data and functions of the table from several threads at once, as the cores of a
// software device use them: the same answers, and nothing in the way of each other.
#include <atomic>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "arch/arch_case.h"
#include "arch/interruptions.h"
#include "host.h"

namespace opennrt::conform {
namespace {

constexpr int kThreads = 8;

class ArchThreads : public ArchCase {
 protected:
  void mix(std::uint64_t* digest, std::uint64_t value) const {
    *digest = (*digest ^ value) * 0x100000001B3ull + (*digest >> 29);
  }
  // What the pure functions answer, in one number.
  std::uint64_t digest_of_answers() const {
    std::uint64_t digest = 0xCBF29CE484222325ull;
    for (std::uint32_t core = 0; core <= product()->cores; ++core) {
      for (std::uint32_t i = 0; i < geometry().semaphores; i += 7)
        mix(&digest, address().sem_addr(product(), core, i, i % 4));
      for (std::uint32_t i = 0; i < geometry().events; i += 5) {
        const std::uint64_t at = address().event_addr(product(), core, i);
        nrtp_addr_class c{};
        c.size = sizeof c;
        mix(&digest, static_cast<std::uint64_t>(address().classify(product(), at, &c)));
        mix(&digest, c.local + c.core);
      }
      for (std::uint32_t e = 0; e < geometry().engines; ++e)
        mix(&digest, address().nx_device(product(), core, e));
      for (std::uint32_t i = 0; i < geometry().dma_per_core; ++i)
        mix(&digest, dma().udma_device(product(), dma().core_engine(product(), core, i)));
      std::uint32_t n = 64;
      nrtp_dma_slot slots[64] = {};
      mix(&digest, static_cast<std::uint64_t>(dma().alloc_class(product(), 0, core, slots, &n)));
      for (const nrtp_dma_slot& slot : slots) mix(&digest, slot.engine + 64u * slot.queue);
    }
    for (std::uint32_t queue = 0; queue < geometry().dma_queues_per_engine; ++queue)
      mix(&digest, dma().queue_reg(queue, queue % 2, queue % 8));
    mix_steps(&digest);
    return digest;
  }
  void mix_steps(std::uint64_t* digest) const {
    std::vector<std::uint8_t> records(0x10000);
    for (std::uint32_t engine = 0; engine < geometry().engines; ++engine) {
      for (std::uint32_t step = 0; step <= NRTP_STEP_MODEL_CONFIG; ++step) {
        nrtp_ib_env env{};
        env.size = sizeof env;
        env.form = arch().ib->form_default;
        env.product = product();
        env.engine = engine;
        env.lnc_size = 1;
        env.sem_first = arch().sync->id[NRTP_SYNC_RESERVED_SEMAPHORES];
        env.sem_last = env.sem_first + 3;
        nrtp_ibuf out{records.data(), records.size(), 0};
        mix(digest, static_cast<std::uint64_t>(arch().ib->step(step, &env, &out)));
        for (std::uint64_t i = 0; i < out.len; ++i) mix(digest, records[i]);
        if (arch().ib->validate_image == nullptr) continue;
        nrtp_diag diag{};
        diag.size = sizeof diag;
        mix(digest, static_cast<std::uint64_t>(
                        arch().ib->validate_image(engine, records.data(), out.len, &diag)));
      }
    }
  }
};

template <typename Work>
void together(Work work) {
  std::atomic<int> ready = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      ++ready;
      while (ready < kThreads) std::this_thread::yield();
      work(t);
    });
  const Interruptions interruptions;
  for (std::thread& thread : threads) thread.join();
}

ARCH_CASE(ArchThreads, AnswersAreTheSameOnEveryThread) {
  constexpr int kRounds = 3;
  const std::uint64_t expected = digest_of_answers();
  std::atomic<int> wrong = 0;
  together([&](int) {
    for (int round = 0; round < kRounds; ++round) wrong += digest_of_answers() != expected;
  });
  EXPECT_EQ(wrong, 0) << "rounds with other answers than one thread alone gets";
}

ARCH_CASE(ArchThreads, ContextsAreIndependent) {
  constexpr int kRounds = 200;
  const nrtp_host* host = TestHost::instance().table();
  const std::size_t before = TestHost::instance().live();
  std::atomic<int> failed = 0;
  together([&](int t) {
    nrtp_host_dev dev{};
    dev.size = sizeof dev;
    dev.device_index = static_cast<std::uint32_t>(t);
    dev.platform = NRTP_PLATFORM_EMULATOR;
    dev.product = product();
    dev.reg_read32 = [](void*, std::uint64_t, std::uint32_t* out, std::uint32_t n) {
      for (std::uint32_t i = 0; i < n; ++i) out[i] = 0;
      return int{NRTP_OK};
    };
    dev.reg_write32 = [](void*, std::uint64_t, const std::uint32_t*, std::uint32_t) {
      return int{NRTP_OK};
    };
    for (int round = 0; round < kRounds; ++round) {
      void* ctx = nullptr;
      if (arch().attach(host, &dev, &ctx) != NRTP_OK) {
        ++failed;
        continue;
      }
      arch().detach(ctx);
    }
  });
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(TestHost::instance().live(), before) << "allocations that detach left behind";
}

}  // namespace
}  // namespace opennrt::conform
