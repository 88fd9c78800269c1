// SPDX-License-Identifier: Apache-2.0
//
// opennrt plugins: every candidate the loader sees, with its verdict.
#include <cstdio>
#include <string>
#include <vector>

#include "command.h"
#include "config/config.h"
#include "json_list.h"
#include "nrt/nrt.h"
#include "output.h"
#include "plugin/loader.h"

namespace opennrt::tools {

namespace {

struct Found {
  plugin::Search search;
  std::vector<plugin::Candidate> candidates;
  std::vector<std::string> problems;  // beside the candidates
};

Found find() {
  Found out;
  const config::Loaded loaded = config::load({.environment = config::process_environment()});
  if (!loaded.status.is_ok()) out.problems.emplace_back(loaded.status.message());
  plugin::Loader loader;
  loader.configure(loaded.config, reinterpret_cast<const void*>(&nrt_init));
  out.candidates = loader.list_candidates();
  out.search = plugin::search_of(*loaded.config, reinterpret_cast<const void*>(&nrt_init));
  for (std::string& trouble : plugin::troubles(out.search))
    out.problems.push_back(std::move(trouble));
  if (!out.candidates.empty()) return out;
  std::string none = "no manifest (*.plugin.yaml) in";
  for (const std::string& directory : out.search.directories) none += " " + directory;
  out.problems.push_back(none);
  return out;
}

void print_text(const Found& found) {
  for (const plugin::Candidate& c : found.candidates) {
    const plugin::Manifest& m = c.manifest;
    std::printf("%-9s %-5s %-12s %-8s %s\n", std::string(plugin::verdict_name(c.verdict)).c_str(),
                m.name.empty() ? "-" : std::string(plugin::kind_name(m.kind)).c_str(),
                m.name.empty() ? "-" : m.name.c_str(), m.version.empty() ? "-" : m.version.c_str(),
                m.path.c_str());
    if (!c.reason.empty()) std::printf("          %s\n", c.reason.c_str());
  }
}

// What a manifest that could not be read does not say is null.
std::string json_candidate(const plugin::Candidate& c) {
  const plugin::Manifest& m = c.manifest;
  const bool read = !m.name.empty();
  return JsonList('{')
      .add("verdict", json_string(plugin::verdict_name(c.verdict)))
      .add("kind", read ? json_string(plugin::kind_name(m.kind)) : "null")
      .add("name", json_text_or_null(m.name))
      .add("version", json_text_or_null(m.version))
      .add("arch_type",
           read && m.kind == plugin::Kind::kArch ? std::to_string(m.arch_type) : "null")
      .add("priority", read ? std::to_string(m.priority) : "null")
      .add("library", json_text_or_null(m.library))
      .add("manifest", json_string(m.path))
      .add("reason", json_text_or_null(c.reason))
      .close();
}

void print_json(const Found& found) {
  JsonList directories('['), problems('[');
  for (const std::string& directory : found.search.directories)
    directories.add(json_string(directory));
  for (const std::string& problem : found.problems) problems.add(json_string(problem));
  std::string text = "{\"directories\": " + directories.close() + ",\n \"plugins\": [";
  const char* separator = "\n  ";
  for (const plugin::Candidate& c : found.candidates) {
    text += separator + json_candidate(c);
    separator = ",\n  ";
  }
  print(text + "],\n \"problems\": " + problems.close() + "}\n");
}

}  // namespace

int plugins_command(const Words& words) {
  const CommandLine line(
      {.command = "opennrt plugins",
       .usage = "[options]",
       .header =
           "Lists every plugin manifest found, in search order, with its verdict and reason. "
           "Directories: plugins.path and OPENNRT_PLUGIN_PATH, plugins/ beside the runtime, the "
           "install directory. Every library is opened.",
       .footer =
           "Exit code: 1 when something is refused, cannot be read, or is named and not there."},
      {Option("json", "j",
              "for programs: {directories, plugins: a list of {verdict, kind, name, version, "
              "arch_type, priority, library, manifest, reason}, problems}")});
  return line.run(words, [](const Arguments& arguments) {
    arguments.want_words(0, 0);
    const Found found = find();
    for (const std::string& problem : found.problems)
      std::fprintf(stderr, "opennrt plugins: %s\n", problem.c_str());
    arguments.has("json") ? print_json(found) : print_text(found);
    for (const plugin::Candidate& c : found.candidates)
      if (c.verdict == plugin::Verdict::kRefused) return kFailed;
    return found.problems.empty() ? kDone : kFailed;
  });
}

}  // namespace opennrt::tools
