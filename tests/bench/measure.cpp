// SPDX-License-Identifier: Apache-2.0
#include "bench/measure.h"

#include <sys/mman.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace opennrt::bench {

namespace {

double seconds(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

constexpr double kRounds = 3000000;

#if defined(__x86_64__)
// Ten chains hide the latency of two multiply-add units.
#define OPENNRT_FMA_CHAINS(constraint)                                                   \
  asm volatile(                                                                          \
      "vfmadd213ps %10, %10, %0\n vfmadd213ps %10, %10, %1\n vfmadd213ps %10, %10, %2\n" \
      "vfmadd213ps %10, %10, %3\n vfmadd213ps %10, %10, %4\n vfmadd213ps %10, %10, %5\n" \
      "vfmadd213ps %10, %10, %6\n vfmadd213ps %10, %10, %7\n vfmadd213ps %10, %10, %8\n" \
      "vfmadd213ps %10, %10, %9"                                                         \
      : "+" constraint(a), "+" constraint(b), "+" constraint(c), "+" constraint(d),      \
        "+" constraint(e), "+" constraint(f), "+" constraint(g), "+" constraint(h),      \
        "+" constraint(i), "+" constraint(j)                                             \
      : constraint(x))

__attribute__((target("avx512f"))) void chains_avx512() {
  using V = float __attribute__((vector_size(64)));
  V a{}, b{}, c{}, d{}, e{}, f{}, g{}, h{}, i{}, j{};
  const V x = V{} + 0.999f;
  for (int n = 0; n < static_cast<int>(kRounds); ++n) OPENNRT_FMA_CHAINS("v");
}
__attribute__((target("avx2,fma"))) void chains_avx2() {
  using V = float __attribute__((vector_size(32)));
  V a{}, b{}, c{}, d{}, e{}, f{}, g{}, h{}, i{}, j{};
  const V x = V{} + 0.999f;
  for (int n = 0; n < static_cast<int>(kRounds); ++n) OPENNRT_FMA_CHAINS("x");
}

double chain_flops(void (**chains)()) {
  if (__builtin_cpu_supports("avx512f")) {
    *chains = chains_avx512;
    return kRounds * 10 * 32;
  }
  if (__builtin_cpu_supports("fma")) {
    *chains = chains_avx2;
    return kRounds * 10 * 16;
  }
  return 0;
}
#else
double chain_flops(void (**)()) { return 0; }
#endif

const cpu_set_t& process_cpus() {
  static const cpu_set_t cpus = [] {
    cpu_set_t set;
    CPU_ZERO(&set);
    sched_getaffinity(0, sizeof set, &set);
    return set;
  }();
  return cpus;
}

constexpr std::size_t kHugePage = std::size_t{2} << 20;

}  // namespace

double thread_seconds() { return seconds(CLOCK_THREAD_CPUTIME_ID); }
double process_seconds() { return seconds(CLOCK_PROCESS_CPUTIME_ID); }
double wall_seconds() { return seconds(CLOCK_MONOTONIC); }

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

double peak_flops(int threads) {
  void (*chains)() = nullptr;
  const double flops = chain_flops(&chains);
  if (flops == 0) return 0;
  if (threads == 1) return flops / timed(thread_seconds, chains);
  std::atomic<int> ready{0};
  std::vector<std::thread> others;
  const auto body = [&] {
    ready.fetch_add(1);
    while (ready.load() < threads) std::this_thread::yield();
    chains();
  };
  for (int t = 1; t < threads; ++t) others.emplace_back(body);
  while (ready.load() < threads - 1) std::this_thread::yield();
  const double seconds = timed(wall_seconds, [&] {
    body();
    for (std::thread& t : others) t.join();
  });
  return threads * flops / seconds;
}

int available_cpus() { return CPU_COUNT(&process_cpus()); }

void pin(int n) {
  cpu_set_t few;
  CPU_ZERO(&few);
  for (std::size_t cpu = 0; cpu < CPU_SETSIZE && n > 0; ++cpu)
    if (CPU_ISSET(cpu, &process_cpus())) {
      CPU_SET(cpu, &few);
      --n;
    }
  sched_setaffinity(0, sizeof few, &few);
}

HugeBuffer::HugeBuffer(std::size_t bytes) : mapped_(bytes + kHugePage) {
  mapping_ = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping_ == MAP_FAILED) {
    std::fprintf(stderr, "no memory for a buffer of %zu bytes\n", bytes);
    std::exit(1);
  }
  const auto address = reinterpret_cast<std::uintptr_t>(mapping_);
  data_ = static_cast<char*>(mapping_) + (kHugePage - address % kHugePage) % kHugePage;
  madvise(data_, bytes, MADV_HUGEPAGE);
}
HugeBuffer::~HugeBuffer() { munmap(mapping_, mapped_); }

}  // namespace opennrt::bench
