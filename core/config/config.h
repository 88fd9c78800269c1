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

// The NEURON_* and OPENNRT_* variables of the process, and TMPDIR. In a
// privileged process (set-user-id and the like) the last two are left out: they
// name code to load and places to write.
Environment process_environment();

// Where a value comes from; later ones win. Arguments of a call win over all of
// them, for that call.
enum class Layer : std::uint8_t { kDefault, kArch, kSystemFile, kUserFile, kEnvironment };

struct Sources {
  std::string system_file = "/etc/opennrt/nrt.yaml";
  Environment environment;
  // Only what tells which cores there are: for the questions that may be asked
  // before nrt_init, which a mistake elsewhere must not spoil.
  bool cores_only = false;
  // Places in files as "file:line:column" instead of "file:line".
  bool columns = false;
};

// Something to tell the user once logging works.
struct Issue {
  log::Level level = log::Level::kWarn;
  std::string text;
  // Told unless logging is off altogether: a slip of the pen that nothing else
  // would show, like a setting's name that does not exist.
  bool always = false;
};

class Config {
 public:
  // Has a value, be it a default.
  bool is_set(Key key) const { return at(key).set; }
  // A file or a variable says so.
  bool is_given(Key key) const { return entry(key).layer >= Layer::kSystemFile; }
  bool flag(Key key) const { return at(key).number != 0; }
  // kBool, kUint, kSize; kEnum: place in its choices.
  std::uint64_t number(Key key) const { return at(key).number; }
  const std::string& text(Key key) const { return at(key).text; }
  const std::vector<std::string>& list(Key key) const { return at(key).list; }
  const std::vector<std::uint64_t>& numbers(Key key) const { return at(key).numbers; }
  // Asked for by cores.visible.
  std::optional<CoreRange> visible_cores() const;

  // Effective value as text; nullopt for an unknown or unset key.
  std::optional<std::string> get(std::string_view key) const;

  struct Row {
    std::string_view key{};
    std::optional<std::string_view> text{};  // nullopt: unset
    Layer layer = Layer::kDefault;
    std::string where{};   // "default", "default of arch 3", "file:line" or a variable
    bool acts = true;      // false: this release does nothing with it
    bool differs = false;  // from the default
  };
  // Every setting in the order of the table, then the free ones. Refers to the
  // configuration.
  std::vector<Row> rows() const;
  // Whom a message about the setting names: "VARIABLE (key)", "file:line (key)", or
  // the key of what nobody gave.
  std::string source(Key key) const;
  // "VARIABLE=value", "file:line: key=value".
  std::string assignment(Key key) const;
  // "key = value (where)" of every setting that a file or a variable gives.
  std::vector<std::string> describe() const;
  // "key = value (where) has no effect in this release" of those that differ
  // from their default for nothing.
  std::vector<std::string> without_effect() const;

 private:
  friend class Draft;
  friend class LoadReader;
  struct Entry {
    Value value;
    std::string where;  // empty = default
    Layer layer = Layer::kDefault;
  };
  const Entry& entry(Key key) const { return entries_[static_cast<std::size_t>(key)]; }
  const Value& at(Key key) const { return entry(key).value; }

  std::array<Entry, kSettings> entries_{};
  std::array<Value, kSettings> below_environment_{};  // of the settings read per load
  // plugins.settings.* and log.modules.*: key -> text.
  std::map<std::string, Entry, std::less<>> free_;
};

// Every setting is parsed even after a failure. The configuration exists in any
// case, so that the failure can be logged the way it asks for.
struct Loaded {
  std::shared_ptr<const Config> config;
  Status status;  // all failures in one message
  std::vector<std::string> failures;
  std::vector<Issue> issues;  // warnings
};
Loaded load(const Sources& sources);

// What is known once the devices are.
struct MachineFacts {
  std::uint32_t arch_type = 0;
  std::uint32_t lnc_size = 0;
};
// The same configuration with the defaults of that silicon, checked against it.
Loaded for_machine(const Config& config, const MachineFacts& machine);

// Settings that nrt_load reads again.
struct LoadSettings {
  std::uint64_t exec_timeout_s = 30;
  bool validate_hash = false;
  bool allow_legacy_neff = false;
};
Result<LoadSettings> load_settings(const Config& config, const Environment& environment);

// What log.* asks for.
log::Settings log_settings(const Config& config);

}  // namespace opennrt::config
