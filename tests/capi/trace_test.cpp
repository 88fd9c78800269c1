// SPDX-License-Identifier: Apache-2.0
//
// Traces, profiles, inspection and debug streams through the C ABI: option
// objects without a runtime, every wrong state and argument, and what a real
// run of a model tells.
#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <simdjson.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "nrt/ndebug_stream.h"
#include "nrt/nrt_async.h"
#include "nrt/nrt_profile.h"
#include "nrt/nrt_sys_trace.h"
#include "support/vecadd_client.h"

namespace opennrt::test {
namespace {

namespace fs = std::filesystem;

template <typename T>
T* junk() {
  return reinterpret_cast<T*>(0x1234);
}

class Scratch {
 public:
  Scratch() {
    char name[] = "/tmp/opennrt-trace-XXXXXX";
    path_ = mkdtemp(name);
  }
  ~Scratch() { fs::remove_all(path_); }
  const std::string& path() const { return path_; }
  std::set<std::string> files() const {
    std::set<std::string> names;
    for (const auto& e : fs::recursive_directory_iterator(path_))
      if (e.is_regular_file()) names.insert(e.path().filename());
    return names;
  }

 private:
  std::string path_;
};

// --- option objects, in every state ---------------------------------------------

TEST(SysTraceOptions, TypesAreListedInOrder) {
  const char** names = nullptr;
  size_t count = 0;
  ASSERT_EQ(nrt_sys_trace_get_event_types(&names, &count), NRT_SUCCESS);
  ASSERT_EQ(count, 46u);
  EXPECT_STREQ(names[0], "generic");
  EXPECT_STREQ(names[3], "nrt_execute");
  EXPECT_STREQ(names[7], "nc_exec_running");
  nrt_sys_trace_free_event_types(names, count);
  // A caller may also free the parts with free().
  ASSERT_EQ(nrt_sys_trace_get_event_types(&names, &count), NRT_SUCCESS);
  for (size_t i = 0; i < count; ++i) free(const_cast<char*>(names[i]));
  free(names);
  names = junk<const char*>();
  EXPECT_EQ(nrt_sys_trace_get_event_types(&names, nullptr), NRT_INVALID);
  EXPECT_EQ(names, nullptr);
  EXPECT_EQ(nrt_sys_trace_get_event_types(nullptr, &count), NRT_INVALID);
  nrt_sys_trace_free_event_types(nullptr, 5);
}

TEST(SysTraceOptions, FiltersAreKeptInTheObject) {
  nrt_sys_trace_config_t* config = nullptr;
  EXPECT_EQ(nrt_sys_trace_config_allocate(nullptr), NRT_INVALID);
  ASSERT_EQ(nrt_sys_trace_config_allocate(&config), NRT_SUCCESS);
  auto enabled = [&] {
    const char** names = nullptr;
    size_t count = 0;
    EXPECT_EQ(nrt_sys_trace_config_get_enabled_event_types(config, &names, &count), NRT_SUCCESS);
    std::set<std::string> out(names, names + count);
    nrt_sys_trace_free_event_types(names, count);
    return out;
  };
  auto set = [&](const char* type, bool on) {
    return nrt_sys_trace_config_set_capture_enabled_for_event_type(config, type, on);
  };
  EXPECT_EQ(enabled().size(), 46u);
  EXPECT_EQ(set("device_exec", false), NRT_SUCCESS);  // a second name
  EXPECT_EQ(enabled().count("nc_exec_running"), 0u);
  EXPECT_EQ(enabled().size(), 45u);
  EXPECT_EQ(set("nothing", false), NRT_INVALID);
  EXPECT_EQ(set(nullptr, false), NRT_INVALID);
  EXPECT_EQ(set("nc_exec_running", true), NRT_SUCCESS);
  EXPECT_EQ(enabled().size(), 46u);
  set("generic", false);
  nrt_sys_trace_config_set_defaults(config);
  EXPECT_EQ(enabled().size(), 46u);
  nrt_sys_trace_config_set_max_events_per_nc(config, 2000);
  nrt_sys_trace_config_set_capture_enabled_for_nc(config, 255, false);
  nrt_sys_trace_config_set_capture_enabled_for_nc(config, 256, false);  // ignored
  const char** names = nullptr;
  size_t count = 0;
  EXPECT_EQ(nrt_sys_trace_config_get_enabled_event_types(nullptr, &names, &count), NRT_INVALID);
  EXPECT_EQ(nrt_sys_trace_config_get_enabled_event_types(config, nullptr, &count), NRT_INVALID);
  EXPECT_EQ(nrt_sys_trace_config_get_enabled_event_types(config, &names, nullptr), NRT_INVALID);
  nrt_sys_trace_config_free(config);
  EXPECT_EQ(set("generic", true), NRT_INVALID);  // freed
  nrt_sys_trace_config_free(config);             // twice
}

// A handle of one kind is none of the others; no call reads through it.
TEST(SysTraceOptions, ForeignHandlesAreRefused) {
  nrt_sys_trace_fetch_options_t* fetch = nullptr;
  EXPECT_EQ(nrt_sys_trace_fetch_options_allocate(nullptr), NRT_INVALID);
  ASSERT_EQ(nrt_sys_trace_fetch_options_allocate(&fetch), NRT_SUCCESS);
  auto* as_config = reinterpret_cast<nrt_sys_trace_config_t*>(fetch);
  for (nrt_sys_trace_config_t* handle : {as_config, junk<nrt_sys_trace_config_t>()}) {
    EXPECT_EQ(nrt_sys_trace_start(handle), NRT_INVALID);
    EXPECT_EQ(nrt_sys_trace_config_set_capture_enabled_for_event_type(handle, "generic", true),
              NRT_INVALID);
    nrt_sys_trace_config_set_defaults(handle);
    nrt_sys_trace_config_set_max_events_per_nc(handle, 1);
    nrt_sys_trace_config_set_capture_enabled_for_nc(handle, 0, true);
    nrt_sys_trace_config_free(handle);
  }
  nrt_sys_trace_config_set_defaults(nullptr);
  nrt_sys_trace_config_set_max_events_per_nc(nullptr, 1);
  nrt_sys_trace_config_set_capture_enabled_for_nc(nullptr, 0, true);
  nrt_sys_trace_config_free(nullptr);
  nrt_sys_trace_fetch_options_set_defaults(nullptr);
  nrt_sys_trace_fetch_options_set_max_events_per_nc(nullptr, 1);
  nrt_sys_trace_fetch_options_set_nc_idx(nullptr, 1);
  nrt_sys_trace_fetch_options_free(nullptr);
  nrt_sys_trace_fetch_options_set_nc_idx(fetch, 0);  // still alive
  nrt_sys_trace_fetch_options_set_max_events_per_nc(fetch, 3);
  nrt_sys_trace_fetch_options_set_defaults(fetch);
  nrt_sys_trace_fetch_options_free(fetch);
  nrt_sys_trace_buffer_free(nullptr);
}

TEST(SysTrace, StartStopAndFetchWithoutARuntime) {
  char* text = nullptr;
  size_t size = 0;
  EXPECT_EQ(nrt_sys_trace_fetch_events(&text, &size, nullptr), NRT_INVALID);
  EXPECT_EQ(nrt_sys_trace_stop(), NRT_SUCCESS);
  ASSERT_EQ(nrt_sys_trace_start(nullptr), NRT_SUCCESS);
  EXPECT_EQ(nrt_sys_trace_start(nullptr), NRT_INVALID);
  EXPECT_EQ(nrt_sys_trace_fetch_events(nullptr, &size, nullptr), NRT_INVALID);
  EXPECT_EQ(nrt_sys_trace_fetch_events(&text, nullptr, nullptr), NRT_INVALID);
  EXPECT_EQ(nrt_sys_trace_fetch_events(&text, &size, junk<nrt_sys_trace_fetch_options_t>()),
            NRT_INVALID);
  ASSERT_EQ(nrt_sys_trace_fetch_events(&text, &size, nullptr), NRT_SUCCESS);
  EXPECT_STREQ(text, R"({"events":[],"data_version":2})");
  EXPECT_EQ(size, strlen(text));
  EXPECT_EQ(nrt_sys_trace_fetch_events(&text, &size, nullptr), NRT_INVALID);  // text is in use
  nrt_sys_trace_buffer_free(text);
  EXPECT_EQ(nrt_sys_trace_stop(), NRT_SUCCESS);
  EXPECT_EQ(nrt_sys_trace_stop(), NRT_SUCCESS);
}

TEST(InspectOptions, SettersCheckTheirArguments) {
  nrt_inspect_config_t* c = nullptr;
  EXPECT_EQ(nrt_inspect_config_allocate(nullptr), NRT_INVALID);
  ASSERT_EQ(nrt_inspect_config_allocate(&c), NRT_SUCCESS);
  EXPECT_EQ(nrt_inspect_config_set_session_id(c, 7), NRT_SUCCESS);
  EXPECT_EQ(nrt_inspect_config_set_output_dir(c, "/tmp"), NRT_SUCCESS);
  EXPECT_EQ(nrt_inspect_config_set_output_dir(c, ""), NRT_INVALID);
  EXPECT_EQ(nrt_inspect_config_set_output_dir(c, nullptr), NRT_INVALID);
  EXPECT_EQ(nrt_inspect_config_set_sys_trace_max_events_per_nc(c, 1), NRT_SUCCESS);
  EXPECT_EQ(nrt_inspect_config_set_capture_enabled_for_nc(c, 255, false), NRT_SUCCESS);
  EXPECT_EQ(nrt_inspect_config_set_capture_enabled_for_nc(c, 256, false), NRT_INVALID);
  EXPECT_EQ(nrt_inspect_config_set_capture_enabled_for_event_type_string(c, "hw_notify", false),
            NRT_SUCCESS);
  EXPECT_EQ(nrt_inspect_config_set_capture_enabled_for_event_type_string(c, "x", false),
            NRT_INVALID);
  EXPECT_EQ(nrt_inspect_config_set_capture_enabled_for_event_type_string(c, nullptr, false),
            NRT_INVALID);
  EXPECT_EQ(nrt_inspect_config_set_enable_inspect(c, true), NRT_SUCCESS);
  EXPECT_EQ(nrt_inspect_config_set_enable_inspect_on_fail(c, false), NRT_SUCCESS);
  EXPECT_EQ(nrt_inspect_config_set_activity(c, "cpu_util", false), NRT_SUCCESS);
  EXPECT_EQ(nrt_inspect_config_set_activity(c, "cpu", false), NRT_INVALID);
  EXPECT_EQ(nrt_inspect_config_set_activity(c, nullptr, false), NRT_INVALID);
  EXPECT_EQ(nrt_inspect_config_set_inspect_device_profile_mode(
                c, NRT_INSPECT_DEVICE_PROFILE_MODE_SESSION),
            NRT_SUCCESS);
  EXPECT_EQ(nrt_inspect_config_set_inspect_device_profile_mode(
                c, static_cast<nrt_inspect_device_profile_mode_t>(3)),
            NRT_INVALID);
  EXPECT_EQ(nrt_inspect_config_set_defaults(c), NRT_SUCCESS);
  EXPECT_EQ(nrt_inspect_config_free(c), NRT_SUCCESS);
  // Freed, NULL, and never one.
  for (nrt_inspect_config_t* bad :
       {c, static_cast<nrt_inspect_config_t*>(nullptr), junk<nrt_inspect_config_t>()}) {
    EXPECT_EQ(nrt_inspect_config_set_session_id(bad, 7), NRT_INVALID);
    EXPECT_EQ(nrt_inspect_config_set_output_dir(bad, "/tmp"), NRT_INVALID);
    EXPECT_EQ(nrt_inspect_config_set_sys_trace_max_events_per_nc(bad, 1), NRT_INVALID);
    EXPECT_EQ(nrt_inspect_config_set_capture_enabled_for_nc(bad, 0, true), NRT_INVALID);
    EXPECT_EQ(nrt_inspect_config_set_capture_enabled_for_event_type_string(bad, "generic", true),
              NRT_INVALID);
    EXPECT_EQ(nrt_inspect_config_set_enable_inspect(bad, true), NRT_INVALID);
    EXPECT_EQ(nrt_inspect_config_set_enable_inspect_on_fail(bad, true), NRT_INVALID);
    EXPECT_EQ(nrt_inspect_config_set_activity(bad, "all", true), NRT_INVALID);
    EXPECT_EQ(nrt_inspect_config_set_inspect_device_profile_mode(
                  bad, NRT_INSPECT_DEVICE_PROFILE_MODE_DISABLED),
              NRT_INVALID);
    EXPECT_EQ(nrt_inspect_config_set_defaults(bad), NRT_INVALID);
    const char** names = nullptr;
    size_t count = 0;
    EXPECT_EQ(nrt_inspect_config_get_enabled_activity_types(bad, &names, &count), NRT_INVALID);
    EXPECT_EQ(nrt_inspect_config_free(bad), NRT_SUCCESS);
  }
  EXPECT_EQ(nrt_inspect_begin_with_options(junk<nrt_inspect_config_t>()), NRT_INVALID);
}

TEST(InspectOptions, ActivitiesAreListed) {
  const char** names = nullptr;
  size_t count = 0;
  const std::set<std::string> all = {"system_profile", "device_profile", "host_memory", "cpu_util"};
  ASSERT_EQ(nrt_inspect_config_get_all_activity_types(&names, &count), NRT_SUCCESS);
  EXPECT_EQ(std::set<std::string>(names, names + count), all);
  nrt_inspect_config_free_activity_types(names, count);
  nrt_inspect_config_free_activity_types(nullptr, 1);
  EXPECT_EQ(nrt_inspect_config_get_all_activity_types(nullptr, &count), NRT_INVALID);
  EXPECT_EQ(nrt_inspect_config_get_all_activity_types(&names, nullptr), NRT_INVALID);
  nrt_inspect_config_t* c = nullptr;
  ASSERT_EQ(nrt_inspect_config_allocate(&c), NRT_SUCCESS);
  auto enabled = [&] {
    EXPECT_EQ(nrt_inspect_config_get_enabled_activity_types(c, &names, &count), NRT_SUCCESS);
    std::set<std::string> out(names, names + count);
    nrt_inspect_config_free_activity_types(names, count);
    return out;
  };
  EXPECT_EQ(enabled(), all);
  nrt_inspect_config_set_activity(c, "all", false);
  EXPECT_TRUE(enabled().empty());
  nrt_inspect_config_set_activity(c, "host_memory", true);
  EXPECT_EQ(enabled(), (std::set<std::string>{"host_memory"}));
  nrt_inspect_config_free(c);
}

TEST(ContinuousOptions, Lifecycle) {
  nrt_profile_continuous_options_t* o = nullptr;
  EXPECT_EQ(nrt_profile_continuous_options_allocate(nullptr), NRT_INVALID);
  ASSERT_EQ(nrt_profile_continuous_options_allocate(&o), NRT_SUCCESS);
  EXPECT_EQ(nrt_profile_continuous_options_set_output_dir(o, "/tmp"), NRT_SUCCESS);
  EXPECT_EQ(nrt_profile_continuous_options_set_output_dir(o, ""), NRT_INVALID);
  EXPECT_EQ(nrt_profile_continuous_options_set_output_dir(o, nullptr), NRT_INVALID);
  EXPECT_EQ(nrt_profile_continuous_options_set_output_dir(nullptr, "/tmp"), NRT_INVALID);
  EXPECT_EQ(nrt_profile_continuous_options_free(o), NRT_SUCCESS);
  EXPECT_EQ(nrt_profile_continuous_options_set_output_dir(o, "/tmp"), NRT_INVALID);
  EXPECT_EQ(nrt_profile_continuous_options_free(nullptr), NRT_SUCCESS);
}

// --- states -----------------------------------------------------------------------

std::vector<std::pair<const char*, NRT_STATUS>> guarded_results() {
  uint64_t id = 0;
  int fd = 0;
  return {
      {"nrt_profile_start", nrt_profile_start(nullptr, nullptr)},
      {"nrt_profile_stop", nrt_profile_stop(nullptr)},
      {"nrt_profile_continuous_start", nrt_profile_continuous_start(nullptr)},
      {"nrt_profile_continuous_save", nrt_profile_continuous_save(0, nullptr)},
      {"nrt_profile_continuous_stop", nrt_profile_continuous_stop()},
      {"nrt_profile_session_start", nrt_profile_session_start(0)},
      {"nrt_profile_session_stop", nrt_profile_session_stop(0, &id)},
      {"nrt_profile_session_serialize", nrt_profile_session_serialize(0, nullptr)},
      {"nrt_profile_session_drop", nrt_profile_session_drop(0)},
      {"nrt_profile_session_drop_all", nrt_profile_session_drop_all(0)},
      {"nrt_trace_start", nrt_trace_start(true)},
      {"nrt_trace_stop", nrt_trace_stop(nullptr)},
      {"nrt_debug_client_connect", nrt_debug_client_connect(0, &fd)},
      {"nrt_debug_client_read_one_event", nrt_debug_client_read_one_event(0, nullptr, nullptr)}};
}

TEST(TraceStates, NothingBeforeInitAndInAChild) {
  for (const auto& [name, status] : guarded_results()) EXPECT_EQ(status, NRT_UNINITIALIZED) << name;
  nrt_debug_client_connect_close(2);
  EXPECT_GE(fcntl(2, F_GETFD), 0);
  Runtime runtime;
  ASSERT_EQ(runtime.status(), NRT_SUCCESS);
  ASSERT_EQ(nrt_sys_trace_start(nullptr), NRT_SUCCESS);
  const pid_t child = fork();
  if (child == 0) {
    int bad = 0;
    for (const auto& [name, status] : guarded_results()) bad += status != NRT_FAILURE;
    nrt_debug_client_connect_close(2);
    // The trace of the parent is not the child's, but one of its own works.
    char* text = nullptr;
    size_t size = 0;
    bad += nrt_sys_trace_fetch_events(&text, &size, nullptr) != NRT_INVALID;
    bad += nrt_sys_trace_start(nullptr) != NRT_SUCCESS;
    bad += nrt_sys_trace_stop() != NRT_SUCCESS;
    bad += nrt_inspect_stop() != NRT_SUCCESS;
    _exit(bad);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

// --- a real run -------------------------------------------------------------------

struct Told {
  std::string type, phase;
  uint64_t core = 0, tracking = 0, time = 0;
  std::map<std::string, uint64_t> data;
};

std::vector<Told> parse(const char* text, size_t size) {
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  std::vector<Told> out;
  EXPECT_EQ(parser.parse(simdjson::padded_string(text, size)).get(root), simdjson::SUCCESS);
  for (const simdjson::dom::element e : simdjson::dom::array(root["events"])) {
    Told t{.type = std::string(std::string_view(e["event_type"])),
           .phase = std::string(std::string_view(e["phase"])),
           .core = e["nc_idx"],
           .tracking = e["tracking_id"],
           .time = e["timestamp_ns"],
           .data = {}};
    for (const auto field : simdjson::dom::object(e["data"]))
      if (field.value.is_uint64()) t.data[std::string(field.key)] = uint64_t(field.value);
    out.push_back(std::move(t));
  }
  return out;
}

std::vector<Told> fetch(const nrt_sys_trace_fetch_options_t* options = nullptr) {
  char* text = nullptr;
  size_t size = 0;
  EXPECT_EQ(nrt_sys_trace_fetch_events(&text, &size, options), NRT_SUCCESS);
  if (text == nullptr) return {};
  EXPECT_EQ(strlen(text), size);
  std::vector<Told> out = parse(text, size);
  nrt_sys_trace_buffer_free(text);
  return out;
}

int count(const std::vector<Told>& told, const std::string& type, const std::string& phase) {
  return static_cast<int>(std::count_if(
      told.begin(), told.end(), [&](const Told& t) { return t.type == type && t.phase == phase; }));
}

class TracedRun : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(runtime_.status(), NRT_SUCCESS); }
  void TearDown() override {
    nrt_sys_trace_stop();
    nrt_inspect_stop();
  }
  static std::vector<char> neff() { return read_file(OPENNRT_VECADD_NEFF); }
  Runtime runtime_;
};

TEST_F(TracedRun, TellsLoadExecutionAndTransfers) {
  ASSERT_EQ(nrt_sys_trace_start(nullptr), NRT_SUCCESS);
  VecAddModel model(neff());
  ASSERT_EQ(model.status(), NRT_SUCCESS);
  VecAddTensors tensors(model, 1);
  for (int i = 0; i < 3; ++i) ASSERT_EQ(tensors.execute(), NRT_SUCCESS);
  EXPECT_EQ(tensors.wrong(), 0u);
  const std::vector<Told> told = fetch();
  for (const char* type : {"nrt_execute", "runtime_execute", "kbl_exec_pre", "kbl_exec_core",
                           "kbl_exec_wait", "kbl_exec_post", "model_submit", "nc_exec_running"})
    for (const char* phase : {"start", "stop"}) EXPECT_EQ(count(told, type, phase), 3) << type;
  EXPECT_EQ(count(told, "model_load", "start"), 1);
  EXPECT_EQ(count(told, "model_load", "stop"), 1);
  EXPECT_EQ(count(told, "tensor_write", "start"), 2);
  EXPECT_EQ(count(told, "tensor_read", "start"), 1);
  EXPECT_EQ(count(told, "tensor_alloc", "start"), 3);
  EXPECT_GE(count(told, "dma_mem_alloc", "stop"), 3);
  EXPECT_EQ(count(told, "dmem_buf_copyout", "stop"), 1);
  EXPECT_EQ(count(told, "timestamp_sync_point", "instant"), 3);
  // Each span has one start and one stop of the same type, in this order.
  std::map<uint64_t, const Told*> open;
  std::vector<uint64_t> device_ns, exec_ids;
  uint64_t model_id = 0;
  for (const Told& t : told) {
    if (t.phase == "instant") continue;
    if (t.phase == "start") {
      EXPECT_TRUE(open.emplace(t.tracking, &t).second) << t.type;
      if (t.type == "nc_exec_running") exec_ids.push_back(t.data.at("exec_id"));
      if (t.type == "nrt_execute") model_id = t.data.at("model_id");
      continue;
    }
    const auto start = open.find(t.tracking);
    ASSERT_NE(start, open.end()) << t.type;
    EXPECT_EQ(start->second->type, t.type);
    EXPECT_GE(t.time, start->second->time);
    if (t.type == "nc_exec_running") device_ns.push_back(t.time - start->second->time);
    if (t.type == "model_load") {
      EXPECT_EQ(t.data.at("model_id"), 10001u);
    }
    open.erase(start);
  }
  EXPECT_TRUE(open.empty());
  EXPECT_EQ(model_id, 10001u);
  ASSERT_EQ(device_ns.size(), 3u);
  for (const uint64_t ns : device_ns) {
    EXPECT_GT(ns, 0u);
    EXPECT_LT(ns, 10'000'000'000u);
  }
  EXPECT_LT(exec_ids[0], exec_ids[1]);
  EXPECT_LT(exec_ids[1], exec_ids[2]);
  EXPECT_TRUE(fetch().empty());  // each event is told once
  // The rest of its life: freeing tensors and the end of the trace.
  ASSERT_EQ(nrt_sys_trace_stop(), NRT_SUCCESS);
  ASSERT_EQ(tensors.execute(), NRT_SUCCESS);
  ASSERT_EQ(nrt_sys_trace_start(nullptr), NRT_SUCCESS);
  EXPECT_TRUE(fetch().empty());  // nothing of the time between
}

TEST_F(TracedRun, TellsRequestsAndCollectives) {
  ASSERT_EQ(nrt_sys_trace_start(nullptr), NRT_SUCCESS);
  VecAddModel model(neff());
  ASSERT_EQ(model.status(), NRT_SUCCESS);
  VecAddTensors tensors(model, 1);
  NRT_STATUS result = NRT_FAILURE;
  nrta_seq_t sequence = 0;
  const auto wait = [&] {
    for (bool done = false; !done;) ASSERT_EQ(nrta_is_completed(sequence, &done), NRT_SUCCESS);
    EXPECT_EQ(result, NRT_SUCCESS);
  };
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(
        nrta_execute_schedule(model.get(), tensors.in(), tensors.out(), 0, &result, &sequence),
        NRT_SUCCESS);
    wait();
  }
  ASSERT_EQ(nrt_cc_global_comm_init(0, 0, 1), NRT_SUCCESS);
  uint32_t group[] = {0};
  nrt_cc_comm_t comm{};
  comm.replica_group = group;
  comm.rank_n = comm.ctx_device_count = 1;
  nrt_tensor_t* tensor[] = {tensors.output()};
  nrt_tensor_list_t list{tensor, 1};
  nrt_cc_context_t* context = nullptr;
  ASSERT_EQ(nrta_cc_prepare(&comm, &list, &list, NRT_DTYPE_FLOAT32, NRT_OP_ADD, NRT_CC_ALLREDUCE,
                            &context),
            NRT_SUCCESS);
  ASSERT_EQ(nrta_cc_schedule(&context, 2, &result, &sequence), NRT_SUCCESS);
  wait();
  nrt_model_t* alone = nullptr;
  const std::vector<char> bytes = neff();
  ASSERT_EQ(nrt_load_collectives(bytes.data(), bytes.size(), 1, -1, 0, 1, &alone), NRT_SUCCESS);
  EXPECT_EQ(nrt_unload(alone), NRT_SUCCESS);
  const std::vector<Told> told = fetch();
  for (const auto& [type, times] : {std::pair{"post_request", 2},
                                    {"hostcc_prepare", 1},
                                    {"hostcc_schedule", 1},
                                    {"hostcc_exec", 1},
                                    {"cc_load", 1}})
    for (const char* phase : {"start", "stop"}) EXPECT_EQ(count(told, type, phase), times) << type;
  uint64_t requests = 0, model_id = 0;
  for (const Told& t : told) {
    if (t.type == "model_load" && t.phase == "stop" && model_id == 0)
      model_id = t.data.at("model_id");
    if (t.phase != "start") continue;
    if (t.type == "post_request") {
      EXPECT_EQ(t.data.at("model_id"), model_id);
      EXPECT_EQ(t.data.at("request_id"), ++requests);
    }
    if (t.type == "hostcc_prepare") {
      EXPECT_EQ(t.data.at("ctx_device_id"), 0u);
      EXPECT_EQ(t.data.at("ctx_device_count"), 1u);
      EXPECT_EQ(t.data.at("cc_op"), static_cast<uint64_t>(NRT_CC_ALLREDUCE));
    }
    if (t.type == "hostcc_exec") {
      EXPECT_EQ(t.data.at("stream_id"), 2u);
    }
  }
}

TEST_F(TracedRun, FiltersAndLimitsWork) {
  nrt_sys_trace_config_t* config = nullptr;
  ASSERT_EQ(nrt_sys_trace_config_allocate(&config), NRT_SUCCESS);
  const char** names = nullptr;
  size_t types = 0;
  ASSERT_EQ(nrt_sys_trace_get_event_types(&names, &types), NRT_SUCCESS);
  for (size_t i = 0; i < types; ++i)
    nrt_sys_trace_config_set_capture_enabled_for_event_type(config, names[i], i == 3);
  nrt_sys_trace_free_event_types(names, types);
  ASSERT_EQ(nrt_sys_trace_start(config), NRT_SUCCESS);
  VecAddModel model(neff());
  VecAddTensors tensors(model, 1);
  for (int i = 0; i < 4; ++i) ASSERT_EQ(tensors.execute(), NRT_SUCCESS);
  nrt_sys_trace_fetch_options_t* options = nullptr;
  ASSERT_EQ(nrt_sys_trace_fetch_options_allocate(&options), NRT_SUCCESS);
  nrt_sys_trace_fetch_options_set_max_events_per_nc(options, 3);
  EXPECT_EQ(fetch(options).size(), 3u);
  nrt_sys_trace_fetch_options_set_nc_idx(options, 1);
  EXPECT_EQ(fetch(options).size(), 0u);
  nrt_sys_trace_fetch_options_set_defaults(options);
  EXPECT_EQ(fetch(options).size(), 5u);
  nrt_sys_trace_fetch_options_free(options);
  // The configuration is copied at the start; a core that is off tells nothing.
  ASSERT_EQ(nrt_sys_trace_stop(), NRT_SUCCESS);
  nrt_sys_trace_config_set_capture_enabled_for_nc(config, 0, false);
  ASSERT_EQ(nrt_sys_trace_start(config), NRT_SUCCESS);
  nrt_sys_trace_config_free(config);
  ASSERT_EQ(tensors.execute(), NRT_SUCCESS);
  EXPECT_TRUE(fetch().empty());
}

// Eight threads execute, read and write while a ninth fetches: every span that
// began is told to its end, once.
TEST_F(TracedRun, EightThreadsAndAReader) {
  VecAddModel model(neff());
  ASSERT_EQ(model.status(), NRT_SUCCESS);
  ASSERT_EQ(nrt_sys_trace_start(nullptr), NRT_SUCCESS);
  constexpr int kThreads = 8, kEach = 20;
  std::atomic<int> running{kThreads};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      VecAddTensors tensors(model, static_cast<uint64_t>(t));
      for (int i = 0; i < kEach; ++i) EXPECT_EQ(tensors.execute(), NRT_SUCCESS);
      EXPECT_EQ(tensors.wrong(), 0u);
      --running;
    });
  std::vector<Told> told;
  auto take = [&] {
    for (Told& t : fetch()) told.push_back(std::move(t));
  };
  while (running != 0) take();
  for (auto& t : threads) t.join();
  take();
  for (const char* phase : {"start", "stop"})
    EXPECT_EQ(count(told, "nrt_execute", phase), kThreads * kEach);
  std::map<uint64_t, int> open;
  for (const Told& t : told)
    if (t.phase != "instant") open[t.tracking] += t.phase == "start" ? 1 : -1;
  for (const auto& [id, n] : open) EXPECT_EQ(n, 0) << id;
}

