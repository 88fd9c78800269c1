// SPDX-License-Identifier: Apache-2.0
#include "config/config.h"

namespace opennrt::config {

namespace {

void place(const LogLocation& location, log::ModuleSettings& out) {
  // A file name alone leaves neither the console nor syslog.
  out.console = location.console;
  out.syslog = location.syslog;
}

}  // namespace

log::Settings log_settings(const Config& config) {
  log::Settings out;
  out.file = config.text(Key::kLogFile);
  out.coalesce = config.flag(Key::kLogCoalesce);
  const auto level = parse_level(config.text(Key::kLogLevel)).value_or(log::Level::kError);
  const auto location = parse_location(config.text(Key::kLogLocation));
  if (location && !location->file.empty()) out.file = location->file;
  for (std::size_t i = 0; i < log::kModules; ++i) {
    log::ModuleSettings& module = out.modules[i];
    module.level = level;
    if (location) place(*location, module);
    const auto tag = log::module_tag(static_cast<log::Module>(i));
    const auto own_level = config.get(fmt::format("log.modules.{}.level", tag));
    const auto own_location = config.get(fmt::format("log.modules.{}.location", tag));
    if (own_level) module.level = parse_level(*own_level).value_or(module.level);
    if (own_location)
      if (const auto place_of = parse_location(*own_location)) place(*place_of, module);
  }
  return out;
}

}  // namespace opennrt::config
