// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "bytes.h"
#include "opennrt/isa/codec.h"

namespace opennrt::isa {
namespace {

std::string hex(std::uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

std::string hex_bytes(const std::uint8_t* p, std::size_t n) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text = "hex:";
  for (std::size_t i = 0; i < n; ++i) {
    text += kDigits[p[i] >> 4];
    text += kDigits[p[i] & 15];
  }
  return text;
}

std::string enum_text(const EnumTable& table, std::uint32_t value) {
  const char* name = table.find(value);
  return name != nullptr ? std::string(name) : hex(value);
}

std::int64_t sign_extend(std::uint64_t value, std::size_t width) {
  const unsigned shift = static_cast<unsigned>(64 - 8 * width);
  return static_cast<std::int64_t>(value << shift) >> shift;
}

// The bits themselves where the decimal form would lose something.
std::string float_text(std::uint32_t bits) {
  const auto value = std::bit_cast<float>(bits);
  if (!std::isfinite(value)) return hex(bits);
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value).ptr;
  return std::string(text, end);
}

std::string element_text(const Field& field, std::uint64_t value) {
  const auto small = static_cast<std::uint32_t>(value);
  switch (field.kind) {
    case FieldKind::kHex:
    case FieldKind::kImmediate:
      return hex(value);
    case FieldKind::kSigned:
      return std::to_string(sign_extend(value, field.width));
    case FieldKind::kFloat:
      return float_text(small);
    case FieldKind::kRegister:
      return "r" + std::to_string(value);
    case FieldKind::kEnum:
      return enum_text(*field.values, small);
    case FieldKind::kTypePair:
      return enum_text(*field.values, small & 15) + "/" + enum_text(*field.values, small >> 4);
    case FieldKind::kUnsigned:
    case FieldKind::kBytes:
    case FieldKind::kText:
      break;
  }
  return std::to_string(value);
}

// Text up to the terminator when only zeros follow it, else bytes.
std::string name_text(const std::uint8_t* p, std::size_t n) {
  const std::uint8_t* end = std::find(p, p + n, 0);
  const bool plain =
      std::all_of(p, end, [](std::uint8_t c) { return c >= 0x20 && c < 0x7F && c != '"'; }) &&
      std::all_of(end, p + n, [](std::uint8_t c) { return c == 0; });
  if (!plain) return hex_bytes(p, n);
  return "\"" + std::string(p, end) + "\"";
}

std::string field_text(const Field& field, const std::uint8_t* p) {
  if (field.kind == FieldKind::kText) return name_text(p, field.count);
  if (field.kind == FieldKind::kBytes) return hex_bytes(p, field.count);
  std::string text;
  for (std::size_t i = 0; i < field.count; ++i) {
    if (i > 0) text += ',';
    text += element_text(field, load_le(p + i * field.width, field.width));
  }
  return text;
}

void add(std::string* out, std::string_view key, const std::string& value) {
  *out += ' ';
  *out += key;
  *out += '=';
  *out += value;
}

void add_condition(std::string* out, const char* key, const char* table, std::uint8_t mode,
                   std::uint8_t index) {
  if (mode == 0 && index == 0) return;
  add(out, key, enum_text(*find_enumeration(table), mode) + "(" + std::to_string(index) + ")");
}

void add_uncovered(std::string* out, const RecordLayout& layout, RecordView record) {
  std::array<bool, kRecordBytes> covered{};
  std::fill_n(covered.begin(), kHeaderBytes, true);
  for (const Field& f : layout.fields()) {
    std::fill_n(covered.begin() + f.offset, f.width * f.count, true);
  }
  for (std::size_t i = kHeaderBytes; i < kRecordBytes; ++i) {
    if (covered[i] || record[i] == 0) continue;
    std::size_t end = i + 1;
    while (end < kRecordBytes && !covered[end] && record[end] != 0) ++end;
    add(out, "@" + std::to_string(i), hex_bytes(record.data() + i, end - i));
    i = end;
  }
}

}  // namespace

std::string disassemble(RecordView record, Generation generation) {
  const Instruction* instruction = find_instruction(record[0]);
  if (instruction == nullptr || !instruction->exists_on(generation)) {
    return ".record " + hex_bytes(record.data(), record.size());
  }
  const RecordLayout& layout = instruction->layout(generation);
  std::string out = instruction->name;
  const auto header = load_record<ControlRecord>(record.data()).h;
  add_condition(&out, "wait", "wait_mode", header.wait_mode, header.wait_index);
  add_condition(&out, "update", "update_mode", header.update_mode, header.update_index);
  if (header.value != 0) add(&out, "value", std::to_string(header.value));
  for (const Field& f : layout.fields()) {
    const std::uint8_t* p = record.data() + f.offset;
    const auto* end = p + std::size_t{f.width} * f.count;
    if (std::any_of(p, end, [](std::uint8_t b) { return b != 0; })) {
      add(&out, f.name, field_text(f, p));
    }
  }
  if (header.word_len != default_length(record[0])) add(&out, "word_len", hex(header.word_len));
  if (header.debug_cmd != 0) add(&out, "debug_cmd", std::to_string(header.debug_cmd));
  if (header.debug_hint != 0) add(&out, "debug_hint", std::to_string(header.debug_hint));
  add_uncovered(&out, layout, record);
  return out;
}

}  // namespace opennrt::isa
