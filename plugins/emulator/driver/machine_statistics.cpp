// SPDX-License-Identifier: Apache-2.0
//
// The statistics in /sys: what processes count in their data stores, and memory
// by category. Names and meaning: the public guide of the files.
#include "driver/machine_statistics.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <initializer_list>

namespace opennrt::emu {

namespace {

struct CounterFile {
  const char* name;
  std::uint32_t counter;  // of the data store
};

// stats/status/<name>/{total,present}
constexpr CounterFile kStatus[] = {
    {"success", 1},
    {"execute_completed_with_error", 2},
    {"execute_completed_with_num_error", 3},
    {"timeout", 4},
    {"exec_bad_input", 5},
    {"execute_failed_to_queue", 6},
    {"generic_error", 7},
    {"hw_error", 11},
    {"failure", 16},
    {"resource_error", 17},
    {"resource_nc_error", 18},
    {"invalid_error", 19},
    {"unsupported_neff_version", 20},
    {"oob_error", 30},
    {"hw_collectives_error", 31},
    {"hw_hbm_ue_error", 32},
    {"hw_nc_ue_error", 33},
    {"hw_dma_abort_error", 34},
    {"execute_sw_nq_overflow", 35},
    {"execute_sw_semaphore_error", 36},
    {"execute_sw_event_error", 37},
    {"execute_sw_psum_collision", 38},
    {"execute_sw_sequencer_fatal", 39},
    {"hw_repairable_hbm_ue_error", 40},
};

// stats/other_info/<name>
constexpr CounterFile kOther[] = {
    {"nc_time_in_use", 0},
    {"model_load_count", 27},
    {"inference_count", 28},
    {"flop_count", 29},
};

struct CategoryFile {
  const char* name;
  std::uint32_t types;  // bit per memory type
};
constexpr std::uint32_t bits(std::initializer_list<std::uint32_t> types) {
  std::uint32_t mask = 0;
  for (const std::uint32_t type : types) mask |= 1u << type;
  return mask;
}

// stats/memory_usage/device_mem/<name>/{total,present,peak} of a core
constexpr CategoryFile kDeviceMemory[] = {
    {"uncategorized", bits({7})},
    {"model_code", bits({8})},
    {"tensors", bits({9})},
    {"constants", bits({10})},
    {"model_shared_scratchpad", bits({11, 19})},
    {"runtime_memory", bits({12})},
    {"driver_memory", bits({13})},
    {"collectives", bits({14})},
    {"nonshared_scratchpad", bits({15})},
    {"notifications", bits({16})},
    {"dma_rings", bits({18})},
};
// stats/memory_usage/host_mem/<name>/{total,present,peak} of a device. Where code
// and miscellaneous memory go is our reading.
constexpr CategoryFile kHostMemory[] = {
    {"uncategorized", bits({0})}, {"application_memory", bits({1})}, {"tensors", bits({2})},
    {"constants", bits({3})},     {"dma_buffers", bits({4})},        {"driver_memory", bits({5})},
    {"notifications", bits({6})}, {"dma_rings", bits({17})},
};

bool take(std::string_view* path, std::string_view word) {
  if (!path->starts_with(word)) return false;
  path->remove_prefix(word.size());
  return true;
}

// "<name>/<value>" where `name` is one of the table. nullptr: it is not.
template <typename Row, std::size_t kRows>
const Row* find_row(const Row (&rows)[kRows], std::string_view path, std::string_view* value) {
  const std::size_t slash = std::min(path.find('/'), path.size());
  for (const Row& row : rows) {
    if (path.substr(0, slash) != row.name) continue;
    *value = path.substr(std::min(slash + 1, path.size()));
    return &row;
  }
  return nullptr;
}

// total is what is in use, present the last change.
bool show(const Usage& usage, std::string_view value, std::string* text) {
  if (value == "total")
    *text = std::to_string(usage.present);
  else if (value == "present")
    *text = std::to_string(usage.last);
  else if (value == "peak")
    *text = std::to_string(usage.peak);
  else
    return false;
  return true;
}

// Peaks of types that share a file are added.
Usage sum(const std::array<Usage, kMemTypes>& all, std::uint32_t types) {
  Usage out;
  for (std::uint32_t type = 0; type < kMemTypes; ++type) {
    if (!(types >> type & 1)) continue;
    out.present += all[type].present;
    out.peak += all[type].peak;
    out.last = all[type].last != 0 ? all[type].last : out.last;
  }
  return out;
}

bool core_statistic(const Machine& machine, const DeviceNode& node, std::uint32_t core,
                    std::string_view path, std::string* text) {
  std::string_view value;
  const auto total = [&](std::uint32_t counter) {
    return node.store_totals[core][counter] + machine.store_counter(node, core, counter);
  };
  if (take(&path, "status/")) {
    const CounterFile* file = find_row(kStatus, path, &value);
    if (!file || (value != "total" && value != "present")) return false;
    *text = std::to_string(value == "total" ? total(file->counter)
                                            : machine.store_counter(node, core, file->counter));
    return true;
  }
  if (take(&path, "other_info/")) {
    const CounterFile* file = find_row(kOther, path, &value);
    if (file && value.empty())
      *text = std::to_string(total(file->counter));
    else if (path == "reset_req_count")
      *text = std::to_string(node.reset_requests[core]);
    else if (path == "reset_fail_count")
      *text = std::to_string(node.reset_failures[core]);
    else
      return false;
    return true;
  }
  if (take(&path, "memory_usage/host_mem/")) return show(node.usage.host_of_core[core], path, text);
  if (!take(&path, "memory_usage/device_mem/")) return false;
  if (show(node.usage.device_of_core[core], path, text)) return true;
  const CategoryFile* file = find_row(kDeviceMemory, path, &value);
  return file && show(sum(node.usage.device[core], file->types), value, text);
}

}  // namespace

bool find_statistic(Machine& machine, DeviceNode& node, std::string_view path, std::string* text) {
  std::lock_guard lock(node.mutex);
  std::string_view value;
  bool found = false;
  if (take(&path, "stats/memory_usage/host_mem/")) {
    const CategoryFile* file = find_row(kHostMemory, path, &value);
    found = file && show(sum(node.usage.host, file->types), value, text);
  } else if (take(&path, "neuron_core")) {
    std::uint32_t core = 0;
    const auto [end, ec] = std::from_chars(path.data(), path.data() + path.size(), core);
    path.remove_prefix(static_cast<std::size_t>(end - path.data()));
    found = ec == std::errc() && core < machine.cores() && core < kMaxCores &&
            take(&path, "/stats/") && core_statistic(machine, node, core, path, text);
  }
  if (found) *text += "\n";
  return found;
}

}  // namespace opennrt::emu
