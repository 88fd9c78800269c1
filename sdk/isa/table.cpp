// SPDX-License-Identifier: Apache-2.0
#include "opennrt/isa/table.h"

#include <array>

namespace opennrt::isa {
namespace {

constexpr std::array<const char*, kGenerations> kGenerationNames = {"sunda", "cayman", "mariana"};
constexpr std::uint32_t kFirstArchType = 2;

}  // namespace

const char* generation_name(Generation generation) {
  return kGenerationNames[static_cast<std::size_t>(generation)];
}

std::optional<Generation> find_generation(std::string_view name) {
  for (std::size_t i = 0; i < kGenerations; ++i) {
    if (name == kGenerationNames[i]) return static_cast<Generation>(i);
  }
  return std::nullopt;
}

std::optional<Generation> generation_of_arch(std::uint32_t arch_type) {
  if (arch_type - kFirstArchType >= kGenerations) return std::nullopt;
  return static_cast<Generation>(arch_type - kFirstArchType);
}

const char* EnumTable::find(std::uint32_t value) const {
  for (std::size_t i = 0; i < count; ++i) {
    if (values[i].value == value) return values[i].name;
  }
  return nullptr;
}

const char* EnumTable::find(std::uint32_t value, Generation generation) const {
  for (std::size_t i = 0; i < count; ++i) {
    if (values[i].value == value) {
      return (values[i].generations & generation_bit(generation)) != 0 ? values[i].name : nullptr;
    }
  }
  return nullptr;
}

std::optional<std::uint32_t> EnumTable::find(std::string_view text) const {
  for (std::size_t i = 0; i < count; ++i) {
    if (text == values[i].name) return values[i].value;
  }
  return std::nullopt;
}

const Field* RecordLayout::find(std::string_view field) const {
  for (const Field& f : fields()) {
    if (field == f.name) return &f;
  }
  return nullptr;
}

const RecordLayout& Instruction::layout(Generation generation) const {
  if (const RecordLayout* own = layouts[static_cast<std::size_t>(generation)]) return *own;
  if (exists_on(generation)) return opaque_layout();
  for (const RecordLayout* other : layouts) {
    if (other != nullptr) return *other;
  }
  // The generator refuses an instruction without any layout.
  return record_layouts().front();
}

const Instruction* find_instruction(std::string_view name) {
  for (const Instruction& i : instructions()) {
    if (name == i.name) return &i;
  }
  return nullptr;
}

const EnumTable* find_enumeration(std::string_view name) {
  for (const EnumTable& table : enumerations()) {
    if (name == table.name) return &table;
  }
  return nullptr;
}

const char* opcode_name(std::uint8_t opcode) {
  const Instruction* instruction = find_instruction(opcode);
  return instruction != nullptr ? instruction->name : "unknown";
}

}  // namespace opennrt::isa
