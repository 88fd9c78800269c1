// SPDX-License-Identifier: Apache-2.0
//
// What two samples say together: counts of a period, rates, shares. A figure that is
// not known is nothing, never zero.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "watch/sample.h"

namespace opennrt::tools {

// Order of the arrays below; the names are those of the reports.
inline constexpr std::array<const char*, 6> kOutcomeNames = {
    "completed", "completed_with_err", "completed_with_num_err",
    "timed_out", "incorrect_input",    "failed_to_queue"};
inline constexpr std::array<const char*, 6> kErrorNames = {"generic", "numerical", "transient",
                                                           "model",   "runtime",   "hardware"};
// Of device memory, by NDS_DMA_MEM_USAGE_SLOT_*.
inline constexpr std::array<const char*, nds::kMemorySlots> kMemoryNames = {
    "model_code", "tensors", "constants", "model_shared_scratchpad", "runtime_memory"};

struct Counts {
  std::array<std::uint64_t, 6> outcomes{}, errors{};
  std::uint64_t executions = 0;  // that ended, however
};

using MemoryBytes = std::array<std::optional<std::uint64_t>, nds::kMemorySlots>;
std::optional<std::uint64_t> sum_of(const MemoryBytes& bytes);

struct PhysicalCore {
  std::uint32_t number = 0;  // of the machine
  std::optional<double> utilization;
};

// A logical core in one process.
struct CoreFigures {
  std::uint32_t logical = 0, device = 0;
  std::vector<PhysicalCore> physical;
  std::uint64_t executions_total = 0;
  std::optional<std::uint64_t> executions;
  std::optional<double> utilization;  // percent, of the busiest physical core
  std::optional<double> flops;        // a second
  MemoryBytes memory;
};

struct ModelFigures {
  std::string name, uuid;
  std::uint32_t model_id = 0;
  struct Part {
    std::uint32_t subgraph = 0, logical = 0, device = 0;
    MemoryBytes host, on_device;
  };
  std::vector<Part> parts;
};

struct ProcessFigures {
  long pid = 0;
  std::string command, tag, error;
  bool known = false;  // there is a store, so that the counts are of something
  Counts totals;       // since the process has its stores
  std::optional<Counts> period;
  std::optional<double> rate;      // executions a second
  std::vector<CoreFigures> cores;  // that it uses
  std::vector<ModelFigures> models;
  MemoryBytes host;
  std::optional<std::uint64_t> host_bytes, device_bytes;
  // Of the last execution, us. Exact for the period when it was the only one.
  std::optional<std::uint64_t> last_total_us, last_device_us;
  std::optional<double> mean_device_us;  // of the period
  std::optional<double> user, system;    // percent of the time of all CPUs of the host
};

struct CpuShare {
  double user = 0, nice = 0, system = 0, idle = 0, io_wait = 0, irq = 0, soft_irq = 0;
};

struct PeriodFigures {
  std::optional<double> period_s;
  std::vector<ProcessFigures> processes;
  std::optional<CpuShare> cpu;
  std::vector<std::optional<CpuShare>> cpus;
  std::optional<std::uint64_t> context_switches;
};

// before: nullptr: the first sample, so that nothing of a period is known.
PeriodFigures figures_of(const Sample* before, const Sample& now);

}  // namespace opennrt::tools
