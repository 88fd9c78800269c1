// SPDX-License-Identifier: Apache-2.0
//
// Accumulation groups in PSUM. The start flag of a product means: in the zero
// region of its destination (one bank by default) the next product that goes to
// an element replaces it, whatever its own flags; after that products add.
//
// So one start serves all groups of a bank. Compiled programs rely on it: where
// groups of one bank overlap in time the compiler leaves the start flag with the
// first product of the first group and the end flag with the last of the last.
#pragma once

#include <array>
#include <cstdint>

#include "compute/operand.h"
#include "compute/plan.h"

namespace opennrt::emu {

// Where a product writes, in units of PsumGroups.
struct PsumPlace {
  std::int64_t first = 0;       // unit of the first element in its partition
  std::uint32_t units = 2;      // of an element
  std::uint32_t region = 0;     // units of a zero region
  std::uint8_t partitions = 0;  // written
  std::uint8_t first_cell = 0;  // cells of 32 partitions, as those of the array
  std::uint8_t cells = 0;
};

class PsumGroups {
 public:
  static constexpr std::uint32_t kUnitBytes = 2;  // the smallest element in PSUM

  // The flags of a product (isa::code::psum_accumulate): START begins every
  // region that the destination touches at zero, ACCUMULATE on what PSUM holds.
  void begin(std::uint32_t flags, const Operand& out, const PsumPlace& place);
  // The destination is written now. True: the product replaces it, else it
  // adds. Where only some elements start from zero these are zero in memory.
  bool take(const Operand& out, const PsumPlace& place);
  // The destination as the product with these flags would use it.
  void visit(std::uint32_t flags, const Operand& out, const PsumPlace& place,
             OperandVisitor& visitor) const;

 private:
  enum class Start : std::uint8_t { kZero, kHeld, kMixed };
  Start look(const Operand& out, const PsumPlace& place) const;
  // Whether element `offset` of the pattern starts from zero in a cell.
  bool from_zero(const PsumPlace& place, std::int64_t offset, std::uint32_t cell) const {
    const auto unit = static_cast<std::uint64_t>(place.first + offset * place.units);
    return (pending_[cell][unit / 64] >> (unit % 64) & 1) != 0;
  }

  static constexpr std::uint32_t kCells = 4, kCellPartitions = 32;
  static constexpr std::uint32_t kWords = 16384 / kUnitBytes / 64;  // of a partition's 16 KiB

  // A bit per unit: the next product replaces.
  std::array<std::array<std::uint64_t, kWords>, kCells> pending_{};
};

}  // namespace opennrt::emu
