// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include "tdrv/vring.h"

namespace opennrt::tdrv {

namespace {
// Queues 14 and 15 belong to the runtime rings and to collectives.
constexpr std::size_t kModelQueues = 14;
}  // namespace

Result<std::vector<std::uint32_t>> assign_hardware_queues(const neff::Subgraph& subgraph) {
  const std::vector<neff::QueueSet>& sets = subgraph.queues;
  if (sets.size() > kModelQueues) {
    return Status::resource("{} has {} DMA queue sets; a core has hardware queues for {}",
                            subgraph.name, sets.size(), kModelQueues);
  }
  std::vector<std::uint32_t> order(sets.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const bool data_a = sets[a].type == neff::QueueType::kData;
    const bool data_b = sets[b].type == neff::QueueType::kData;
    return data_a != data_b ? data_a : sets[a].name < sets[b].name;
  });
  std::vector<std::uint32_t> queue(sets.size());
  for (std::uint32_t q = 0; q < order.size(); ++q) queue[order[q]] = q;
  return queue;
}

}  // namespace opennrt::tdrv
