// SPDX-License-Identifier: Apache-2.0
#include "compute/checks.h"

#include <bitset>

#include "compute/alu.h"
#include "device/bus.h"
#include "opennrt/isa/records.h"
#include "opennrt/isa/table.h"

namespace opennrt::emu {

bool check_reserved(const PlanContext& context, const std::uint8_t* record, std::string* error) {
  const isa::Instruction* instruction = isa::find_instruction(record[0]);
  if (!instruction) return true;
  std::bitset<isa::kRecordBytes> used;
  for (std::size_t i = 0; i < sizeof(isa::Header); ++i) used.set(i);
  for (const isa::Field& f : instruction->layout(context.generation).fields())
    for (std::size_t i = 0; i < std::size_t{f.width} * f.count; ++i) used.set(f.offset + i);
  for (std::size_t i = 0; i < isa::kRecordBytes; ++i)
    if (!used[i] && record[i] != 0) {
      *error = "byte " + std::to_string(i) + " is " + hex(record[i]) +
               ", no field of this record is known there";
      return false;
    }
  return true;
}

bool check_zero(const char* field, std::uint32_t value, std::string* error) {
  if (value == 0) return true;
  *error = std::string(field) + " is " + hex(value) + ", its meaning in this record is not known";
  return false;
}

bool check_same_total(const char* name, const OperandRef& operand, const OperandRef& dst,
                      std::string* error) {
  if (operand.total() == dst.total()) return true;
  *error = std::string(name) + " has " + std::to_string(operand.total()) +
           " elements per partition, the destination " + std::to_string(dst.total());
  return false;
}

bool check_integer(const char* name, std::uint32_t dtype, std::string* error) {
  const Format& f = format(dtype);
  if (f.integer && f.bytes <= 4) return true;
  *error = std::string(name) + ": data type " + std::to_string(dtype) +
           ", bit operations and predicates take integers of 8, 16 or 32 bits";
  return false;
}

bool refuse_operation(std::uint32_t op, const char* why, std::string* error) {
  *error = "ALU operation " + hex(op) + " (" + alu_name(op) + ") " + why;
  return false;
}

}  // namespace opennrt::emu
