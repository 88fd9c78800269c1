// SPDX-License-Identifier: Apache-2.0
//
// Register window of one DMA engine. The layout is the same on all silicon
// families (aws-neuron-driver 2.24.7.0, al_udma registers); the engines'
// windows themselves are placed by each arch plugin.
#pragma once

#include <cstdint>

#include "opennrt/arch.h"

namespace opennrt::arch_common {

inline constexpr std::uint64_t kUdmaWindowBytes = 0x40000;
inline constexpr std::uint64_t kUdmaS2mOffset = 0x20000;  // receive half; transmit half is at 0
inline constexpr std::uint64_t kUdmaQueueBase = 0x1000;   // of queue 0 inside a half
inline constexpr std::uint32_t kUdmaQueuePage = 0x1000;
inline constexpr std::uint32_t kUdmaQueues = 16;
inline constexpr std::uint32_t kUdmaUnitRegisters = 0xFF;  // queue number of unit registers

// Offset of a queue register from the engine window; UINT64_MAX when the
// register does not exist or an argument is out of range.
std::uint64_t udma_queue_reg(std::uint32_t queue, std::uint32_t dir, std::uint32_t reg);

// Splits an offset inside a window (< kUdmaWindowBytes) into dir, queue, reg
// and local of `out`.
void udma_decode(std::uint64_t offset, nrtp_addr_class* out);

}  // namespace opennrt::arch_common
