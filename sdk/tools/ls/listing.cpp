// SPDX-License-Identifier: Apache-2.0
#include "ls/listing.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <sstream>

#include "remote/client.h"

namespace opennrt::tools {

namespace {

constexpr char kClass[] = "/sys/class/neuron_device/neuron";

// The files of the driver, of the kernel's or of a daemon's.
struct Files {
  std::function<bool(const std::string&)> exists;
  std::function<std::string(const std::string&)> line;
  std::function<std::string(const std::string&)> ask;  // a software device's control channel
  bool openers = false;  // processes that have a node open are looked for
};

Files system_files(const Surroundings& here, bool openers) {
  return {.exists =
              [&here](const std::string& path) {
                std::error_code code;
                return std::filesystem::exists(here.system(path), code);
              },
          .line = [&here](const std::string& path) { return here.line_of(path); },
          .ask = [](const std::string&) { return std::string(); },
          .openers = openers};
}

Files daemon_files(emu::remote::Client& client) {
  return {.exists = [&client](const std::string& path) { return client.exists(path.c_str()) == 1; },
          .line =
              [&client](const std::string& path) {
                std::string text(4096, '\0');
                const std::int64_t n = client.read_text(path.c_str(), text.data(), text.size());
                text.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
                return text.substr(0, text.find('\n'));
              },
          .ask =
              [&client](const std::string& request) {
                std::string reply;
                return client.control(request.c_str(), &reply) >= 0 ? reply : std::string();
              },
          .openers = false};
}

std::optional<std::uint64_t> number(const std::string& text) {
  if (text.empty() || text.find_first_not_of("0123456789") != text.npos) return std::nullopt;
  return std::strtoull(text.c_str(), nullptr, 10);
}

// "NCv3" -> 3
std::uint32_t arch_number(const std::string& text) {
  return text.starts_with("NCv")
             ? static_cast<std::uint32_t>(std::strtoul(text.c_str() + 3, nullptr, 10))
             : 0;
}

// "NDv3" -> "v3"
std::string version_number(const std::string& text) {
  return text.starts_with("NDv") ? text.substr(2) : std::string();
}

const nrtp_product* find_product(const nrtp_arch_plugin& arch, const std::string& name) {
  const char* row = reinterpret_cast<const char*>(arch.products);
  for (std::uint32_t i = 0; i < arch.n_products; ++i, row += arch.product_stride) {
    const auto* product = reinterpret_cast<const nrtp_product*>(row);
    if (product->name != nullptr && name == product->name) return product;
  }
  return nullptr;
}

class Collector {
 public:
  Collector(Surroundings& here, const Files& files, Listing* out)
      : here_(here), files_(files), out_(out) {}

  void run() {
    out_->driver = files_.line("/sys/module/neuron/version");
    out_->product = files_.line("/sys/devices/virtual/dmi/id/product_name");
    for (std::uint32_t i = 0; i < NRTP_MAX_DEVICES; ++i)
      if (files_.exists("/dev/neuron" + std::to_string(i))) add_device(i);
    number_cores();
    own_cores();
  }

 private:
  void add_device(std::uint32_t index) {
    const std::string directory = kClass + std::to_string(index);
    Device device;
    device.index = index;
    device.silicon = files_.line(directory + "/info/architecture/device_name");
    device.version = version_number(files_.line(directory + "/info/architecture/arch_type"));
    const auto errors = [&](const char* name) {
      return number(files_.line(directory + "/stats/hardware/" + name));
    };
    device.sram_uncorrected = errors("sram_ecc_uncorrected");
    device.hbm_uncorrected = errors("mem_ecc_uncorrected");
    device.hbm_repairable = errors("mem_ecc_repairable_uncorrected");
    device.arch_type =
        arch_number(files_.line(directory + "/neuron_core0/info/architecture/arch_type"));
    const auto plugin = device.arch_type != 0
                            ? here_.loader().arch(device.arch_type)
                            : Result<const nrtp_arch_plugin*>(Status::invalid("no such file"));
    std::uint64_t cores = number(files_.line(directory + "/core_count")).value_or(0);
    if (plugin.is_ok()) {
      arch_ = *plugin;
      device.arch = arch_->name;
      product_ = find_product(*arch_, out_->product);
      // The rest of them is fused off.
      if (product_ != nullptr && product_->cores != 0)
        cores = std::min<std::uint64_t>(cores, product_->cores);
      device.memory_total = memory_total();
    } else if (device.arch_type != 0) {
      out_->reason = std::string(plugin.status().message());
      out_->good = false;
    }
    for (std::uint32_t core = 0; core < cores && core < 64; ++core) {
      device.cores.push_back({.core = core, .logical = 0, .holder = {}});
      const auto used = number(files_.line(directory + "/neuron_core" + std::to_string(core) +
                                           "/stats/memory_usage/device_mem/total"));
      if (used) device.memory_used = device.memory_used.value_or(0) + *used;
    }
    add_processes(device);
    out_->devices.push_back(std::move(device));
  }

