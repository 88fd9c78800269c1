// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "compute/operand.h"

namespace opennrt::emu {

// Partitions of a quadrant, and elements of the stream that go with them.
inline constexpr std::uint32_t kQuadrant = 32;
// An entry of the lane mask with this bit leaves the lane's destination alone.
inline constexpr std::uint8_t kMaskKeeps = 0x20;

// Transposes each block of 32 partitions and 32 elements of the stream. A
// destination of less than a block takes the first elements of every row. mask:
// which lanes of the destination are written, nullptr for all.
void transpose_blocks(const Operand& in, const Operand& out, std::uint32_t partitions,
                      const std::array<std::uint8_t, 32>* mask);

}  // namespace opennrt::emu
