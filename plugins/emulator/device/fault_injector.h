// SPDX-License-Identifier: Apache-2.0
//
// When the faults of one device act: counts the requests of its cores by the
// START records of their engines. What a fault does is up to the device.
//
// Threading: any thread.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "device/device.h"
#include "device/faults.h"

namespace opennrt::emu {

class FaultInjector {
 public:
  // Takes those of `all` that name the device.
  FaultInjector(const std::vector<Fault>& all, std::uint32_t device, std::uint32_t cores);

  bool empty() const { return faults_.empty(); }
  // An engine has reported START: the faults that act now.
  std::vector<Fault> started(std::uint32_t core, std::uint32_t engine);
  // From now on END records of the engine are lost.
  void lose_end(std::uint32_t core, std::uint32_t engine);
  bool loses_end(std::uint32_t core, std::uint32_t engine);
  // The core begins anew; what has acted does not act again.
  void reset(std::uint32_t core);

  void count(const Fault& fault);
  ErrorCounters counters() const;

 private:
  struct CoreState {
    std::array<std::uint64_t, NRTP_MAX_ENGINES> starts{};
    std::array<bool, NRTP_MAX_ENGINES> loses_end{};
    std::uint64_t requests = 0;  // that some engine has started
  };
  struct Pending {
    Fault fault;
    bool done = false;
  };

  std::mutex mutex_;  // guards the two below
  std::vector<Pending> faults_;
  std::vector<CoreState> cores_;
  std::atomic<std::uint64_t> sram_uncorrected_{0}, hbm_uncorrected_{0}, hbm_repairable_{0};
};

}  // namespace opennrt::emu
