// SPDX-License-Identifier: Apache-2.0
#include "neff/products.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "config/config.h"
#include "plugin/loader.h"

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
    path += (path.empty() ? "" : ":") + plugins.string();
  }
}

bool runs_target(const nrtp_arch_plugin& arch, const std::string& target) {
  if (target == "*") return true;
  for (const char* const* name = arch.neff_targets; *name != nullptr; ++name)
    if (target == *name) return true;
  return false;
}

// Why the program does not run on the product; empty if it does.
std::string judge(const nrtp_arch_plugin& arch, const nrtp_product& product, const Model& model,
                  const Figures& figures) {
  const nrtp_arch_geometry& g = *arch.geometry;
  const auto cores = static_cast<std::uint32_t>(model.program.subgraphs.size());
  if (cores > product.cores)
    return fmt::format("needs {} cores of one device, which has {}", cores, product.cores);
  if (cores > 32 || (g.lnc_mask >> (cores - 1) & 1) == 0)
    return fmt::format("logical cores of {} physical ones are not possible", cores);
  // Each core keeps its part of a model in its own channel.
  const std::uint64_t channel = product.hbm_channel_bytes > g.hbm_reserved_low
                                    ? product.hbm_channel_bytes - g.hbm_reserved_low
                                    : 0;
  if (figures.largest_device_memory() > channel)
    return fmt::format("needs {} bytes of device memory for one core, a channel has {}",
                       figures.largest_device_memory(), channel);
  for (const GraphFigures& graph : figures.graphs) {
    if (graph.memory.sbuf_partition > g.sbuf_partition_bytes)
      return fmt::format("uses {} bytes of an SBUF partition of {}", graph.memory.sbuf_partition,
                         g.sbuf_partition_bytes);
    if (graph.memory.psum_partition > g.psum_partition_bytes)
      return fmt::format("uses {} bytes of a PSUM partition of {}", graph.memory.psum_partition,
                         g.psum_partition_bytes);
  }
  return {};
}

}  // namespace

ProductSurvey survey_products(const Model& model, const Figures& figures) {
  ProductSurvey survey;
  config::Sources sources{.environment = config::process_environment()};
  add_own_plugins(sources.environment);
  const config::Loaded loaded = config::load(sources);
  if (!loaded.status.is_ok()) survey.notes.emplace_back(loaded.status.message());
  plugin::Loader loader;
  loader.configure(loaded.config);
  bool known = false;
  for (const plugin::Candidate& candidate : loader.list_candidates()) {
    if (candidate.manifest.kind == plugin::Kind::kArch &&
        candidate.verdict == plugin::Verdict::kRefused)
      survey.notes.push_back(candidate.manifest.path + ": " + candidate.reason);
    if (candidate.manifest.kind != plugin::Kind::kArch ||
        candidate.verdict != plugin::Verdict::kSelected)
      continue;
    const auto found = loader.arch(candidate.manifest.arch_type);
    if (!found) continue;
    const nrtp_arch_plugin& arch = **found;
    const bool matches = runs_target(arch, model.program.target);
    known = known || matches;
    for (std::uint32_t i = 0; i < arch.n_products; ++i) {
      // The stride is the plugin's size of an entry, which may be larger than ours.
      const auto* at =
          reinterpret_cast<const char*>(arch.products) + std::size_t{i} * arch.product_stride;
      const auto& product = *reinterpret_cast<const nrtp_product*>(at);
      survey.products.push_back({arch.name, product.name, product.silicon,
                                 matches ? judge(arch, product, model, figures)
                                         : "compiled for " + model.program.target});
    }
  }
  if (!known)
    survey.notes.push_back("no arch plugin for target " + model.program.target +
                           " is installed: its products are unknown");
  return survey;
}

}  // namespace opennrt::tools
