// SPDX-License-Identifier: Apache-2.0
//
// Plugins, driver, device nodes, the daemon of the software device, and who has the
// cores.
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "doctor/context.h"
#include "machine/holders.h"
#include "ndl-common/record/trace.h"
#include "port_config.h"
#include "remote/client.h"
#include "remote/spawn.h"

namespace opennrt::tools::doctor {

namespace {

namespace fs = std::filesystem;
using config::Key;

constexpr char kModule[] = "/sys/module/neuron";
constexpr char kVersionFile[] = "/sys/module/neuron/version";
// The oldest drivers that each driver layer drives.
constexpr char kOldestKernelDriver[] = "2.24.7.0", kOldestDriver[] = "2.19.64.0";
constexpr char kDriverPackage[] = "aws-neuronx-dkms";

bool exists(const std::string& path) {
  std::error_code code;
  return fs::exists(path, code);
}

std::string node_name(unsigned index) { return "/dev/neuron" + std::to_string(index); }

// PCI address of a device that an installed arch plugin knows; empty: none.
std::string pci_device(Context& context, std::string* product) {
  std::set<std::pair<std::uint32_t, std::uint32_t>> known;
  std::error_code code;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(context.system("/sys/bus/pci/devices"), code)) {
    const std::string address = entry.path().filename();
    const std::string directory = "/sys/bus/pci/devices/" + address;
    const auto number = [&](const char* file) {
      return std::strtoul(context.line_of(directory + "/" + file).c_str(), nullptr, 16);
    };
    const unsigned long vendor = number("vendor"), device = number("device");
    for (const plugin::Candidate& candidate : context.loader().list_candidates()) {
      if (candidate.manifest.kind != plugin::Kind::kArch) continue;
      const auto arch = context.loader().arch(candidate.manifest.arch_type);
      if (!arch.is_ok()) continue;
      const char* row = reinterpret_cast<const char*>((*arch)->products);
      for (std::uint32_t i = 0; i < (*arch)->n_products; ++i, row += (*arch)->product_stride) {
        const auto* p = reinterpret_cast<const nrtp_product*>(row);
        if (p->pci_vendor != vendor || p->pci_device != device) continue;
        *product = p->silicon;
        return address;
      }
    }
  }
  return "";
}

void add_holder(const std::string& where, const std::string& what, const Holder& holder,
                Findings& out) {
  std::string end = "kill " + std::to_string(holder.pid);
  // A stopped process hears of nothing else until it goes on.
  if (holder.state.find("stopped") != std::string::npos)
    end += "; kill -CONT " + std::to_string(holder.pid);
  out.push_back({"", where, what + " " + described(holder),
                 "end it (" + end + "), or ask for other cores with NEURON_RT_VISIBLE_CORES"});
}

// Cores of a software device that the settings ask for and others have.
void holders_of_cores(Context& context, const book::Driver& driver, const book::Machine& machine,
                      Findings& out) {
  const auto request = book::core_request(machine, context.config());
  if (!request.is_ok()) return;  // told where the machine is looked at
  std::istringstream lines(driver.ask("owners"));
  std::set<long> told;
  std::size_t free_cores = machine.physical_cores();
  std::vector<std::pair<std::uint32_t, Holder>> inside;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::uint32_t device = 0, core = 0;
    long pid = 0;
    std::string command;
    if (!(words >> device >> core >> pid) || !std::getline(words >> std::ws, command)) continue;
    const std::uint32_t logical = (device * machine.cores_per_device + core) / request->lnc_size;
    --free_cores;
    if (request->is_explicit &&
        (logical < request->first || logical >= request->first + request->count))
      continue;
    inside.emplace_back(logical, holder_of(pid, command));
  }
  if (!request->is_explicit && free_cores >= std::size_t{request->count} * request->lnc_size)
    return;
  for (const auto& [logical, holder] : inside)
    if (told.insert(holder.pid).second)
      add_holder("core " + std::to_string(logical),
                 std::to_string(request->count) + " of " + std::to_string(request->total) +
                     " cores are asked for; it is held by",
                 holder, out);
}

// Numbers of a version text; missing ones are 0.
bool older(const std::string& version, const char* than) {
  return plugin::compare_versions(version, than) < 0;
}

}  // namespace

