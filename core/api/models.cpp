// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include <algorithm>

#include "api/entry.h"
#include "api/exec_callback.h"
#include "api/input_dump.h"
#include "api/model_handle.h"
#include "api/tensor_info.h"
#include "collectives/unsupported.h"
#include "nrt/nrt_experimental.h"
#include "trace/trace.h"

using namespace opennrt;
using namespace opennrt::api;

namespace {

Result<kmgr::ModelId> load(Session& s, const void* neff_bytes, size_t size, int32_t vnc,
                           int32_t vnc_count) {
  ONRT_TRY(require(neff_bytes, "neff_bytes"));
  if (size == 0) return Status::invalid("size is 0");
  if (vnc < -1) return Status::invalid("vnc is {}, must be -1 or a logical core", vnc);
  if (vnc_count != -1 && vnc_count != 1)
    return Status::invalid("vnc_count is {}, must be -1 or 1", vnc_count);
  ONRT_ASSIGN(const config::LoadSettings settings,
              config::load_settings(s.config(), config::process_environment()));
  return s.manager().load({static_cast<const std::byte*>(neff_bytes), size},
                          {.logical_core = vnc,
                           .exec_timeout_s = settings.exec_timeout_s,
                           .validate_hash = settings.validate_hash,
                           .allow_legacy = settings.allow_legacy_neff});
}

// Refused before it was submitted.
bool never_ran(NRT_STATUS status) {
  return status == NRT_INVALID || status == NRT_INVALID_HANDLE || status == NRT_RESOURCE ||
         status == NRT_EXEC_BAD_INPUT;
}

// For failure.dump_inputs_on.
void keep_inputs(Session& s, kmgr::ModelId id, const nrt_tensor_set_t* inputs) {
  const auto record = s.manager().find_model(id);
  if (!record) return;
  const auto kept = dump_inputs(s.config().text(config::Key::kFailureInputDumpDir), id,
                                record->program().name, handle_of(inputs));
  if (kept)
    ONRT_LOG(kNrt, kError, "inputs of model {} are in {}", id, *kept);
  else
    ONRT_LOG(kNrt, kError, "inputs of model {}: {}", id, kept.status().message());
}

Status execute_model(Session& s, nrt_model_t* model, const nrt_tensor_set_t* inputs,
                     nrt_tensor_set_t* outputs) {
  const kmgr::ModelId id = model_of_handle(model);
  if (!s.implicit_async()) return s.manager().execute(id, handle_of(inputs), handle_of(outputs));
  std::uint32_t core = 0;
  {
    const auto record = s.manager().find_model(id);
    if (!record) return unknown_model(model);
    core = record->model->logical_core();
  }
  Status status = s.manager().execute(id, handle_of(inputs), handle_of(outputs));
  if (!never_ran(status.code())) report_execution(id, core, s.next_job(core), status.code());
  return status;
}

Status execute(Session& s, nrt_model_t* model, const nrt_tensor_set_t* inputs,
               nrt_tensor_set_t* outputs) {
  Status status = execute_model(s, model, inputs, outputs);
  if (!status &&
      s.config().number(config::Key::kFailureDumpInputsOn) == static_cast<unsigned>(status.code()))
    keep_inputs(s, model_of_handle(model), inputs);
  return status;
}

}  // namespace

