// SPDX-License-Identifier: Apache-2.0
#include "config/config.h"

#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>

#include "config/yaml_layer.h"

namespace opennrt::config {

namespace {

constexpr std::string_view kOwnPrefix = "OPENNRT_";
constexpr std::string_view kConfigVariable = "OPENNRT_CONFIG";
constexpr std::string_view kLogLevelPrefix = "NEURON_RT_LOG_LEVEL_";
constexpr std::string_view kLogLocationPrefix = "NEURON_RT_LOG_LOCATION_";

// Text of the first variable of the row that is set and not empty.
const std::string* environment_text(const Setting& row, const Environment& environment,
                                    std::string_view* out_name) {
  for (std::string_view name : row.variables) {
    if (name.empty()) continue;
    const auto found = environment.find(name);
    if (found == environment.end() || found->second.empty()) continue;
    *out_name = found->first;
    return &found->second;
  }
  return nullptr;
}

bool is_known_variable(std::string_view name) {
  for (const Setting& row : settings())
    for (std::string_view variable : row.variables)
      if (variable == name) return true;
  return name.starts_with(kLogLevelPrefix) || name.starts_with(kLogLocationPrefix);
}

// Names that are read outside the table: the configuration file, and what the
// project's tests and tools look at.
bool is_other_own_name(std::string_view name) {
  constexpr std::string_view kNames[] = {kConfigVariable,         "OPENNRT_ARCH_MODULES",
                                         "OPENNRT_BUILD_SAN",     "OPENNRT_CORPUS",
                                         "OPENNRT_FUZZ_SECONDS",  "OPENNRT_NO_DEPS",
                                         "OPENNRT_RECORDER_FILE", "OPENNRT_RECORDER_TARGET",
                                         "OPENNRT_SPEC",          "OPENNRT_VECTORS"};
  return name.starts_with("OPENNRT_TEST_") ||
         std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

// Single-character edits that turn one text into the other.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j < row.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
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

}  // namespace

class Builder {
 public:
  Builder() {
    for (const Setting& row : settings()) {
      bool clamped = false;
      if (row.fallback.empty()) continue;
      auto value = parse_value(row, row.fallback, &clamped);
      if (value.is_ok()) entry(row.id).value = *std::move(value);
    }
  }

  void file(const std::string& path) {
    auto entries = read_file(path);
    if (!entries.is_ok()) return fail(std::string(entries.status().message()));
    for (const FileEntry& e : *entries) {
      const std::string where = fmt::format("{}:{}", path, e.line);
      if (!e.known)
        warn(fmt::format("{}: unknown key {}", where, e.key));
      else if (const Setting* row = find_setting(e.key))
        apply(*row, e.text, where);
      else
        apply_free(e.key, e.text, where);
    }
  }

  void freeze_files() {
    for (const Setting& row : settings())
      config_->below_environment_[static_cast<std::size_t>(row.id)] = entry(row.id).value;
  }

  void environment(const Environment& environment) {
    for (const Setting& row : settings()) {
      std::string_view name;
      if (const std::string* text = environment_text(row, environment, &name))
        apply(row, *text, std::string(name));
    }
    for (const auto& [name, text] : environment) {
      if (text.empty()) continue;
      if (name.starts_with(kLogLevelPrefix))
        apply_free("log.modules." + name.substr(kLogLevelPrefix.size()) + ".level", text, name);
      else if (name.starts_with(kLogLocationPrefix))
        apply_free("log.modules." + name.substr(kLogLocationPrefix.size()) + ".location", text,
                   name);
      else if (!is_known_variable(name))
        unknown_variable(name);
    }
  }

