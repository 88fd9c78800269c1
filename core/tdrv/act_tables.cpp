// SPDX-License-Identifier: Apache-2.0
//
// ACT table memory. The silicon's layout is not published; four parts in this
// layout are what the software device reads: a directory of the activation
// sets, all control tables, all function profiles as 32 words each, all bucket
// tables. Offsets in the directory are bytes inside the part they refer to.
#include <simdjson.h>

#include <array>
#include <cstring>

#include "tdrv/tables.h"

namespace opennrt::tdrv {
namespace {

enum Part : std::size_t { kDirectory, kControl, kProfiles, kBuckets, kParts };
constexpr std::uint32_t kEntryBytes = 32;  // directory, control and bucket entries
constexpr std::size_t kProfileWords = 32;

// Word order of a function profile; the rest of the 32 words is zero.
constexpr const char* kProfileKeys[] = {
    "func_id",
    "fnan_result",
    "fpinf_result",
    "fninf_result",
    "fzero_result",
    "symmetry_opt_en",
    "symmetry_opt_use_neg_region",
    "sym_invert_sign_point",
    "symmetry_point",
    "small_pos_signal_exp_threshold",
    "small_neg_signal_exp_threshold",
    "large_pos_signal_exp_threshold",
    "large_neg_signal_exp_threshold",
    "large_pos_signal_mantissa_threshold",
    "large_neg_signal_mantissa_threshold",
    "pos_small_signal_pwl_control",
    "neg_small_signal_pwl_control",
    "pos_large_signal_pwl_control",
    "neg_large_signal_pwl_control",
    "pwl_control_base_pos",
    "pwl_control_base_neg",
    "exp_offset",
    "lower_bound",
    "upper_bound",
    "imm_bias",
    "fma_const_0",
    "fma_const_1",
    "fma_indirection_src_sel",
};
static_assert(std::size(kProfileKeys) <= kProfileWords);

// Integers of either sign and flags; a missing key is 0.
Result<std::uint32_t> word(simdjson::dom::object function, const char* key) {
  simdjson::dom::element value;
  if (function[key].get(value) != simdjson::SUCCESS) return std::uint32_t{0};
  std::int64_t number = 0;
  bool flag = false;
  if (value.get(number) == simdjson::SUCCESS) return static_cast<std::uint32_t>(number);
  if (value.get(flag) == simdjson::SUCCESS) return std::uint32_t{flag ? 1u : 0u};
  return Status::invalid("key '{}' is no integer", key);
}

template <typename T>
void append(std::vector<std::byte>& bytes, std::span<const T> values) {
  const auto raw = std::as_bytes(values);
  bytes.insert(bytes.end(), raw.begin(), raw.end());
}

// Appends all function profiles of a set; returns how many.
Result<std::uint32_t> append_profiles(std::vector<std::byte>& bytes, const neff::ActTableSet& set) {
  simdjson::dom::parser parser;
  simdjson::dom::element document;
  simdjson::dom::array functions;
  if (parser.parse(set.profile_json).get(document) != simdjson::SUCCESS ||
      document["profile_meta_data"].get(functions) != simdjson::SUCCESS) {
    return Status::invalid("activation set '{}': no profile_meta_data list", set.name);
  }
  std::uint32_t count = 0;
  for (const simdjson::dom::element item : functions) {
    simdjson::dom::object function;
    if (item.get(function) != simdjson::SUCCESS) {
      return Status::invalid("activation set '{}': profile {} is no object", set.name, count);
    }
    std::array<std::uint32_t, kProfileWords> words{};
    for (std::size_t i = 0; i < std::size(kProfileKeys); ++i) {
      Result<std::uint32_t> value = word(function, kProfileKeys[i]);
      if (!value.is_ok()) {
        return std::move(value).status().with_context(
            fmt::format("activation set '{}', profile {}", set.name, count));
      }
      words[i] = *value;
    }
    append<std::uint32_t>(bytes, words);
    ++count;
  }
  return count;
}

}  // namespace

Result<std::vector<TablePart>> act_tables(const nrtp_arch_plugin& arch,
                                          const neff::Subgraph& subgraph) {
  std::vector<TablePart> parts;
  if (subgraph.act_sets.empty()) return parts;
  const nrtp_arch_tables& tables = *arch.tables;
  if (tables.n_act < kParts) {
    return Status::invalid("arch {} has no activation table memory, the program brings {} set(s)",
                           arch.name, subgraph.act_sets.size());
  }
  std::array<std::vector<std::byte>, kParts> content;
  const std::uint32_t head[kEntryBytes / 4] = {
      static_cast<std::uint32_t>(subgraph.act_sets.size())};
  append<std::uint32_t>(content[kDirectory], head);
  for (const neff::ActTableSet& set : subgraph.act_sets) {
    if (set.control.size() % kEntryBytes != 0 || set.buckets.size() % kEntryBytes != 0) {
      return Status::invalid("activation set '{}': tables of {} and {} bytes are no whole entries",
                             set.name, set.control.size(), set.buckets.size());
    }
    const auto at = [&](Part part) { return static_cast<std::uint32_t>(content[part].size()); };
    std::uint32_t entry[kEntryBytes / 4] = {
        at(kControl),
        static_cast<std::uint32_t>(set.control.size()) / kEntryBytes,
        at(kProfiles),
        0,
        at(kBuckets),
        static_cast<std::uint32_t>(set.buckets.size()) / kEntryBytes,
        0,
        0};
    append<std::byte>(content[kControl], set.control);
    append<std::byte>(content[kBuckets], set.buckets);
    ONRT_ASSIGN(entry[3], append_profiles(content[kProfiles], set));
    append<std::uint32_t>(content[kDirectory], entry);
  }
  for (std::size_t i = 0; i < kParts; ++i) {
    const nrtp_table_slot& slot = tables.act[i];
    if (content[i].size() > slot.bytes) {
      return Status::resource("activation tables, part {}: {} bytes, arch {} has room for {}",
                              slot.name, content[i].size(), arch.name, slot.bytes);
    }
    TablePart part;
    part.name = slot.name;
    part.local = slot.local;
    part.owned = std::move(content[i]);
    part.content = part.owned;
    if (!part.content.empty()) parts.push_back(std::move(part));
  }
  return parts;
}

}  // namespace opennrt::tdrv
