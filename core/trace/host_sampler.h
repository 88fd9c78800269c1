// SPDX-License-Identifier: Apache-2.0
//
// Load of the host CPUs and memory of this process, one sample at a time.
//
// Threading: one thread at a time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace opennrt::trace {

class HostSampler {
 public:
  static constexpr std::size_t kMostSamples = 10'000;  // then it takes no more

  // Where the kernel's text files are.
  explicit HostSampler(std::string proc = "/proc") : proc_(std::move(proc)) {}

  void sample(std::uint64_t time_ns);
  std::size_t samples() const { return samples_.size(); }

  // {"cpu_name":..,"cpus":N,"samples":[{"timestamp_ns":..,"utilization":[0.25,..]},..]}
  // The first sample has no figures to compare with and is left out.
  std::string cpu_json() const;
  // {"capacity_bytes":..,"samples":[{"timestamp_ns":..,"process_bytes":..},..]}
  std::string memory_json() const;

 private:
  struct CpuTimes {
    std::uint64_t busy = 0, total = 0;
  };
  struct Sample {
    std::uint64_t time_ns = 0;
    std::uint64_t process_bytes = 0;
    std::vector<float> utilization;  // by CPU, 0 to 1
  };
  std::vector<CpuTimes> read_times() const;
  std::uint64_t read_process_bytes() const;

  std::string proc_;
  std::vector<CpuTimes> last_;
  std::vector<Sample> samples_;
};

}  // namespace opennrt::trace