  std::optional<std::uint64_t> memory_total() const {
    // A software device may have less than its product.
    if (const auto channel = number(files_.ask("memory"))) return *channel * arch_->geometry->n_hbm;
    if (product_ == nullptr) return std::nullopt;
    return product_->hbm_channel_bytes * arch_->geometry->n_hbm;
  }

  void add_processes(Device& device) {
    std::istringstream lines(files_.ask("holders " + std::to_string(device.index)));
    for (std::string line; std::getline(lines, line);) {
      const std::size_t blank = line.find(' ');
      if (blank != line.npos)
        device.processes.push_back(
            holder_of(std::strtol(line.c_str(), nullptr, 10), line.substr(blank + 1)));
    }
    if (!files_.openers) return;
    for (const long pid : openers(here_.system("/dev/neuron" + std::to_string(device.index))))
      device.processes.push_back(holder_of(pid));
  }

  // As the runtime numbers logical cores.
  void number_cores() {
    if (arch_ == nullptr || out_->devices.empty()) return;
    book::Machine machine;
    for (const Device& device : out_->devices) machine.devices.push_back(device.index);
    machine.arch = arch_;
    machine.product = product_;
    machine.cores_per_device = static_cast<std::uint32_t>(out_->devices[0].cores.size());
    if (machine.cores_per_device == 0) return;
    const auto size = book::lnc_size(machine, here_.config());
    if (!size.is_ok()) {
      out_->reason = std::string(size.status().message());
      out_->good = false;
      return;
    }
    out_->lnc = *size;
    std::uint32_t physical = 0;
    for (Device& device : out_->devices)
      for (Core& core : device.cores) core.logical = physical++ / *size;
  }

  void own_cores() {
    std::istringstream lines(files_.ask("owners"));
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      std::uint32_t index = 0, number = 0;
      long pid = 0;
      std::string command;
      if (!(words >> index >> number >> pid)) continue;
      std::getline(words >> std::ws, command);
      for (Device& device : out_->devices)
        for (Core& core : device.cores)
          if (device.index == index && core.core == number) core.holder = holder_of(pid, command);
    }
  }

  Surroundings& here_;
  const Files& files_;
  Listing* out_;
  const nrtp_arch_plugin* arch_ = nullptr;
  const nrtp_product* product_ = nullptr;
};

void collect_kernel(Surroundings& here, bool openers, Listing* out) {
  out->served_by = "kernel";
  const Files files = system_files(here, openers);
  Collector(here, files, out).run();
  if (!out->devices.empty()) return;
  out->served_by.clear();
  out->good = false;
  out->reason = out->driver.empty()
                    ? "the kernel driver is not loaded; `opennrt doctor` looks closer"
                    : "driver " + out->driver +
                          " is loaded, but there is no /dev/neuron* here; in a container pass the "
                          "nodes in";
}

void collect_daemon(Surroundings& here, std::unique_ptr<emu::remote::Client>* kept, Listing* out) {
  const std::string socket = here.socket();
  std::string error;
  std::unique_ptr<emu::remote::Client>& client = *kept;
  if (client == nullptr) error = here.socket_trouble();
  if (client == nullptr && error.empty())
    client = emu::remote::Client::attach(here.watch_options(), &error);
  if (client == nullptr) {
    // Not there yet is no fault: the next program starts it.
    out->good = error.starts_with("nothing serves");
    out->reason = out->good ? error +
                                  ": the software device of all processes begins with the first "
                                  "program that uses it, and ends emulator.idle_exit_s after the "
                                  "last one"
                            : error;
    return;
  }
  out->served_by =
      "opennrt-emud (pid " + std::to_string(client->daemon_pid()) + ", " + socket + ")";
  const Files files = daemon_files(*client);
  Collector(here, files, out).run();
  const std::string lost = client->lost();
  if (lost.empty()) return;
  *out = Listing();
  out->reason = "the software device is lost: " + lost;
}

Listing collect_all(Surroundings& here, std::unique_ptr<emu::remote::Client>* client,
                    bool openers) {
  Listing out;
  if (!here.loaded().status.is_ok()) {
    out.good = false;
    out.reason = here.loaded().status.message();
  } else if (here.on_kernel()) {
    collect_kernel(here, openers, &out);
  } else if (here.shared_machine()) {
    collect_daemon(here, client, &out);
  } else if (here.on_emulator()) {
    out.reason =
        "there is no device to show: every process has a software device of its own, which begins "
        "and ends with it (emulator.scope: process). For one that processes share, and that shows "
        "here, set OPENNRT_EMULATOR_SCOPE=machine";
  } else {
    out.reason = "device: " + here.config().text(config::Key::kDevice) +
                 " has no devices of the machine to show";
  }
  return out;
}

}  // namespace

Listing collect(Surroundings& here) {
  std::unique_ptr<emu::remote::Client> client;
  Listing out = collect_all(here, &client, true);
  out.plugins = here.loader().list_candidates();
  return out;
}

Listing collect_devices(Surroundings& here, std::unique_ptr<emu::remote::Client>* client) {
  return collect_all(here, client, false);
}

}  // namespace opennrt::tools
