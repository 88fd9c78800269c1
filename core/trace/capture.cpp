// SPDX-License-Identifier: Apache-2.0
#include "trace/capture.h"

#include <algorithm>
#include <limits>

namespace opennrt::trace {

Capture::Capture(const CaptureOptions& options) : options_(options) {
  options_.events_per_core = std::clamp(options.events_per_core, kLeastEvents, kMostEvents);
  options_.types &= kAllTypes;
}

Capture::~Capture() {
  for (auto& ring : rings_) delete ring.load(std::memory_order_relaxed);
}

Status Capture::provide(std::uint32_t cores) {
  for (std::size_t core = 0; core < std::min<std::size_t>(cores, kMaxCores); ++core) {
    if (!options_.cores.test(core)) continue;
    if (rings_[core].load(std::memory_order_relaxed) != nullptr) continue;
    ONRT_ASSIGN(auto ring, Ring::create(options_.events_per_core));
    rings_[core].store(ring.release(), std::memory_order_release);
  }
  return {};
}

void Capture::push(const Record& record) noexcept {
  if (record.event.core >= kMaxCores || (options_.types & bit_of(record.event.type)) == 0) return;
  // Cores that are filtered out have no ring.
  if (Ring* ring = rings_[record.event.core].load(std::memory_order_acquire)) ring->push(record);
}

void Capture::drain(const FetchOptions& options, std::vector<Record>& out) {
  const std::uint64_t most = options.most_per_core == 0 ? std::numeric_limits<std::uint64_t>::max()
                                                        : options.most_per_core;
  for (std::size_t core = 0; core < kMaxCores; ++core) {
    if (options.core != kAllCores && options.core != core) continue;
    if (Ring* ring = rings_[core].load(std::memory_order_relaxed)) ring->drain(most, out);
  }
}

void Capture::close() {
  for (const auto& slot : rings_)
    if (Ring* ring = slot.load(std::memory_order_relaxed)) ring->close();
}

std::uint64_t Capture::lost() const {
  std::uint64_t lost = 0;
  for (const auto& slot : rings_)
    if (const Ring* ring = slot.load(std::memory_order_relaxed)) lost += ring->lost();
  return lost;
}

}  // namespace opennrt::trace
