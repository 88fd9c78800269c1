// SPDX-License-Identifier: Apache-2.0
#include "tdrv/memory_accounting.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace opennrt::tdrv {
namespace {

struct UsageRow {
  const char* name;
  nrtp_mem_type device, host;
};

// Index = Usage. Host-side categories exist only for some of them.
constexpr UsageRow kUsageRows[kUsages] = {
    {"generic", NRTP_MEM_MISC_DEVICE, NRTP_MEM_MISC_HOST},
    {"PE instructions", NRTP_MEM_CODE_DEVICE, NRTP_MEM_CODE_HOST},
    {"ACT instructions", NRTP_MEM_CODE_DEVICE, NRTP_MEM_CODE_HOST},
    {"POOL instructions", NRTP_MEM_CODE_DEVICE, NRTP_MEM_CODE_HOST},
    {"io", NRTP_MEM_TENSORS_DEVICE, NRTP_MEM_TENSORS_HOST},
    {"spill", NRTP_MEM_MISC_DEVICE, NRTP_MEM_MISC_HOST},
    {"weight", NRTP_MEM_CONSTANTS_DEVICE, NRTP_MEM_CONSTANTS_HOST},
    {"notification", NRTP_MEM_NOTIFICATION_DEVICE, NRTP_MEM_NOTIFICATION_HOST},
    {"act table", NRTP_MEM_CONSTANTS_DEVICE, NRTP_MEM_CONSTANTS_HOST},
    {"DVE instructions", NRTP_MEM_CODE_DEVICE, NRTP_MEM_CODE_HOST},
    {"SP instructions", NRTP_MEM_CODE_DEVICE, NRTP_MEM_CODE_HOST},
    {"scratchpad", NRTP_MEM_SCRATCHPAD_DEVICE, NRTP_MEM_UNKNOWN_HOST},
    {"tensor", NRTP_MEM_TENSORS_DEVICE, NRTP_MEM_TENSORS_HOST},
    {"ucode library", NRTP_MEM_MISC_DEVICE, NRTP_MEM_MISC_HOST},
    {"pool stdio", NRTP_MEM_MISC_DEVICE, NRTP_MEM_MISC_HOST},
    {"collectives", NRTP_MEM_COLLECTIVES_DEVICE, NRTP_MEM_UNKNOWN_HOST},
    {"private scratchpad", NRTP_MEM_SCRATCHPAD_NONSHARED_DEVICE, NRTP_MEM_UNKNOWN_HOST},
    {"codec", NRTP_MEM_MISC_DEVICE, NRTP_MEM_MISC_HOST},
    {"dma ring", NRTP_MEM_DMA_RINGS_DEVICE, NRTP_MEM_DMA_RINGS_HOST},
    {"spill ring", NRTP_MEM_DMA_RINGS_DEVICE, NRTP_MEM_DMA_RINGS_HOST},
    {"io ring", NRTP_MEM_DMA_RINGS_DEVICE, NRTP_MEM_DMA_RINGS_HOST},
    {"collectives ring", NRTP_MEM_DMA_RINGS_DEVICE, NRTP_MEM_DMA_RINGS_HOST},
};

const UsageRow& row_of(Usage usage) {
  return kUsageRows[std::min<std::size_t>(static_cast<std::size_t>(usage), kUsages - 1)];
}

}  // namespace

const char* usage_name(Usage usage) { return row_of(usage).name; }

std::span<const char* const, kUsages> usage_names() {
  static constexpr auto kNames = [] {
    std::array<const char*, kUsages> names{};
    for (std::size_t i = 0; i < kUsages; ++i) names[i] = kUsageRows[i].name;
    return names;
  }();
  return kNames;
}

Usage instruction_usage(std::uint32_t engine) {
  constexpr Usage kByEngine[] = {Usage::kInstructionsPe, Usage::kInstructionsAct,
                                 Usage::kInstructionsPool, Usage::kInstructionsDve,
                                 Usage::kInstructionsSp};
  return engine < std::size(kByEngine) ? kByEngine[engine] : Usage::kGeneric;
}

nrtp_mem_type driver_memory_type(Usage usage, Location location) {
  return location == Location::kHost ? row_of(usage).host : row_of(usage).device;
}

void MemoryAccounting::record(MemoryEvent event, std::string_view hint) {
  const std::lock_guard lock(mutex_);
  const std::size_t usage = static_cast<std::size_t>(event.usage);
  if (event.location == Location::kDevice && event.channel < kChannels && event.core < kCores &&
      usage < kUsages) {
    auto& row = rows_[event.core];
    for (std::uint64_t* counter : {&channels_[event.channel], &row[usage], &row[kUsages]}) {
      *counter = event.allocated ? *counter + event.size : *counter - event.size;
    }
    event.channel_total = channels_[event.channel];
  }
  const std::size_t n = std::min(hint.size(), sizeof(event.hint) - 1);
  if (n != 0) std::memcpy(event.hint, hint.data(), n);
  event.hint[n] = '\0';
  if (events_.size() < kEvents) {
    events_.push_back(event);
  } else {
    events_[next_event_] = event;
    ++dropped_;
  }
  next_event_ = (next_event_ + 1) % kEvents;
}

std::uint64_t MemoryAccounting::channel_total(std::uint32_t channel) const {
  const std::lock_guard lock(mutex_);
  return channel < kChannels ? channels_[channel] : 0;
}

std::uint64_t MemoryAccounting::core_total(std::uint32_t core) const {
  const std::lock_guard lock(mutex_);
  return core < kCores ? rows_[core][kUsages] : 0;
}

std::uint64_t MemoryAccounting::usage_total(std::uint32_t core, Usage usage) const {
  const std::lock_guard lock(mutex_);
  const std::size_t u = static_cast<std::size_t>(usage);
  return core < kCores && u < kUsages ? rows_[core][u] : 0;
}

std::vector<MemoryEvent> MemoryAccounting::events() const {
  const std::lock_guard lock(mutex_);
  std::vector<MemoryEvent> out;
  out.reserve(events_.size());
  const std::size_t first = events_.size() < kEvents ? 0 : next_event_;
  for (std::size_t i = 0; i < events_.size(); ++i) {
    out.push_back(events_[(first + i) % events_.size()]);
  }
  return out;
}

std::uint64_t MemoryAccounting::dropped_events() const {
  const std::lock_guard lock(mutex_);
  return dropped_;
}

std::string MemoryAccounting::report(std::uint32_t channel) const {
  const std::lock_guard lock(mutex_);
  std::string parts;
  for (std::size_t u = 0; u < kUsages; ++u) {
    std::uint64_t sum = 0;
    for (const auto& row : rows_) sum += row[u];
    if (sum == 0) continue;
    fmt::format_to(std::back_inserter(parts), "{}{} {} KiB", parts.empty() ? "" : ", ",
                   kUsageRows[u].name, sum >> 10);
  }
  return fmt::format("HBM {}: {} KiB in use by this process; device total: {}", channel,
                     (channel < kChannels ? channels_[channel] : 0) >> 10,
                     parts.empty() ? "nothing" : parts);
}

}  // namespace opennrt::tdrv
