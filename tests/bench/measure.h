// SPDX-License-Identifier: Apache-2.0
//
// Clocks, the multiply-adds a CPU can do, and medians.
#pragma once

#include <sched.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace opennrt::bench {

double thread_seconds();   // CPU time of the calling thread
double process_seconds();  // CPU time of all threads of the process
double wall_seconds();

// Seconds of `work` on a clock.
template <typename Work>
double timed(double (*clock)(), Work&& work) {
  const double start = clock();
  work();
  return clock() - start;
}

double median(std::vector<double> values);

// FP32 operations per second of independent multiply-add chains in registers, of
// the widest vectors that the CPU has, on `threads` threads at once. One thread:
// by its CPU time, more: by the wall clock. 0: this CPU is not known.
double peak_flops(int threads);

// CPUs that the calling thread may use; pin() leaves it, and threads it starts
// later, the first `n` of those that the process had.
int available_cpus();
void pin(int n);

// Zeroed memory of 2 MiB pages where the system grants them: a product streams
// through so much memory that small pages cost it a tenth.
class HugeBuffer {
 public:
  explicit HugeBuffer(std::size_t bytes);
  ~HugeBuffer();
  HugeBuffer(const HugeBuffer&) = delete;
  HugeBuffer& operator=(const HugeBuffer&) = delete;
  float* floats() const { return static_cast<float*>(data_); }
  std::uint8_t* bytes() const { return static_cast<std::uint8_t*>(data_); }

 private:
  void *mapping_ = nullptr, *data_ = nullptr;
  std::size_t mapped_ = 0;
};

}  // namespace opennrt::bench
