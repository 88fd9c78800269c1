// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <numeric>

#include "tdrv/vring.h"

namespace opennrt::tdrv {

Result<std::vector<std::uint32_t>> model_queues(const nrtp_arch_plugin& arch,
                                                const nrtp_product& product, std::uint32_t core) {
  constexpr std::uint32_t kGeneric = 17;  // ring class of a NEFF that every set may use
  std::array<nrtp_dma_slot, 64> slots{};
  std::uint32_t n = slots.size();
  if (arch.dma->alloc_class(&product, kGeneric, core, slots.data(), &n) != NRTP_OK ||
      n > slots.size()) {
    return Status::failure("arch {} names no hardware queues for programs on core {}", arch.name,
                           core);
  }
  std::vector<std::uint32_t> queues(n);
  std::transform(slots.begin(), slots.begin() + n, queues.begin(),
                 [](const nrtp_dma_slot& slot) { return slot.queue; });
  return queues;
}

Result<std::vector<std::uint32_t>> assign_hardware_queues(const neff::Subgraph& subgraph,
                                                          const nrtp_arch_plugin& arch,
                                                          const nrtp_product& product,
                                                          std::uint32_t core) {
  ONRT_ASSIGN(const std::vector<std::uint32_t> queues, model_queues(arch, product, core));
  const std::vector<neff::QueueSet>& sets = subgraph.queues;
  if (sets.size() > queues.size()) {
    return Status::resource("{} has {} DMA queue sets; a core has hardware queues for {}",
                            subgraph.name, sets.size(), queues.size());
  }
  std::vector<std::uint32_t> order(sets.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const bool data_a = sets[a].type == neff::QueueType::kData;
    const bool data_b = sets[b].type == neff::QueueType::kData;
    return data_a != data_b ? data_a : sets[a].name < sets[b].name;
  });
  std::vector<std::uint32_t> queue(sets.size());
  for (std::size_t i = 0; i < order.size(); ++i) queue[order[i]] = queues[i];
  return queue;
}

}  // namespace opennrt::tdrv
