// SPDX-License-Identifier: Apache-2.0
//
// Packets that compute while they copy: cast, add, min, max, fma, transpose.
// The arch plugin's encoding is used when it has one. Silicon's own is not
// published; the core's, for the software device, puts a META descriptor in
// front of each source's data on the TX side:
//   word 0  META bit, source number (0xFFFF: a constant)
//   word 1  operation and data types
//   words 2, 3  parameters of the operation
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/status.h"
#include "opennrt/arch.h"
#include "tdrv/image/block_split.h"
#include "tdrv/vring.h"

namespace opennrt::tdrv::image {

struct PacketSource {
  std::vector<Piece> pieces;
  float scale = 1.0f;
};

// Both sides are byte streams: the sources' elements in their order, and the
// destination's.
struct ComputePacket {
  neff::DmaOp op = neff::DmaOp::kCast;
  std::uint8_t src_dtype = 0, dst_dtype = 0;  // ISA codes
  std::vector<PacketSource> sources;
  std::optional<float> constant;  // min, max: one more source
  std::vector<Piece> to;
  std::uint64_t elements = 0;  // of each source
  // Transpose: source sizes in elements and the source dimension of each output
  // dimension, both innermost first.
  std::uint32_t element_bytes = 0;
  std::array<std::uint32_t, 4> shape{};
  std::array<std::uint8_t, 4> permutation{};
};

// Descriptors of the core's encoding lie within the arch's packet limits.
bool fits_packet(const ComputePacket& packet, const nrtp_arch_dma& dma);

// Appends one packet to both sides; the packet fits.
Status append_compute_packet(const ComputePacket& packet, const nrtp_arch_dma& dma,
                             VirtualRing& out);

}  // namespace opennrt::tdrv::image
