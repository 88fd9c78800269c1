// SPDX-License-Identifier: Apache-2.0
#include "device/fault_injector.h"

namespace opennrt::emu {

FaultInjector::FaultInjector(const std::vector<Fault>& all, std::uint32_t device,
                             std::uint32_t cores)
    : cores_(cores) {
  for (const Fault& fault : all)
    if (!fault.of_driver() && fault.device == device && fault.core < cores)
      faults_.push_back({.fault = fault});
}

std::vector<Fault> FaultInjector::started(std::uint32_t core, std::uint32_t engine) {
  std::vector<Fault> due;
  const std::lock_guard lock(mutex_);
  CoreState& state = cores_[core];
  const std::uint64_t request = state.starts[engine]++;
  const bool first = request == state.requests;
  if (first) ++state.requests;
  for (Pending& p : faults_) {
    const bool mine = p.fault.of_engine() ? p.fault.engine == engine : first;
    if (p.done || p.fault.core != core || p.fault.n != request || !mine) continue;
    p.done = true;
    due.push_back(p.fault);
  }
  return due;
}

void FaultInjector::lose_end(std::uint32_t core, std::uint32_t engine) {
  const std::lock_guard lock(mutex_);
  cores_[core].loses_end[engine] = true;
}

bool FaultInjector::loses_end(std::uint32_t core, std::uint32_t engine) {
  const std::lock_guard lock(mutex_);
  return cores_[core].loses_end[engine];
}

void FaultInjector::reset(std::uint32_t core) {
  const std::lock_guard lock(mutex_);
  cores_[core] = {};
}

void FaultInjector::count(const Fault& fault) {
  std::atomic<std::uint64_t>& counter =
      fault.point == Fault::Point::kSramUncorrected  ? sram_uncorrected_
      : fault.point == Fault::Point::kHbmUncorrected ? hbm_uncorrected_
                                                     : hbm_repairable_;
  counter.fetch_add(fault.count, std::memory_order_relaxed);
}

ErrorCounters FaultInjector::counters() const {
  return {.sram_uncorrected = sram_uncorrected_.load(std::memory_order_relaxed),
          .hbm_uncorrected = hbm_uncorrected_.load(std::memory_order_relaxed),
          .hbm_repairable = hbm_repairable_.load(std::memory_order_relaxed)};
}

}  // namespace opennrt::emu
