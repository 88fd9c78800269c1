// SPDX-License-Identifier: Apache-2.0
//
// The instruction table: which opcodes exist, on which engines and silicon
// families, and what the bytes of their records mean. Constant data, usable
// from any thread and before main().
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace opennrt::isa {

enum class Generation : std::uint8_t { kSunda = 0, kCayman = 1, kMariana = 2 };
inline constexpr std::size_t kGenerations = 3;
constexpr std::uint8_t generation_bit(Generation g) {
  return static_cast<std::uint8_t>(1u << static_cast<unsigned>(g));
}
// "sunda" and so on.
const char* generation_name(Generation generation);
std::optional<Generation> find_generation(std::string_view name);
// Of an arch plugin's type: 2, 3, 4.
std::optional<Generation> generation_of_arch(std::uint32_t arch_type);

enum class Kind : std::uint8_t {
  kExecutable,
  kPseudo,      // rewritten or removed when a program is loaded
  kDeprecated,  // assigned, but compilers no longer emit it
  kInvalid,
};

enum class Confidence : std::uint8_t {
  kObserved,    // layout confirmed on compiled programs or device images
  kDocumented,  // published offsets
  kReported,    // published by third parties
  kInferred,
  kUnknown,  // payload not known
};

struct EnumValue {
  std::uint32_t value;
  const char* name;
  std::uint8_t generations;  // bit = Generation
};
struct EnumTable {
  const char* name;
  const EnumValue* values;
  std::size_t count;
  const char* find(std::uint32_t value) const;  // nullptr: no such value
  std::optional<std::uint32_t> find(std::string_view name) const;
};

enum class FieldKind : std::uint8_t {
  kUnsigned,
  kHex,  // unsigned, written in hexadecimal
  kSigned,
  kFloat,
  kImmediate,  // FP32 value, raw integer or pointer, by other fields
  kRegister,
  kEnum,
  kTypePair,  // two data types, low nibble first
  kBytes,
  kText,
};

// `count` elements of `width` bytes at `offset`, little-endian.
struct Field {
  const char* name;
  std::uint8_t offset, width, count;
  FieldKind kind;
  const EnumTable* values;  // kEnum and kTypePair
};

struct RecordLayout {
  const char* name;
  const Field* field_data;  // by offset
  std::size_t field_count;
  std::uint8_t generations;  // bit = Generation
  Confidence confidence;
  std::span<const Field> fields() const { return {field_data, field_count}; }
  const Field* find(std::string_view field) const;
};

struct Instruction {
  std::uint8_t opcode;
  Kind kind;
  std::uint8_t engines;      // bit = nrtp_engine
  std::uint8_t generations;  // bit = Generation
  bool observed;             // occurs in compiled programs or device images
  const char* name;
  const RecordLayout* layouts[kGenerations];

  bool exists_on(Generation g) const { return (generations & generation_bit(g)) != 0; }
  bool runs_on(std::uint32_t engine) const { return engine < 8 && (engines >> engine & 1) != 0; }
  // Layout of that family, or that of another one where it has none of its own.
  const RecordLayout& layout(Generation generation) const;
};

std::span<const Instruction> instructions();  // by opcode
std::span<const EnumTable> enumerations();
std::span<const RecordLayout> record_layouts();

const Instruction* find_instruction(std::uint8_t opcode);  // nullptr: not an instruction
const Instruction* find_instruction(std::string_view name);
const EnumTable* find_enumeration(std::string_view name);

// For messages: the instruction's name, or "unknown".
const char* opcode_name(std::uint8_t opcode);

}  // namespace opennrt::isa
