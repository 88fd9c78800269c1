// SPDX-License-Identifier: Apache-2.0
#include "arch-common/record_checks.h"

#include <algorithm>
#include <string_view>

#include "opennrt/isa/records.h"

namespace opennrt::arch_common {
namespace {

using isa::FieldKind;

constexpr std::size_t kHeaderBytes = 12;

// Enumerations whose codes are all known.
constexpr std::array<std::string_view, 14> kClosed = {
    "wait_mode",       "update_mode", "dtype",      "alu_op",         "imm_src",
    "imm_src_n",       "accum_cmd",   "reduce_cmd", "subdim",         "reverse_operands",
    "psum_accumulate", "fp32_mode",   "pool_type",  "branch_compare",
};

bool closed(const isa::EnumTable& table) {
  return std::find(kClosed.begin(), kClosed.end(), table.name) != kClosed.end();
}

std::uint8_t set_index(const isa::EnumTable& table) {
  return static_cast<std::uint8_t>(&table - isa::enumerations().data());
}

// Data type of a pattern: the field of the same side.
void find_dtype(const isa::RecordLayout& layout, std::string_view pattern, PatternCheck* out) {
  struct Candidate {
    std::string_view field;
    std::uint8_t shift;
  };
  static constexpr std::array<Candidate, 5> kSource = {{{"in0_in1_dtype", 0},
                                                        {"in_bias_dtype", 0},
                                                        {"in_dtype", 0},
                                                        {"in_out_dtype", 0},
                                                        {"dtype", 0}}};
  static constexpr std::array<Candidate, 3> kDestination = {
      {{"out_dtype", 0}, {"in_out_dtype", 4}, {"dtype", 0}}};
  const auto search = [&](const auto& candidates) {
    for (const Candidate& c : candidates) {
      const isa::Field* field = layout.find(c.field);
      if (field == nullptr) continue;
      out->dtype_offset = field->offset;
      out->dtype_shift = c.shift;
      if (c.field == "in0_in1_dtype" && pattern == "src1") out->dtype_shift = 4;
      return;
    }
  };
  if (pattern.starts_with("src")) search(kSource);
  if (pattern.starts_with("dst")) search(kDestination);
}

// PE reads as many partitions as it has rows and writes as many as columns.
std::uint8_t lanes_of(const isa::RecordLayout& layout, std::string_view pattern) {
  const isa::Field* field = layout.find("num_active_channels");
  if (field == nullptr && pattern == "src") field = layout.find("num_active_rows");
  if (field == nullptr && pattern == "dst") field = layout.find("num_active_cols");
  return field != nullptr ? field->offset : std::uint8_t{0};
}

void add_pattern(const isa::RecordLayout& layout, const isa::Field& addr, LayoutCheck* out) {
  const std::string_view name(addr.name);
  const std::string_view pattern = name.substr(0, name.size() - std::string_view(".addr").size());
  for (const isa::Field& step : layout.fields()) {
    const std::string_view text(step.name);
    if (!text.starts_with(pattern) || text.substr(pattern.size()) != ".step") continue;
    if (out->n_patterns == out->patterns.size()) return;
    PatternCheck& check = out->patterns[out->n_patterns++];
    check = {addr.offset, step.count, lanes_of(layout, pattern), 0, 0};
    find_dtype(layout, pattern, &check);
  }
}

LayoutCheck prepare(const isa::RecordLayout& layout) {
  LayoutCheck out;
  const bool confirmed = layout.confidence == isa::Confidence::kObserved;
  if (!confirmed && layout.confidence != isa::Confidence::kDocumented) return out;
  out.prepared = true;
  std::array<bool, isa::kRecordBytes> covered{};
  std::fill_n(covered.begin(), kHeaderBytes, true);
  for (const isa::Field& field : layout.fields()) {
    std::fill_n(covered.begin() + field.offset, field.width * field.count, true);
    const bool code = field.kind == FieldKind::kEnum || field.kind == FieldKind::kTypePair;
    const std::string_view name(field.name);
    if (code && field.values != nullptr && closed(*field.values)) {
      if (out.n_codes < out.codes.size()) {
        out.codes[out.n_codes++] = {field.offset, set_index(*field.values),
                                    field.kind == FieldKind::kTypePair};
      }
    } else if (field.kind == FieldKind::kRegister) {
      for (std::uint8_t i = 0; i < field.count && out.n_registers < out.registers.size(); ++i) {
        out.registers[out.n_registers++] = static_cast<std::uint8_t>(field.offset + i);
      }
    } else if (name.ends_with(".addr")) {
      add_pattern(layout, field, &out);
    } else if (name.starts_with("num_active_") && out.n_lanes < out.lanes.size()) {
      out.lanes[out.n_lanes++] = field.offset;
    }
  }
  for (std::size_t i = 0; confirmed && i < covered.size(); ++i) {
    if (!covered[i]) out.zero[i / 8] |= std::uint64_t{0xFF} << (8 * (i % 8));
  }
  return out;
}

RecordChecks build(isa::Generation generation) {
  RecordChecks out;
  const auto enums = isa::enumerations();
  for (std::size_t i = 0; i < std::min(enums.size(), out.sets.size()); ++i) {
    for (std::size_t v = 0; v < enums[i].count; ++v) {
      const isa::EnumValue& value = enums[i].values[v];
      if ((value.generations & isa::generation_bit(generation)) != 0) out.sets[i].add(value.value);
    }
    if (enums[i].name == std::string_view("wait_mode")) out.wait_modes = out.sets[i];
    if (enums[i].name == std::string_view("update_mode")) out.update_modes = out.sets[i];
  }
  const auto layouts = isa::record_layouts();
  for (std::size_t i = 0; i < std::min(layouts.size(), out.layouts.size()); ++i) {
    out.layouts[i] = prepare(layouts[i]);
  }
  return out;
}

template <isa::Generation kGeneration>
const RecordChecks& checks_of() {
  static const RecordChecks checks = build(kGeneration);
  return checks;
}

}  // namespace

const LayoutCheck& RecordChecks::of(const isa::RecordLayout& layout) const {
  static constexpr LayoutCheck kNothing{};
  const auto index = static_cast<std::size_t>(&layout - isa::record_layouts().data());
  return index < layouts.size() ? layouts[index] : kNothing;
}

const RecordChecks& record_checks(isa::Generation generation) {
  switch (generation) {
    case isa::Generation::kSunda:
      return checks_of<isa::Generation::kSunda>();
    case isa::Generation::kCayman:
      return checks_of<isa::Generation::kCayman>();
    case isa::Generation::kMariana:
      break;
  }
  return checks_of<isa::Generation::kMariana>();
}

}  // namespace opennrt::arch_common