void check_plugins(Context& context, Findings& out) {
  if (context.loaded().config == nullptr) return;
  bool arch = false, ndl = false, emulator = false;
  for (const plugin::Candidate& c : context.loader().list_candidates()) {
    if (c.verdict == plugin::Verdict::kRefused)
      out.push_back({"", c.manifest.path, "plugin refused: " + c.reason,
                     "install its package again, in the release of this runtime (" OPENNRT_VERSION
                     "), or remove it"});
    const bool usable =
        c.verdict == plugin::Verdict::kSelected || c.verdict == plugin::Verdict::kOutranked;
    arch |= usable && c.manifest.kind == plugin::Kind::kArch;
    ndl |= usable && c.manifest.kind == plugin::Kind::kNdl;
    emulator |= usable && c.manifest.kind == plugin::Kind::kPort && c.manifest.name == "emulator";
  }
  for (const std::string& trouble : plugin::troubles(plugin::search_of(context.config()))) {
    const std::string directory = trouble.substr(0, trouble.rfind(": "));
    // The settings say that one does not exist.
    if (std::none_of(out.begin(), out.end(),
                     [&](const Finding& told) { return told.what.starts_with(directory + " "); }))
      out.push_back({"", "plugins", trouble, "make it readable, or take it out of plugins.path"});
  }
  if (!arch)
    out.push_back({"", "plugins", "no arch plugin is installed and usable",
                   "install opennrt-plugin-sunda, -cayman or -mariana, whichever silicon this is"});
  if (!ndl)
    out.push_back(
        {"", "plugins", "no driver layer is installed and usable", "install opennrt-ndl"});
  if (!emulator && context.on_emulator())
    out.push_back({"", "plugins",
                   "there is no /dev/neuron* node and no software device is installed",
                   "install opennrt-emulator, or make the devices visible here"});
}

void check_driver(Context& context, Findings& out) {
  const std::string version = context.line_of(kVersionFile);
  const bool module = exists(context.system(kModule));
  const bool wanted = context.on_kernel();
  if (!module && context.nodes().empty()) {
    std::string silicon;
    const std::string address = pci_device(context, &silicon);
    if (!address.empty())
      out.push_back(
          {"", kModule, silicon + " at PCI " + address + ", but its driver is not loaded",
           std::string("modprobe neuron; if it is not installed, package ") + kDriverPackage});
    else if (wanted)
      out.push_back({"", kModule, "device: kernel is asked for and the driver is not loaded",
                     "modprobe neuron (in a container: on the host), or set device: emulator"});
    return;
  }
  if (!module) {
    out.push_back({"", kModule,
                   "there are device nodes, but the driver is not loaded or /sys is hidden here",
                   "modprobe neuron on the host; in a container mount /sys read-only"});
    return;
  }
  if (version.empty()) {
    out.push_back({"", kVersionFile, "the driver's version cannot be read",
                   "make /sys readable here (in a container: mount it read-only)"});
    return;
  }
  if (std::isdigit(static_cast<unsigned char>(version[0])) == 0)
    out.push_back({"", kVersionFile, "says \"" + version + "\", which is no version",
                   std::string("install the driver (") + kDriverPackage + ") again"});
  else if (older(version, kOldestDriver))
    out.push_back({"", kVersionFile,
                   "driver " + version + " is older than " + kOldestDriver +
                       ", which this runtime needs at least",
                   std::string("install a newer driver (") + kDriverPackage + ")"});
  else if (older(version, kOldestKernelDriver) && context.config().text(Key::kNdl) == "kernel")
    out.push_back({"", context.config().source(Key::kNdl),
                   "ndl is kernel, which needs driver " + std::string(kOldestKernelDriver) +
                       "; this one is " + version,
                   "set ndl: auto or ndl: compat, or install a newer driver"});
}

void check_nodes(Context& context, Findings& out) {
  if (context.nodes().empty()) {
    const std::string& device = context.config().text(Key::kDevice);
    if (exists(context.system(kModule)) && device != "emulator")
      out.push_back(
          {"", "/dev/neuron0",
           "the driver is loaded, but there is no device node here" +
               std::string(device == "auto" ? "; programs run on the software device" : ""),
           "in a container: pass the nodes in (docker run --device /dev/neuron0); else "
           "look into the kernel's log"});
    return;
  }
  if (!context.on_kernel()) return;
  for (const unsigned index : context.nodes()) {
    const std::string path = context.system(node_name(index));
    struct stat info{};
    if (::stat(path.c_str(), &info) != 0) {
      out.push_back({"", node_name(index), strerror(errno), "remove it and load the driver again"});
    } else if (S_ISDIR(info.st_mode)) {
      out.push_back({"", node_name(index), "is a directory: the host has no such device",
                     "start the container with the devices that the host has"});
    } else if (::access(path.c_str(), R_OK | W_OK) != 0) {
      char mode[16];
      snprintf(mode, sizeof mode, "%04o", static_cast<unsigned>(info.st_mode & 07777));
      out.push_back({"", node_name(index),
                     std::string(strerror(errno)) + ": mode " + mode + ", owner " +
                         std::to_string(info.st_uid) + ":" + std::to_string(info.st_gid) +
                         ", this process is user " + std::to_string(::geteuid()),
                     "add the user to group " + std::to_string(info.st_gid) +
                         ", or chmod the node by a udev rule"});
    }
  }
}

