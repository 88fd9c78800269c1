// SPDX-License-Identifier: Apache-2.0
#include "config/config.h"

namespace opennrt::config {

std::optional<CoreRange> Config::visible_cores() const {
  const Value& value = at(Key::kCoresVisible);
  return value.set ? std::optional(value.cores) : std::nullopt;
}

std::optional<std::string> Config::get(std::string_view key) const {
  if (const Setting* row = find_setting(key)) {
    const Value& value = at(row->id);
    return value.set ? std::optional(value.text) : std::nullopt;
  }
  const auto found = free_.find(key);
  return found == free_.end() ? std::nullopt : std::optional(found->second.value.text);
}

std::vector<Config::Row> Config::rows() const {
  std::vector<Row> out;
  for (const Setting& row : settings()) {
    const Entry& e = entry(row.id);
    Row& shown =
        out.emplace_back(Row{.key = row.key, .layer = e.layer, .where = e.where, .acts = row.acts});
    if (e.value.set) shown.text = e.value.text;
    if (e.layer == Layer::kDefault) shown.where = "default";
    if (e.layer < Layer::kSystemFile) continue;
    bool clamped = false;
    const auto fallback = parse_value(row, row.fallback, Units::kPlain, &clamped);
    shown.differs = row.fallback.empty() || !fallback || fallback->text != e.value.text;
  }
  for (const auto& [key, e] : free_)
    out.push_back({.key = key,
                   .text = e.value.text,
                   .layer = e.layer,
                   .where = e.where,
                   .acts = true,
                   .differs = true});
  return out;
}

std::string Config::source(Key key) const {
  const std::string_view name = setting(key).key;
  return is_given(key) ? fmt::format("{} ({})", entry(key).where, name) : std::string(name);
}

std::string Config::assignment(Key key) const {
  const Entry& e = entry(key);
  const std::string_view name = setting(key).key;
  if (e.layer == Layer::kEnvironment) return fmt::format("{}={}", e.where, e.value.text);
  if (!is_given(key)) return fmt::format("{}={}", name, e.value.text);
  return fmt::format("{}: {}={}", e.where, name, e.value.text);
}

std::vector<std::string> Config::describe() const {
  std::vector<std::string> out;
  for (const Row& row : rows())
    if (row.layer >= Layer::kSystemFile)
      out.push_back(fmt::format("{} = {} ({})", row.key, row.text.value_or(""), row.where));
  return out;
}

std::vector<std::string> Config::without_effect() const {
  std::vector<std::string> out;
  for (const Row& row : rows())
    if (!row.acts && row.differs)
      out.push_back(fmt::format("{} = {} ({}) has no effect in this release", row.key,
                                row.text.value_or(""), row.where));
  return out;
}

}  // namespace opennrt::config
