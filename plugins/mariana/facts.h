// SPDX-License-Identifier: Apache-2.0
//
// What mariana (NeuronCore-v4: Trainium3) is made of: cayman's map with other
// memories, constants and ids. No image of a real run of this family is public;
// what is not said otherwise here is taken over from cayman (inferred).
#pragma once

#include "arch-common/split_map.h"

namespace opennrt::mariana {

namespace split = arch_common::split;

inline constexpr std::uint64_t kHbmBytes = 0x900000000;  // 36 GiB of a 64 GiB window
inline constexpr std::uint64_t kSbufPartitionBytes = 0x40000;
inline constexpr std::uint64_t kDveTables = 0x2b79000;

inline constexpr auto kHbm = split::hbm(kHbmBytes);
inline constexpr auto kTileBlocks = split::tile_blocks(kDveTables);
inline constexpr nrtp_arch_geometry kGeometry = split::geometry(kHbm.data(), kSbufPartitionBytes);

constexpr arch_common::ArchFacts make_facts() {
  auto f = split::facts(&kGeometry, kTileBlocks);
  f.name = "mariana";
  f.arch_type = 4;
  f.dma_flags |= NRTP_DMA_NOTIFICATION_MASK;
  // The only family with registers of FP8 conversion; the rest of its matrix is
  // not published.
  f.caps[NRTP_CAP_FP8_CONV_CONFIG] = 1;
  f.event_const = {0x9000000000, 0x9400000000};  // far apart, unlike cayman's
  split::set_coretypes(f, 15);
  return f;
}
inline constexpr arch_common::ArchFacts kFacts = make_facts();

extern const nrtp_arch_driver kDriver;
extern const nrtp_arch_fabric kFabric;
extern const nrtp_arch_tables kTables;
extern const nrtp_arch_timing kTiming;

}  // namespace opennrt::mariana
