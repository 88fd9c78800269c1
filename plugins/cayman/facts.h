// SPDX-License-Identifier: Apache-2.0
//
// What cayman (NeuronCore-v3: Trainium2) is made of. Unless a line says
// otherwise a number is from aws-neuron-driver 2.24.7.0 or from the device
// images of real runs (runtimes 2.27, 2.30, cores 4 and 5).
#pragma once

#include "arch-common/split_map.h"

namespace opennrt::cayman {

namespace split = arch_common::split;

inline constexpr std::uint64_t kHbmBytes = 0x600000000;  // 24 GiB of a 64 GiB window
inline constexpr std::uint64_t kSbufPartitionBytes = 0x38000;
inline constexpr std::uint64_t kDveTables = 0x2b80000;

inline constexpr auto kHbm = split::hbm(kHbmBytes);
inline constexpr auto kTileBlocks = split::tile_blocks(kDveTables);
inline constexpr nrtp_arch_geometry kGeometry = split::geometry(kHbm.data(), kSbufPartitionBytes);

constexpr arch_common::ArchFacts make_facts() {
  auto f = split::facts(&kGeometry, kTileBlocks);
  f.name = "cayman";
  f.arch_type = 3;
  f.caps[NRTP_CAP_POOL_ULIB_CONFIG] = 1;
  f.event_const = {0x9000000000, 0x9000000004};
  split::set_coretypes(f, 7);
  return f;
}
inline constexpr arch_common::ArchFacts kFacts = make_facts();

extern const nrtp_arch_driver kDriver;
extern const nrtp_arch_fabric kFabric;
extern const nrtp_arch_tables kTables;
extern const nrtp_arch_timing kTiming;

}  // namespace opennrt::cayman
