// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "config/config.h"
#include "config/draft.h"

namespace opennrt::config {

// Settings of the environment as it is now, above the files as they were read.
class LoadReader {
 public:
  LoadReader(const Config& config, const Environment& environment) {
    for (const Setting& row : settings())
      if (row.per_load) read(config, environment, row);
  }

  std::uint64_t number(Key key) const { return values_[static_cast<std::size_t>(key)].number; }
  const std::string& failures() const { return failures_; }

 private:
  void read(const Config& config, const Environment& environment, const Setting& row) {
    Value& to = values_[static_cast<std::size_t>(row.id)];
    to = config.below_environment_[static_cast<std::size_t>(row.id)];
    std::string_view name;
    const std::string* text = environment_text(row, environment, &name);
    if (text == nullptr) return;
    bool clamped = false;
    auto value = parse_value(row, *text, Units::kPlain, &clamped);
    if (value.is_ok())
      to = *std::move(value);
    else
      failures_ += fmt::format("{}{}='{}': {}", failures_.empty() ? "" : "; ", name,
                               printable(*text), value.status().message());
  }

  std::array<Value, kSettings> values_{};
  std::string failures_;
};

Result<LoadSettings> load_settings(const Config& config, const Environment& environment) {
  const LoadReader reader(config, environment);
  if (!reader.failures().empty()) return Status(NRT_INVALID, reader.failures());
  return LoadSettings{.exec_timeout_s = reader.number(Key::kExecTimeoutS),
                      .validate_hash = reader.number(Key::kLoadValidateHash) != 0,
                      .allow_legacy_neff = reader.number(Key::kLoadAllowLegacyNeff) != 0};
}

}  // namespace opennrt::config
