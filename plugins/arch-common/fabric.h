// SPDX-License-Identifier: Apache-2.0
//
// Collectives geometry that all families share. Port and mesh tables are not
// published, so those members stay absent.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "opennrt/arch.h"

namespace opennrt::arch_common {

// Relative collectives queue -> hardware queue; 14 belongs to the runtime.
inline constexpr std::array<std::uint8_t, 4> kCollectivesQueueIds = {0x0b, 0x0c, 0x0d, 0x0f};

// dma: DMA engines (index in the core) of the reduction between dies.
template <std::size_t N>
constexpr nrtp_arch_fabric make_fabric(const std::array<std::int32_t, N>& dma,
                                       std::uint32_t (*max_devices)(std::uint32_t),
                                       std::uint32_t (*mesh_max_folds)(std::uint32_t)) {
  nrtp_arch_fabric f{};
  f.size = sizeof f;
  f.n_queue_ids = kCollectivesQueueIds.size();
  f.queue_id = kCollectivesQueueIds.data();
  f.inter_rdh_dma = dma.data();
  f.n_inter_rdh_dma = N;
  f.max_devices = max_devices;
  f.mesh_max_folds = mesh_max_folds;
  return f;
}

}  // namespace opennrt::arch_common
