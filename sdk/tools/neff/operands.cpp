// SPDX-License-Identifier: Apache-2.0
#include "neff/operands.h"

#include <algorithm>

#include "opennrt/isa/layouts.h"

namespace opennrt::tools {
namespace {

// Bits of an address that say register, shape register or indirect.
constexpr unsigned kMarkerShift = 29;

struct Rule {
  std::string_view operand, field;
  bool high_nibble;
};
// Which field holds the type of an operand; the first one present counts.
constexpr Rule kRules[] = {
    {"dst", "out_dtype", false},     {"dst", "in_out_dtype", true},
    {"dst", "imm_out_dtype", true},  {"dst", "dtype", false},
    {"dst", "in_dtype", false},      {"src", "in_dtype", false},
    {"src", "in_bias_dtype", false}, {"src", "in_out_dtype", false},
    {"src", "dtype", false},         {"src0", "in0_in1_dtype", false},
    {"src0", "in_dtype", false},     {"src0", "dtype", false},
    {"src1", "in0_in1_dtype", true}, {"src1", "in_dtype", false},
    {"pred", "pred_dtype", false},   {"identity", "identity_dtype", false},
};

std::string_view stem(const isa::Field& field) {
  const std::string_view name = field.name;
  return name.substr(0, name.find('.'));
}

bool is_matmul(std::uint8_t opcode) {
  return opcode == isa::op::MATMUL || opcode == isa::op::MATMUL_SPARSE ||
         opcode == isa::op::MATMUL_MX;
}

// PSUM holds FP32 unless the record names another type or transposes.
std::uint32_t psum_element(std::uint32_t out_dtype, const isa::RecordLayout& layout,
                           isa::RecordView record) {
  if (out_dtype != 0) return dtype_bytes(out_dtype);
  const isa::Field* transpose = layout.find("transpose_mode");
  const isa::Field* in = layout.find("in_dtype");
  if (transpose == nullptr || in == nullptr || field_value(*transpose, record) == 0) return 4;
  return std::max(2U, dtype_bytes(static_cast<std::uint32_t>(field_value(*in, record))));
}

}  // namespace

std::uint64_t field_value(const isa::Field& field, isa::RecordView record, std::size_t index) {
  std::uint64_t value = 0;
  const std::size_t at = field.offset + index * field.width;
  for (std::size_t i = field.width; i-- > 0;) value = value << 8 | record[at + i];
  return value;
}

std::uint32_t dtype_bytes(std::uint32_t code) {
  switch (code) {
    case isa::code::dtype::UINT64:
    case isa::code::dtype::INT64:
      return 8;
    case isa::code::dtype::INT32:
    case isa::code::dtype::UINT32:
    case isa::code::dtype::FP32:
    case isa::code::dtype::FP32R:
      return 4;
    case isa::code::dtype::INT16:
    case isa::code::dtype::UINT16:
    case isa::code::dtype::BFLOAT16:
    case isa::code::dtype::FP16:
      return 2;
    default:
      return 1;
  }
}

const std::vector<OperandReader::Place>& OperandReader::places(const isa::RecordLayout& layout) {
  const auto [it, fresh] = places_.try_emplace(&layout);
  if (!fresh) return it->second;
  for (const isa::Field& field : layout.fields()) {
    const std::string_view name = stem(field);
    if (std::string_view(field.name) != std::string(name) + ".addr") continue;
    Place place{name,
                &field,
                layout.find(std::string(name) + ".step"),
                layout.find(std::string(name) + ".num"),
                nullptr,
                false};
    if (place.step == nullptr || place.count == nullptr) continue;
    for (const Rule& rule : kRules) {
      if (rule.operand != name || place.dtype != nullptr) continue;
      place.dtype = layout.find(rule.field);
      place.high_nibble = rule.high_nibble;
    }
    it->second.push_back(place);
  }
  return it->second;
}

const std::vector<Operand>& OperandReader::read(const isa::Instruction& instruction,
                                                isa::RecordView record) {
  operands_.clear();
  if (instruction.kind == isa::Kind::kPseudo) return operands_;
  const isa::RecordLayout& layout = instruction.layout(generation_);
  for (const Place& place : places(layout)) {
    Operand operand;
    operand.name = place.name;
    operand.count = place.count->name;
    operand.address = static_cast<std::uint32_t>(field_value(*place.address, record));
    if (operand.address >> kMarkerShift != 0) {
      operands_.push_back(operand);
      continue;
    }
    operand.resolved = true;
    std::uint32_t code = 0;
    if (place.dtype != nullptr) {
      code = static_cast<std::uint32_t>(field_value(*place.dtype, record));
      if (place.dtype->kind == isa::FieldKind::kTypePair)
        code = place.high_nibble ? code >> 4 : code & 15;
    }
    std::int64_t element = dtype_bytes(code);
    if (is_matmul(instruction.opcode) && place.name == "dst") {
      const isa::Field* out = layout.find("out_dtype");
      element =
          psum_element(out == nullptr ? 0 : static_cast<std::uint32_t>(field_value(*out, record)),
                       layout, record);
    }
    std::int64_t low = 0, high = 0;
    operand.elements = 1;
    for (std::size_t d = 0; d < place.count->count; ++d) {
      const std::uint64_t count = field_value(*place.count, record, d);
      const auto step = static_cast<std::int16_t>(field_value(*place.step, record, d));
      operand.empty = operand.empty || count == 0;
      operand.elements *= count;
      if (count == 0) continue;
      const std::int64_t reach = static_cast<std::int64_t>(count - 1) * step * element;
      (reach < 0 ? low : high) += reach;
    }
    operand.bytes = operand.elements * static_cast<std::uint64_t>(element);
    std::uint64_t offset = 0;
    const OnChip& m = memories_;
    if (operand.address < m.psum_base) {
      operand.space = Space::kSbuf;
      operand.partition = operand.address / m.sbuf_partition_stride;
      offset = operand.address % m.sbuf_partition_stride;
    } else if (operand.address < m.psum_base + m.psum_partitions * m.psum_partition_stride) {
      operand.space = Space::kPsum;
      operand.partition = (operand.address - m.psum_base) / m.psum_partition_stride;
      offset = (operand.address - m.psum_base) % m.psum_partition_stride;
    }
    operand.begin = static_cast<std::int64_t>(offset) + low;
    operand.end = static_cast<std::int64_t>(offset) + high + element;
    operands_.push_back(operand);
  }
  return operands_;
}

}  // namespace opennrt::tools
