// SPDX-License-Identifier: Apache-2.0
//
// A configuration while it is being put together, with what there is to tell.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "config/config.h"

namespace opennrt::config {

// Empty for an unset variable; of several spellings the first that is set.
const std::string* environment_text(const Setting& row, const Environment& environment,
                                    std::string_view* out_name);

class Draft {
 public:
  using Entry = Config::Entry;

  // The defaults.
  explicit Draft(const Environment& environment);
  explicit Draft(const Config& config) : config_(std::make_shared<Config>(config)) {}

  Entry& entry(Key key) { return config_->entries_[static_cast<std::size_t>(key)]; }
  bool given(Key key) const { return config_->is_given(key); }
  // As Config says them.
  std::string source(Key key) const { return config_->source(key); }
  std::string assignment(Key key) const { return config_->assignment(key); }

  // Takes over a text of that layer, or tells why not.
  void apply(const Setting& row, std::string_view text, const std::string& where, Layer layer);
  // Keys without a row.
  void apply_free(std::string key, std::string_view text, const std::string& where, Layer layer);
  // What follows from another setting, which `where` names.
  void derive(Key key, std::string_view text, const std::string& where, Layer layer);
  // From here on the environment: what nrt_load falls back to.
  void freeze_files();

  void tell(log::Level level, std::string text, bool always = false) {
    issues_.push_back({level, std::move(text), always});
  }
  void warn(std::string text) { tell(log::Level::kWarn, std::move(text)); }
  void fail(std::string_view text) { failures_.emplace_back(text); }

  Loaded finish() &&;

 private:
  std::shared_ptr<Config> config_;
  std::vector<std::string> failures_;
  std::vector<Issue> issues_;
};

}  // namespace opennrt::config
