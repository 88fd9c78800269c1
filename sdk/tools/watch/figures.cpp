// SPDX-License-Identifier: Apache-2.0
#include "watch/figures.h"

#include <algorithm>
#include <map>

namespace opennrt::tools {

namespace {

constexpr std::array<std::uint32_t, 6> kOutcomes = {
    nds::kCompleted, nds::kCompletedWithErrors, nds::kCompletedWithNumericalErrors,
    nds::kTimedOut,  nds::kIncorrectInput,      nds::kFailedToQueue};
constexpr std::array<std::uint32_t, 6> kErrors = {nds::kErrorGeneric,   nds::kErrorNumerical,
                                                  nds::kErrorTransient, nds::kErrorModel,
                                                  nds::kErrorRuntime,   nds::kErrorHardware};

using CoreCounters = std::array<std::uint64_t, nds::kCoreCounters>;

// Of one core: now, and when the period began (nothing: not known).
struct Pair {
  const CoreCounters* now = nullptr;
  std::optional<CoreCounters> before;
  std::uint64_t change(std::uint32_t counter) const { return (*now)[counter] - (*before)[counter]; }
};

const ProcessSample* same_process(const Sample* sample, const ProcessSample& process) {
  if (sample == nullptr) return nullptr;
  for (const ProcessSample& p : sample->processes)
    if (p.pid == process.pid && p.started == process.started) return &p;
  return nullptr;
}

const nds::StoreReading* store_of(const ProcessSample& process, std::uint32_t device) {
  for (const DeviceStore& d : process.stores)
    if (d.device == device) return &d.store;
  return nullptr;
}

// Counters that only grow. One that has not is of a store that was made anew.
bool renewed(const nds::StoreReading& before, const nds::StoreReading& now) {
  for (std::uint32_t core = 0; core < nds::kCores; ++core)
    for (const std::uint32_t counter :
         {std::uint32_t{nds::kInferences}, std::uint32_t{nds::kModelLoads},
          std::uint32_t{nds::kTimeInUse}, std::uint32_t{nds::kCompleted}})
      if (now.cores[core][counter] < before.cores[core][counter]) return true;
  return false;
}

// The counters that the period began with. A store that was not there began empty.
std::optional<nds::StoreReading> baseline(const Sample* before, const ProcessSample& process,
                                          const DeviceStore& now) {
  if (before == nullptr) return std::nullopt;
  const ProcessSample* known = same_process(before, process);
  const nds::StoreReading* store = known != nullptr ? store_of(*known, now.device) : nullptr;
  if (store != nullptr && !renewed(*store, now.store)) return *store;
  // Nobody could look then.
  const bool unseen = known != nullptr ? !known->error.empty() && store == nullptr
                                       : !before->error.empty() || !before->machine.good;
  if (unseen) return std::nullopt;
  return nds::StoreReading();
}

class Process {
 public:
  Process(const Sample* before, const Sample& now, const ProcessSample& sample)
      : before_(before), now_(now), sample_(sample), lnc_(sample.lnc) {
    // What a store says fits the machine, or is not believed.
    for (const Device& d : now.machine.devices)
      if (lnc_ == 0 || d.cores.size() % lnc_ != 0) lnc_ = 1;
  }

  ProcessFigures figures(std::optional<double> period_s) {
    out_.pid = sample_.pid;
    out_.command = sample_.command;
    out_.tag = sample_.tag();
    out_.error = sample_.error;
    out_.known = !sample_.stores.empty();
    bool whole = before_ != nullptr && out_.known;
    Counts period;
    for (std::size_t i = 0; i < nds::kMemorySlots; ++i)
      out_.host[i] = out_.known ? std::optional<std::uint64_t>(0) : std::nullopt;
    for (const DeviceStore& d : sample_.stores) whole &= add_store(d, period_s, &period);
    if (whole) {
      out_.period = period;
      if (period_s && *period_s > 0) out_.rate = static_cast<double>(period.executions) / *period_s;
      if (period.executions != 0)
        out_.mean_device_us =
            static_cast<double>(busy_us_) / static_cast<double>(period.executions);
    }
    if (out_.known) {
      out_.host_bytes = sum_of(out_.host);
      out_.device_bytes = device_sum();
    }
    std::sort(out_.cores.begin(), out_.cores.end(),
              [](const CoreFigures& a, const CoreFigures& b) { return a.logical < b.logical; });
    cpu_share();
    return std::move(out_);
  }

