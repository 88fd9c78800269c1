// SPDX-License-Identifier: Apache-2.0
//
// MODEL N: loads the model, executes it N times, says what memory it has and how long
// the executions took, and stays; each SIGUSR1 is N executions more.
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "support/vecadd_client.h"

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  sigset_t more;
  sigemptyset(&more);
  sigaddset(&more, SIGUSR1);
  sigprocmask(SIG_BLOCK, &more, nullptr);
  const opennrt::test::Runtime runtime;
  if (runtime.status() != NRT_SUCCESS) return 3;
  const opennrt::test::VecAddModel model(opennrt::test::read_file(argv[1]));
  if (model.status() != NRT_SUCCESS) return 4;
  opennrt::test::VecAddTensors tensors(model, 1);
  for (;;) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < std::atoi(argv[2]); ++i)
      if (tensors.execute() != NRT_SUCCESS) return 5;
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
    nrt_vnc_memory_stats_t memory{};
    size_t bytes = 0;
    if (nrt_get_vnc_memory_stats(0, &memory, sizeof memory, &bytes) != NRT_SUCCESS) return 6;
    std::printf("used %zu took %.0f us\n", memory.bytes_used, std::ceil(took.count()));
    std::printf("ready\n");
    std::fflush(stdout);
    int signal = 0;
    sigwait(&more, &signal);
  }
}
