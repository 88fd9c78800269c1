// SPDX-License-Identifier: Apache-2.0
//
// Settings, variables, the places they name and the limits of the process.
#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "config/names.h"
#include "doctor/context.h"

namespace opennrt::tools::doctor {

namespace {

using config::Key;

// "where: the rest"
Finding from_message(const std::string& message, const char* fix) {
  const std::size_t colon = message.find(": ");
  if (colon == message.npos) return {"", "settings", message, fix};
  return {"", message.substr(0, colon), message.substr(colon + 2), fix};
}

// Why nothing can be written to a directory that need not exist yet; empty: it can.
std::string unwritable(const std::filesystem::path& directory) {
  std::error_code code;
  std::filesystem::path at = std::filesystem::absolute(directory, code);
  for (;;) {
    struct stat info{};
    if (::stat(at.c_str(), &info) == 0) {
      if (!S_ISDIR(info.st_mode)) return at.string() + " is no directory";
      if (::access(at.c_str(), W_OK | X_OK) == 0) return "";
      return at.string() + ": " + strerror(errno);
    }
    if (errno != ENOENT) return at.string() + ": " + strerror(errno);
    if (at == at.parent_path()) return at.string() + ": " + strerror(ENOENT);
    at = at.parent_path();
  }
}

// The part of a path before the first variable word ("%d").
std::filesystem::path fixed_part(const std::string& text) {
  const std::size_t percent = text.find('%');
  if (percent == text.npos) return text;
  const std::size_t slash = text.rfind('/', percent);
  return slash == text.npos ? "." : text.substr(0, slash + 1);
}

std::string bytes_text(std::uint64_t bytes) { return std::to_string(bytes) + " bytes"; }

// unit: bytes that a number of the shell's `ulimit` stands for.
void check_limit(int which, const char* what, const char* option, std::uint64_t unit,
                 std::uint64_t needed, const std::string& why, Findings& out) {
  rlimit limit{};
  if (::getrlimit(which, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
      limit.rlim_cur >= needed)
    return;
  out.push_back({"", std::string("ulimit ") + option,
                 std::string(what) + " is " + std::to_string(limit.rlim_cur) + ", needed are " +
                     std::to_string(needed) + why,
                 std::string("ulimit ") + option +
                     (limit.rlim_max == RLIM_INFINITY || limit.rlim_max >= needed
                          ? " " + std::to_string((needed + unit - 1) / unit) +
                                ", or a larger number, before the program starts"
                          : ": the hard limit is as low; raise it in limits.conf, the unit or the "
                            "container")});
}

}  // namespace

void check_settings(Context& context, Findings& out) {
  for (const std::string& failure : context.loaded().failures)
    out.push_back(from_message(failure, "correct it; nrt_init refuses it as it is"));
  for (const config::Issue& issue : context.loaded().issues)
    if (issue.always)
      out.push_back(from_message(issue.text, "correct or remove it; it has no effect as it is"));
  const std::string& product = context.config().text(Key::kEmulatorProduct);
  if (context.on_emulator() && product != "auto")
    if (auto arch = context.loader().arch_of_product(product); !arch.is_ok())
      out.push_back({"", context.config().source(Key::kEmulatorProduct),
                     std::string(arch.status().message()),
                     "name a product that an installed arch plugin lists, or install its plugin"});
  const std::string& device = context.config().text(Key::kDevice);
  if (device != "auto" && device != "kernel" &&
      !context.loader().exists(plugin::Kind::kPort, device))
    out.push_back({"", context.config().source(Key::kDevice),
                   "no port plugin '" + device + "' is installed",
                   "auto, kernel, emulator or replay; or install the plugin (opennrt plugins)"});
}

void check_variables(Context& context, Findings& out) {
  for (const auto& [name, value] : context.environment()) {
    if (!name.starts_with("NEURON_")) continue;
    if (const std::string_view meant = config::misspelt_variable(name); !meant.empty())
      out.push_back({"", name, "no variable of this runtime, which ignores it",
                     "did you mean " + std::string(meant) + "?"});
  }
  // Set and empty is as good as not set; what was meant is not.
  for (const char* name : {"OPENNRT_CONFIG", "OPENNRT_PLUGIN_PATH", "NEURON_RT_VISIBLE_CORES"})
    if (const auto found = context.environment().find(name);
        found != context.environment().end() && found->second.empty())
      out.push_back({"", name, "set and empty, which is the same as not set", "unset it"});
}

void check_directories(Context& context, Findings& out) {
  const config::Config& c = context.config();
  const auto writable = [&](Key key, const std::filesystem::path& directory) {
    if (directory.empty()) return;
    if (const std::string why = unwritable(directory); !why.empty())
      out.push_back({"", c.source(key),
                     "nothing can be written to " + directory.string() + ": " + why,
                     "name a directory that this user may write to"});
  };
  const auto parent = [](const std::string& file) {
    const auto directory = std::filesystem::path(file).parent_path();
    return directory.empty() ? std::filesystem::path(".") : directory;
  };
  if (!c.text(Key::kLogFile).empty()) writable(Key::kLogFile, parent(c.text(Key::kLogFile)));
  if (c.flag(Key::kInspectEnable) && c.text(Key::kInspectOutputDir) != "/dev/null")
    writable(Key::kInspectOutputDir, c.text(Key::kInspectOutputDir));
  if (!c.text(Key::kCoreDumpHelper).empty())
    writable(Key::kCoreDumpDir, fixed_part(c.text(Key::kCoreDumpDir)));
  if (c.number(Key::kFailureDumpInputsOn) != 0)
    writable(Key::kFailureInputDumpDir, c.text(Key::kFailureInputDumpDir));
  if (!c.text(Key::kNdlRecord).empty())
    writable(Key::kNdlRecord, fixed_part(parent(c.text(Key::kNdlRecord)).string()));
  if (c.is_given(Key::kEmulatorReport))
    writable(Key::kEmulatorReport, parent(c.text(Key::kEmulatorReport)));
  if (c.is_given(Key::kEmulatorInspectDir))
    writable(Key::kEmulatorInspectDir, c.text(Key::kEmulatorInspectDir));
  const char* temporary = std::getenv("TMPDIR");
  if (temporary != nullptr && *temporary != '\0')
    if (const std::string why = unwritable(temporary); !why.empty())
      out.push_back({"", "TMPDIR", "no temporary files: " + why, "name a writable directory"});
}

void check_limits(Context& context, Findings& out) {
  constexpr std::uint64_t kDescriptors = 256;
  const std::uint64_t devices = context.on_emulator()
                                    ? context.config().number(Key::kEmulatorDevices)
                                    : context.nodes().size();
  check_limit(RLIMIT_NOFILE, "the limit of open files", "-n", 1, kDescriptors + 8 * devices,
              " (devices, memory, threads of the runtime)", out);
  if (!context.on_emulator() || context.shared_machine()) return;
  std::uint64_t channel = context.config().number(Key::kEmulatorHbmBytes);
  if (channel == 0)
    if (const nrtp_product* product = context.product()) channel = product->hbm_channel_bytes;
  const std::string why =
      " (emulator.hbm_bytes, " + bytes_text(channel) + "); or set " + "emulator.hbm_bytes lower";
  check_limit(RLIMIT_FSIZE, "the largest file in bytes", "-f", 1024, channel, why, out);
  check_limit(RLIMIT_AS, "the address space in bytes", "-v", 1024, channel, why, out);
}

}  // namespace opennrt::tools::doctor
