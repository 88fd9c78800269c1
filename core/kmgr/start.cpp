// SPDX-License-Identifier: Apache-2.0
//
// The two places where the exec manager meets its neighbours' factories.
#include "kmgr/manager.h"

namespace opennrt::kmgr {

Result<std::unique_ptr<Manager>> Manager::start(const StartOptions& options) {
  ONRT_ASSIGN(auto tdrv, tdrv::Tdrv::bring_up(options.bindings, options.bring_up));
  std::vector<std::uint32_t> devices;
  for (const auto& cores : options.bring_up.logical_cores) devices.push_back(cores.front().device);
  const auto logical_cores = static_cast<std::uint32_t>(devices.size());
  ONRT_ASSIGN(auto manager, over(std::move(tdrv), logical_cores, options.bring_up.queue_depth,
                                 std::move(devices)));
  manager->limits_ = options.limits;
  return manager;
}

Result<ModelId> Manager::load(std::span<const std::byte> neff, const LoadOptions& options) {
  if (options.logical_core != -1) ONRT_TRY(check_core(options.logical_core));
  neff::LoadLimits limits = limits_;
  limits.validate_hash = options.validate_hash;
  limits.allow_legacy = options.allow_legacy;
  ONRT_ASSIGN(neff::Program program, neff::load_program(neff, limits));
  return place(std::make_shared<const neff::Program>(std::move(program)), options);
}

}  // namespace opennrt::kmgr
