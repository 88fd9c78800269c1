// SPDX-License-Identifier: Apache-2.0
//
// The files in /sys that the runtime and tools read.
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string>
#include <string_view>

#include "driver/machine.h"
#include "driver/machine_statistics.h"

namespace opennrt::emu {

namespace {

// First part of the product name, first letter large: "trn1.2xlarge" -> "Trn1",
// "trn3-gen1-server" -> "Trn3".
std::string family(const char* product) {
  std::string text(product, std::strcspn(product, ".-"));
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

std::string neighbours(const Machine& machine, std::uint32_t index) {
  std::string text;
  for (std::uint8_t other : connected_devices(*machine.config().arch, *machine.config().product,
                                              machine.devices(), index)) {
    if (!text.empty()) text += ", ";
    text += std::to_string(other);
  }
  return text + "\n";
}

struct GlobalFile {
  const char* path;
  std::string (*text)(const Machine&);
};
struct DeviceFile {
  const char* path;  // below the directory of the device
  std::string (*text)(const Machine&, DeviceNode&);
};

// One is a link to the other.
constexpr std::string_view kClass = "/sys/class/neuron_device/";
constexpr std::string_view kVirtual = "/sys/devices/virtual/neuron_device/";

const GlobalFile kGlobalFiles[] = {
    {"/sys/module/neuron/version",
     [](const Machine& m) { return std::string(m.config().driver->text) + "\n"; }},
    {"/sys/devices/virtual/dmi/id/product_name",
     [](const Machine& m) { return std::string(m.config().product->name) + "\n"; }},
    {"/sys/class/neuron_device/node_id_2", [](const Machine&) { return std::string("-1\n"); }},
    {"/sys/class/neuron_device/node_id_4", [](const Machine&) { return std::string("-1\n"); }},
    {"/sys/class/neuron_device/server_id_2",
     [](const Machine&) { return std::string("0000000000000000\n"); }},
    {"/sys/class/neuron_device/server_id_4",
     [](const Machine&) { return std::string("0000000000000000\n"); }},
    {"/sys/class/neuron_device/ultraserver_mode", [](const Machine&) { return std::string("\n"); }},
};

const DeviceFile kDeviceFiles[] = {
    {"core_count",
     [](const Machine& m, DeviceNode&) { return std::to_string(m.config().arch->geometry->tpbs); }},
    {"connected_devices",
     [](const Machine& m, DeviceNode& node) { return neighbours(m, node.index); }},
    {"reset",
     [](const Machine&, DeviceNode& node) {
       std::lock_guard lock(node.mutex);
       return std::to_string(static_cast<std::uint32_t>(Machine::state_of(node, false))) + "\n";
     }},
    {"info/notify_delay", [](const Machine&, DeviceNode&) { return std::string("-1\n"); }},
    {"info/serial_number",
     [](const Machine&, DeviceNode&) { return std::string("0000000000000000\n"); }},
    {"info/architecture/arch_type",
     [](const Machine& m, DeviceNode&) {
       return "NDv" + std::to_string(m.config().product->device_kind) + "\n";
     }},
    {"info/architecture/instance_type",
     [](const Machine& m, DeviceNode&) { return family(m.config().product->name) + "\n"; }},
    {"info/architecture/device_name",
     [](const Machine& m, DeviceNode&) { return std::string(m.config().product->silicon) + "\n"; }},
    // Counters since the driver was loaded (aws-neuron-driver 2.24.7.0).
    {"stats/hardware/sram_ecc_uncorrected",
     [](const Machine&, DeviceNode& node) {
       return std::to_string(node.device->error_counters().sram_uncorrected) + "\n";
     }},
    {"stats/hardware/mem_ecc_uncorrected",
     [](const Machine&, DeviceNode& node) {
       return std::to_string(node.device->error_counters().hbm_uncorrected) + "\n";
     }},
    {"stats/hardware/mem_ecc_repairable_uncorrected",
     [](const Machine&, DeviceNode& node) {
       return std::to_string(node.device->error_counters().hbm_repairable) + "\n";
     }},
};

// "neuron<N>/rest" below the class directory; false for anything else.
bool split(std::string_view path, std::string_view prefix, std::uint32_t* index,
           std::string_view* rest) {
  if (!path.starts_with(prefix)) return false;
  path.remove_prefix(prefix.size());
  const auto [end, ec] = std::from_chars(path.data(), path.data() + path.size(), *index);
  if (ec != std::errc() || end == path.data() + path.size() || *end != '/') return false;
  *rest = path.substr(static_cast<std::size_t>(end - path.data()) + 1);
  return true;
}

bool split_device(std::string_view path, std::uint32_t* index, std::string_view* rest) {
  for (const std::string_view directory : {kClass, kVirtual})
    if (path.starts_with(directory))
      return split(path.substr(directory.size()), "neuron", index, rest);
  return false;
}

bool find_text(Machine& machine, std::string_view path, std::string* text) {
  for (const GlobalFile& file : kGlobalFiles) {
    if (path != file.path) continue;
    *text = file.text(machine);
    return true;
  }
  std::uint32_t index = 0, core = 0;
  std::string_view rest, core_rest;
  if (!split_device(path, &index, &rest)) return false;
  DeviceNode* node = machine.node(index);
  if (!node) return false;
  for (const DeviceFile& file : kDeviceFiles) {
    if (rest != file.path) continue;
    *text = file.text(machine, *node);
    return true;
  }
  if (split(rest, "neuron_core", &core, &core_rest) && core < machine.cores() &&
      core_rest == "info/architecture/arch_type") {
    *text = "NCv" + std::to_string(machine.config().arch->arch_type) + "\n";
    return true;
  }
  return find_statistic(machine, *node, rest, text);
}

}  // namespace

int Machine::exists(const char* path) const {
  if (find_path(path)) return 1;
  std::string text;
  return find_text(const_cast<Machine&>(*this), path, &text) ? 1 : 0;
}

std::int64_t Machine::read_text(const char* path, char* buffer, std::size_t n) {
  std::string text;
  if (!find_text(*this, path, &text)) return -ENOENT;
  if (text.size() > n) text.resize(n);
  std::memcpy(buffer, text.data(), text.size());
  if (text.size() < n) buffer[text.size()] = '\0';
  return static_cast<std::int64_t>(text.size());
}

std::int64_t Machine::write_text(const char* path, std::string_view text) {
  std::uint32_t index = 0;
  std::string_view rest;
  if (!split_device(path, &index, &rest) || rest != "reset") return -ENOENT;
  DeviceNode* target = node(index);
  if (!target) return -ENOENT;
  std::lock_guard lock(target->mutex);
  // Only an unused device is reset; the write itself always succeeds.
  if (target->descriptors == 0) {
    target->full_reset = begin_reset(*target, UINT32_MAX);
    target->state = NodeState::kReset;
    target->fails_at = std::chrono::steady_clock::time_point::max();
  }
  return static_cast<std::int64_t>(text.size());
}

}  // namespace opennrt::emu
