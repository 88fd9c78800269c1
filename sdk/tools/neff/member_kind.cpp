// SPDX-License-Identifier: Apache-2.0
#include "neff/member_kind.h"

#include <algorithm>
#include <initializer_list>

namespace opennrt::tools {
namespace {

bool ends_with_any(std::string_view text, std::initializer_list<std::string_view> ends) {
  return std::any_of(ends.begin(), ends.end(), [&](auto end) { return text.ends_with(end); });
}

}  // namespace

const char* member_kind(std::string_view name) {
  const std::size_t slash = name.rfind('/');
  const std::string_view leaf = slash == std::string_view::npos ? name : name.substr(slash + 1);
  const bool top = slash == std::string_view::npos;
  if (name.starts_with("debug_info/") || leaf.starts_with("debug_info")) return "debug";
  if (top && (leaf == "neff.json" || leaf == "kelp.json")) return "model manifest";
  if (top && leaf.starts_with("kelf") && leaf.ends_with(".json")) return "subgraph list";
  if (top && leaf == "info.json") return "compiler";
  if (top && (leaf == "metrics.json" || leaf == "hlo_stats.json")) return "statistics";
  if (leaf == "def.json") return "subgraph definition";
  if (leaf == "act_info.json") return "activation catalogue";
  if (leaf == "tensor_map.json") return "tensor names";
  if (ends_with_any(leaf, {".npy"})) return "constant";
  if (ends_with_any(leaf, {"_bkt.bin", "_ctrl.bin"})) return "activation table";
  if (leaf.ends_with("_table.bin")) return "DVE table";
  static constexpr std::string_view kStems[] = {"PE", "Activation", "Pool", "DVE", "SP"};
  for (const std::string_view stem : kStems) {
    if (!leaf.starts_with(stem)) continue;
    const std::string_view rest = leaf.substr(stem.size());
    if (ends_with_any(rest, {".bin"}) && rest.size() <= 5) return "instructions";
    if (ends_with_any(rest, {".json"}) && rest.size() <= 6) return "engine program";
  }
  if (leaf.ends_with(".json")) return "JSON";
  return "data";
}

}  // namespace opennrt::tools