TEST_F(TracedRun, CloseEndsTheTrace) {
  ASSERT_EQ(nrt_sys_trace_start(nullptr), NRT_SUCCESS);
  nrt_close();
  char* text = nullptr;
  size_t size = 0;
  EXPECT_EQ(nrt_sys_trace_fetch_events(&text, &size, nullptr), NRT_INVALID);
  EXPECT_EQ(nrt_sys_trace_start(nullptr), NRT_SUCCESS);
}

TEST_F(TracedRun, TraceCallsWriteAFile) {
  const Scratch dir;
  const std::string file = dir.path() + "/trace.json";
  EXPECT_EQ(nrt_trace_stop(file.c_str()), NRT_INVALID);  // none runs
  ASSERT_EQ(nrt_trace_start(false), NRT_SUCCESS);
  EXPECT_EQ(nrt_trace_start(true), NRT_INVALID);
  VecAddModel model(neff());
  {
    VecAddTensors tensors(model, 1);
    ASSERT_EQ(tensors.execute(), NRT_SUCCESS);
  }
  EXPECT_EQ(nrt_trace_stop(nullptr), NRT_INVALID);
  EXPECT_EQ(nrt_trace_stop(""), NRT_INVALID);
  EXPECT_EQ(nrt_trace_stop((dir.path() + "/none/trace").c_str()), NRT_FAILURE);
  ASSERT_EQ(nrt_trace_stop(file.c_str()), NRT_SUCCESS);  // nothing was lost by the failure
  const std::vector<char> text = read_file(file);
  const std::vector<Told> told = parse(text.data(), text.size());
  EXPECT_EQ(count(told, "nrt_execute", "stop"), 1);
  EXPECT_EQ(count(told, "tensor_alloc", "start") + count(told, "dma_mem_alloc", "start"), 0);
  ASSERT_EQ(nrt_trace_start(true), NRT_SUCCESS);
  VecAddTensors more(model, 1);
  ASSERT_EQ(nrt_trace_stop(file.c_str()), NRT_SUCCESS);
  const std::vector<char> memory = read_file(file);
  EXPECT_EQ(count(parse(memory.data(), memory.size()), "tensor_alloc", "start"), 3);
  EXPECT_EQ(dir.files(), (std::set<std::string>{"trace.json"}));
}

