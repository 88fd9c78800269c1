// SPDX-License-Identifier: Apache-2.0
//
// opennrt plugins: every candidate the loader sees, with its verdict.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "command.h"
#include "config/config.h"
#include "nrt/nrt.h"
#include "plugin/loader.h"

namespace opennrt::tools {

int plugins_command(const std::vector<std::string>& args) {
  if (!args.empty()) {
    const bool help = args[0] == "--help" || args[0] == "-h";
    std::fputs(
        "usage: opennrt plugins\n"
        "Lists every plugin manifest found, in search order, with its verdict and reason.\n"
        "Directories: plugins.path and OPENNRT_PLUGIN_PATH, plugins/ beside the runtime, the\n"
        "install directory. Every library is opened. Exit code 1: something is refused, cannot\n"
        "be read, or is named and not there.\n",
        help ? stdout : stderr);
    return help ? 0 : 2;
  }
  config::Loaded loaded = config::load({.environment = config::process_environment()});
  if (!loaded.status.is_ok())
    std::fprintf(stderr, "opennrt plugins: %s\n", std::string(loaded.status.message()).c_str());
  plugin::Loader loader;
  loader.configure(loaded.config, reinterpret_cast<const void*>(&nrt_init));
  const std::vector<plugin::Candidate> candidates = loader.list_candidates();
  const plugin::Search search =
      plugin::search_of(*loaded.config, reinterpret_cast<const void*>(&nrt_init));
  const std::vector<std::string> troubles = plugin::troubles(search);
  for (const std::string& trouble : troubles)
    std::fprintf(stderr, "opennrt plugins: %s\n", trouble.c_str());
  if (candidates.empty()) {
    std::fprintf(stderr, "opennrt plugins: no manifest (*.plugin.yaml) in");
    for (const std::string& directory : search.directories)
      std::fprintf(stderr, " %s", directory.c_str());
    std::fprintf(stderr, "\n");
    return 1;
  }
  std::size_t refused = 0;
  for (const plugin::Candidate& c : candidates) {
    const plugin::Manifest& m = c.manifest;
    std::printf("%-9s %-5s %-12s %-8s %s\n", std::string(plugin::verdict_name(c.verdict)).c_str(),
                m.name.empty() ? "-" : std::string(plugin::kind_name(m.kind)).c_str(),
                m.name.empty() ? "-" : m.name.c_str(), m.version.empty() ? "-" : m.version.c_str(),
                m.path.c_str());
    if (!c.reason.empty()) std::printf("          %s\n", c.reason.c_str());
    refused += c.verdict == plugin::Verdict::kRefused;
  }
  return refused == 0 && troubles.empty() && loaded.status.is_ok() ? 0 : 1;
}

}  // namespace opennrt::tools
