// SPDX-License-Identifier: Apache-2.0
#include "trace/inspect.h"

#include <string.h>

#include "api/entry.h"
#include "api/inspect_config.h"
#include "api/name_list.h"
#include "api/options.h"
#include "nrt/nrt_profile.h"

using namespace opennrt;
using namespace opennrt::api;
namespace inspect = opennrt::trace::inspect;

namespace {

// One setter: the object is checked, the change cannot fail.
template <typename Use>
NRT_STATUS set(const char* name, nrt_inspect_config_t* options, Use&& use) {
  return unguarded(name, [&]() -> Status {
    return with_options<inspect::Options>(options, [&](inspect::Options& o) -> Status {
      use(o);
      return {};
    });
  });
}

Status give_activities(std::uint32_t enabled, const char*** names, size_t* count) {
  ONRT_TRY(require(names, "activity_types"));
  *names = nullptr;
  ONRT_TRY(require(count, "count"));
  std::vector<std::string_view> list;
  for (const inspect::Activity& a : inspect::activities())
    if ((enabled & a.bit) != 0) list.push_back(a.name);
  return give_names(list, names, count);
}

}  // namespace

extern "C" {

NRT_STATUS nrt_inspect_begin(void) {
  return unguarded(__func__, []() -> Status {
    config::Loaded loaded = config::load({.environment = config::process_environment()});
    if (!loaded.status) return std::move(loaded.status);
    ONRT_ASSIGN(const inspect::Options options, inspect_options(*loaded.config));
    return inspect::begin(options);
  });
}

NRT_STATUS nrt_inspect_begin_with_options(nrt_inspect_config_t* options) {
  return unguarded(__func__, [&]() -> Status {
    if (options == nullptr) return inspect::begin({});
    return with_options<inspect::Options>(options,
                                          [](inspect::Options& o) { return inspect::begin(o); });
  });
}

NRT_STATUS nrt_inspect_stop(void) {
  return unguarded(__func__, [] { return inspect::stop(); });
}

NRT_STATUS nrt_inspect_config_allocate(nrt_inspect_config_t** options) {
  return unguarded(__func__, [&] { return allocate_options<inspect::Options>(options); });
}

NRT_STATUS nrt_inspect_config_set_defaults(nrt_inspect_config_t* options) {
  return set(__func__, options, [](inspect::Options& o) { o = {}; });
}

NRT_STATUS nrt_inspect_config_free(nrt_inspect_config_t* options) {
  return unguarded(__func__, [&]() -> Status {
    free_options<inspect::Options>(options);
    return {};
  });
}

NRT_STATUS nrt_inspect_config_set_session_id(nrt_inspect_config_t* options, int session_id) {
  return set(__func__, options, [&](inspect::Options& o) { o.session_id = session_id; });
}

NRT_STATUS nrt_inspect_config_set_output_dir(nrt_inspect_config_t* options,
                                             const char* output_dir) {
  return unguarded(__func__, [&]() -> Status {
    return with_options<inspect::Options>(options, [&](inspect::Options& o) -> Status {
      o.output_dir = output_dir != nullptr ? output_dir : "";
      ONRT_TRY(require(output_dir, "output_dir"));
      return o.output_dir.empty() ? Status::invalid("output_dir is empty") : Status();
    });
  });
}

NRT_STATUS nrt_inspect_config_set_sys_trace_max_events_per_nc(
    nrt_inspect_config_t* options, uint64_t sys_trace_max_events_per_nc) {
  return set(__func__, options,
             [&](inspect::Options& o) { o.capture.events_per_core = sys_trace_max_events_per_nc; });
}

NRT_STATUS nrt_inspect_config_set_capture_enabled_for_nc(nrt_inspect_config_t* options,
                                                         uint32_t nc_idx, bool enabled) {
  return unguarded(__func__, [&]() -> Status {
    return with_options<inspect::Options>(options, [&](inspect::Options& o) -> Status {
      if (nc_idx >= trace::kMaxCores)
        return Status::invalid("nc_idx is {}, the limit is {}", nc_idx, trace::kMaxCores - 1);
      o.capture.cores.set(nc_idx, enabled);
      return {};
    });
  });
}

NRT_STATUS nrt_inspect_config_set_capture_enabled_for_event_type_string(
    nrt_inspect_config_t* options, const char* event_type, bool enabled) {
  return unguarded(__func__, [&]() -> Status {
    return with_options<inspect::Options>(options, [&](inspect::Options& o) -> Status {
      ONRT_TRY(require(event_type, "event_type"));
      return set_event_type(o.capture, event_type, enabled);
    });
  });
}

NRT_STATUS nrt_inspect_config_set_enable_inspect(nrt_inspect_config_t* options,
                                                 bool enable_inspect) {
  return set(__func__, options, [&](inspect::Options& o) { o.enable = enable_inspect; });
}

NRT_STATUS nrt_inspect_config_set_enable_inspect_on_fail(nrt_inspect_config_t* options,
                                                         bool enable_inspect_on_fail) {
  return set(__func__, options,
             [&](inspect::Options& o) { o.enable_on_fail = enable_inspect_on_fail; });
}

NRT_STATUS nrt_inspect_config_get_all_activity_types(const char*** activity_types, size_t* count) {
  return unguarded(__func__,
                   [&] { return give_activities(inspect::kAllActivities, activity_types, count); });
}

NRT_STATUS nrt_inspect_config_get_enabled_activity_types(nrt_inspect_config_t* options,
                                                         const char*** activity_types,
                                                         size_t* count) {
  return unguarded(__func__, [&]() -> Status {
    return with_options<inspect::Options>(options, [&](inspect::Options& o) {
      return give_activities(o.activities, activity_types, count);
    });
  });
}

void nrt_inspect_config_free_activity_types(const char** activity_types, size_t count) {
  free_names(activity_types, count);
}

NRT_STATUS nrt_inspect_config_set_activity(nrt_inspect_config_t* options, const char* activity_type,
                                           bool enabled) {
  return unguarded(__func__, [&]() -> Status {
    return with_options<inspect::Options>(options, [&](inspect::Options& o) -> Status {
      ONRT_TRY(require(activity_type, "activity_type"));
      const std::uint32_t bits = inspect::activity_of(activity_type);
      if (bits == 0)
        return Status::invalid(
            "'{}' is no activity; use system_profile, device_profile, host_memory, cpu_util or all",
            activity_type);
      o.activities = enabled ? o.activities | bits : o.activities & ~bits;
      return {};
    });
  });
}

NRT_STATUS nrt_inspect_config_set_inspect_device_profile_mode(
    nrt_inspect_config_t* options, nrt_inspect_device_profile_mode_t device_profile_mode) {
  return unguarded(__func__, [&]() -> Status {
    return with_options<inspect::Options>(options, [&](inspect::Options& o) -> Status {
      const auto mode = static_cast<std::uint32_t>(device_profile_mode);
      if (mode > NRT_INSPECT_DEVICE_PROFILE_MODE_SESSION)
        return Status::invalid("device_profile_mode is {}, must be 0 to 2", mode);
      o.device_mode = static_cast<inspect::DeviceMode>(mode);
      return {};
    });
  });
}

NRT_STATUS nrt_inspect_get_instance_output_dir(const char* output_dir, char* instance_dir_buf,
                                               size_t buf_size) {
  return unguarded(__func__, [&]() -> Status {
    ONRT_TRY(require(output_dir, "output_dir"));
    ONRT_TRY(require(instance_dir_buf, "instance_dir_buf"));
    const std::string path = inspect::session_directory(output_dir);
    if (path.size() >= buf_size)
      return Status::invalid("buf_size is {}, {} needs {}", buf_size, path, path.size() + 1);
    memcpy(instance_dir_buf, path.c_str(), path.size() + 1);
    return {};
  });
}

}  // extern "C"