TEST_F(TracedRun, InspectionWritesItsFiles) {
  const Scratch dir;
  nrt_inspect_config_t* c = nullptr;
  ASSERT_EQ(nrt_inspect_config_allocate(&c), NRT_SUCCESS);
  ASSERT_EQ(nrt_inspect_config_set_output_dir(c, dir.path().c_str()), NRT_SUCCESS);
  ASSERT_EQ(nrt_inspect_begin_with_options(c), NRT_SUCCESS);
  EXPECT_EQ(nrt_inspect_begin_with_options(c), NRT_INVALID);
  EXPECT_EQ(nrt_inspect_begin(), NRT_INVALID);
  char where[256];
  ASSERT_EQ(nrt_inspect_get_instance_output_dir(dir.path().c_str(), where, sizeof where),
            NRT_SUCCESS);
  EXPECT_EQ(nrt_inspect_get_instance_output_dir(dir.path().c_str(), where, strlen(where)),
            NRT_INVALID);
  EXPECT_EQ(nrt_inspect_get_instance_output_dir(nullptr, where, sizeof where), NRT_INVALID);
  EXPECT_EQ(nrt_inspect_get_instance_output_dir("x", nullptr, sizeof where), NRT_INVALID);
  const std::vector<char> file = neff();
  VecAddModel model(file);
  VecAddTensors tensors(model, 1);
  ASSERT_EQ(tensors.execute(), NRT_SUCCESS);
  ASSERT_EQ(nrt_inspect_stop(), NRT_SUCCESS);
  EXPECT_EQ(nrt_inspect_stop(), NRT_SUCCESS);
  std::set<std::string> names = dir.files();
  for (const char* name :
       {"sys_trace.json", "interned_strings.json", "cpu_util.json", "host_mem.json"})
    EXPECT_EQ(names.erase(name), 1u) << name;
  ASSERT_EQ(names.size(), 1u);  // and the model, nothing that looks like a profile
  EXPECT_TRUE(names.begin()->starts_with("neff_") && names.begin()->ends_with("_vnc_0.neff"));
  EXPECT_EQ(read_file(std::string(where) + "/" + *names.begin()), file);
  const std::vector<char> text = read_file(std::string(where) + "/sys_trace.json");
  EXPECT_EQ(count(parse(text.data(), text.size()), "nrt_execute", "stop"), 1);

  ASSERT_EQ(nrt_inspect_config_set_inspect_device_profile_mode(
                c, NRT_INSPECT_DEVICE_PROFILE_MODE_SESSION),
            NRT_SUCCESS);
  EXPECT_EQ(nrt_inspect_begin_with_options(c), NRT_INVALID);  // device profiles are missing
  ASSERT_EQ(nrt_inspect_config_set_activity(c, "device_profile", false), NRT_SUCCESS);
  EXPECT_EQ(nrt_inspect_begin_with_options(c), NRT_SUCCESS);
  EXPECT_EQ(nrt_inspect_stop(), NRT_SUCCESS);
  nrt_inspect_config_free(c);
}

