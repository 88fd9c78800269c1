// SPDX-License-Identifier: Apache-2.0
//
// A piece of work that idle threads may take a part in: steps 0 to n, of which
// every thread that comes takes some until all are taken. One thread publishes,
// any number helps.
#pragma once

#include <atomic>
#include <cstdint>

namespace opennrt::emu {

struct PeScratch;

class WorkShare {
 public:
  // Performs steps [first, first + n) with working memory of the calling thread.
  using Steps = void (*)(const void* job, PeScratch& scratch, std::uint32_t first, std::uint32_t n);

  // Returns when all `count` steps (less than 65536) are done. What was done
  // before is visible to all helpers, what they do to the caller.
  void run(std::uint32_t count, Steps steps, const void* job, PeScratch& scratch) {
    steps_ = steps;
    job_ = job;
    count_ = count;
    done_.store(0, std::memory_order_relaxed);
    generation_ += kGeneration;
    ticket_.store(generation_ | count, std::memory_order_release);
    while (help(scratch)) {
    }
    while (done_.load(std::memory_order_acquire) != count) relax();
  }

  // Takes some steps of what is under way. False: there were none to take.
  bool help(PeScratch& scratch) {
    // The steps left. A ticket taken keeps the publisher, and with it the job,
    // where it is; the generation keeps a late helper from the next job.
    std::uint64_t ticket = ticket_.load(std::memory_order_acquire);
    for (;;) {
      const auto left = static_cast<std::uint32_t>(ticket % kGeneration);
      if (left == 0) return false;
      // Half of what is left: few calls, and all end at nearly the same time.
      const std::uint32_t mine = (left + 1) / 2;
      if (!ticket_.compare_exchange_weak(ticket, ticket - mine, std::memory_order_acq_rel,
                                         std::memory_order_acquire))
        continue;
      steps_(job_, scratch, count_ - left, mine);
      done_.fetch_add(mine, std::memory_order_release);
      return true;
    }
  }

  static void relax() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }

 private:
  static constexpr std::uint64_t kGeneration = 1 << 16;

  std::atomic<std::uint64_t> ticket_{0};  // generation, steps left
  std::atomic<std::uint32_t> done_{0};
  std::uint64_t generation_ = 0;  // of the publisher
  Steps steps_ = nullptr;
  const void* job_ = nullptr;
  std::uint32_t count_ = 0;
};

}  // namespace opennrt::emu
