// SPDX-License-Identifier: Apache-2.0
#include "api/diagnostics.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <fstream>
#include <mutex>

#include "api/entry.h"
#include "api/version.h"
#include "dump/path_template.h"
#include "log/context.h"

namespace opennrt::api {

namespace {

// What stays the same until the next nrt_init; kept after a failed one.
struct Known {
  std::mutex mutex;  // guards the members
  std::shared_ptr<const config::Config> config;
  std::vector<std::string> machine;
};
Known& known() {
  static Known* const one = new Known;
  return *one;
}

constinit std::array<std::atomic<bool>, 6> g_told{};  // by level

// The firmware of an EC2 instance tells its id.
std::string instance_id() {
  std::string id;
  std::ifstream("/sys/devices/virtual/dmi/id/board_asset_tag") >> id;
  return id.starts_with("i-") ? dump::component(id, "unknown") : "unknown";
}

dump::Settings dump_settings(const config::Config& config, const book::Reservation& reservation) {
  using config::Key;
  dump::Settings out;
  out.directory = config.text(Key::kCoreDumpDir);
  out.directory_given = config.is_given(Key::kCoreDumpDir);
  out.s3_prefix = config.text(Key::kCoreDumpS3Prefix);
  out.helper = config.is_set(Key::kCoreDumpHelper) ? config.text(Key::kCoreDumpHelper)
                                                   : "/opt/aws/neuron/bin/neuron-dump";
  out.helper_given = config.is_given(Key::kCoreDumpHelper);
  out.helper_timeout_ms = static_cast<int>(config.number(Key::kCoreDumpHelperTimeoutS)) * 1000;
  out.instance_id = instance_id();
  for (const auto& cores : reservation.logical_cores()) {
    auto& to = out.cores.emplace_back();
    for (const book::PhysicalCore& core : cores) to.push_back({core.device, core.core});
  }
  out.describe = [](const dump::Failure& failure) {
    std::string all;
    for (const std::string& line : infodump(&failure)) all += line + "\n";
    return all;
  };
  return out;
}

std::string driver_version(const book::Driver& driver) {
  nrtp_ndl_version version{};
  if (driver.ndl().probe->get_version(driver.ctx(), &version) != 0) return "unknown";
  version.text[sizeof version.text - 1] = '\0';
  return version.text;
}

void append_machine(std::vector<std::string>& out) {
  utsname system{};
  if (uname(&system) != 0) return;
  out.push_back(fmt::format("kernel: {} {} {}", system.sysname, system.release, system.machine));
  out.push_back(fmt::format("node name: {}", system.nodename));
}

void append_known(std::vector<std::string>& out) {
  Known& k = known();
  const std::lock_guard lock(k.mutex);
  out.insert(out.end(), k.machine.begin(), k.machine.end());
  if (k.machine.empty()) out.emplace_back("devices: not known yet");
  out.emplace_back("environment:");
  const std::size_t before = out.size();
  if (k.config)
    for (const std::string& line : k.config->describe()) out.push_back("  " + line);
  if (out.size() == before) out.emplace_back("  every setting has its default");
}

// Of the initialised runtime.
void append_state(Session& s, std::vector<std::string>& out) {
  kmgr::Manager& manager = s.manager();
  out.emplace_back("cores:");
  for (std::uint32_t core = 0; core < manager.logical_cores(); ++core) {
    std::string line = fmt::format("  logical core {}: {}", core,
                                   manager.is_usable(core) ? "usable" : "in an unknown state");
    if (const auto use = manager.memory_use(core))
      line += fmt::format(", {} of {} bytes of device memory used", use->used, use->limit);
    out.push_back(std::move(line));
  }
  out.emplace_back("models:");
  const std::size_t before = out.size();
  for (const kmgr::ModelId id : manager.model_ids())
    if (const auto record = manager.find_model(id))
      out.push_back(fmt::format("  model {} '{}' on logical core {}", id, record->program().name,
                                record->model->logical_core()));
  if (out.size() == before) out.emplace_back("  none");
  out.push_back(fmt::format("tensors: {}, sets of tensors: {}",
                            kmgr::Tensors::instance().tensor_count(),
                            kmgr::Tensors::instance().set_count()));
}

bool begins_with_any(std::string_view text, std::span<const std::string_view> beginnings) {
  for (const std::string_view b : beginnings)
    if (text.starts_with(b)) return true;
  return false;
}

// Calls that load, execute, or move data of tensors and collectives.
bool may_leave_dump(std::string_view api) {
  constexpr std::string_view kCalls[] = {
      "nrt_load",       "nrt_unload",  "nrt_execute",           "nrt_tensor_", "nrt_memcpy_",
      "nrt_all_gather", "nrt_barrier", "nrt_build_global_comm", "nrt_cc_",     "nrta_"};
  // Times out when nothing has come yet.
  return api != "nrt_tensor_check_output_completion" && begins_with_any(api, kCalls);
}

}  // namespace

void know_config(std::shared_ptr<const config::Config> config) {
  Known& k = known();
  const std::lock_guard lock(k.mutex);
  k.config = std::move(config);
  k.machine.clear();
}

void know_machine(const book::Driver& driver, const book::Machine& machine,
                  const book::Reservation& reservation) {
  const auto cores = reservation.logical_cores().size();
  std::vector<std::string> lines = {
      fmt::format("driver version: {} through {}, port {}", driver_version(driver),
                  driver.ndl().name, driver.port_name()),
      fmt::format("devices: {} of {} ({}), {} cores each", machine.devices.size(),
                  machine.arch->name, machine.product->name, machine.cores_per_device),
      fmt::format("instance id: {}", instance_id()), fmt::format("LNC: {}", reservation.lnc_size()),
      fmt::format("visible cores: {}-{}", reservation.first(), reservation.first() + cores - 1)};
  Known& k = known();
  const std::lock_guard lock(k.mutex);
  k.machine = std::move(lines);
  dump::open(dump_settings(*k.config, reservation));
}

void forget_diagnostics() { dump::close(); }

std::vector<std::string> infodump(const dump::Failure* failure) {
  std::vector<std::string> out;
  out.emplace_back("----8<---- support information ----8<----");
  out.push_back(fmt::format("runtime: {}, source {}", kVersionText, kGitHash));
  out.emplace_back("microcode library: none");
  out.emplace_back("CCOM: none, collectives of one rank are built in");
  out.emplace_back("NCFW: none");
  out.emplace_back("cluster id: 0000000000000000");
  append_machine(out);
  out.push_back(fmt::format("process: {}", getpid()));
  if (failure != nullptr)
    out.push_back(
        fmt::format("failure: {} in {}", nrt_get_status_as_str(failure->code), failure->api));
  append_known(out);
  if (const Entry entry; entry) append_state(session(), out);
  out.emplace_back("last failures:");
  const std::vector<std::string> failures = log::recent_failures();
  for (const std::string& line : failures) out.push_back("  " + line);
  if (failures.empty()) out.emplace_back("  none");
  out.emplace_back("----8<---- end of support information ----8<----");
  return out;
}

void log_infodump(log::Level level, const dump::Failure* failure) noexcept {
  if (!log::enabled(log::Module::kNrt, level)) return;
  if (g_told[static_cast<std::size_t>(level)].exchange(true)) return;
  try {
    for (const std::string& line : infodump(failure))
      log::write_for_support(level, "nrt_infodump", line);
  } catch (...) {  // out of memory: the failure itself was told
  }
}

void after_failure(const char* api, NRT_STATUS code) noexcept {
  const bool init = std::string_view(api) == "nrt_init";
  if (!init && (!dump::deserves_dump(code) || !may_leave_dump(api))) return;
  const dump::Failure failure{.api = api, .code = code};
  log_infodump(log::Level::kError, &failure);
  if (!init) dump::on_failure(failure);
}

}  // namespace opennrt::api