// NEURON_RT_INSPECT_* at nrt_init, and nrt_close as its end.
TEST(InspectEnvironment, RunsFromInitToClose) {
  const Scratch dir;
  const std::map<std::string, std::string> environment = {
      {"NEURON_RT_INSPECT_ENABLE", "1"},
      {"NEURON_RT_INSPECT_OUTPUT_DIR", dir.path()},
      {"NEURON_RT_INSPECT_CPU_UTIL", "0"},
      {"NEURON_RT_INSPECT_EVENT_FILTER_TYPE", "nrt_execute,nc_exec_running"},
      {"NEURON_RT_INSPECT_EVENT_FILTER_NC", "0,2-3"}};
  for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
  {
    Runtime runtime;
    ASSERT_EQ(runtime.status(), NRT_SUCCESS);
    VecAddModel model(read_file(OPENNRT_VECADD_NEFF));
    VecAddTensors tensors(model, 1);
    ASSERT_EQ(tensors.execute(), NRT_SUCCESS);
  }
  std::set<std::string> names = dir.files();
  EXPECT_EQ(names.erase("sys_trace.json"), 1u);
  EXPECT_EQ(names.erase("interned_strings.json"), 1u);
  EXPECT_EQ(names.size(), 1u);  // the model
  for (const auto& e : fs::recursive_directory_iterator(dir.path()))
    if (e.path().filename() == "sys_trace.json") {
      const std::vector<char> text = read_file(e.path());
      EXPECT_EQ(parse(text.data(), text.size()).size(), 4u);
    }
  auto init_with = [](const char* name, const char* value) {
    setenv(name, value, 1);
    const NRT_STATUS status = nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", "");
    nrt_close();
    unsetenv(name);
    return status;
  };
  EXPECT_EQ(init_with("NEURON_RT_INSPECT_EVENT_FILTER_TYPE", "bogus"), NRT_INVALID);
  EXPECT_EQ(init_with("NEURON_RT_INSPECT_EVENT_FILTER_NC", "3-1"), NRT_INVALID);
  EXPECT_EQ(init_with("NEURON_RT_INSPECT_DEVICE_PROFILE", "session"), NRT_INVALID);
  EXPECT_EQ(init_with("NEURON_RT_INSPECT_OUTPUT_DIR", "/proc/none"), NRT_FAILURE);
  EXPECT_EQ(init_with("NEURON_RT_INSPECT_OUTPUT_DIR", "./tmp"), NRT_INVALID);
  for (const auto& [name, value] : environment) unsetenv(name.c_str());
  EXPECT_EQ(init_with("NEURON_RT_DEBUG_STREAM_BUFFER_SIZE", "1000"), NRT_INVALID);
  EXPECT_EQ(init_with("NEURON_RT_DEBUG_STREAM_BUFFER_SIZE", "1024"), NRT_SUCCESS);
}