  void cross_checks() {
    if (const auto& cores = entry(Key::kCoresVisible); cores.value.set) {
      if (!cores.value.cores.was_sorted)
        warn(fmt::format("{}={}: cores should be named in ascending order", cores.where,
                         cores.value.text));
      if (const auto& count = entry(Key::kCoresCount); count.value.number != 0)
        warn(fmt::format("{}={} is ignored because {} names the cores", count.where,
                         count.value.text, cores.where));
    }
    const auto& plugins = entry(Key::kPluginsPath);
    for (const std::string& directory : plugins.value.list) {
      struct stat info{};
      if (::stat(directory.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) continue;
      issues_.push_back(
          {log::Level::kWarn,
           fmt::format("{}: plugin directory {} does not exist", plugins.where, directory), true});
    }
    if (const auto& depth = entry(Key::kExecImplicitAsyncDepth); depth.value.number != 0)
      warn(fmt::format("{}={}: implicit asynchronous execution is not offered, nrt_execute waits",
                       depth.where, depth.value.text));
  }

  Loaded finish() {
    Status status = failures_.empty() ? Status() : Status(NRT_INVALID, std::move(failures_));
    return {std::move(config_), std::move(status), std::move(issues_)};
  }

 private:
  Config::Entry& entry(Key key) { return config_->entries_[static_cast<std::size_t>(key)]; }
  void warn(std::string text) { issues_.push_back({log::Level::kWarn, std::move(text)}); }
  void fail(const std::string& text) { failures_ += (failures_.empty() ? "" : "; ") + text; }

  void apply(const Setting& row, std::string_view text, const std::string& where) {
    bool clamped = false;
    auto value = parse_value(row, text, &clamped);
    if (!value.is_ok()) {
      const std::string message =
          fmt::format("{}: {}='{}': {}", where, row.key, text, value.status().message());
      if (row.bad == OnBad::kFail) return fail(message);
      issues_.push_back({log::Level::kWarn, message + "; ignored", true});
      return;
    }
    if (clamped)
      warn(fmt::format("{}: {}={} out of range, {} used", where, row.key, text, value->text));
    Config::Entry& to = entry(row.id);
    if (row.appends && to.value.set) {
      auto& list = to.value.list;
      list.insert(list.end(), value->list.begin(), value->list.end());
      to.value.text += "," + value->text;
      to.where += ", " + where;
      return;
    }
    to.value = *std::move(value);
    to.where = where;
  }

  void apply_free(std::string key, std::string_view text, const std::string& where) {
    constexpr std::string_view kModules = "log.modules.";
    if (key.starts_with(kModules)) {
      const std::string suffix = key.substr(key.rfind('.'));
      const auto module = log::module_of(std::string_view(key).substr(
          kModules.size(), key.size() - suffix.size() - kModules.size()));
      if (!module) return;  // modules that only other runtimes have are no mistake
      const bool ok =
          suffix == ".level" ? parse_level(text).has_value() : parse_location(text).has_value();
      if (!ok) {
        issues_.push_back({log::Level::kWarn,
                           fmt::format("{}: '{}' not understood; ignored", where, text), true});
        return;
      }
      key = fmt::format("{}{}{}", kModules, log::module_tag(*module), suffix);
    }
    Config::Entry& to = config_->free_[key];
    to.value.set = true;
    to.value.text = text;
    to.where = where;
  }

  void unknown_variable(const std::string& name) {
    if (name.starts_with(kOwnPrefix)) {
      if (is_other_own_name(name)) return;
      issues_.push_back({log::Level::kWarn,
                         fmt::format("{}: no such setting, ignored; did you mean {}?", name,
                                     nearest_own_name(name)),
                         true});
      return;
    }
    if (name.starts_with("NEURON_"))
      issues_.push_back({log::Level::kDebug, name + ": not used by this runtime"});
  }

  std::shared_ptr<Config> config_ = std::make_shared<Config>();
  std::string failures_;
  std::vector<Issue> issues_;
};

Environment process_environment() {
  Environment out;
  const bool privileged = getauxval(AT_SECURE) != 0;
  for (char** p = environ; p != nullptr && *p != nullptr; ++p) {
    const std::string_view text(*p);
    const auto equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view name = text.substr(0, equals);
    if (name.starts_with("NEURON_") || (name.starts_with("OPENNRT_") && !privileged))
      out.emplace(name, text.substr(equals + 1));
  }
  return out;
}

Loaded load(const Sources& sources) {
  Builder builder;
  struct stat info{};
  if (!sources.system_file.empty() && ::stat(sources.system_file.c_str(), &info) == 0)
    builder.file(sources.system_file);
  const auto user = sources.environment.find(kConfigVariable);
  if (user != sources.environment.end() && !user->second.empty()) builder.file(user->second);
  builder.freeze_files();
  builder.environment(sources.environment);
  builder.cross_checks();
  return builder.finish();
}

Result<LoadSettings> load_settings(const Config& config, const Environment& environment) {
  auto number = [&](Key key, std::uint64_t* out) -> Status {
    const Setting& row = setting(key);
    *out = config.below_environment_[static_cast<std::size_t>(key)].number;
    std::string_view name;
    const std::string* text = environment_text(row, environment, &name);
    if (text == nullptr) return {};
    bool clamped = false;
    auto value = parse_value(row, *text, &clamped);
    if (!value.is_ok())
      return Status::invalid("{}='{}': {}", name, *text, value.status().message());
    *out = value->number;
    return {};
  };
  LoadSettings out;
  std::uint64_t hash = 0, legacy = 0;
  ONRT_TRY(number(Key::kExecTimeoutS, &out.exec_timeout_s));
  ONRT_TRY(number(Key::kLoadValidateHash, &hash));
  ONRT_TRY(number(Key::kLoadAllowLegacyNeff, &legacy));
  out.validate_hash = hash != 0;
  out.allow_legacy_neff = legacy != 0;
  return out;
}

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

std::vector<std::string> Config::describe() const {
  std::vector<std::string> out;
  for (const Setting& row : settings()) {
    const Entry& e = entries_[static_cast<std::size_t>(row.id)];
    if (!e.where.empty())
      out.push_back(fmt::format("{} = {} ({})", row.key, e.value.text, e.where));
  }
  for (const auto& [key, e] : free_)
    out.push_back(fmt::format("{} = {} ({})", key, e.value.text, e.where));
  return out;
}

}  // namespace opennrt::config
