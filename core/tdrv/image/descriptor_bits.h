// SPDX-License-Identifier: Apache-2.0
//
// Bits of hardware descriptors that block lowering sets (aws-neuron-driver
// 2.24.7.0, udma descriptor layout).
#pragma once

#include <cstdint>

#include "tdrv/vring.h"

namespace opennrt::tdrv::image {

inline constexpr std::uint64_t kMaxDescriptorBytes = 65536;  // encoded as 0
inline constexpr std::uint32_t kLengthMask = 0xFFFF;
inline constexpr std::uint32_t kMeta = kMetaDescriptor;
inline constexpr std::uint32_t kRingIdShift = 24;
inline constexpr std::uint32_t kFirst = 1u << 26;
inline constexpr std::uint32_t kLast = 1u << 27;
inline constexpr std::uint32_t kStrongOrder = 1u << 29;  // RX
inline constexpr std::uint32_t kDataBarrier = 1u << 30;  // TX
inline constexpr std::uint32_t kConcat = 1u << 31;
inline constexpr std::uint32_t kPlainCopyMeta = 0x01080003;

// Flat index limit of one side of a ring.
inline constexpr std::uint64_t kMaxRingDescriptors = 16'777'200;

inline DmaDescriptor make_descriptor(std::uint64_t address, std::uint64_t bytes, bool tx) {
  return {
      .len_ctrl = (static_cast<std::uint32_t>(bytes) & kLengthMask) | kLinearRingId << kRingIdShift,
      .meta_ctrl = tx ? kPlainCopyMeta : 0,
      .address = address};
}

}  // namespace opennrt::tdrv::image
