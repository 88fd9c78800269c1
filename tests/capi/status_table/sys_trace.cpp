// SPDX-License-Identifier: Apache-2.0
#include "nrt/nrt_sys_trace.h"

#include <array>

#include "table.h"

namespace opennrt::status_table {
namespace {

template <typename Use>
int with_config(Use&& use) {
  nrt_sys_trace_config_t* c = nullptr;
  nrt_sys_trace_config_allocate(&c);
  const int result = use(c);
  nrt_sys_trace_config_free(c);
  return result;
}

template <typename Use>
int with_options(Use&& use) {
  nrt_sys_trace_fetch_options_t* o = nullptr;
  nrt_sys_trace_fetch_options_allocate(&o);
  const int result = use(o);
  nrt_sys_trace_fetch_options_free(o);
  return result;
}

const std::array kProbes = {
    Probe{"nrt_sys_trace_config_allocate", Guard::kNone,
          [](Objects&) -> int {
            nrt_sys_trace_config_t* c = nullptr;
            const int status = nrt_sys_trace_config_allocate(&c);
            nrt_sys_trace_config_free(c);
            return status;
          }},
    Probe{"nrt_sys_trace_config_free",
          Guard::kNone,
          [](Objects&) { return with_config([](auto*) { return kDone; }); },
          {kDone}},
    Probe{"nrt_sys_trace_config_set_defaults",
          Guard::kNone,
          [](Objects&) {
            return with_config([](auto* c) { return nrt_sys_trace_config_set_defaults(c), kDone; });
          },
          {kDone}},
    Probe{"nrt_sys_trace_config_set_max_events_per_nc",
          Guard::kNone,
          [](Objects&) {
            return with_config(
                [](auto* c) { return nrt_sys_trace_config_set_max_events_per_nc(c, 2048), kDone; });
          },
          {kDone}},
    Probe{"nrt_sys_trace_config_set_capture_enabled_for_nc",
          Guard::kNone,
          [](Objects&) {
            return with_config([](auto* c) {
              return nrt_sys_trace_config_set_capture_enabled_for_nc(c, 1, false), kDone;
            });
          },
          {kDone}},
    Probe{"nrt_sys_trace_config_set_capture_enabled_for_event_type", Guard::kNone,
          [](Objects&) {
            return with_config([](auto* c) -> int {
              return nrt_sys_trace_config_set_capture_enabled_for_event_type(c, "nrt_execute",
                                                                             false);
            });
          }},
    Probe{"nrt_sys_trace_config_get_enabled_event_types", Guard::kNone,
          [](Objects&) {
            return with_config([](auto* c) -> int {
              const char** names = nullptr;
              std::size_t n = 0;
              const int status = nrt_sys_trace_config_get_enabled_event_types(c, &names, &n);
              nrt_sys_trace_free_event_types(names, n);
              return status;
            });
          }},
    Probe{"nrt_sys_trace_get_event_types", Guard::kNone,
          [](Objects&) -> int {
            const char** names = nullptr;
            std::size_t n = 0;
            const int status = nrt_sys_trace_get_event_types(&names, &n);
            nrt_sys_trace_free_event_types(names, n);
            return status;
          }},
    Probe{"nrt_sys_trace_free_event_types",
          Guard::kNone,
          [](Objects&) -> int {
            const char** names = nullptr;
            std::size_t n = 0;
            nrt_sys_trace_get_event_types(&names, &n);
            nrt_sys_trace_free_event_types(names, n);
            return kDone;
          },
          {kDone}},
    Probe{"nrt_sys_trace_start",
          Guard::kNone,
          [](Objects&) -> int {
            const int status = nrt_sys_trace_start(nullptr);
            if (status == NRT_SUCCESS) nrt_sys_trace_stop();
            return status;
          },
          {0},
          {NRT_INVALID}},  // one trace per process
    Probe{"nrt_sys_trace_stop", Guard::kNone, [](Objects&) -> int { return nrt_sys_trace_stop(); }},
    Probe{"nrt_sys_trace_fetch_options_allocate", Guard::kNone,
          [](Objects&) -> int {
            nrt_sys_trace_fetch_options_t* o = nullptr;
            const int status = nrt_sys_trace_fetch_options_allocate(&o);
            nrt_sys_trace_fetch_options_free(o);
            return status;
          }},
    Probe{"nrt_sys_trace_fetch_options_free",
          Guard::kNone,
          [](Objects&) { return with_options([](auto*) { return kDone; }); },
          {kDone}},
    Probe{"nrt_sys_trace_fetch_options_set_defaults",
          Guard::kNone,
          [](Objects&) {
            return with_options(
                [](auto* o) { return nrt_sys_trace_fetch_options_set_defaults(o), kDone; });
          },
          {kDone}},
    Probe{"nrt_sys_trace_fetch_options_set_max_events_per_nc",
          Guard::kNone,
          [](Objects&) {
            return with_options([](auto* o) {
              return nrt_sys_trace_fetch_options_set_max_events_per_nc(o, 5), kDone;
            });
          },
          {kDone}},
    Probe{"nrt_sys_trace_fetch_options_set_nc_idx",
          Guard::kNone,
          [](Objects&) {
            return with_options(
                [](auto* o) { return nrt_sys_trace_fetch_options_set_nc_idx(o, 1), kDone; });
          },
          {kDone}},
    Probe{"nrt_sys_trace_fetch_events",
          Guard::kNone,
          [](Objects&) -> int {
            const bool mine = nrt_sys_trace_start(nullptr) == NRT_SUCCESS;
            char* text = nullptr;
            std::size_t n = 0;
            const int status = nrt_sys_trace_fetch_events(&text, &n, nullptr);
            nrt_sys_trace_buffer_free(text);
            if (mine) nrt_sys_trace_stop();
            return status;
          },
          {0},
          {NRT_INVALID}},  // stopped by another thread
    Probe{"nrt_sys_trace_buffer_free",
          Guard::kNone,
          [](Objects&) -> int {
            nrt_sys_trace_buffer_free(nullptr);
            return kDone;
          },
          {kDone}},
};

void statuses(Report& r) {
  const int bad = NRT_INVALID;
  nrt_sys_trace_config_t* c = nullptr;
  nrt_sys_trace_fetch_options_t* o = nullptr;
  const char** names = nullptr;
  std::size_t n = 0;
  r.null("nrt_sys_trace_config_allocate", 0, {bad}, nrt_sys_trace_config_allocate(nullptr));
  r.null("nrt_sys_trace_fetch_options_allocate", 0, {bad},
         nrt_sys_trace_fetch_options_allocate(nullptr));
  r.null("nrt_sys_trace_get_event_types", 0, {bad}, nrt_sys_trace_get_event_types(nullptr, &n));
  r.null("nrt_sys_trace_get_event_types", 1, {bad}, nrt_sys_trace_get_event_types(&names, nullptr));
  if (NoMemory::possible()) {
    r.call("nrt_sys_trace_config_allocate", {NRT_RESOURCE}, "host memory exhausted",
           OPENNRT_WITHOUT_MEMORY(nrt_sys_trace_config_allocate(&c)));
    r.call("nrt_sys_trace_fetch_options_allocate", {NRT_RESOURCE}, "host memory exhausted",
           OPENNRT_WITHOUT_MEMORY(nrt_sys_trace_fetch_options_allocate(&o)));
    r.call("nrt_sys_trace_get_event_types", {NRT_RESOURCE}, "host memory exhausted",
           OPENNRT_WITHOUT_MEMORY(nrt_sys_trace_get_event_types(&names, &n)));
  }
  r.need(nrt_sys_trace_config_allocate(&c) == NRT_SUCCESS &&
             nrt_sys_trace_fetch_options_allocate(&o) == NRT_SUCCESS,
         "options");
  const char* f = "nrt_sys_trace_config_get_enabled_event_types";
  r.null(f, 0, {bad}, nrt_sys_trace_config_get_enabled_event_types(nullptr, &names, &n));
  r.null(f, 1, {bad}, nrt_sys_trace_config_get_enabled_event_types(c, nullptr, &n));
  r.null(f, 2, {bad}, nrt_sys_trace_config_get_enabled_event_types(c, &names, nullptr));
  if (NoMemory::possible())
    r.call(f, {NRT_RESOURCE}, "host memory exhausted",
           OPENNRT_WITHOUT_MEMORY(nrt_sys_trace_config_get_enabled_event_types(c, &names, &n)));
  f = "nrt_sys_trace_config_set_capture_enabled_for_event_type";
  const auto type = nrt_sys_trace_config_set_capture_enabled_for_event_type;
  r.null(f, 0, {bad}, type(nullptr, "nrt_execute", true));
  r.null(f, 1, {bad}, type(c, nullptr, true));
  r.call(f, {bad}, "unknown name", type(c, "nothing", true));
  // Functions without a result ignore NULL and cores that do not exist.
  nrt_sys_trace_config_set_capture_enabled_for_nc(c, 256, true);
  const auto ignored = [&](const char* name) { r.null(name, 0, {kDone}, kDone); };
  nrt_sys_trace_config_free(nullptr);
  ignored("nrt_sys_trace_config_free");
  nrt_sys_trace_config_set_defaults(nullptr);
  ignored("nrt_sys_trace_config_set_defaults");
  nrt_sys_trace_config_set_max_events_per_nc(nullptr, 1);
  ignored("nrt_sys_trace_config_set_max_events_per_nc");
  nrt_sys_trace_config_set_capture_enabled_for_nc(nullptr, 0, true);
  ignored("nrt_sys_trace_config_set_capture_enabled_for_nc");
  nrt_sys_trace_free_event_types(nullptr, 9);
  ignored("nrt_sys_trace_free_event_types");
  nrt_sys_trace_fetch_options_free(nullptr);
  ignored("nrt_sys_trace_fetch_options_free");
  nrt_sys_trace_fetch_options_set_defaults(nullptr);
  ignored("nrt_sys_trace_fetch_options_set_defaults");
  nrt_sys_trace_fetch_options_set_max_events_per_nc(nullptr, 1);
  ignored("nrt_sys_trace_fetch_options_set_max_events_per_nc");
  nrt_sys_trace_fetch_options_set_nc_idx(nullptr, 1);
  ignored("nrt_sys_trace_fetch_options_set_nc_idx");
  nrt_sys_trace_buffer_free(nullptr);
  ignored("nrt_sys_trace_buffer_free");
  f = "nrt_sys_trace_fetch_events";
  char* text = nullptr;
  r.call(f, {bad}, "not started", nrt_sys_trace_fetch_events(&text, &n, nullptr));
  r.call("nrt_sys_trace_start", {NRT_SUCCESS}, "with a configuration", nrt_sys_trace_start(c));
  r.call("nrt_sys_trace_start", {bad}, "already started", nrt_sys_trace_start(c));
  r.null(f, 0, {bad}, nrt_sys_trace_fetch_events(nullptr, &n, o));
  r.null(f, 1, {bad}, nrt_sys_trace_fetch_events(&text, nullptr, o));
  r.null(f, 2, {NRT_SUCCESS}, nrt_sys_trace_fetch_events(&text, &n, nullptr));
  nrt_sys_trace_buffer_free(text);
  text = nullptr;
  r.call(f, {NRT_SUCCESS}, "with options", nrt_sys_trace_fetch_events(&text, &n, o));
  nrt_sys_trace_buffer_free(text);
  r.call("nrt_sys_trace_stop", {NRT_SUCCESS}, "running", nrt_sys_trace_stop());
  r.call("nrt_sys_trace_stop", {NRT_SUCCESS}, "stopped", nrt_sys_trace_stop());
  r.null("nrt_sys_trace_start", 0, {NRT_SUCCESS}, nrt_sys_trace_start(nullptr));
  nrt_sys_trace_stop();
}

constexpr std::array kScenes = {Scene{"system trace", statuses}};

}  // namespace

std::span<const Probe> sys_trace_probes() { return kProbes; }
std::span<const Scene> sys_trace_scenes() { return kScenes; }

}  // namespace opennrt::status_table
