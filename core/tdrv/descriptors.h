// SPDX-License-Identifier: Apache-2.0
//
// Descriptors of the rings the runtime itself fills: exec ring, table rings and
// the hardware form of lowered rings. Layout: aws-neuron-driver 2.24.7.0.
#pragma once

#include <cstdint>

#include "opennrt/arch.h"
#include "tdrv/vring.h"

namespace opennrt::tdrv {

inline constexpr std::uint32_t kDescFirst = 1u << 26;
inline constexpr std::uint32_t kDescLast = 1u << 27;
inline constexpr std::uint32_t kDescStrongOrder = 1u << 29;  // RX, newer silicon only
inline constexpr std::uint32_t kDescBarrier = 1u << 30;      // TX data memory barrier
inline constexpr std::uint32_t kDescRingIdShift = 24;
inline constexpr std::uint32_t kDescRingIdMask = 3u << kDescRingIdShift;
inline constexpr std::uint32_t kPlainCopyMeta = 0x01080003;
inline constexpr std::uint32_t kMaxDescriptorBytes = 65536;  // encoded as 0

// One plain copy as a packet of its own.
struct CopyPair {
  DmaDescriptor tx, rx;
};
// barrier: everything before is visible before this packet's bytes are.
inline CopyPair copy_packet(std::uint64_t src, std::uint64_t dst, std::uint32_t bytes,
                            const nrtp_arch_dma& dma, bool barrier) {
  const std::uint32_t length = (bytes & 0xFFFF) | kDescFirst | kDescLast;
  CopyPair pair;
  pair.tx = {length, kPlainCopyMeta, src};
  pair.rx = {length, 0, dst};
  if ((dma.flags & NRTP_DMA_STRONG_ORDER_WRITE) != 0) {
    pair.rx.len_ctrl |= kDescStrongOrder;
  } else if (barrier) {
    pair.tx.len_ctrl |= kDescBarrier;
  }
  return pair;
}

inline DmaDescriptor with_ring_id(DmaDescriptor d, std::uint32_t ring_id) {
  d.len_ctrl = (d.len_ctrl & ~kDescRingIdMask) | ((ring_id & 3u) << kDescRingIdShift);
  return d;
}

}  // namespace opennrt::tdrv
