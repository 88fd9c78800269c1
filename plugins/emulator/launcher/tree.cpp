// SPDX-License-Identifier: Apache-2.0
#include "launcher/tree.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace opennrt::emu::launcher {

namespace {

constexpr unsigned kMostDevices = 64, kMostCores = 8;
constexpr mode_t kDirectoryMode = 0555, kNodeMode = 0666, kTextMode = 0444, kWritableMode = 0644;

bool make_file(const std::string& path, mode_t mode, std::string* error) {
  std::error_code code;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), code);
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
  if (fd >= 0) {
    ::fchmod(fd, mode);  // whatever the umask says
    ::close(fd);
    return true;
  }
  *error = path + ": " + std::strerror(errno);
  return false;
}

}  // namespace

std::vector<std::string> machine_attributes() {
  std::vector<std::string> names = {"/sys/module/neuron/version",
                                    "/sys/devices/virtual/dmi/id/product_name"};
  for (const char* name :
       {"node_id_2", "node_id_4", "server_id_2", "server_id_4", "ultraserver_mode"})
    names.push_back(std::string("/sys/class/neuron_device/") + name);
  return names;
}

std::vector<std::string> device_attributes(unsigned device, unsigned cores) {
  const std::string base = "/sys/class/neuron_device/neuron" + std::to_string(device) + "/";
  std::vector<std::string> names;
  for (const char* name :
       {"core_count", "connected_devices", "reset*", "info/notify_delay", "info/serial_number",
        "info/architecture/arch_type", "info/architecture/instance_type",
        "info/architecture/device_name", "stats/hardware/sram_ecc_uncorrected",
        "stats/hardware/mem_ecc_uncorrected", "stats/hardware/mem_ecc_repairable_uncorrected"})
    names.push_back(base + name);
  for (unsigned core = 0; core < cores; ++core) {
    const std::string below = base + "neuron_core" + std::to_string(core);
    names.push_back(below + "/info/architecture/arch_type");
    for (const char* kind : {"device_mem", "host_mem"})
      for (const char* value : {"total", "present", "peak"})
        names.push_back(below + "/stats/memory_usage/" + kind + "/" + value);
  }
  return names;
}

bool make_tree(const std::string& root, const std::function<bool(const std::string&)>& exists,
               std::string* error) {
  const auto add = [&](std::string name) {
    const bool writable = name.ends_with('*');
    if (writable) name.pop_back();
    return !exists(name) || make_file(root + name, writable ? kWritableMode : kTextMode, error);
  };
  for (const std::string& name : machine_attributes())
    if (!add(name)) return false;
  for (unsigned device = 0; device < kMostDevices; ++device) {
    const std::string node = "/dev/neuron" + std::to_string(device);
    if (!exists(node)) continue;
    if (!make_file(root + node, kNodeMode, error)) return false;
    for (const std::string& name : device_attributes(device, kMostCores))
      if (!add(name)) return false;
  }
  // Read-only from here on.
  std::error_code code;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root, code))
    if (entry.is_directory(code)) ::chmod(entry.path().c_str(), kDirectoryMode);
  if (code) *error = root + ": " + code.message();
  return !code;
}

void remove_tree(const std::string& root) {
  std::error_code code;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root, code))
    if (entry.is_directory(code) && !entry.is_symlink(code)) ::chmod(entry.path().c_str(), 0700);
  std::filesystem::remove_all(root, code);
}

}  // namespace opennrt::emu::launcher
