// SPDX-License-Identifier: Apache-2.0
#include "config/draft.h"

#include "base/text.h"

namespace opennrt::config {

namespace {

constexpr std::string_view kModules = "log.modules.";
constexpr std::string_view kTmp = "${tmp}";

// A default that lies in the system's directory of temporary files.
std::string expanded(std::string_view fallback, const Environment& environment) {
  if (!fallback.starts_with(kTmp)) return std::string(fallback);
  const auto tmp = environment.find("TMPDIR");
  const bool usable = tmp != environment.end() && tmp->second.starts_with('/');
  return (usable ? tmp->second : "/tmp") + std::string(fallback.substr(kTmp.size()));
}

// Values of variables of the public ABI are plain numbers.
Units units_of(Layer layer, std::string_view where) {
  return layer == Layer::kEnvironment && !where.starts_with("OPENNRT_") ? Units::kPlain
                                                                        : Units::kAllowed;
}

}  // namespace

const std::string* environment_text(const Setting& row, const Environment& environment,
                                    std::string_view* out_name) {
  for (std::string_view name : row.variables) {
    if (name.empty()) continue;
    const auto found = environment.find(name);
    if (found == environment.end() || (found->second.empty() && !row.empty_is_off)) continue;
    *out_name = found->first;
    return &found->second;
  }
  return nullptr;
}

Draft::Draft(const Environment& environment) : config_(std::make_shared<Config>()) {
  for (const Setting& row : settings()) {
    if (row.fallback.empty()) continue;
    bool clamped = false;
    auto value = parse_value(row, expanded(row.fallback, environment), Units::kPlain, &clamped);
    if (value.is_ok()) entry(row.id).value = *std::move(value);
  }
}

void Draft::apply(const Setting& row, std::string_view text, const std::string& where,
                  Layer layer) {
  Entry& to = entry(row.id);
  if (text.empty()) {
    if (row.empty_is_off) to = {{.set = true}, where, layer};
    return;
  }
  bool clamped = false;
  auto value = parse_value(row, text, units_of(layer, where), &clamped);
  if (!value.is_ok()) {
    const std::string message =
        fmt::format("{}: {}='{}': {}", where, row.key, printable(text), value.status().message());
    if (row.bad == OnBad::kFail) return fail(message);
    return tell(log::Level::kWarn, message + "; ignored", true);
  }
  if (clamped)
    warn(fmt::format("{}: {}={} out of range, {} used", where, row.key, printable(text),
                     value->text));
  if (row.appends && to.value.set) {
    auto& list = to.value.list;
    list.insert(list.end(), value->list.begin(), value->list.end());
    to.value.text += "," + value->text;
    to.where += ", " + where;
    to.layer = layer;
    return;
  }
  to = {*std::move(value), where, layer};
}

void Draft::apply_free(std::string key, std::string_view text, const std::string& where,
                       Layer layer) {
  if (text.empty()) return;
  if (key.starts_with(kModules)) {
    const std::string suffix = key.substr(key.rfind('.'));
    const auto module = log::module_of(std::string_view(key).substr(
        kModules.size(), key.size() - suffix.size() - kModules.size()));
    if (!module) return;  // modules that only other runtimes have are no mistake
    const bool ok =
        suffix == ".level" ? parse_level(text).has_value() : parse_location(text).has_value();
    if (!ok)
      return tell(log::Level::kWarn,
                  fmt::format("{}: '{}' is no {}; ignored", where, printable(text),
                              suffix == ".level" ? "level (ERROR, WARN, INFO, DEBUG, TRACE, QUIET)"
                                                 : "location (CONSOLE, SYSLOG or a file)"),
                  true);
    key = fmt::format("{}{}{}", kModules, log::module_tag(*module), suffix);
  }
  Entry& to = config_->free_[key];
  to = {{.set = true, .text = std::string(text)}, where, layer};
}

void Draft::derive(Key key, std::string_view text, const std::string& where, Layer layer) {
  bool clamped = false;
  auto value = parse_value(setting(key), text, Units::kPlain, &clamped);
  if (value.is_ok()) entry(key) = {*std::move(value), where, layer};
}

void Draft::freeze_files() {
  for (const Setting& row : settings())
    config_->below_environment_[static_cast<std::size_t>(row.id)] = entry(row.id).value;
}

Loaded Draft::finish() && {
  // All mistakes of one run are told, of very many the first.
  constexpr std::size_t kMostBytes = 8192;
  std::string all;
  std::size_t told = 0;
  for (; told < failures_.size() && all.size() <= kMostBytes; ++told)
    all += (all.empty() ? "" : "; ") + failures_[told];
  if (told < failures_.size()) all += fmt::format("; and {} more", failures_.size() - told);
  Status status = all.empty() ? Status() : Status(NRT_INVALID, std::move(all));
  return {std::move(config_), std::move(status), std::move(failures_), std::move(issues_)};
}

}  // namespace opennrt::config
