// SPDX-License-Identifier: Apache-2.0
//
// What the instruction table knows to be limited in a record layout, prepared
// for checking many records: bytes that are always zero, code sets, register
// numbers, access patterns, channel counts.
//
// Only layouts that are confirmed or documented are prepared; in the others a
// wrong place would refuse good programs. Enumerations whose codes are not all
// known (activation functions, for example) are not limited.
#pragma once

#include <array>
#include <cstdint>

#include "opennrt/isa/table.h"

namespace opennrt::arch_common {

struct CodeSet {
  std::array<std::uint64_t, 4> bits{};
  bool has(std::uint8_t code) const { return (bits[code / 64] >> (code % 64) & 1) != 0; }
  void add(std::uint32_t code) { bits[code / 64 % 4] |= std::uint64_t{1} << (code % 64); }
};

struct CodeCheck {
  std::uint8_t offset, set;
  bool pair;  // two codes in one byte
};

struct PatternCheck {
  std::uint8_t offset, dims;
  std::uint8_t lanes_offset;  // 0 = number of partitions not known
  std::uint8_t dtype_offset;  // 0 = element size not known
  std::uint8_t dtype_shift;
};

struct LayoutCheck {
  static constexpr std::size_t kMaxCodes = 14, kMaxRegisters = 20, kMaxPatterns = 3;
  bool prepared = false;
  std::uint8_t n_codes = 0, n_registers = 0, n_patterns = 0, n_lanes = 0;
  std::array<std::uint8_t, 2> lanes{};  // offsets of the partition counts
  std::array<std::uint64_t, 8> zero{};  // bytes no field covers; not for 'documented' layouts
  std::array<CodeCheck, kMaxCodes> codes{};
  std::array<std::uint8_t, kMaxRegisters> registers{};
  std::array<PatternCheck, kMaxPatterns> patterns{};
};

struct RecordChecks {
  static constexpr std::size_t kMaxLayouts = 192, kMaxSets = 64;
  std::array<CodeSet, kMaxSets> sets{};            // by place in isa::enumerations()
  std::array<LayoutCheck, kMaxLayouts> layouts{};  // by place in isa::record_layouts()
  CodeSet wait_modes, update_modes;
  const LayoutCheck& of(const isa::RecordLayout& layout) const;
};

// Prepared once per process and family.
const RecordChecks& record_checks(isa::Generation generation);

}  // namespace opennrt::arch_common
