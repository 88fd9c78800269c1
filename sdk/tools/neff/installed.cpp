// SPDX-License-Identifier: Apache-2.0
#include "neff/installed.h"

#include <unistd.h>

#include <filesystem>

#include "config/config.h"
#include "plugin/loader.h"
#include "plugin_path.h"

namespace opennrt::tools {
namespace {

// In a build tree or a tarball the plugins are in lib/plugins beside bin/; an
// installation has its own place, wherever its prefix is now.
void add_own_plugins(config::Environment& environment) {
  char self[4096];
  const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
  if (n <= 0) return;
  const auto bin =
      std::filesystem::path(std::string(self, static_cast<std::size_t>(n))).parent_path();
  for (const char* place : {"../lib/plugins", OPENNRT_PLUGINS_FROM_BIN}) {
    const auto plugins = (bin / place).lexically_normal();
    std::error_code error;
    if (!std::filesystem::is_directory(plugins, error)) continue;
    std::string& path = environment["OPENNRT_PLUGIN_PATH"];
    path = with_plugin_directory(path, plugins.string());
  }
}

InstalledArches open_all() {
  InstalledArches out;
  config::Sources sources{.environment = config::process_environment()};
  add_own_plugins(sources.environment);
  const config::Loaded loaded = config::load(sources);
  if (!loaded.status.is_ok()) out.notes.emplace_back(loaded.status.message());
  static plugin::Loader loader;  // keeps the libraries
  loader.configure(loaded.config);
  for (const plugin::Candidate& candidate : loader.list_candidates()) {
    if (candidate.manifest.kind != plugin::Kind::kArch) continue;
    if (candidate.verdict == plugin::Verdict::kRefused)
      out.notes.push_back(candidate.manifest.path + ": " + candidate.reason);
    if (candidate.verdict != plugin::Verdict::kSelected) continue;
    if (const auto found = loader.arch(candidate.manifest.arch_type)) out.arches.push_back(*found);
  }
  return out;
}

}  // namespace

const InstalledArches& installed_arches() {
  static const InstalledArches all = open_all();
  return all;
}

bool runs_target(const nrtp_arch_plugin& arch, std::string_view target) {
  if (target == "*") return true;
  for (const char* const* name = arch.neff_targets; *name != nullptr; ++name)
    if (target == *name) return true;
  return false;
}

}  // namespace opennrt::tools
