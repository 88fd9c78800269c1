// SPDX-License-Identifier: Apache-2.0
#include "neff/tables.h"

#include <limits>
#include <utility>

#include "log/log.h"

namespace opennrt::neff {
namespace {

constexpr std::size_t kMaxMemberName = 4096;
constexpr std::size_t kMaxFunctions = 25;
constexpr std::uint64_t kTableEntryBytes = 32;
// The set number is one byte of the instruction that loads a set.
constexpr std::size_t kMaxSets = 256;

// The member named by a value of a manifest beside it.
struct Reference {
  std::string name;
  const Member* member = nullptr;
};

Result<Reference> refer(const Json& value, MemberTable& members) {
  ONRT_ASSIGN(const std::string_view file, value.name(kMaxMemberName));
  Reference reference{sibling(value.member(), file)};
  reference.member = members.keep(reference.name);
  if (!reference.member)
    return value.invalid("member {} is not in the NEFF", quote(reference.name));
  return reference;
}

// Integers of any function: float32 bits, thresholds, table indices.
Status check_function(const Json& function) {
  ONRT_TRY(function.expect_object());
  ONRT_ASSIGN(const Json name, function.require("func_name"));
  ONRT_TRY(name.text().status().is_ok() ? Status::ok() : name.wrong("a string"));
  ONRT_ASSIGN(const Json id, function.require("func_id"));
  ONRT_TRY(id.integer(0, 255).status().is_ok() ? Status::ok()
                                               : id.wrong("an integer from 0 to 255"));
  return function.for_each_member([](std::string_view, const Json& value) {
    if (!value.is_number()) return Status::ok();
    constexpr std::int64_t kMin = std::numeric_limits<std::int32_t>::min();
    const auto number = value.signed_integer(kMin, static_cast<std::int64_t>(kMaxU32));
    return number.is_ok() ? Status::ok() : value.wrong("an integer of 32 bits");
  });
}

Status check_table_size(const Json& profile, std::string_view key, const Reference& table) {
  ONRT_ASSIGN(const Json count, profile.require(key));
  ONRT_ASSIGN(const std::uint64_t entries, count.integer(0, kMaxU32));
  const std::size_t bytes = table.member->bytes().size();
  if (bytes == entries * kTableEntryBytes) return Status::ok();
  return count.invalid("{} entries need {} bytes, member {} has {}", entries,
                       entries * kTableEntryBytes, quote(table.name), bytes);
}

// One entry of act_func_sets, with its profile.
Status read_set(const Json& entry, MemberTable& members, ActTableSet& set) {
  ONRT_ASSIGN(const Json bucket_file, entry.require("bkt_bin"));
  ONRT_ASSIGN(const Json control_file, entry.require("ctrl_bin"));
  ONRT_ASSIGN(const Json profile_file, entry.require("profile_json"));
  ONRT_ASSIGN(const Reference buckets, refer(bucket_file, members));
  ONRT_ASSIGN(const Reference control, refer(control_file, members));
  ONRT_ASSIGN(const Reference profile, refer(profile_file, members));
  ONRT_ASSIGN(const JsonDocument document, JsonDocument::parse(profile.name, *profile.member));
  const Json& root = document.root();
  ONRT_TRY(root.expect_object());
  ONRT_TRY(check_table_size(root, "bkt_entry_cnt", buckets));
  ONRT_TRY(check_table_size(root, "ctl_entry_cnt", control));
  ONRT_ASSIGN(const Json functions, root.require("profile_meta_data"));
  ONRT_ASSIGN(const std::size_t count, functions.array_size());
  if (count > kMaxFunctions)
    return functions.invalid("{} functions; a set holds at most {}", count, kMaxFunctions);
  ONRT_TRY(functions.for_each_element(check_function));
  set.buckets = buckets.member->bytes();
  set.control = control.member->bytes();
  const auto text = profile.member->bytes();
  set.profile_json.assign(reinterpret_cast<const char*>(text.data()), text.size());
  return Status::ok();
}

Status find_set(const Json& wanted, std::string_view name, const Json& catalogue,
                MemberTable& members, ActTableSet& set) {
  ONRT_ASSIGN(const Json sets, catalogue.require("act_func_sets"));
  bool found = false;
  ONRT_TRY(sets.for_each_element([&](const Json& entry) {
    ONRT_TRY(entry.expect_object());
    std::string_view entry_name;
    ONRT_TRY(entry.get("name", entry_name));
    if (found || entry_name != name) return Status::ok();
    found = true;
    return read_set(entry, members, set);
  }));
  if (found) return Status::ok();
  return wanted.invalid("activation set {} is not in {}", quote(name),
                        printable(catalogue.member()));
}

Status add_table(const Json& tables, std::string_view key, const char* slot, MemberTable& members,
                 Subgraph& graph) {
  ONRT_ASSIGN(const Json file, tables.require(key));
  ONRT_ASSIGN(const Reference table, refer(file, members));
  if (table.member->bytes().empty()) return file.invalid("member {} is empty", quote(table.name));
  graph.dve_tables.push_back({slot, table.member->bytes()});
  return Status::ok();
}

}  // namespace

Status read_activation_sets(const Json& root, MemberTable& members, SubgraphReader& reader) {
  const auto list = root.find("activation_function_sets");
  if (!list) return Status::ok();
  ONRT_ASSIGN(const std::size_t count, list->array_size());
  if (count == 0) return Status::ok();
  if (count > kMaxSets) return list->invalid("{} sets; at most {}", count, kMaxSets);
  ONRT_ASSIGN(const Json info, root.require("act_info"));
  ONRT_ASSIGN(const Reference catalogue, refer(info, members));
  ONRT_ASSIGN(const JsonDocument document, JsonDocument::parse(catalogue.name, *catalogue.member));
  ONRT_TRY(document.root().expect_object());
  return list->for_each_element([&](const Json& element) {
    ONRT_ASSIGN(const std::string_view name, element.name(255));
    ActTableSet set;
    set.name = name;
    ONRT_TRY(find_set(element, name, document.root(), members, set));
    reader.graph.act_sets.push_back(std::move(set));
    return Status::ok();
  });
}

// Sunda has one control table, which takes the place of the fast one.
Status read_dve_tables(const Json& root, MemberTable& members, SubgraphReader& reader) {
  const auto list = root.find("dve_tables");
  std::size_t count = 0;
  if (list) {
    ONRT_ASSIGN(count, list->array_size());
  }
  if (count == 0) {
    ONRT_LOG(kNeff, kWarn, "{}: no dve_tables: the tables of the DVE engine stay as they are",
             printable(root.member()));
    return Status::ok();
  }
  if (count > 1) return list->invalid("{} elements; one is supported", count);
  ONRT_ASSIGN(const Json tables, list->element(0));
  ONRT_TRY(tables.expect_object());
  Subgraph& graph = reader.graph;
  ONRT_TRY(add_table(tables, "opcode_table", "opcode", members, graph));
  if (tables.find("control_table")) {
    ONRT_TRY(add_table(tables, "control_table", "control_fast", members, graph));
  } else {
    ONRT_TRY(add_table(tables, "control_fast_table", "control_fast", members, graph));
    ONRT_TRY(add_table(tables, "control_slow_table", "control_slow", members, graph));
  }
  return add_table(tables, "datapath_table", "datapath", members, graph);
}

}  // namespace opennrt::neff
