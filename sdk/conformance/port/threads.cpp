// SPDX-License-Identifier: Apache-2.0
//
// The port from several threads at once.
#include <atomic>
#include <cerrno>
#include <thread>
#include <vector>

#include "port/port_case.h"

namespace opennrt::conform {
namespace {

class PortThreads : public PortCase {};

TEST_F(PortThreads, EveryMemberAnswersOnEveryThread) {
  constexpr int kThreads = 8, kRounds = 500;
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&] {
      std::uint64_t last = 0;
      char text[128];
      for (int round = 0; round < kRounds; ++round) {
        const std::uint64_t now = port().now_us(ctx());
        wrong += now < last;
        last = now;
        wrong += port().close(ctx(), -1) != -EBADF;
        wrong += port().exists(ctx(), "/dev/neuron-none-such") != 0;
        wrong += port().read_text(ctx(), "/sys/none/such", text, sizeof text) >= 0;
        if (round % 50 == 0) port().sleep_us(ctx(), 10);
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace opennrt::conform
