// SPDX-License-Identifier: Apache-2.0
//
// The driver layer from several threads at once, on one open device.
#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "ndl/ndl_case.h"

namespace opennrt::conform {
namespace {

class NdlThreads : public NdlDeviceCase {};

TEST_F(NdlThreads, CopiesAndSemaphoresOfThreadsDoNotMix) {
  constexpr int kThreads = 8, kRounds = 50;
  constexpr std::size_t kBytes = 64 << 10;
  std::vector<std::uint64_t> memory;
  for (int t = 0; t < kThreads; ++t) memory.push_back(allocate(kBytes));
  ASSERT_EQ(std::count(memory.begin(), memory.end(), 0u), 0);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      const auto n = static_cast<std::uint32_t>(60 + t);
      std::vector<std::uint8_t> in(kBytes), out(kBytes);
      wrong += ndl().sync->sem_write(ctx(), dev(), 0, n, 0) != 0;
      for (int round = 0; round < kRounds; ++round) {
        std::fill(in.begin(), in.end(), static_cast<std::uint8_t>(31 * t + round));
        wrong += ndl().copy->in(ctx(), memory[static_cast<std::size_t>(t)], 0, in.data(), kBytes);
        wrong += ndl().copy->out(ctx(), memory[static_cast<std::size_t>(t)], 0, out.data(), kBytes);
        wrong += in != out;
        wrong += ndl().sync->sem_inc(ctx(), dev(), 0, n, 1) != 0;
      }
      std::uint32_t value = 0;
      wrong += ndl().sync->sem_read(ctx(), dev(), 0, n, &value) != 0 || value != kRounds;
      wrong += ndl().sync->sem_write(ctx(), dev(), 0, n, 0) != 0;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace opennrt::conform
