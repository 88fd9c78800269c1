// SPDX-License-Identifier: Apache-2.0
#include "port_config.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "driver/request.h"
#include "kill_process.h"

namespace opennrt::emu {

namespace {

constexpr std::uint64_t kHostBytes = std::uint64_t{4} << 30;

bool get(const nrtp_host* host, const char* key, std::string* out, std::size_t limit = 256) {
  std::string text(limit, '\0');
  if (host->config_get(host->self, key, text.data(), text.size()) != NRTP_OK) return false;
  *out = text.c_str();
  return !out->empty();
}

// A list of dumps or faults may be long; more than this is no setting.
constexpr std::size_t kListBytes = 1 << 20;
constexpr std::size_t kPathBytes = 4096;

// Decimal or 0x, optionally followed by K, M, G or T (powers of 1024).
bool parse_bytes(std::string_view text, std::uint64_t* out) {
  int base = 10;
  if (text.starts_with("0x")) {
    base = 16;
    text.remove_prefix(2);
  }
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), *out, base);
  if (ec != std::errc()) return false;
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  constexpr std::string_view kUnits = "KMGT";
  if (unit.empty()) return true;
  const std::size_t power = kUnits.find(unit[0]);
  if (power == std::string_view::npos) return false;
  const std::string_view rest = unit.substr(1);
  if (!rest.empty() && rest != "B" && rest != "iB") return false;
  const unsigned shift = 10 * (static_cast<unsigned>(power) + 1);
  if (*out > (UINT64_MAX >> shift)) return false;
  *out <<= shift;
  return true;
}

bool number(const nrtp_host* host, const char* key, std::uint64_t* out, std::string* error) {
  std::string text;
  if (!get(host, key, &text)) return true;
  if (parse_bytes(text, out)) return true;
  *error = std::string(key) + " is \"" + text + "\", which is no number; write for example 8G";
  return false;
}

std::vector<std::string_view> request_names() {
  std::vector<std::string_view> names;
  for (const RequestEntry& entry : request_table()) names.push_back(entry.name);
  return names;
}

const nrtp_product* product_at(const nrtp_arch_plugin& arch, std::uint32_t index) {
  return reinterpret_cast<const nrtp_product*>(
      reinterpret_cast<const unsigned char*>(arch.products) +
      std::size_t{index} * arch.product_stride);
}

void tell_product(const nrtp_host* host, const MachineConfig& config, const char* why) {
  const std::string text = std::string("the software device is a ") + config.product->name + " (" +
                           config.arch->name + "): " + why;
  host->log(host->self, NRTP_LOG_INFO, "EMU", text.c_str());
}

bool find_product(const nrtp_host* host, MachineConfig* out, std::string* error) {
  std::string name = "auto";
  get(host, "emulator.product", &name);
  if (name == "auto") {
    out->arch = host->arch(host->self, 0);  // says why there is none
    if (!out->arch || out->arch->n_products == 0) {
      *error =
          "emulator.product is auto, which is the first product of the only arch plugin, of "
          "several trn1.2xlarge; repair or install its arch plugin, or name another product in "
          "OPENNRT_EMULATOR_PRODUCT";
      return false;
    }
    out->product = product_at(*out->arch, 0);
    tell_product(host, *out, "emulator.product is auto");
    return true;
  }
  out->arch = host->arch_of_product(host->self, name.c_str());
  for (std::uint32_t i = 0; out->arch && i < out->arch->n_products; ++i)
    if (name == product_at(*out->arch, i)->name) out->product = product_at(*out->arch, i);
  if (out->product) {
    tell_product(host, *out, "emulator.product names it");
    return true;
  }
  *error = "emulator.product is \"" + name + "\", which no installed arch plugin lists";
  return false;
}

