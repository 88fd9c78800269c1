// SPDX-License-Identifier: Apache-2.0
//
// The configuration of one nrt_init: an immutable value built from defaults,
// /etc/opennrt/nrt.yaml, the file named by OPENNRT_CONFIG and the environment,
// later ones winning. Nothing else in the library reads the environment.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "config/settings.h"
#include "config/value.h"
#include "log/log.h"

namespace opennrt::config {

using Environment = std::map<std::string, std::string, std::less<>>;

// The NEURON_* and OPENNRT_* variables of the process. In a privileged process
// (set-user-id and the like) OPENNRT_* is left out: it names code to load.
Environment process_environment();

struct Sources {
  std::string system_file = "/etc/opennrt/nrt.yaml";
  Environment environment;
};

// Something to tell the user once logging works.
struct Issue {
  log::Level level = log::Level::kWarn;
  std::string text;
  // Told unless logging is off altogether: a slip of the pen that nothing else
  // would show, like a setting's name that does not exist.
  bool always = false;
};

// Settings that nrt_load reads again.
struct LoadSettings {
  std::uint64_t exec_timeout_s = 30;
  bool validate_hash = false;
  bool allow_legacy_neff = false;
};

class Config {
 public:
  bool is_set(Key key) const { return at(key).set; }
  bool flag(Key key) const { return at(key).number != 0; }
  std::uint64_t number(Key key) const { return at(key).number; }
  const std::string& text(Key key) const { return at(key).text; }
  const std::vector<std::string>& list(Key key) const { return at(key).list; }
  // Asked for by cores.visible.
  std::optional<CoreRange> visible_cores() const;

  // Effective value as text; nullopt for an unknown or unset key.
  std::optional<std::string> get(std::string_view key) const;
  // "key = value (where)" of every setting that is not a default.
  std::vector<std::string> describe() const;

 private:
  friend class Builder;
  friend Result<LoadSettings> load_settings(const Config&, const Environment&);
  struct Entry {
    Value value;
    std::string where;  // "file:line" or a variable; empty = default
  };
  const Value& at(Key key) const { return entries_[static_cast<std::size_t>(key)].value; }

  std::array<Entry, kSettings> entries_{};
  std::array<Value, kSettings> below_environment_{};  // of the settings read per load
  // plugins.settings.* and log.modules.*: key -> text.
  std::map<std::string, Entry, std::less<>> free_;
};

// Every setting is parsed even after a failure. The configuration exists in any
// case, so that the failure can be logged the way it asks for.
struct Loaded {
  std::shared_ptr<const Config> config;
  Status status;              // all failures in one message
  std::vector<Issue> issues;  // warnings
};
Loaded load(const Sources& sources);

Result<LoadSettings> load_settings(const Config& config, const Environment& environment);

// What log.* asks for.
log::Settings log_settings(const Config& config);

}  // namespace opennrt::config
