// SPDX-License-Identifier: Apache-2.0
//
// Profiles and the process-wide trace. Device profiles cannot be written by this
// release: what would write one says so with NRT_INVALID.
#include "nrt/nrt_profile.h"

#include <unistd.h>

#include <array>
#include <string>

#include "nrt/nrt_experimental.h"
#include "table.h"

namespace opennrt::status_table {
namespace {

constexpr char kNowhere[] = "/no/such/folder/file";

std::string file_name(const Objects& o) {
  return "/tmp/opennrt-status-" + std::to_string(getpid()) + "-" + std::to_string(o.thread);
}

const std::array kProbes = {
    Probe{"nrt_profile_start",
          Guard::kFull,
          [](Objects& o) -> int {
            const int status = nrt_profile_start(o.model, file_name(o).c_str());
            if (status == NRT_SUCCESS) nrt_profile_stop(file_name(o).c_str());
            return status;
          },
          {0},
          {NRT_INVALID}},  // one profile per model
    Probe{"nrt_profile_stop",
          Guard::kFull,
          [](Objects& o) -> int {
            nrt_profile_start(o.model, file_name(o).c_str());
            return nrt_profile_stop(file_name(o).c_str());
          },
          {NRT_INVALID}},
    Probe{"nrt_trace_start",
          Guard::kFull,
          [](Objects&) -> int {
            const int status = nrt_trace_start(true);
            if (status == NRT_SUCCESS) nrt_trace_stop("/dev/null");
            return status;
          },
          {0},
          {NRT_INVALID}},  // one trace per process
    Probe{"nrt_trace_stop",
          Guard::kFull,
          [](Objects& o) -> int {
            nrt_trace_start(false);
            const int status = nrt_trace_stop(file_name(o).c_str());
            unlink(file_name(o).c_str());
            return status;
          },
          {0},
          {NRT_INVALID}},
    Probe{"nrt_profile_session_start",
          Guard::kFull,
          [](Objects&) -> int {
            std::uint64_t id = 0;
            const int status = nrt_profile_session_start(0);
            if (status == NRT_SUCCESS && nrt_profile_session_stop(0, &id) == NRT_SUCCESS)
              nrt_profile_session_drop(id);
            return status;
          },
          {0},
          {NRT_INVALID}},  // one session per logical core
    Probe{"nrt_profile_session_stop",
          Guard::kFull,
          [](Objects&) -> int {
            std::uint64_t id = 0;
            nrt_profile_session_start(1);
            const int status = nrt_profile_session_stop(1, &id);
            if (status == NRT_SUCCESS) nrt_profile_session_drop(id);
            return status;
          },
          {0},
          {NRT_INVALID}},
    Probe{"nrt_profile_session_serialize",
          Guard::kFull,
          [](Objects& o) -> int {
            std::uint64_t id = 0;
            nrt_profile_session_start(0);
            nrt_profile_session_stop(0, &id);
            const int status = nrt_profile_session_serialize(id, file_name(o).c_str());
            nrt_profile_session_drop(id);
            return status;
          },
          {NRT_INVALID}},
    Probe{"nrt_profile_session_drop",
          Guard::kFull,
          [](Objects&) -> int {
            std::uint64_t id = 0;
            nrt_profile_session_start(0);
            nrt_profile_session_stop(0, &id);
            return nrt_profile_session_drop(id);
          },
          {0},
          {NRT_INVALID}},
    Probe{"nrt_profile_session_drop_all", Guard::kFull,
          [](Objects&) -> int { return nrt_profile_session_drop_all(0); }},
    Probe{"nrt_profile_continuous_options_allocate", Guard::kNone,
          [](Objects&) -> int {
            nrt_profile_continuous_options_t* o = nullptr;
            const int status = nrt_profile_continuous_options_allocate(&o);
            nrt_profile_continuous_options_free(o);
            return status;
          }},
    Probe{"nrt_profile_continuous_options_free", Guard::kNone,
          [](Objects&) -> int {
            nrt_profile_continuous_options_t* o = nullptr;
            nrt_profile_continuous_options_allocate(&o);
            return nrt_profile_continuous_options_free(o);
          }},
    Probe{"nrt_profile_continuous_options_set_output_dir", Guard::kNone,
          [](Objects&) -> int {
            nrt_profile_continuous_options_t* o = nullptr;
            nrt_profile_continuous_options_allocate(&o);
            const int status = nrt_profile_continuous_options_set_output_dir(o, "/tmp");
            nrt_profile_continuous_options_free(o);
            return status;
          }},
    Probe{"nrt_profile_continuous_start",
          Guard::kFull,
          [](Objects&) -> int {
            nrt_profile_continuous_options_t* o = nullptr;
            nrt_profile_continuous_options_allocate(&o);
            const int status = nrt_profile_continuous_start(o);
            nrt_profile_continuous_stop();
            nrt_profile_continuous_options_free(o);
            return status;
          },
          {0},
          {NRT_INVALID}},
    Probe{"nrt_profile_continuous_save",
          Guard::kFull,
          [](Objects&) -> int {
            nrt_profile_continuous_options_t* o = nullptr;
            nrt_profile_continuous_options_allocate(&o);
            nrt_profile_continuous_start(o);
            const int status = nrt_profile_continuous_save(0, o);
            nrt_profile_continuous_stop();
            nrt_profile_continuous_options_free(o);
            return status;
          },
          {NRT_INVALID},
          {NRT_FAILURE}},  // stopped by another thread
    Probe{"nrt_profile_continuous_stop", Guard::kFull,
          [](Objects&) -> int { return nrt_profile_continuous_stop(); }},
};

void profiles(Report& r) {
  start(r);
  nrt_model_t* const model = load_vecadd(r);
  const int bad = NRT_INVALID;
  r.null("nrt_profile_start", 0, {bad}, nrt_profile_start(nullptr, "/tmp/x"));
  r.null("nrt_profile_start", 1, {bad}, nrt_profile_start(model, nullptr));
  r.need(nrt_profile_start(model, "/tmp/x") == NRT_SUCCESS, "a profile");
  r.call("nrt_profile_start", {bad}, "same file twice", nrt_profile_start(model, "/tmp/x"));
  nrt_profile_continuous_options_t* o = nullptr;
  r.need(nrt_profile_continuous_options_allocate(&o) == NRT_SUCCESS, "options");
  r.null("nrt_profile_stop", 0, {bad}, nrt_profile_stop(nullptr));
  r.call("nrt_profile_stop", {bad}, "unknown file", nrt_profile_stop("/tmp/y"));
  nrt_profile_stop("/tmp/x");
  const char* f = "nrt_profile_continuous_start";
  r.null(f, 0, {bad}, nrt_profile_continuous_start(nullptr));
  r.call("nrt_profile_continuous_save", {NRT_FAILURE}, "not started",
         nrt_profile_continuous_save(0, o));
  r.call(f, {NRT_SUCCESS}, "first time", nrt_profile_continuous_start(o));
  r.call("nrt_profile_start", {bad}, "while continuous profiling is on",
         nrt_profile_start(model, "/tmp/x"));
  r.null("nrt_profile_continuous_save", 1, {bad}, nrt_profile_continuous_save(0, nullptr));
  r.call("nrt_profile_continuous_save", {bad}, "logical core 2", nrt_profile_continuous_save(2, o));
  f = "nrt_profile_continuous_options_set_output_dir";
  r.null(f, 0, {bad}, nrt_profile_continuous_options_set_output_dir(nullptr, "/tmp"));
  r.null(f, 1, {bad}, nrt_profile_continuous_options_set_output_dir(o, nullptr));
  r.call(f, {bad}, "empty directory", nrt_profile_continuous_options_set_output_dir(o, ""));
  r.null("nrt_profile_continuous_options_allocate", 0, {bad},
         nrt_profile_continuous_options_allocate(nullptr));
  if (NoMemory::possible()) {
    nrt_profile_continuous_options_t* none = nullptr;
    r.call("nrt_profile_continuous_options_allocate", {NRT_RESOURCE}, "host memory exhausted",
           OPENNRT_WITHOUT_MEMORY(nrt_profile_continuous_options_allocate(&none)));
  }
  r.null("nrt_profile_continuous_options_free", 0, {NRT_SUCCESS},
         nrt_profile_continuous_options_free(nullptr));
  nrt_close();
  setenv("NEURON_RT_ASYNC_EXEC_MAX_INFLIGHT_REQUESTS", "4", 1);
  start(r);
  r.call("nrt_profile_continuous_start", {bad}, "implicit asynchronous mode",
         nrt_profile_continuous_start(o));
  r.call("nrt_profile_session_start", {bad}, "implicit asynchronous mode",
         nrt_profile_session_start(0));
  nrt_close();
}

void sessions(Report& r) {
  start(r);
  const int bad = NRT_INVALID;
  std::uint64_t id = 0;
  for (const int vnc : {-1, 2}) {
    const std::string how = "logical core " + std::to_string(vnc);
    r.call("nrt_profile_session_start", {bad}, how, nrt_profile_session_start(vnc));
    r.call("nrt_profile_session_stop", {bad}, how, nrt_profile_session_stop(vnc, &id));
    r.call("nrt_profile_session_drop_all", {bad}, how, nrt_profile_session_drop_all(vnc));
  }
  r.call("nrt_profile_session_stop", {bad}, "no session", nrt_profile_session_stop(0, &id));
  r.need(nrt_profile_session_start(0) == NRT_SUCCESS, "a session");
  r.call("nrt_profile_session_start", {bad}, "already active", nrt_profile_session_start(0));
  r.null("nrt_profile_session_stop", 1, {bad}, nrt_profile_session_stop(0, nullptr));
  r.need(nrt_profile_session_stop(0, &id) == NRT_SUCCESS, "the end of the session");
  r.call("nrt_profile_session_serialize", {bad}, "unknown number",
         nrt_profile_session_serialize(id + 1, "/tmp/x"));
  r.null("nrt_profile_session_serialize", 1, {bad}, nrt_profile_session_serialize(id, nullptr));
  r.call("nrt_profile_session_drop", {bad}, "unknown number", nrt_profile_session_drop(id + 1));
  r.call("nrt_profile_session_drop", {NRT_SUCCESS}, "known number", nrt_profile_session_drop(id));
  nrt_close();
}

void traces(Report& r) {
  start(r);
  r.call("nrt_trace_stop", {NRT_INVALID}, "no trace", nrt_trace_stop("/tmp/x"));
  r.call("nrt_trace_start", {NRT_SUCCESS}, "first time", nrt_trace_start(true));
  r.call("nrt_trace_start", {NRT_INVALID}, "already started", nrt_trace_start(true));
  r.null("nrt_trace_stop", 0, {NRT_INVALID}, nrt_trace_stop(nullptr));
  r.call("nrt_trace_stop", {NRT_FAILURE}, "file that cannot be made", nrt_trace_stop(kNowhere));
  nrt_close();
}

constexpr std::array kScenes = {Scene{"profiles", profiles}, Scene{"profile sessions", sessions},
                                Scene{"process trace", traces}};

}  // namespace

std::span<const Probe> profile_probes() { return kProbes; }
std::span<const Scene> profile_scenes() { return kScenes; }

}  // namespace opennrt::status_table