// emulator.verify as a list, and its keys, which add to the list.
bool read_verify(const nrtp_host* host, VerifyOptions* out, std::string* error) {
  std::string text;
  if (get(host, "emulator.verify", &text) && !parse_verify(text, out, error)) return false;
  const auto flag = [&](const char* key, bool* on) {
    if (get(host, key, &text)) *on = *on || text == "true" || text == "1";
  };
  flag("emulator.verify.poison", &out->poison);
  flag("emulator.verify.races", &out->races);
  flag("emulator.verify.coverage", &out->coverage);
  flag("emulator.verify.bounds", &out->bounds);
  if (!get(host, "emulator.verify.order_seed", &text)) return true;
  std::uint64_t seed = 0;
  if (!number(host, "emulator.verify.order_seed", &seed, error)) return false;
  out->order_seed = seed;
  return true;
}

// What the imitated driver lacks: emulator.driver_features and driver_without.
bool read_driver_limits(const nrtp_host* host, MachineConfig* out, std::string* error) {
  std::string mask;
  if (get(host, "emulator.driver_features", &mask) &&
      (!parse_bytes(mask, &out->driver_features) || out->driver_features > kKnownFeatures)) {
    *error = "emulator.driver_features is \"" + mask +
             "\"; write the mask of the feature bits to keep, 0 to 0x1FF, for example 0x1BF "
             "for a driver without the 64-bit forms (bit 6)";
    return false;
  }
  std::string names;
  get(host, "emulator.driver_without", &names, kListBytes);
  std::string name;
  for (const char c : names + ",") {
    if (c != ',' && c != ' ') {
      name += c;
    } else if (!name.empty()) {
      out->driver_without.push_back(std::move(name));
      name.clear();
    }
  }
  return true;
}

}  // namespace

bool read_machine_config(const nrtp_host* host, MachineConfig* out, std::string* error) {
  out->host = host;
  if (!find_product(host, out, error)) return false;
  std::uint64_t devices = 1, host_bytes = kHostBytes, threads = 0;
  if (!number(host, "emulator.devices", &devices, error) ||
      !number(host, "emulator.hbm_bytes", &out->hbm_bytes, error) ||
      !number(host, "emulator.host_bytes", &host_bytes, error) ||
      !number(host, "emulator.threads", &threads, error))
    return false;
  out->devices = static_cast<std::uint32_t>(std::min<std::uint64_t>(devices, UINT32_MAX));
  out->host_bytes = host_bytes;
  constexpr std::uint64_t kMostThreads = 1024;
  if (threads > kMostThreads) {
    *error = "emulator.threads is " + std::to_string(threads) + ", allowed are 0 (automatic) to " +
             std::to_string(kMostThreads);
    return false;
  }
  out->threads = static_cast<std::uint32_t>(threads);
  std::string version = kDefaultDriver;
  get(host, "emulator.driver_version", &version);
  out->driver = find_driver_preset(version);
  if (!out->driver) {
    *error = "emulator.driver_version is \"" + version + "\", allowed are";
    for (const DriverPreset& preset : kDriverPresets) *error += std::string(" ") + preset.text;
    return false;
  }
  if (!read_driver_limits(host, out, error)) return false;
  if (!read_verify(host, &out->verify, error)) return false;
  std::string unconfirmed;
  if (!get(host, "emulator.unconfirmed_instructions", &unconfirmed)) unconfirmed = "run";
  if (unconfirmed != "run" && unconfirmed != "refuse") {
    *error =
        "emulator.unconfirmed_instructions is \"" + unconfirmed + "\", allowed are run, refuse";
    return false;
  }
  out->refuse_unconfirmed = unconfirmed == "refuse";
  std::string faults;
  const FaultLimits limits{.devices = std::max(out->devices, 1u),
                           .cores = out->product->cores,
                           .rings = out->arch->geometry->dma_per_core,
                           .channels = out->arch->geometry->n_hbm,
                           .requests = request_names()};
  out->kill_process = kill_process;
  if (get(host, "emulator.faults", &faults, kListBytes) &&
      !parse_faults(faults, limits, &out->faults, error))
    return false;
  std::string items;
  if (get(host, "emulator.inspect", &items, kListBytes) &&
      !parse_inspect(items, &out->inspect.items, error))
    return false;
  get(host, "emulator.inspect_dir", &out->inspect.directory, kPathBytes);
  get(host, "emulator.report", &out->report, kPathBytes);
  out->memory_limit = cgroup_memory_max();
  return true;
}

