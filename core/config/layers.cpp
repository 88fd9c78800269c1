// SPDX-License-Identifier: Apache-2.0
//
// The layers of a configuration, lowest first.
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "config/config.h"
#include "config/draft.h"
#include "config/names.h"
#include "config/rules.h"
#include "config/yaml_layer.h"

namespace opennrt::config {

namespace {

// What tells which cores there are.
bool is_about_cores(std::string_view key) {
  for (std::string_view group : {"cores.", "sim.", "plugins.", "emulator."})
    if (key.starts_with(group)) return true;
  return key == "device" || key == "ndl";
}

class Layers {
 public:
  explicit Layers(const Sources& sources)
      : cores_only_(sources.cores_only), columns_(sources.columns), draft_(sources.environment) {}

  void file(const std::string& path, Layer layer) {
    auto entries = read_file(path);
    if (!entries.is_ok()) return draft_.fail(entries.status().message());
    for (const FileEntry& e : *entries) {
      if (cores_only_ && !is_about_cores(e.key)) continue;
      const std::string where = columns_ ? fmt::format("{}:{}:{}", path, e.line, e.column)
                                         : fmt::format("{}:{}", path, e.line);
      if (!e.problem.empty())
        draft_.fail(e.key.empty() ? fmt::format("{}: {}", where, e.problem)
                                  : fmt::format("{}: {}: {}", where, printable(e.key), e.problem));
      else if (!e.known)
        // Like a misspelt variable: nothing else would show it.
        draft_.tell(log::Level::kWarn,
                    fmt::format("{}: unknown key {}; {}", where, printable(e.key), hint(e.key)),
                    true);
      else if (const Setting* row = find_setting(e.key))
        draft_.apply(*row, e.text, where, layer);
      else
        draft_.apply_free(e.key, e.text, where, layer);
    }
  }

  void environment(const Environment& environment) {
    draft_.freeze_files();
    for (const Setting& row : settings()) {
      if (cores_only_ && !is_about_cores(row.key)) continue;
      std::string_view name;
      if (const std::string* text = environment_text(row, environment, &name))
        draft_.apply(row, *text, std::string(name), Layer::kEnvironment);
    }
    for (const auto& [name, text] : environment) {
      if (text.empty() || cores_only_) continue;
      module_setting(name, text);
      if (const auto issue = remark_on(name)) draft_.tell(issue->level, issue->text, issue->always);
    }
  }

  Loaded finish() && {
    apply_rules(draft_);
    return std::move(draft_).finish();
  }

 private:
  void module_setting(const std::string& name, const std::string& text) {
    for (const auto& [prefix, suffix] :
         {std::pair(kLogLevelPrefix, ".level"), std::pair(kLogLocationPrefix, ".location")})
      if (name.starts_with(prefix))
        draft_.apply_free("log.modules." + name.substr(prefix.size()) + suffix, text, name,
                          Layer::kEnvironment);
  }

  static std::string hint(std::string_view key) {
    const std::string near = nearest_key(key);
    if (!near.empty()) return "did you mean " + near + "?";
    const std::string_view group = group_of(key);
    return fmt::format("`opennrt config{}{}` lists those there are", group.empty() ? "" : " ",
                       group);
  }

  bool cores_only_, columns_;
  Draft draft_;
};

}  // namespace

Environment process_environment() {
  Environment out;
  const bool privileged = getauxval(AT_SECURE) != 0;
  for (char** p = environ; p != nullptr && *p != nullptr; ++p) {
    const std::string_view text(*p);
    const auto equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view name = text.substr(0, equals);
    if (name.starts_with("NEURON_") ||
        (!privileged && (name.starts_with("OPENNRT_") || name == "TMPDIR")))
      out.emplace(name, text.substr(equals + 1));
  }
  return out;
}

Loaded load(const Sources& sources) {
  Layers layers(sources);
  struct stat info{};
  if (!sources.system_file.empty() && ::stat(sources.system_file.c_str(), &info) == 0)
    layers.file(sources.system_file, Layer::kSystemFile);
  const auto user = sources.environment.find(kConfigVariable);
  if (user != sources.environment.end() && !user->second.empty())
    layers.file(user->second, Layer::kUserFile);
  layers.environment(sources.environment);
  return std::move(layers).finish();
}

}  // namespace opennrt::config
