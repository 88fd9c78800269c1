// SPDX-License-Identifier: Apache-2.0
//
// The two places where the exec manager meets its neighbours' factories.
#include "kmgr/manager.h"
#include "trace/inspect.h"
#include "trace/trace.h"

namespace opennrt::kmgr {

Result<std::unique_ptr<Manager>> Manager::start(const StartOptions& options) {
  ONRT_ASSIGN(auto tdrv, tdrv::Tdrv::bring_up(options.bindings, options.bring_up));
  ONRT_ASSIGN(auto manager, over(std::move(tdrv),
                                 static_cast<std::uint32_t>(options.bring_up.logical_cores.size()),
                                 options.bring_up.queue_depth));
  manager->limits_ = options.limits;
  return manager;
}

Result<ModelId> Manager::load(std::span<const std::byte> neff, const LoadOptions& options) {
  if (options.logical_core != -1) ONRT_TRY(check_core(options.logical_core));
  trace::Span span(trace::EventType::kModelLoad, trace::core_or_first(options.logical_core));
  neff::LoadLimits limits = limits_;
  limits.validate_hash = options.validate_hash;
  limits.allow_legacy = options.allow_legacy;
  ONRT_ASSIGN(neff::Program program, neff::load_program(neff, limits));
  const auto uuid = program.uuid;
  ONRT_ASSIGN(const ModelId id,
              place(std::make_shared<const neff::Program>(std::move(program)), options));
  span.stop({id});
  if (trace::inspect::is_running())
    if (const Models::Reference record = find_model(id))
      trace::inspect::keep_model_file(neff, std::as_bytes(std::span(uuid)),
                                      record->model->logical_core());
  return id;
}

}  // namespace opennrt::kmgr
