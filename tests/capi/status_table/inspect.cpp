// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <array>

#include "nrt/nrt_profile.h"
#include "table.h"

namespace opennrt::status_table {
namespace {

// A configuration for one call.
template <typename Use>
int with_config(Use&& use) {
  nrt_inspect_config_t* c = nullptr;
  nrt_inspect_config_allocate(&c);
  const int status = use(c);
  nrt_inspect_config_free(c);
  return status;
}

int begin_discarding() {
  return with_config([](nrt_inspect_config_t* c) {
    nrt_inspect_config_set_output_dir(c, "/dev/null");
    return nrt_inspect_begin_with_options(c);
  });
}

#define OPENNRT_SETTER(function, ...)                                                             \
  Probe {                                                                                         \
    #function, Guard::kNone, [](Objects&) {                                                       \
      return with_config([](nrt_inspect_config_t* c) -> int { return function(c __VA_ARGS__); }); \
    }                                                                                             \
  }

const std::array kProbes = {
    Probe{"nrt_inspect_begin",
          Guard::kNone,
          [](Objects&) -> int {
            setenv("NEURON_RT_INSPECT_OUTPUT_DIR", "/dev/null", 1);
            const int status = nrt_inspect_begin();
            if (status == NRT_SUCCESS) nrt_inspect_stop();
            return status;
          },
          {0},
          {NRT_INVALID}},  // one inspection per process
    Probe{"nrt_inspect_begin_with_options",
          Guard::kNone,
          [](Objects&) -> int {
            const int status = begin_discarding();
            if (status == NRT_SUCCESS) nrt_inspect_stop();
            return status;
          },
          {0},
          {NRT_INVALID}},
    Probe{"nrt_inspect_stop", Guard::kNone, [](Objects&) -> int { return nrt_inspect_stop(); }},
    Probe{"nrt_inspect_config_allocate", Guard::kNone,
          [](Objects&) -> int {
            nrt_inspect_config_t* c = nullptr;
            const int status = nrt_inspect_config_allocate(&c);
            nrt_inspect_config_free(c);
            return status;
          }},
    Probe{"nrt_inspect_config_free", Guard::kNone,
          [](Objects&) -> int {
            nrt_inspect_config_t* c = nullptr;
            nrt_inspect_config_allocate(&c);
            return nrt_inspect_config_free(c);
          }},
    OPENNRT_SETTER(nrt_inspect_config_set_defaults),
    OPENNRT_SETTER(nrt_inspect_config_set_session_id, , 4),
    OPENNRT_SETTER(nrt_inspect_config_set_output_dir, , "/tmp"),
    OPENNRT_SETTER(nrt_inspect_config_set_sys_trace_max_events_per_nc, , 4096),
    OPENNRT_SETTER(nrt_inspect_config_set_capture_enabled_for_nc, , 3, false),
    OPENNRT_SETTER(nrt_inspect_config_set_capture_enabled_for_event_type_string, , "nrt_execute",
                   false),
    OPENNRT_SETTER(nrt_inspect_config_set_enable_inspect, , true),
    OPENNRT_SETTER(nrt_inspect_config_set_enable_inspect_on_fail, , true),
    OPENNRT_SETTER(nrt_inspect_config_set_activity, , "all", true),
    OPENNRT_SETTER(nrt_inspect_config_set_inspect_device_profile_mode, ,
                   NRT_INSPECT_DEVICE_PROFILE_MODE_SESSION),
    Probe{"nrt_inspect_config_get_all_activity_types", Guard::kNone,
          [](Objects&) -> int {
            const char** names = nullptr;
            std::size_t n = 0;
            const int status = nrt_inspect_config_get_all_activity_types(&names, &n);
            nrt_inspect_config_free_activity_types(names, n);
            return status;
          }},
    Probe{"nrt_inspect_config_get_enabled_activity_types", Guard::kNone,
          [](Objects&) {
            return with_config([](nrt_inspect_config_t* c) -> int {
              const char** names = nullptr;
              std::size_t n = 0;
              const int status = nrt_inspect_config_get_enabled_activity_types(c, &names, &n);
              nrt_inspect_config_free_activity_types(names, n);
              return status;
            });
          }},
    Probe{"nrt_inspect_config_free_activity_types",
          Guard::kNone,
          [](Objects&) -> int {
            const char** names = nullptr;
            std::size_t n = 0;
            nrt_inspect_config_get_all_activity_types(&names, &n);
            nrt_inspect_config_free_activity_types(names, n);
            return kDone;
          },
          {kDone}},
    Probe{"nrt_inspect_get_instance_output_dir", Guard::kNone,
          [](Objects&) -> int {
            char path[256];
            return nrt_inspect_get_instance_output_dir("/tmp", path, sizeof path);
          }},
};

void sessions(Report& r) {
  const int bad = NRT_INVALID;
  const char* const f = "nrt_inspect_begin_with_options";
  r.call("nrt_inspect_stop", {NRT_SUCCESS}, "nothing runs", nrt_inspect_stop());
  // Whether a runtime is initialised makes no difference to the rest.
  start(r);
  r.call(f, {NRT_SUCCESS}, "discarding", begin_discarding());
  r.call(f, {bad}, "already running", begin_discarding());
  setenv("NEURON_RT_INSPECT_OUTPUT_DIR", "/dev/null", 1);
  r.call("nrt_inspect_begin", {bad}, "already running", nrt_inspect_begin());
  nrt_inspect_stop();
  setenv("NEURON_RT_INSPECT_OUTPUT_DIR", "./tmp", 1);
  r.call("nrt_inspect_begin", {bad}, "directory ./tmp", nrt_inspect_begin());
  setenv("NEURON_RT_INSPECT_OUTPUT_DIR", "/proc/no/such", 1);
  r.call("nrt_inspect_begin", {NRT_FAILURE}, "directory that cannot be made", nrt_inspect_begin());
  const auto begin_in = [](const char* directory) {
    return with_config([directory](nrt_inspect_config_t* c) -> int {
      nrt_inspect_config_set_output_dir(c, directory);
      return nrt_inspect_begin_with_options(c);
    });
  };
  r.call(f, {bad}, "directory ./tmp", begin_in("./tmp"));
  r.call(f, {NRT_FAILURE}, "directory that cannot be made", begin_in("/proc/no/such"));
  char folder[] = "/tmp/opennrt-status-XXXXXX";
  r.need(mkdtemp(folder) != nullptr && chdir(folder) == 0, "a directory");
  r.null(f, 0, {NRT_SUCCESS}, nrt_inspect_begin_with_options(nullptr));
  r.call("nrt_inspect_stop", {NRT_SUCCESS}, "running", nrt_inspect_stop());
  nrt_close();
}

void configuration(Report& r) {
  const int bad = NRT_INVALID;
  nrt_inspect_config_t* c = nullptr;
  r.null("nrt_inspect_config_allocate", 0, {bad}, nrt_inspect_config_allocate(nullptr));
  if (NoMemory::possible())
    r.call("nrt_inspect_config_allocate", {NRT_RESOURCE}, "host memory exhausted",
           OPENNRT_WITHOUT_MEMORY(nrt_inspect_config_allocate(&c)));
  r.need(nrt_inspect_config_allocate(&c) == NRT_SUCCESS, "a configuration");
  r.null("nrt_inspect_config_free", 0, {NRT_SUCCESS}, nrt_inspect_config_free(nullptr));
  r.null("nrt_inspect_config_set_defaults", 0, {bad}, nrt_inspect_config_set_defaults(nullptr));
  r.null("nrt_inspect_config_set_session_id", 0, {bad},
         nrt_inspect_config_set_session_id(nullptr, 1));
  r.null("nrt_inspect_config_set_sys_trace_max_events_per_nc", 0, {bad},
         nrt_inspect_config_set_sys_trace_max_events_per_nc(nullptr, 4096));
  r.null("nrt_inspect_config_set_enable_inspect", 0, {bad},
         nrt_inspect_config_set_enable_inspect(nullptr, true));
  r.null("nrt_inspect_config_set_enable_inspect_on_fail", 0, {bad},
         nrt_inspect_config_set_enable_inspect_on_fail(nullptr, true));
  r.null("nrt_inspect_config_set_inspect_device_profile_mode", 0, {bad},
         nrt_inspect_config_set_inspect_device_profile_mode(nullptr,
                                                            NRT_INSPECT_DEVICE_PROFILE_MODE_MODEL));
  const char* f = "nrt_inspect_config_set_output_dir";
  r.null(f, 0, {bad}, nrt_inspect_config_set_output_dir(nullptr, "/tmp"));
  r.null(f, 1, {bad}, nrt_inspect_config_set_output_dir(c, nullptr));
  r.call(f, {bad}, "empty", nrt_inspect_config_set_output_dir(c, ""));
  if (NoMemory::possible())
    r.call(f, {NRT_RESOURCE}, "host memory exhausted",
           OPENNRT_WITHOUT_MEMORY(nrt_inspect_config_set_output_dir(
               c, "/a/directory/whose/name/is/longer/than/any/short/string")));
  f = "nrt_inspect_config_set_capture_enabled_for_nc";
  r.null(f, 0, {bad}, nrt_inspect_config_set_capture_enabled_for_nc(nullptr, 0, true));
  r.call(f, {bad}, "core 256", nrt_inspect_config_set_capture_enabled_for_nc(c, 256, true));
  r.call(f, {NRT_SUCCESS}, "core 255", nrt_inspect_config_set_capture_enabled_for_nc(c, 255, true));
  f = "nrt_inspect_config_set_capture_enabled_for_event_type_string";
  const auto type = nrt_inspect_config_set_capture_enabled_for_event_type_string;
  r.null(f, 0, {bad}, type(nullptr, "nrt_execute", true));
  r.null(f, 1, {bad}, type(c, nullptr, true));
  r.call(f, {bad}, "unknown name", type(c, "nothing", true));
  f = "nrt_inspect_config_set_activity";
  r.null(f, 0, {bad}, nrt_inspect_config_set_activity(nullptr, "all", true));
  r.null(f, 1, {bad}, nrt_inspect_config_set_activity(c, nullptr, true));
  r.call(f, {bad}, "unknown name", nrt_inspect_config_set_activity(c, "nothing", true));
  const char** names = nullptr;
  std::size_t n = 0;
  f = "nrt_inspect_config_get_all_activity_types";
  r.null(f, 0, {bad}, nrt_inspect_config_get_all_activity_types(nullptr, &n));
  r.null(f, 1, {bad}, nrt_inspect_config_get_all_activity_types(&names, nullptr));
  f = "nrt_inspect_config_get_enabled_activity_types";
  r.null(f, 0, {bad}, nrt_inspect_config_get_enabled_activity_types(nullptr, &names, &n));
  r.null(f, 1, {bad}, nrt_inspect_config_get_enabled_activity_types(c, nullptr, &n));
  r.null(f, 2, {bad}, nrt_inspect_config_get_enabled_activity_types(c, &names, nullptr));
  r.null("nrt_inspect_config_free_activity_types", 0, {kDone},
         (nrt_inspect_config_free_activity_types(nullptr, 3), kDone));
  f = "nrt_inspect_get_instance_output_dir";
  char path[256];
  r.null(f, 0, {bad, NRT_SUCCESS}, nrt_inspect_get_instance_output_dir(nullptr, path, sizeof path));
  r.null(f, 1, {bad}, nrt_inspect_get_instance_output_dir("/tmp", nullptr, 9));
  r.call(f, {bad}, "buffer of 4 bytes", nrt_inspect_get_instance_output_dir("/tmp", path, 4));
  nrt_inspect_config_free(c);
  r.call("nrt_inspect_config_set_session_id", {bad}, "freed object",
         nrt_inspect_config_set_session_id(c, 1));
}

constexpr std::array kScenes = {Scene{"inspect: sessions", sessions},
                                Scene{"inspect: configuration", configuration}};

}  // namespace

std::span<const Probe> inspect_probes() { return kProbes; }
std::span<const Scene> inspect_scenes() { return kScenes; }

}  // namespace opennrt::status_table
