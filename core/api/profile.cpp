// SPDX-License-Identifier: Apache-2.0
#include "trace/profile.h"

#include "api/entry.h"
#include "api/model_handle.h"
#include "api/options.h"
#include "nrt/nrt_experimental.h"
#include "nrt/nrt_profile.h"
#include "trace/event_types.h"
#include "trace/json.h"
#include "trace/output_file.h"
#include "trace/recordings.h"

using namespace opennrt;
using namespace opennrt::api;
namespace profile = opennrt::trace::profile;

namespace {

constexpr std::uint64_t kMemoryTypes =
    trace::bit_of(trace::EventType::kTensorAlloc) | trace::bit_of(trace::EventType::kTensorFree) |
    trace::bit_of(trace::EventType::kDmaMemAlloc) | trace::bit_of(trace::EventType::kDmaMemDealloc);

Status require_text(const char* text, const char* argument) {
  ONRT_TRY(require(text, argument));
  return *text != '\0' ? Status() : Status::invalid("{} is empty", argument);
}

Status require_core(const Session& s, std::int64_t vnc) {
  if (vnc >= 0 && vnc < static_cast<std::int64_t>(s.visible_cores())) return {};
  return Status::invalid("vnc is {}, this process has the logical cores 0 to {}", vnc,
                         s.visible_cores() - 1);
}

}  // namespace

extern "C" {

NRT_STATUS nrt_profile_start(nrt_model_t* model, const char* filename) {
  return guarded(__func__, [&](Session& s) -> Status {
    ONRT_TRY(require(model, "model"));
    ONRT_TRY(require_text(filename, "filename"));
    const auto record = s.manager().find_model(model_of_handle(model));
    if (!record) return unknown_model(model);
    return profile::arm(model_of_handle(model), filename);
  });
}

NRT_STATUS nrt_profile_stop(const char* filename) {
  return guarded(__func__, [&](Session&) -> Status {
    ONRT_TRY(require_text(filename, "filename"));
    return profile::disarm(filename);
  });
}

NRT_STATUS nrt_profile_continuous_options_allocate(nrt_profile_continuous_options_t** options) {
  return unguarded(__func__, [&] { return allocate_options<ContinuousOptions>(options); });
}

NRT_STATUS nrt_profile_continuous_options_free(nrt_profile_continuous_options_t* options) {
  return unguarded(__func__, [&]() -> Status {
    free_options<ContinuousOptions>(options);
    return {};
  });
}

NRT_STATUS nrt_profile_continuous_options_set_output_dir(nrt_profile_continuous_options_t* options,
                                                         const char* output_dir) {
  return unguarded(__func__, [&]() -> Status {
    return with_options<ContinuousOptions>(options, [&](ContinuousOptions& o) -> Status {
      ONRT_TRY(require_text(output_dir, "output_dir"));
      o.output_dir = output_dir;
      return {};
    });
  });
}

NRT_STATUS nrt_profile_continuous_start(nrt_profile_continuous_options_t* options) {
  return guarded(__func__, [&](Session& s) -> Status {
    return with_options<ContinuousOptions>(options, [&](ContinuousOptions&) -> Status {
      if (s.config().number(config::Key::kExecImplicitAsyncDepth) != 0)
        return Status::invalid(
            "continuous profiling and implicit asynchronous execution exclude each other; remove "
            "{}",
            s.config().assignment(config::Key::kExecImplicitAsyncDepth));
      return profile::start_continuous();
    });
  });
}

NRT_STATUS nrt_profile_continuous_save(uint32_t vnc, nrt_profile_continuous_options_t* options) {
  return guarded(__func__, [&](Session& s) -> Status {
    return with_options<ContinuousOptions>(options, [&](ContinuousOptions& o) -> Status {
      ONRT_TRY(require_core(s, vnc));
      return profile::save_continuous(vnc, o.output_dir);
    });
  });
}

NRT_STATUS nrt_profile_continuous_stop(void) {
  return guarded(__func__, [](Session&) -> Status {
    profile::stop_continuous();
    return {};
  });
}

NRT_STATUS nrt_profile_session_start(int32_t vnc) {
  return guarded(__func__, [&](Session& s) -> Status {
    ONRT_TRY(require_core(s, vnc));
    if (s.config().number(config::Key::kExecImplicitAsyncDepth) != 0)
      return Status::invalid(
          "profile sessions and implicit asynchronous execution exclude each other; remove {}",
          s.config().assignment(config::Key::kExecImplicitAsyncDepth));
    return profile::start_session(static_cast<std::uint32_t>(vnc));
  });
}

NRT_STATUS nrt_profile_session_stop(int32_t vnc, uint64_t* session_id) {
  return guarded(__func__, [&](Session& s) -> Status {
    ONRT_TRY(require(session_id, "session_id"));
    ONRT_TRY(require_core(s, vnc));
    ONRT_ASSIGN(*session_id, profile::stop_session(static_cast<std::uint32_t>(vnc)));
    return {};
  });
}

NRT_STATUS nrt_profile_session_serialize(uint64_t session_id, const char* filename) {
  return guarded(__func__, [&](Session&) -> Status {
    ONRT_TRY(require_text(filename, "filename"));
    return profile::serialize(session_id, filename);
  });
}

NRT_STATUS nrt_profile_session_drop(uint64_t session_id) {
  return guarded(__func__, [&](Session&) { return profile::drop(session_id); });
}

NRT_STATUS nrt_profile_session_drop_all(int32_t vnc) {
  return guarded(__func__, [&](Session& s) -> Status {
    ONRT_TRY(require_core(s, vnc));
    profile::drop_all(static_cast<std::uint32_t>(vnc));
    return {};
  });
}

NRT_STATUS nrt_trace_start(bool trace_mem) {
  return guarded(__func__, [&](Session&) {
    return trace::start_recording(
        trace::Purpose::kTraceCall,
        {.types = trace_mem ? trace::kAllTypes : trace::kAllTypes & ~kMemoryTypes});
  });
}

NRT_STATUS nrt_trace_stop(const char* filename) {
  return guarded(__func__, [&](Session&) -> Status {
    ONRT_TRY(require_text(filename, "filename"));
    if (!trace::is_recording(trace::Purpose::kTraceCall))
      return Status::invalid("no trace is running; call nrt_trace_start first");
    // A file that cannot be made costs no events: the trace goes on.
    ONRT_ASSIGN(trace::OutputFile file, trace::OutputFile::create(filename));
    const auto capture = trace::stop_recording(trace::Purpose::kTraceCall);
    std::vector<trace::Record> records;
    if (capture) capture->drain({}, records);
    trace::TextBlock text;
    ONRT_TRY(trace::append_json(records, text));
    ONRT_TRY(file.write(text.view()));
    return file.commit();
  });
}

}  // extern "C"
