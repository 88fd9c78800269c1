// SPDX-License-Identifier: Apache-2.0
#include "nrt/nrt_sys_trace.h"

#include <stdlib.h>

#include "api/entry.h"
#include "api/name_list.h"
#include "api/options.h"
#include "trace/event_types.h"
#include "trace/json.h"
#include "trace/recordings.h"

using namespace opennrt;
using namespace opennrt::api;
using trace::CaptureOptions;
using trace::FetchOptions;

namespace {

std::vector<std::string_view> type_names(std::uint64_t types) {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < trace::kEventTypes; ++i) {
    const auto type = static_cast<trace::EventType>(i);
    if ((types & trace::bit_of(type)) != 0) names.push_back(trace::name_of(type));
  }
  return names;
}

// For functions without a status: a NULL or dead object changes nothing.
template <typename T, typename Opaque, typename Use>
void change(Opaque* handle, Use&& use) {
  if (handle == nullptr) return;
  if (const Options<T> options(handle); options) use(*options);
}

}  // namespace

extern "C" {

NRT_STATUS nrt_sys_trace_config_allocate(nrt_sys_trace_config_t** options) {
  return unguarded(__func__, [&] { return allocate_options<CaptureOptions>(options); });
}

void nrt_sys_trace_config_set_defaults(nrt_sys_trace_config_t* options) {
  change<CaptureOptions>(options, [](CaptureOptions& o) { o = {}; });
}

void nrt_sys_trace_config_free(nrt_sys_trace_config_t* options) {
  free_options<CaptureOptions>(options);
}

void nrt_sys_trace_config_set_max_events_per_nc(nrt_sys_trace_config_t* options,
                                                uint64_t max_events_per_nc) {
  change<CaptureOptions>(options,
                         [&](CaptureOptions& o) { o.events_per_core = max_events_per_nc; });
}

void nrt_sys_trace_config_set_capture_enabled_for_nc(nrt_sys_trace_config_t* options,
                                                     uint32_t nc_idx, bool enabled) {
  change<CaptureOptions>(options, [&](CaptureOptions& o) {
    if (nc_idx < trace::kMaxCores) o.cores.set(nc_idx, enabled);
  });
}

NRT_STATUS nrt_sys_trace_config_set_capture_enabled_for_event_type(nrt_sys_trace_config_t* options,
                                                                   const char* event_type,
                                                                   bool enabled) {
  return unguarded(__func__, [&]() -> Status {
    return with_options<CaptureOptions>(options, [&](CaptureOptions& o) -> Status {
      ONRT_TRY(require(event_type, "event_type"));
      return set_event_type(o, event_type, enabled);
    });
  });
}

NRT_STATUS nrt_sys_trace_get_event_types(const char*** event_types, size_t* count) {
  return unguarded(__func__, [&]() -> Status {
    ONRT_TRY(require(event_types, "event_types"));
    *event_types = nullptr;
    ONRT_TRY(require(count, "count"));
    return give_names(type_names(trace::kAllTypes), event_types, count);
  });
}

void nrt_sys_trace_free_event_types(const char** event_types, size_t count) {
  free_names(event_types, count);
}

NRT_STATUS nrt_sys_trace_config_get_enabled_event_types(nrt_sys_trace_config_t* options,
                                                        const char*** event_types, size_t* count) {
  return unguarded(__func__, [&]() -> Status {
    ONRT_TRY(require(event_types, "event_types"));
    *event_types = nullptr;
    ONRT_TRY(require(count, "count"));
    return with_options<CaptureOptions>(options, [&](CaptureOptions& o) {
      return give_names(type_names(o.types), event_types, count);
    });
  });
}

NRT_STATUS nrt_sys_trace_start(nrt_sys_trace_config_t* options) {
  return unguarded(__func__, [&]() -> Status {
    if (options == nullptr) return trace::start_recording(trace::Purpose::kSystemTrace, {});
    return with_options<CaptureOptions>(options, [](CaptureOptions& o) {
      return trace::start_recording(trace::Purpose::kSystemTrace, o);
    });
  });
}

NRT_STATUS nrt_sys_trace_stop(void) {
  return unguarded(__func__, []() -> Status {
    if (trace::stop_recording(trace::Purpose::kSystemTrace) == nullptr)
      ONRT_LOG(kNrt, kInfo, "no system trace is running");
    return {};
  });
}

NRT_STATUS nrt_sys_trace_fetch_options_allocate(nrt_sys_trace_fetch_options_t** options) {
  return unguarded(__func__, [&] { return allocate_options<FetchOptions>(options); });
}

void nrt_sys_trace_fetch_options_set_defaults(nrt_sys_trace_fetch_options_t* options) {
  change<FetchOptions>(options, [](FetchOptions& o) { o = {}; });
}

void nrt_sys_trace_fetch_options_free(nrt_sys_trace_fetch_options_t* options) {
  free_options<FetchOptions>(options);
}

void nrt_sys_trace_fetch_options_set_max_events_per_nc(nrt_sys_trace_fetch_options_t* options,
                                                       uint64_t max_events_per_nc) {
  change<FetchOptions>(options, [&](FetchOptions& o) { o.most_per_core = max_events_per_nc; });
}

void nrt_sys_trace_fetch_options_set_nc_idx(nrt_sys_trace_fetch_options_t* options,
                                            uint64_t nc_idx) {
  change<FetchOptions>(options, [&](FetchOptions& o) { o.core = nc_idx; });
}

NRT_STATUS nrt_sys_trace_fetch_events(char** buffer, size_t* written_size,
                                      const nrt_sys_trace_fetch_options_t* options) {
  return unguarded(__func__, [&]() -> Status {
    ONRT_TRY(require(buffer, "buffer"));
    ONRT_TRY(require(written_size, "written_size"));
    if (*buffer != nullptr)
      return Status::invalid("*buffer is not NULL; free the text of the last call first");
    FetchOptions wanted;
    if (options != nullptr)
      ONRT_TRY(with_options<FetchOptions>(options, [&](FetchOptions& o) -> Status {
        wanted = o;
        return {};
      }));
    std::vector<trace::Record> records;
    ONRT_TRY(trace::fetch(trace::Purpose::kSystemTrace, wanted, records));
    trace::TextBlock text;
    ONRT_TRY(trace::append_json(records, text));
    *written_size = text.view().size();
    *buffer = text.release();
    return {};
  });
}

void nrt_sys_trace_buffer_free(char* buffer) { free(buffer); }

}  // extern "C"
