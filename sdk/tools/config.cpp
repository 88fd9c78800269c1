// SPDX-License-Identifier: Apache-2.0
//
// opennrt config: what every setting is in a process started like this one, and
// where that comes from.
#include "config/config.h"

#include <algorithm>
#include <cstdio>

#include "book/machine.h"
#include "command.h"
#include "json_text.h"
#include "nrt/nrt.h"
#include "plugin/loader.h"

namespace opennrt::tools {

namespace {

using Rows = std::vector<config::Config::Row>;

struct Options {
  bool json = false, changed = false;
  Words prefixes;
};

CommandLine command_line() {
  return {
      {.command = "opennrt config",
       .usage = "[show] [options] [KEY-PREFIX ...]\ncheck [options] FILE ...",
       .header = "Lists the settings with their values and where these come from: a variable, "
                 "file:line, the default of the silicon found, or the default. Mistakes in the "
                 "settings themselves are told on standard error; the exit code is 1 when nrt_init "
                 "would refuse them. What needs the machine or other files (products, devices, "
                 "plugins, directories to write to) is checked by nrt_init."},
      {Option("changed", "c", "only what a file or a variable makes differ from its default"),
       Option("json", "j", "for programs: a list of {key, value, layer, origin, effect}")}};
}

// Silicon has defaults of its own, so the machine is looked at as before nrt_init.
Result<config::MachineFacts> look(const std::shared_ptr<const config::Config>& config) {
  plugin::Loader loader;
  loader.configure(config, reinterpret_cast<const void*>(&nrt_init));
  ONRT_ASSIGN(const auto driver, book::Driver::open(loader, *config));
  ONRT_ASSIGN(const book::Machine machine, book::discover(*driver, loader));
  ONRT_ASSIGN(const std::uint32_t lnc_size, book::lnc_size(machine, *config));
  return config::MachineFacts{machine.arch->arch_type, lnc_size};
}

void tell(const config::Loaded& loaded) {
  for (const config::Issue& issue : loaded.issues)
    if (issue.level <= log::Level::kWarn)
      std::fprintf(stderr, "opennrt config: %s\n", issue.text.c_str());
  if (!loaded.status)
    std::fprintf(stderr, "opennrt config: %s\n", std::string(loaded.status.message()).c_str());
}

bool chosen(const config::Config::Row& row, const Options& options) {
  if (options.changed && !row.differs) return false;
  return options.prefixes.empty() ||
         std::any_of(options.prefixes.begin(), options.prefixes.end(),
                     [&row](const std::string& prefix) { return row.key.starts_with(prefix); });
}

void print_text(const Rows& rows) {
  std::size_t keys = 0, values = 0;
  constexpr std::size_t kWidest = 24;  // a long value moves its own line only
  for (const auto& row : rows) {
    keys = std::max(keys, row.key.size());
    values = std::max(values, std::min(kWidest, row.text.value_or("-").size()));
  }
  for (const auto& row : rows) {
    const std::string_view value = row.text.value_or("-");
    fmt::print("{:<{}}  {:<{}}  {}{}\n", row.key, keys, value.empty() ? "''" : value, values,
               row.where, row.acts ? "" : "  (no effect in this release)");
  }
}

void print_json(const Rows& rows) {
  constexpr std::string_view kLayers[] = {"default", "arch default", "system file", "file",
                                          "environment"};
  fmt::print("[");
  const char* separator = "\n";
  for (const auto& row : rows) {
    fmt::print(
        "{} {{\"key\": {}, \"value\": {}, \"layer\": \"{}\", \"origin\": {}, \"effect\": {}}}",
        separator, json_string(row.key), row.text ? json_string(*row.text) : "null",
        kLayers[static_cast<std::size_t>(row.layer)], json_string(row.where), row.acts);
    separator = ",\n";
  }
  fmt::print("\n]\n");
}

int list(const Options& options) {
  config::Loaded loaded = config::load({.environment = config::process_environment()});
  tell(loaded);
  bool good = loaded.status.is_ok();
  if (const auto machine = good ? look(loaded.config) : Status::invalid("settings are wrong")) {
    config::Loaded fitted = config::for_machine(*loaded.config, *machine);
    tell(fitted);
    good = fitted.status.is_ok();
    loaded = std::move(fitted);
  } else if (good) {
    std::fprintf(stderr, "opennrt config: without the defaults of silicon: %s\n",
                 std::string(machine.status().message()).c_str());
  }
  Rows rows = loaded.config->rows();
  for (const std::string& prefix : options.prefixes)
    if (std::none_of(rows.begin(), rows.end(),
                     [&prefix](const auto& row) { return row.key.starts_with(prefix); })) {
      std::fprintf(stderr, "opennrt config: no setting begins with '%s'\n", prefix.c_str());
      good = false;
    }
  std::erase_if(rows, [&options](const auto& row) { return !chosen(row, options); });
  options.json ? print_json(rows) : print_text(rows);
  return good ? 0 : 1;
}

}  // namespace

int config_command(const Words& words) {
  if (!words.empty() && words[0] == "check")
    return config_check_command({words.begin() + 1, words.end()});
  // The list is what is shown when nothing else is asked for.
  const bool named = !words.empty() && words[0] == "show";
  return command_line().run(
      {words.begin() + (named ? 1 : 0), words.end()}, [](const Arguments& arguments) {
        return list({arguments.has("json"), arguments.has("changed"), arguments.words});
      });
}

}  // namespace opennrt::tools