void check_daemon(Context& context, Findings& out) {
  if (!context.shared_machine()) return;
  const std::string socket = context.socket();
  const nrtp_host* host = context.loader().host();
  std::string error;
  emu::remote::Options options;
  sockaddr_un address{};
  if (!emu::read_remote_options(host, &options, &error) ||
      !emu::remote::socket_address(socket, &address, &error)) {
    const bool given = !context.config().text(Key::kEmulatorSocket).empty();
    out.push_back({"", given ? context.config().source(Key::kEmulatorSocket) : socket, error,
                   "set emulator.socket to a whole path of at most " +
                       std::to_string(sizeof address.sun_path - 1) + " characters"});
    return;
  }
  const std::string directory = fs::path(socket).parent_path();
  struct stat info{};
  if (::stat(directory.c_str(), &info) != 0) {
    const std::string parent = fs::path(directory).parent_path();
    if (::access(parent.c_str(), W_OK | X_OK) != 0)
      out.push_back({"", directory,
                     "the directory of the software device's socket cannot be made: " + parent +
                         ": " + strerror(errno),
                     "set XDG_RUNTIME_DIR, or emulator.socket to a path of your own"});
    return;
  }
  const bool sticky = (info.st_mode & S_ISVTX) != 0;
  if (!S_ISDIR(info.st_mode) || (info.st_uid != ::geteuid() && info.st_uid != 0) ||
      ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0 && !sticky)) {
    out.push_back({"", directory,
                   "the directory of the software device's socket is not this user's alone",
                   "chmod 0700 it, or set emulator.socket to a path in a directory of your own"});
    return;
  }
  // What serves can be reached, and what does not can be started.
  const bool enters = ::access(directory.c_str(), X_OK) == 0;
  if (!enters || (!exists(socket) && ::access(directory.c_str(), W_OK) != 0)) {
    out.push_back({"", directory,
                   std::string(enters ? "the software device cannot be started, its socket would "
                                        "be in a directory of another user: "
                                      : "the directory of the software device's socket is another "
                                        "user's: ") +
                       strerror(errno),
                   "set XDG_RUNTIME_DIR, or emulator.socket to a path of your own"});
    return;
  }
  if (::stat(socket.c_str(), &info) == 0 && !S_ISSOCK(info.st_mode)) {
    out.push_back({"", socket, "is no socket, so that no software device can serve there",
                   "remove it, or set emulator.socket to another path"});
    return;
  }
  if (emu::remote::find_daemon().empty())
    out.push_back({"", "opennrt-emud", "is not installed beside this program",
                   "install opennrt-emulator, or name it in OPENNRT_EMUD"});
  if (exists(socket) && context.daemon_serves(&error)) return;
  if (!error.empty() && !error.starts_with("nothing serves"))
    out.push_back(
        {"", socket, error, "end that opennrt-emud; the next program starts one that fits"});
  // What a daemon that is started would refuse.
  emu::MachineConfig machine;
  if (context.product() != nullptr && !emu::read_machine_config(host, &machine, &error))
    out.push_back({"", "software device", error, "correct that setting"});
}

void check_recording(Context& context, Findings& out) {
  if (context.config().text(Key::kDevice) != "replay") return;
  const std::string& file = context.config().text(Key::kReplayFile);
  if (file.empty()) {
    out.push_back({"", context.config().source(Key::kDevice),
                   "device: replay answers from a recording, and none is named",
                   "name one in replay.file (OPENNRT_REPLAY_FILE); a run with "
                   "OPENNRT_NDL_RECORD=FILE makes one"});
    return;
  }
  trace::Trace recording;
  std::string error;
  if (trace::read_trace(file, &recording, &error) == 0 &&
      (recording.sessions.empty() || recording.sessions[0].lines.empty()))
    error = file + ": holds no call";
  if (!error.empty())
    out.push_back({"", context.config().source(Key::kReplayFile), error,
                   "name a recording; a run with OPENNRT_NDL_RECORD=FILE makes one"});
}

void check_holders(Context& context, Findings& out) {
  std::string error;
  if (context.shared_machine()) {
    const book::Machine* machine = context.machine(&error);
    if (machine != nullptr) holders_of_cores(context, *context.driver(&error), *machine, out);
    return;
  }
  if (!context.on_kernel()) return;
  // The driver does not tell whose a core is, but the nodes are files.
  for (const unsigned index : context.nodes())
    for (const long pid : openers(context.system(node_name(index))))
      add_holder(node_name(index), "its cores may be taken: it is open in", holder_of(pid, ""),
                 out);
}

void check_start(Context& context, Findings& out) {
  if (!out.empty()) return;  // which explain it better
  std::string error;
  const book::Machine* machine = context.machine(&error);
  if (!error.empty()) {
    out.push_back({"", "nrt_init", error, "as the message says"});
    return;
  }
  if (machine == nullptr) return;
  if (const auto request = book::core_request(*machine, context.config()); !request.is_ok())
    out.push_back({"", "nrt_init", std::string(request.status().message()),
                   "ask for cores that this machine has"});
}

}  // namespace opennrt::tools::doctor