 private:
  std::uint32_t cores_of(std::uint32_t device) const {
    for (const Device& d : now_.machine.devices)
      if (d.index == device) return static_cast<std::uint32_t>(d.cores.size());
    return 0;
  }
  // Number of the first physical core of the device on the machine.
  std::uint32_t first_core(std::uint32_t device) const {
    std::uint32_t first = 0;
    for (const Device& d : now_.machine.devices) {
      if (d.index == device) break;
      first += static_cast<std::uint32_t>(d.cores.size());
    }
    return first;
  }
  bool holds(std::uint32_t device, std::uint32_t core) const {
    for (const Device& d : now_.machine.devices)
      for (const Core& c : d.cores)
        if (d.index == device && c.core == core && c.holder && c.holder->pid == sample_.pid)
          return true;
    return false;
  }
  std::uint32_t logical(std::uint32_t device, std::uint32_t core) const {
    return (first_core(device) + core) / lnc_;
  }

  // False: what happened in the period is not known.
  bool add_store(const DeviceStore& d, std::optional<double> period_s, Counts* period) {
    const auto before = baseline(before_, sample_, d);
    for (std::size_t i = 0; i < nds::kMemorySlots; ++i)
      add(&out_.host[i], nds::plausible_bytes(d.store.device[nds::kHostMemory + i]));
    // Cores that are one logical core count every execution each.
    const std::uint32_t there = std::min(cores_of(d.device), nds::kCores);
    for (std::uint32_t first = 0; first < there; first += lnc_) {
      std::vector<Pair> cores;
      for (std::uint32_t c = first; c < std::min(first + lnc_, there); ++c)
        cores.push_back({.now = &d.store.cores[c],
                         .before = before ? std::optional(before->cores[c]) : std::nullopt});
      add_core(d, first, cores, period_s, period);
    }
    add_models(d);
    return before.has_value();
  }

  static std::uint64_t most(const std::vector<Pair>& cores, std::uint32_t counter) {
    std::uint64_t out = 0;
    for (const Pair& p : cores) out = std::max(out, (*p.now)[counter]);
    return out;
  }
  static std::uint64_t most_change(const std::vector<Pair>& cores, std::uint32_t counter) {
    std::uint64_t out = 0;
    for (const Pair& p : cores) out = std::max(out, p.change(counter));
    return out;
  }

  void add_core(const DeviceStore& d, std::uint32_t first, const std::vector<Pair>& cores,
                std::optional<double> period_s, Counts* period) {
    const bool timed = cores.front().before && period_s && *period_s > 0;
    for (std::size_t i = 0; i < kOutcomes.size(); ++i) {
      out_.totals.outcomes[i] += most(cores, kOutcomes[i]);
      out_.totals.errors[i] += most(cores, kErrors[i]);
      if (!cores.front().before) continue;
      period->outcomes[i] += most_change(cores, kOutcomes[i]);
      period->errors[i] += most_change(cores, kErrors[i]);
    }
    CoreFigures core{.logical = logical(d.device, first),
                     .device = d.device,
                     .physical = {},
                     .executions_total = most(cores, nds::kInferences),
                     .executions = std::nullopt,
                     .utilization = std::nullopt,
                     .flops = std::nullopt,
                     .memory = {}};
    out_.totals.executions += core.executions_total;
    if (cores.front().before) {
      core.executions = most_change(cores, nds::kInferences);
      period->executions += *core.executions;
      busy_us_ += most_change(cores, nds::kTimeInUse);
      if (*core.executions != 0 || !out_.last_total_us) take_latency(cores, core.executions_total);
    } else {
      take_latency(cores, core.executions_total);
    }
    if (timed) core.flops = 2.0 * static_cast<double>(most_change(cores, nds::kMacs)) / *period_s;
    bool used = core.executions_total != 0;
    for (std::uint32_t i = 0; i < nds::kMemorySlots; ++i) core.memory[i] = 0;
    for (std::uint32_t c = 0; c < cores.size(); ++c) {
      PhysicalCore physical{.number = first_core(d.device) + first + c, .utilization = {}};
      if (timed) {
        // An execution counts where it ends, so that it may be longer than the period.
        const double busy_s = static_cast<double>(cores[c].change(nds::kTimeInUse)) * 1e-6;
        physical.utilization = std::min(100.0, 100.0 * busy_s / *period_s);
        core.utilization = std::max(core.utilization.value_or(0), *physical.utilization);
      }
      core.physical.push_back(physical);
      for (std::uint32_t i = 0; i < nds::kMemorySlots; ++i) {
        const std::uint64_t bytes = (*cores[c].now)[nds::kDeviceMemory + i];
        add(&core.memory[i], nds::plausible_bytes(bytes));
        used |= bytes != 0;
      }
      used |= holds(d.device, first + c);
    }
    if (used) out_.cores.push_back(std::move(core));
  }

