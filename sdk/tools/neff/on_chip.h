// SPDX-License-Identifier: Apache-2.0
//
// On-chip memories of a core, in the addresses of instructions.
#pragma once

#include <cstdint>

#include "opennrt/arch.h"
#include "opennrt/isa/table.h"

namespace opennrt::tools {

struct OnChip {
  std::uint64_t partitions;
  std::uint64_t sbuf_partition_stride, sbuf_partition_bytes;
  std::uint64_t psum_base, psum_partitions, psum_partition_stride, psum_partition_bytes;
};

// Compiled programs and published kernel documentation of the three families.
constexpr OnChip on_chip_of(isa::Generation generation) {
  constexpr std::uint64_t kSbufBytes[isa::kGenerations] = {192 << 10, 224 << 10, 256 << 10};
  return {128,    0x40000, kSbufBytes[static_cast<std::size_t>(generation)], 0x2000000, 128,
          0x8000, 0x4000};
}

inline OnChip on_chip_of(const nrtp_arch_geometry& g) {
  return {g.sbuf_partitions, g.sbuf_partition_stride, g.sbuf_partition_bytes, g.psum_local_base,
          g.psum_partitions, g.psum_partition_stride, g.psum_partition_bytes};
}

}  // namespace opennrt::tools
