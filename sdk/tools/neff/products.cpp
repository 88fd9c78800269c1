// SPDX-License-Identifier: Apache-2.0
#include "neff/products.h"

#include <algorithm>

#include "neff/installed.h"

namespace opennrt::tools {
namespace {

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
  const InstalledArches& installed = installed_arches();
  survey.notes = installed.notes;
  bool known = false;
  for (const nrtp_arch_plugin* found : installed.arches) {
    const nrtp_arch_plugin& arch = *found;
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