TEST_F(TracedRun, ProfilesKeepBooksAndRefuseFiles) {
  const Scratch dir;
  const std::string file = dir.path() + "/p.ntff";
  VecAddModel model(neff());
  VecAddTensors tensors(model, 1);
  EXPECT_EQ(nrt_profile_start(nullptr, file.c_str()), NRT_INVALID);
  EXPECT_EQ(nrt_profile_start(model.get(), nullptr), NRT_INVALID);
  EXPECT_EQ(nrt_profile_start(model.get(), ""), NRT_INVALID);
  EXPECT_EQ(nrt_profile_start(junk<nrt_model_t>(), file.c_str()), NRT_INVALID_HANDLE);
  ASSERT_EQ(nrt_profile_start(model.get(), file.c_str()), NRT_SUCCESS);
  EXPECT_EQ(nrt_profile_start(model.get(), file.c_str()), NRT_INVALID);
  ASSERT_EQ(tensors.execute(), NRT_SUCCESS);
  EXPECT_EQ(nrt_profile_stop(nullptr), NRT_INVALID);
  EXPECT_EQ(nrt_profile_stop("other"), NRT_INVALID);
  EXPECT_EQ(nrt_profile_stop(file.c_str()), NRT_INVALID);                // no file format
  ASSERT_EQ(nrt_profile_start(model.get(), file.c_str()), NRT_SUCCESS);  // it was forgotten
  EXPECT_EQ(nrt_profile_stop(file.c_str()), NRT_INVALID);

  uint64_t id = 0;
  EXPECT_EQ(nrt_profile_session_start(-1), NRT_INVALID);
  EXPECT_EQ(nrt_profile_session_start(9999), NRT_INVALID);
  EXPECT_EQ(nrt_profile_session_stop(0, &id), NRT_INVALID);
  ASSERT_EQ(nrt_profile_session_start(0), NRT_SUCCESS);
  EXPECT_EQ(nrt_profile_session_start(0), NRT_INVALID);
  ASSERT_EQ(tensors.execute(), NRT_SUCCESS);
  EXPECT_EQ(nrt_profile_session_stop(0, nullptr), NRT_INVALID);
  EXPECT_EQ(nrt_profile_session_stop(9999, &id), NRT_INVALID);
  ASSERT_EQ(nrt_profile_session_stop(0, &id), NRT_SUCCESS);
  EXPECT_EQ(nrt_profile_session_serialize(id, nullptr), NRT_INVALID);
  EXPECT_EQ(nrt_profile_session_serialize(id, file.c_str()), NRT_INVALID);
  EXPECT_EQ(nrt_profile_session_serialize(id + 1, file.c_str()), NRT_INVALID);
  EXPECT_EQ(nrt_profile_session_drop(id), NRT_SUCCESS);
  EXPECT_EQ(nrt_profile_session_drop(id), NRT_INVALID);
  EXPECT_EQ(nrt_profile_session_drop_all(0), NRT_SUCCESS);
  EXPECT_EQ(nrt_profile_session_drop_all(-1), NRT_INVALID);

  nrt_profile_continuous_options_t* o = nullptr;
  ASSERT_EQ(nrt_profile_continuous_options_allocate(&o), NRT_SUCCESS);
  ASSERT_EQ(nrt_profile_continuous_options_set_output_dir(o, dir.path().c_str()), NRT_SUCCESS);
  EXPECT_EQ(nrt_profile_continuous_save(0, o), NRT_FAILURE);
  EXPECT_EQ(nrt_profile_continuous_start(nullptr), NRT_INVALID);
  ASSERT_EQ(nrt_profile_continuous_start(o), NRT_SUCCESS);
  EXPECT_EQ(nrt_profile_continuous_start(o), NRT_INVALID);
  EXPECT_EQ(nrt_profile_start(model.get(), file.c_str()), NRT_INVALID);
  EXPECT_EQ(nrt_profile_continuous_save(0, nullptr), NRT_INVALID);
  EXPECT_EQ(nrt_profile_continuous_save(9999, o), NRT_INVALID);
  EXPECT_EQ(nrt_profile_continuous_save(0, o), NRT_INVALID);
  EXPECT_EQ(nrt_profile_continuous_stop(), NRT_SUCCESS);
  EXPECT_EQ(nrt_profile_continuous_stop(), NRT_SUCCESS);
  nrt_profile_continuous_options_free(o);
  EXPECT_TRUE(dir.files().empty());  // nothing pretends to be a profile
}