extern "C" {

NRT_STATUS nrt_load(const void* neff_bytes, size_t size, int32_t vnc, int32_t vnc_count,
                    nrt_model_t** model) {
  return guarded(__func__, [&](Session& s) -> Status {
    ONRT_TRY(require(model, "model"));
    *model = nullptr;
    ONRT_ASSIGN(const kmgr::ModelId id, load(s, neff_bytes, size, vnc, vnc_count));
    *model = handle_of_model(id);
    return {};
  });
}

NRT_STATUS nrt_load_collectives(const void* neff_bytes, size_t size, int32_t vnc, int32_t vnc_count,
                                uint32_t ctx_device_id, uint32_t ctx_device_count,
                                nrt_model_t** model) {
  return guarded(__func__, [&](Session& s) -> Status {
    ONRT_TRY(require(model, "model"));
    *model = nullptr;
    const collectives::Rank rank{ctx_device_id, ctx_device_count};
    ONRT_TRY(collectives::check_rank(rank));
    if (rank.count != 1)
      return collectives::unsupported(collectives::kSeveralRanks)
          .with_context(fmt::format("rank {} of {}", rank.id, rank.count));
    trace::Span span(trace::EventType::kCcLoad, trace::core_or_first(vnc), {rank.id, rank.count});
    ONRT_ASSIGN(const kmgr::ModelId id, load(s, neff_bytes, size, vnc, vnc_count));
    uint32_t core = 0;
    {
      const auto record = s.manager().find_model(id);
      if (record) core = record->model->logical_core();
    }
    if (Status built = s.communicators().build(collectives::Context::kModels, core, rank); !built) {
      if (Status gone = s.manager().unload(id); !gone)
        ONRT_LOG(kNrt, kWarn, "unloading model {}: {}", id, gone.message());
      return built;
    }
    *model = handle_of_model(id);
    span.stop({id});
    return {};
  });
}

NRT_STATUS nrt_unload(nrt_model_t* model) {
  return guarded(__func__, [&](Session& s) -> Status {
    ONRT_TRY(require(model, "model"));
    return s.manager().unload(model_of_handle(model));
  });
}

NRT_STATUS nrt_get_model_info(const nrt_model_t* model, nrt_model_info_t* info, size_t info_size_in,
                              size_t* info_size_out) {
  return guarded(__func__, [&](Session& s) -> Status {
    ONRT_TRY(require(model, "model"));
    ONRT_TRY(require(info, "info"));
    ONRT_TRY(require(info_size_out, "info_size_out"));
    const auto record = s.manager().find_model(model_of_handle(model));
    if (!record) return unknown_model(model);
    const nrt_model_info_t out{.vnc = record->model->logical_core()};
    *info_size_out = std::min(info_size_in, sizeof out);
    memcpy(info, &out, *info_size_out);
    return {};
  });
}

NRT_STATUS nrt_get_model_tensor_info(nrt_model_t* model, nrt_tensor_info_array_t** tensor_info) {
  return guarded(__func__, [&](Session& s) -> Status {
    ONRT_TRY(require(model, "model"));
    ONRT_TRY(require(tensor_info, "tensor_info"));
    const auto record = s.manager().find_model(model_of_handle(model));
    if (!record) return unknown_model(model);
    ONRT_ASSIGN(*tensor_info, make_tensor_info(record->program()));
    return {};
  });
}

NRT_STATUS nrt_free_model_tensor_info(nrt_tensor_info_array_t* tensor_info) {
  return guarded(__func__, [&](Session&) -> Status {
    free_tensor_info(tensor_info);
    return {};
  });
}

NRT_STATUS nrt_execute(nrt_model_t* model, const nrt_tensor_set_t* input_set,
                       nrt_tensor_set_t* output_set) {
  return guarded(__func__, [&](Session& s) -> Status {
    ONRT_TRY(require(model, "model"));
    ONRT_TRY(require(input_set, "input_set"));
    ONRT_TRY(require(output_set, "output_set"));
    return execute(s, model, input_set, output_set);
  });
}

NRT_STATUS nrt_execute_repeat(nrt_model_t* model, const nrt_tensor_set_t* input_set,
                              nrt_tensor_set_t* output_set, int repeat_count) {
  return guarded(__func__, [&](Session& s) -> Status {
    ONRT_TRY(require(model, "model"));
    ONRT_TRY(require(input_set, "input_set"));
    ONRT_TRY(require(output_set, "output_set"));
    for (int done = 0; done == 0 || done < repeat_count; ++done)
      ONRT_TRY(execute(s, model, input_set, output_set));
    return {};
  });
}

// Always one: models are not replicated.
NRT_STATUS nrt_get_model_vnc_count(const nrt_model_t* model, uint32_t* vnc_count) {
  return unguarded(__func__, [&]() -> Status {
    ONRT_TRY(require(model, "model"));
    ONRT_TRY(require(vnc_count, "vnc_count"));
    *vnc_count = 1;
    return {};
  });
}

NRT_STATUS nrt_get_model_nc_count(const nrt_model_t* model, uint32_t* vnc_count) {
  return nrt_get_model_vnc_count(model, vnc_count);
}

NRT_STATUS nrt_get_model_instance_count(nrt_model_t* model, uint32_t* instance_count) {
  return unguarded(__func__, [&]() -> Status {
    ONRT_TRY(require(model, "model"));
    ONRT_TRY(require(instance_count, "instance_count"));
    *instance_count = 1;
    return {};
  });
}

}  // extern "C"