bool read_scope(const nrtp_host* host, bool* one_for_all, std::string* error) {
  std::string scope = "process";
  get(host, "emulator.scope", &scope);
  *one_for_all = scope == "machine";
  if (scope == "machine" || scope == "process") return true;
  *error = "emulator.scope is \"" + scope + "\", allowed are process, machine";
  return false;
}

std::string plain_number(const std::string& text) {
  std::uint64_t bytes = 0;
  return !text.empty() && parse_bytes(text, &bytes) ? std::to_string(bytes) : text;
}

std::vector<remote::Setting> machine_settings(const nrtp_host* host) {
  // With their defaults: what is not set is this.
  static constexpr struct {
    const char* key;
    const char* otherwise;
    bool size, path, list = false;
  } kKeys[] = {
      {"emulator.product", "auto", false, false},
      {"emulator.devices", "1", true, false},
      {"emulator.hbm_bytes", "", true, false},
      {"emulator.host_bytes", "", true, false},
      {"emulator.threads", "", true, false},
      {"emulator.driver_version", "", false, false},
      {"emulator.verify", "", false, false, true},
      {"emulator.verify.order_seed", "", true, false},
      {"emulator.verify.poison", "", false, false},
      {"emulator.verify.races", "", false, false},
      {"emulator.verify.coverage", "", false, false},
      {"emulator.verify.bounds", "", false, false},
      {"emulator.unconfirmed_instructions", "run", false, false},
      {"emulator.faults", "", false, false, true},
      {"emulator.inspect", "", false, false, true},
      {"emulator.inspect_dir", "", false, true},
      {"emulator.report", "", false, true},
  };
  std::vector<remote::Setting> out;
  for (const auto& k : kKeys) {
    std::string value;
    if (!get(host, k.key, &value, k.list ? kListBytes : kPathBytes)) value = k.otherwise;
    if (k.size) value = plain_number(value);
    // The daemon's working directory is another one.
    if (k.path && !value.empty() && value.front() != '/')
      value = std::filesystem::absolute(value).string();
    out.emplace_back(k.key, std::move(value));
  }
  return out;
}

bool read_remote_options(const nrtp_host* host, remote::Options* out, std::string* error) {
  get(host, "emulator.socket", &out->socket, kPathBytes);
  if (!out->socket.empty() && out->socket.front() != '/') {
    *error = "emulator.socket is \"" + out->socket + "\", which is no absolute path";
    return false;
  }
  out->settings = machine_settings(host);
  // auto takes what there is.
  std::erase_if(out->settings, [](const remote::Setting& s) {
    return s.first == "emulator.product" && s.second == "auto";
  });
  return true;
}

bool read_idle_exit(const nrtp_host* host, std::uint32_t* seconds, std::string* error) {
  std::uint64_t value = *seconds;
  if (!number(host, "emulator.idle_exit_s", &value, error)) return false;
  *seconds = static_cast<std::uint32_t>(std::min<std::uint64_t>(value, UINT32_MAX));
  return true;
}

std::uint64_t cgroup_memory_max(const char* proc_cgroup, const char* root) {
  std::ifstream groups(proc_cgroup);
  std::string line, path;
  while (std::getline(groups, line))
    if (line.starts_with("0::")) path = line.substr(3);
  // The tightest limit of the group and its parents counts.
  std::uint64_t lowest = 0;
  for (;;) {
    std::ifstream file(std::string(root) + path + "/memory.max");
    std::string text;
    std::uint64_t value = 0;
    if (file >> text &&
        std::from_chars(text.data(), text.data() + text.size(), value).ec == std::errc() &&
        (lowest == 0 || value < lowest))
      lowest = value;
    const std::size_t slash = path.rfind('/');
    if (path.empty() || slash == std::string::npos) break;
    path.resize(slash);
  }
  return lowest;
}

}  // namespace opennrt::emu