TEST_F(TracedRun, DebugStreamHasOneClient) {
  int fd = -1, other = -1;
  EXPECT_EQ(nrt_debug_client_connect(0, nullptr), NRT_INVALID);
  EXPECT_EQ(nrt_debug_client_connect(-1, &fd), NRT_INVALID);
  EXPECT_EQ(nrt_debug_client_connect(9999, &fd), NRT_INVALID);
  ASSERT_EQ(nrt_debug_client_connect(0, &fd), NRT_SUCCESS);
  EXPECT_EQ(nrt_debug_client_connect(0, &other), NRT_INVALID);
  EXPECT_EQ(other, -1);
  pollfd wait{.fd = fd, .events = POLLIN, .revents = 0};
  EXPECT_EQ(poll(&wait, 1, 0), 0);
  ndebug_stream_event_header_t header;
  void* payload = nullptr;
  EXPECT_EQ(nrt_debug_client_read_one_event(fd, &header, &payload), NRT_QUEUE_EMPTY);
  EXPECT_EQ(nrt_debug_client_read_one_event(fd, nullptr, &payload), NRT_INVALID);
  EXPECT_EQ(nrt_debug_client_read_one_event(fd, &header, nullptr), NRT_INVALID);
  EXPECT_EQ(nrt_debug_client_read_one_event(2, &header, &payload), NRT_INVALID);
  nrt_debug_client_connect_close(2);
  EXPECT_GE(fcntl(2, F_GETFD), 0);
  nrt_debug_client_connect_close(fd);
  EXPECT_EQ(fcntl(fd, F_GETFD), -1);
  ASSERT_EQ(nrt_debug_client_connect(0, &fd), NRT_SUCCESS);
  nrt_close();  // ends the stream, too
  EXPECT_EQ(fcntl(fd, F_GETFD), -1);
  EXPECT_EQ(nrt_debug_client_read_one_event(fd, &header, &payload), NRT_UNINITIALIZED);
}

}  // namespace
}  // namespace opennrt::test