  void take_latency(const std::vector<Pair>& cores, std::uint64_t executions) {
    if (executions == 0) return;
    out_.last_total_us = most(cores, nds::kLatencyTotal);
    out_.last_device_us = most(cores, nds::kLatencyDevice);
  }

  void add_models(const DeviceStore& d) {
    for (const nds::ModelReading& m : d.store.models) {
      const std::string uuid = hex(m.uuid);
      auto at = std::find_if(out_.models.begin(), out_.models.end(), [&](const ModelFigures& f) {
        return f.model_id == m.model_id && f.uuid == uuid;
      });
      if (at == out_.models.end())
        at = out_.models.insert(
            at, {.name = m.name, .uuid = uuid, .model_id = m.model_id, .parts = {}});
      ModelFigures::Part part{.subgraph = m.subgraph,
                              .logical = logical(d.device, m.core),
                              .device = d.device,
                              .host = {},
                              .on_device = {}};
      for (std::size_t i = 0; i < nds::kMemorySlots; ++i) {
        part.host[i] = nds::plausible_bytes(m.bytes[0][i]);
        part.on_device[i] = nds::plausible_bytes(m.bytes[1][i]);
      }
      at->parts.push_back(part);
    }
  }

  static std::string hex(const std::array<std::uint8_t, 16>& bytes) {
    std::string out;
    for (const std::uint8_t b : bytes) {
      out += "0123456789abcdef"[b >> 4];
      out += "0123456789abcdef"[b & 15];
    }
    return out;
  }

  // What is not known makes the sum unknown.
  static void add(std::optional<std::uint64_t>* to, std::optional<std::uint64_t> bytes) {
    if (*to && bytes)
      **to += *bytes;
    else
      to->reset();
  }
  std::optional<std::uint64_t> device_sum() const {
    std::optional<std::uint64_t> sum = 0;
    for (const CoreFigures& core : out_.cores) add(&sum, sum_of(core.memory));
    return sum;
  }

  void cpu_share() {
    const ProcessSample* known = same_process(before_, sample_);
    if (known == nullptr || !known->cpu || !sample_.cpu || !before_->system.all ||
        !now_.system.all || now_.system.all->sum() <= before_->system.all->sum())
      return;
    const auto all = static_cast<double>(now_.system.all->sum() - before_->system.all->sum());
    const auto share = [&](std::uint64_t from, std::uint64_t to) {
      return to < from ? 0.0 : 100.0 * static_cast<double>(to - from) / all;
    };
    out_.user = share(known->cpu->user, sample_.cpu->user);
    out_.system = share(known->cpu->system, sample_.cpu->system);
  }

  const Sample* before_;
  const Sample& now_;
  const ProcessSample& sample_;
  std::uint32_t lnc_;
  ProcessFigures out_;
  std::uint64_t busy_us_ = 0;
};

std::optional<CpuShare> share_of(const CpuTicks& before, const CpuTicks& now) {
  if (now.sum() <= before.sum()) return std::nullopt;
  const auto all = static_cast<double>(now.sum() - before.sum());
  const auto share = [&](std::uint64_t from, std::uint64_t to) {
    return to < from ? 0.0 : 100.0 * static_cast<double>(to - from) / all;
  };
  return CpuShare{.user = share(before.user, now.user),
                  .nice = share(before.nice, now.nice),
                  .system = share(before.system, now.system),
                  .idle = share(before.idle, now.idle),
                  .io_wait = share(before.io_wait, now.io_wait),
                  .irq = share(before.irq, now.irq),
                  .soft_irq = share(before.soft_irq, now.soft_irq)};
}

void host_shares(const Sample& before, const Sample& now, PeriodFigures* out) {
  const SystemSample &then = before.system, &here = now.system;
  if (then.all && here.all) out->cpu = share_of(*then.all, *here.all);
  if (then.cpus.size() == here.cpus.size())
    for (std::size_t i = 0; i < here.cpus.size(); ++i)
      out->cpus.push_back(share_of(then.cpus[i], here.cpus[i]));
  if (then.context_switches && here.context_switches &&
      *here.context_switches >= *then.context_switches)
    out->context_switches = *here.context_switches - *then.context_switches;
}

}  // namespace

std::optional<std::uint64_t> sum_of(const MemoryBytes& bytes) {
  std::uint64_t sum = 0;
  for (const auto& b : bytes) {
    if (!b) return std::nullopt;
    sum += *b;
  }
  return sum;
}

PeriodFigures figures_of(const Sample* before, const Sample& now) {
  PeriodFigures out;
  if (before != nullptr) {
    out.period_s = now.at_s - before->at_s;
    host_shares(*before, now, &out);
  }
  for (const ProcessSample& process : now.processes)
    out.processes.push_back(Process(before, now, process).figures(out.period_s));
  return out;
}

}  // namespace opennrt::tools
