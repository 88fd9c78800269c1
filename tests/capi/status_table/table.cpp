// SPDX-License-Identifier: Apache-2.0
#include "table.h"

#include <dlfcn.h>
#include <unistd.h>

#include <array>
#include <barrier>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <thread>

#include "nrt/nrt_experimental.h"

namespace opennrt::status_table {

std::string outcome_name(int outcome) {
  if (outcome == kDone) return "done";
  if (outcome == kAnswer) return "answer";
  if (outcome == kNeutral) return "neutral";
  if (outcome == kHang) return "hang";
  const std::string name = nrt_get_status_as_str(static_cast<NRT_STATUS>(outcome));
  return name != "UNKNOWN" ? name : "status " + std::to_string(outcome);
}

const char* guard_name(Guard guard) {
  constexpr const char* kNames[] = {"full",       "full_void", "full+async", "probe", "none",
                                    "start_only", "engine",    "init",       "close"};
  return kNames[static_cast<int>(guard)];
}

void Report::row(const char* function, const char* parameter, std::span<const int> want,
                 const std::string& how, int got) {
  std::string line = std::string("row\t") + function + "\t" + parameter + "\t";
  for (const int w : want) line += std::to_string(w) + ",";
  line += "\t" + std::to_string(got) + "\t" + how + "\n";
  if (write(pipe_, line.data(), line.size()) != static_cast<ssize_t>(line.size())) _exit(3);
}

void Report::call(const char* function, std::span<const int> want, const std::string& how,
                  int got) {
  row(function, "-", want, how, got);
}

void Report::call(const char* function, std::initializer_list<int> want, const std::string& how,
                  int got) {
  row(function, "-", {want.begin(), want.size()}, how, got);
}

void Report::null(const char* function, int parameter, std::initializer_list<int> want, int got) {
  row(function, std::to_string(parameter).c_str(), {want.begin(), want.size()},
      "parameter " + std::to_string(parameter) + " NULL", got);
}

void Report::about(const char* function, const char* how) {
  const std::string line = std::string("about\t") + function + "\t" + how + "\n";
  if (write(pipe_, line.data(), line.size()) != static_cast<ssize_t>(line.size())) _exit(3);
}

void Report::need(bool good, const char* what) {
  if (good) return;
  const std::string line = std::string("need\t") + what + "\n";
  if (write(pipe_, line.data(), line.size()) != static_cast<ssize_t>(line.size())) _exit(3);
  _exit(2);
}

void Objects::make(Report& report, nrt_model_t* loaded) {
  model = loaded;
  nrt_tensor_info_array_t* info = nullptr;
  report.need(nrt_get_model_tensor_info(model, &info) == NRT_SUCCESS && info->tensor_count == 3,
              "the tensors of vecadd");
  nrt_tensor_t** const tensors[] = {&a, &b, &sum};
  report.need(nrt_allocate_tensor_set(&in) == NRT_SUCCESS, "a set");
  report.need(nrt_allocate_tensor_set(&out) == NRT_SUCCESS, "a set");
  for (int i = 0; i < 3; ++i) {
    const nrt_tensor_info_t& t = info->tensor_array[i];
    bytes = t.size;
    report.need(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, t.size, t.name, tensors[i]) ==
                    NRT_SUCCESS,
                "a device tensor");
    report.need(nrt_add_tensor_to_tensor_set(t.usage == NRT_TENSOR_USAGE_INPUT ? in : out, t.name,
                                             *tensors[i]) == NRT_SUCCESS,
                "a tensor in a set");
    report.need(nrt_tensor_memset(*tensors[i], 0, 0, t.size) == NRT_SUCCESS, "zeros");
  }
  nrt_free_model_tensor_info(info);
}

void Objects::drop() {
  for (nrt_tensor_t** t : {&a, &b, &sum}) nrt_tensor_free(t);
  nrt_destroy_tensor_set(&in);
  nrt_destroy_tensor_set(&out);
}

std::vector<Probe> all_probes() {
  std::vector<Probe> all;
  const auto add = [&all](std::span<const Probe> group) {
    all.insert(all.end(), group.begin(), group.end());
  };
#define OPENNRT_ADD_GROUP(name) add(name##_probes());
  OPENNRT_STATUS_GROUPS(OPENNRT_ADD_GROUP)
#undef OPENNRT_ADD_GROUP
  return all;
}

std::vector<char> file_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string neff_path(const char* name) {
  return std::string(OPENNRT_EXAMPLES_DIR) + "/" + name + ".neff";
}

nrt_model_t* load_vecadd(Report& report, int core) {
  static const std::vector<char> neff = file_bytes(neff_path("vecadd"));
  nrt_model_t* model = nullptr;
  report.need(nrt_load(neff.data(), neff.size(), core, 1, &model) == NRT_SUCCESS, "loading vecadd");
  return model;
}

const test::FaultPort& faults() {
  static const test::FaultPort* const port = [] {
    void* library = dlopen(OPENNRT_FAULT_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    return library == nullptr
               ? nullptr
               : static_cast<const test::FaultPort*>(dlsym(library, test::kFaultPortSymbol));
  }();
  if (port == nullptr) _exit(4);
  return *port;
}

void from_threads(Report& report, const char* function, const std::vector<int>& want,
                  const std::function<int(int)>& f) {
  constexpr int kThreads = 8, kTimes = 10;
  report.about(function, "from 8 threads");
  std::array<std::vector<int>, kThreads> got;
  std::barrier begin(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      begin.arrive_and_wait();
      for (int i = 0; i < kTimes; ++i) got[static_cast<std::size_t>(t)].push_back(f(t));
    });
  for (std::thread& t : threads) t.join();
  std::set<int> outcomes;
  for (const std::vector<int>& one : got) outcomes.insert(one.begin(), one.end());
  for (const int outcome : outcomes) report.call(function, want, "from 8 threads", outcome);
}

void start(Report& report) {
  report.need(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", "") == NRT_SUCCESS, "nrt_init");
}

}  // namespace opennrt::status_table
