// SPDX-License-Identifier: Apache-2.0
//
// Collectives geometry: what is known of it. Port and mesh tables are not
// published for this family, so those members stay absent.
#include <array>

#include "layout.h"

namespace opennrt::sunda {
namespace {

// Relative collectives queue -> hardware queue; 14 belongs to the runtime.
constexpr std::array<std::uint8_t, 4> kQueueIds = {0x0b, 0x0c, 0x0d, 0x0f};
constexpr std::array<std::int32_t, 2> kInterRdhDma = {0, 1};

std::uint32_t max_devices(std::uint32_t) { return 16; }
std::uint32_t mesh_max_folds(std::uint32_t) { return 8; }

}  // namespace

constinit const nrtp_arch_fabric kFabric = {
    .size = sizeof(nrtp_arch_fabric),
    .max_links_per_pod_port = 0,
    .inter_rdh_folds = 0,
    .n_queue_ids = kQueueIds.size(),
    .queue_id = kQueueIds.data(),
    .inter_rdh_dma = kInterRdhDma.data(),
    .n_inter_rdh_dma = kInterRdhDma.size(),
    .max_devices = max_devices,
    .mesh_max_folds = mesh_max_folds,
    .p2p_port = nullptr,
    .mesh_engine = nullptr,
    .barrier_sem = nullptr,
    .remote_hbm = nullptr,
};

}  // namespace opennrt::sunda
