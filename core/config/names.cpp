// SPDX-License-Identifier: Apache-2.0
#include "config/names.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "base/spelling.h"

namespace opennrt::config {

namespace {

constexpr std::string_view kOwnPrefix = "OPENNRT_";

bool is_known(std::string_view name) {
  for (const Setting& row : settings())
    for (std::string_view variable : row.variables)
      if (variable == name) return true;
  return name.starts_with(kLogLevelPrefix) || name.starts_with(kLogLocationPrefix);
}

// Names that are read outside the table: the configuration file, and what the
// project's tests and tools look at.
bool is_other_own_name(std::string_view name) {
  constexpr std::string_view kNames[] = {
      kConfigVariable,           "OPENNRT_ARCH_MODULES", "OPENNRT_BUILD_SAN",
      "OPENNRT_CORPUS",          "OPENNRT_EMUD",         "OPENNRT_EMU_CLOSED",
      "OPENNRT_EMU_PRELOAD",     "OPENNRT_EMU_SOCKET",   "OPENNRT_EMU_TREE",
      "OPENNRT_FUZZ_SECONDS",    "OPENNRT_NO_DEPS",      "OPENNRT_RECORDER_FILE",
      "OPENNRT_RECORDER_TARGET", "OPENNRT_SPEC",         "OPENNRT_VECTORS"};
  return name.starts_with("OPENNRT_TEST_") ||
         std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

std::string_view nearest_own_name(std::string_view name) {
  constexpr std::size_t kLongest = 64;  // nobody's slip; keeps the search short
  name = name.substr(0, kLongest);
  std::string_view best = kConfigVariable;
  std::size_t least = edit_distance(name, best);
  for (const Setting& row : settings()) {
    for (std::string_view variable : row.variables) {
      if (!variable.starts_with(kOwnPrefix)) continue;
      const std::size_t distance = edit_distance(name, variable);
      if (distance >= least) continue;
      least = distance;
      best = variable;
    }
  }
  return best;
}

bool is_below(std::string_view key, std::string_view group) {
  return key.size() > group.size() && key[group.size()] == '.' && key.starts_with(group);
}

std::string_view last_word(std::string_view key) { return key.substr(key.rfind('.') + 1); }

}  // namespace

std::string nearest_key(std::string_view key) {
  constexpr std::size_t kLongest = 128;
  if (key.size() > kLongest) return "";
  std::string_view best, same_word;
  std::size_t least = slip_limit(key) + 1, same_words = 0;
  for (const Setting& row : settings()) {
    // The key and the groups around it.
    for (std::size_t end = row.key.size(); end != row.key.npos && end != 0;
         end = row.key.rfind('.', end - 1)) {
      const std::string_view candidate = row.key.substr(0, end);
      if (end != row.key.size() && is_below(key, candidate)) continue;  // the group it is in
      const std::size_t distance = edit_distance(key, candidate);
      if (distance >= least) continue;
      least = distance;
      best = candidate;
    }
    if (last_word(row.key) != last_word(key)) continue;
    same_word = row.key;
    ++same_words;
  }
  if (same_words == 1 && best != same_word && least > 2) return std::string(same_word);
  return std::string(best);
}

std::string_view group_of(std::string_view key) {
  for (std::size_t end = key.rfind('.'); end != key.npos && end != 0; end = key.rfind('.', end - 1))
    for (const Setting& row : settings())
      if (is_below(row.key, key.substr(0, end))) return row.key.substr(0, end);
  return {};
}

std::string_view misspelt_variable(std::string_view name) {
  if (is_known(name) || is_other_own_name(name)) return {};
  std::string_view best;
  std::size_t least = 3;
  for (const Setting& row : settings())
    for (std::string_view variable : row.variables) {
      if (variable.empty()) continue;
      const std::size_t longer = std::max(name.size(), variable.size());
      if (longer - std::min(name.size(), variable.size()) >= least) continue;
      const std::size_t distance = edit_distance(name, variable);
      if (distance >= least) continue;
      least = distance;
      best = variable;
    }
  return best;
}

std::optional<Issue> remark_on(std::string_view name) {
  if (is_known(name)) return std::nullopt;
  if (name.starts_with(kOwnPrefix)) {
    if (is_other_own_name(name)) return std::nullopt;
    return Issue{
        log::Level::kWarn,
        fmt::format("{}: no such setting, ignored; did you mean {}?", name, nearest_own_name(name)),
        true};
  }
  const auto removed = removed_variables();
  if (std::find(removed.begin(), removed.end(), name) != removed.end())
    return Issue{log::Level::kWarn, fmt::format("{}: removed, has no effect", name)};
  if (name.starts_with("NEURON_"))
    return Issue{log::Level::kDebug, fmt::format("{}: not used by this runtime", name)};
  return std::nullopt;
}

}  // namespace opennrt::config
