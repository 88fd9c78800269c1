// SPDX-License-Identifier: Apache-2.0
//
// Where the memory operands of a record lie: which partitions, which bytes of
// each. From the instruction table; addresses that a register supplies or an
// index selects are not known before a run and come out unresolved.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "neff/on_chip.h"
#include "opennrt/isa/codec.h"
#include "opennrt/isa/table.h"

namespace opennrt::tools {

enum class Space { kSbuf, kPsum, kNone };

struct Operand {
  std::string_view name;   // "src", "src1", "dst"
  std::string_view count;  // name of the field with the counts, for messages
  bool resolved = false;   // else only name is valid
  bool empty = false;      // a count is 0
  Space space = Space::kNone;
  std::uint32_t address = 0;
  std::uint64_t partition = 0;
  std::int64_t begin = 0, end = 0;  // bytes of one partition, end exclusive; begin may be < 0
  std::uint64_t elements = 0;       // per partition
  std::uint64_t bytes = 0;          // per partition, elements times their size
};

// Bytes of one element; 1 for a code without a size.
std::uint32_t dtype_bytes(std::uint32_t code);

// Reads records of one family; remembers where each layout has its operands.
// Not for concurrent use.
class OperandReader {
 public:
  explicit OperandReader(isa::Generation generation)
      : OperandReader(generation, on_chip_of(generation)) {}
  OperandReader(isa::Generation generation, const OnChip& memories)
      : generation_(generation), memories_(memories) {}
  // Valid until the next call. Empty for pseudo-instructions.
  const std::vector<Operand>& read(const isa::Instruction& instruction, isa::RecordView record);

 private:
  struct Place {
    std::string_view name;
    const isa::Field *address, *step, *count;
    const isa::Field* dtype;  // nullptr: not told
    bool high_nibble;
  };
  const std::vector<Place>& places(const isa::RecordLayout& layout);

  isa::Generation generation_;
  OnChip memories_;
  std::map<const isa::RecordLayout*, std::vector<Place>> places_;
  std::vector<Operand> operands_;
};

std::uint64_t field_value(const isa::Field& field, isa::RecordView record, std::size_t index = 0);

}  // namespace opennrt::tools
