// SPDX-License-Identifier: Apache-2.0
//
// opennrt config check: files as nrt_init would take them, alone, with the place
// of each mistake.

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <tuple>

#include "command.h"
#include "config/config.h"
#include "json_text.h"
#include "nrt/nrt.h"
#include "plugin/loader.h"

namespace opennrt::tools {

namespace {

struct Remark {
  int line = 0, column = 0;  // 0: of the file as a whole
  const char* severity = "error";
  std::string text;
};

// "FILE:LINE:COLUMN: text" or "FILE:LINE:COLUMN (key): text", taken apart.
Remark placed(const std::string& file, const std::string& message, const char* severity) {
  Remark out{.severity = severity, .text = message};
  if (!message.starts_with(file + ":")) return out;
  const char* at = message.data() + file.size() + 1;
  const char* const end = message.data() + message.size();
  const auto line = std::from_chars(at, end, out.line);
  if (line.ec == std::errc() && line.ptr != end && *line.ptr == ':') {
    const auto column = std::from_chars(line.ptr + 1, end, out.column);
    if (column.ec == std::errc()) at = column.ptr;
  }
  std::string_view rest(at, static_cast<std::size_t>(end - at));
  if (rest.starts_with(": ")) rest.remove_prefix(2);
  if (rest.starts_with(" (")) rest.remove_prefix(1);
  if (rest.starts_with(' ')) rest.remove_prefix(1);
  out.text = rest;
  return out;
}

// Names that only the plugins installed here know.
void check_names(const std::string& file, const config::Config& config, std::vector<Remark>* out) {
  using config::Key;
  plugin::Loader loader;
  const auto shared = std::make_shared<const config::Config>(config);
  loader.configure(shared, reinterpret_cast<const void*>(&nrt_init));
  const auto tell = [&](Key key, const std::string& why) {
    out->push_back(placed(file, config.source(key) + ": " + why, "warning"));
  };
  const std::string& device = config.text(Key::kDevice);
  if (config.is_given(Key::kDevice) && device != "auto" && device != "kernel" &&
      !loader.exists(plugin::Kind::kPort, device))
    tell(Key::kDevice, "no port plugin '" + device +
                           "' is installed here; there are auto, kernel, emulator, replay and "
                           "those of `opennrt plugins`");
  const std::string& ndl = config.text(Key::kNdl);
  if (config.is_given(Key::kNdl) && ndl != "auto" && ndl != "kernel" && ndl != "compat" &&
      !loader.exists(plugin::Kind::kNdl, ndl))
    tell(Key::kNdl, "no ndl plugin '" + ndl +
                        "' is installed here; there are auto, kernel, compat and those of "
                        "`opennrt plugins`");
  const std::string& arch = config.text(Key::kPluginsArch);
  if (config.is_given(Key::kPluginsArch) && arch != "auto" &&
      !loader.exists(plugin::Kind::kArch, arch)) {
    std::string names;
    for (const std::string& name : loader.arch_names()) names += (names.empty() ? "" : ", ") + name;
    tell(Key::kPluginsArch, "no arch plugin '" + arch + "' is installed here; there are auto, " +
                                (names.empty() ? "and no others" : names));
  }
  const std::string& product = config.text(Key::kEmulatorProduct);
  if (config.is_given(Key::kEmulatorProduct) && product != "auto")
    if (auto known = loader.arch_of_product(product); !known.is_ok())
      tell(Key::kEmulatorProduct, std::string(known.status().message()));
}

std::vector<Remark> check(const std::string& file) {
  // Through the same door as the runtime's, with nothing else in it.
  const config::Loaded loaded =
      config::load({.system_file = "", .environment = {{"OPENNRT_CONFIG", file}}, .columns = true});
  std::vector<Remark> out;
  for (const std::string& failure : loaded.failures) out.push_back(placed(file, failure, "error"));
  for (const config::Issue& issue : loaded.issues)
    if (issue.level <= log::Level::kWarn) out.push_back(placed(file, issue.text, "warning"));
  check_names(file, *loaded.config, &out);
  for (const auto& row : loaded.config->rows())
    if (!row.acts && row.differs)
      out.push_back(
          placed(file, row.where + ": " + std::string(row.key) + " has no effect in this release",
                 "note"));
  std::sort(out.begin(), out.end(), [](const Remark& a, const Remark& b) {
    return std::tie(a.line, a.column, a.text) < std::tie(b.line, b.column, b.text);
  });
  return out;
}

void print_text(const std::string& file, const std::vector<Remark>& remarks) {
  for (const Remark& r : remarks) {
    std::printf("%s:", file.c_str());
    if (r.line != 0) std::printf("%d:%d:", r.line, r.column);
    std::printf(" %s: %s\n", r.severity, r.text.c_str());
  }
  if (remarks.empty()) std::printf("%s: good\n", file.c_str());
}

void print_json(const std::string& file, const std::vector<Remark>& remarks, bool* first) {
  for (const Remark& r : remarks) {
    std::printf(
        "%s {\"file\": %s, \"line\": %d, \"column\": %d, \"severity\": \"%s\", \"text\": %s}",
        *first ? "\n" : ",\n", json_string(file).c_str(), r.line, r.column, r.severity,
        json_string(r.text).c_str());
    *first = false;
  }
}

CommandLine command_line() {
  return {{.command = "opennrt config check",
           .usage = "[options] FILE ...",
           .header =
               "Checks configuration files, each alone, without variables and other files: syntax, "
               "keys, types, ranges, settings that contradict each other, and names that no plugin "
               "installed here has. error: nrt_init would refuse the file; warning: it would go on "
               "without; note: nothing is wrong. The exit code is 1 when there is an error or a "
               "warning."},
          {Option("json", "j", "for programs: a list of {file, line, column, severity, text}")}};
}

int check_all(const Words& files, bool json) {
  bool good = true, first = true;
  if (json) std::printf("[");
  for (const std::string& file : files) {
    const std::vector<Remark> remarks = check(file);
    good &= std::all_of(remarks.begin(), remarks.end(),
                        [](const Remark& r) { return std::string_view(r.severity) == "note"; });
    json ? print_json(file, remarks, &first) : print_text(file, remarks);
  }
  if (json) std::printf("\n]\n");
  return good ? kDone : kFailed;
}

}  // namespace

int config_check_command(const Words& words) {
  return command_line().run(words, [](const Arguments& arguments) {
    if (arguments.words.empty()) throw UsageError("FILE is missing");
    for (const std::string& file : arguments.words)
      if (file.empty()) throw UsageError("FILE is empty");
    return check_all(arguments.words, arguments.has("json"));
  });
}

}  // namespace opennrt::tools
