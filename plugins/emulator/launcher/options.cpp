// SPDX-License-Identifier: Apache-2.0
#include "launcher/options.h"

namespace opennrt::emu::launcher {

const char kHelp[] =
    R"(usage: opennrt emu [options] [--] PROGRAM [ARGUMENT ...]

Runs an unmodified program with an emulated machine: /dev/neuron*,
/sys/module/neuron and /sys/class/neuron_device are served to it and to every
program it starts; everything else stays as it is.

  --product NAME          what is emulated, for example trn1.2xlarge
  --devices N             number of devices
  --hbm-bytes BYTES       memory of a channel, for example 1G
  --driver-version V      version of the driver that answers, for example 2.26.5.0
  --set KEY=VALUE         any other emulator.* setting (opennrt config emulator)
  --shared                use the user's machine-wide device, which other
                          programs use too; without it the program gets a machine
                          of its own that ends with it
  --log FILE              the log of the machine goes to FILE when the program ends
  --no-guard              do not watch for system calls that bypass the C library
  -h, --help              this text

Settings not given come from the configuration, as for any program of ours.

What can be run: 64-bit programs that are linked dynamically against glibc, and
scripts for such an interpreter. Static programs, those of another C library,
32-bit ones and setuid, setgid or file-capability programs are refused with that
reason. A program whose own system calls name a served file (static children,
Go) is ended with a message instead of running without devices: that is the
guard. Because of it setuid programs have no effect below `opennrt emu`.

Exit code: the program's; 128 + N when signal N ended it; 126 when it cannot be
run or the guard ended it; 127 when it is not found; 125 when the machine cannot
be started; 2 for wrong options.

  opennrt emu -- ls -l /dev/neuron0
  opennrt emu --product trn2.48xlarge --devices 16 -- python3 my_tool.py
)";

namespace {

// Options with a value, and the setting they stand for ("": not one).
constexpr struct {
  const char* name;
  const char* setting;
} kValued[] = {{"--product", "emulator.product"},
               {"--devices", "emulator.devices"},
               {"--hbm-bytes", "emulator.hbm_bytes"},
               {"--driver-version", "emulator.driver_version"},
               {"--set", ""},
               {"--log", ""}};

bool take(const std::string& name, const std::string& setting, const std::string& value,
          Options* out, std::string* error) {
  if (value.empty()) {
    *error = name + " needs a value";
    return false;
  }
  if (!setting.empty()) {
    out->settings.emplace_back(setting, value);
    return true;
  }
  if (name == "--log") {
    out->log = value;
    return true;
  }
  const std::size_t equals = value.find('=');
  if (equals == std::string::npos || !value.starts_with("emulator.") ||
      equals + 1 == value.size() || value.find('\n') != std::string::npos) {
    *error = "--set " + value + ": expected emulator.KEY=VALUE";
    return false;
  }
  out->settings.emplace_back(value.substr(0, equals), value.substr(equals + 1));
  return true;
}

}  // namespace

bool parse(const std::vector<std::string>& arguments, Options* out, std::string* error) {
  std::size_t i = 0;
  for (; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (word.empty() || word[0] != '-') break;
    if (word == "--") {
      ++i;
      break;
    }
    if (word == "--help" || word == "-h") {
      out->help = true;
      return true;
    }
    if (word == "--shared") {
      out->shared = true;
      continue;
    }
    if (word == "--no-guard") {
      out->guard = false;
      continue;
    }
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    bool known = false;
    for (const auto& option : kValued) {
      if (name != option.name) continue;
      known = true;
      if (equals == std::string::npos && i + 1 == arguments.size()) {
        *error = name + " needs a value";
        return false;
      }
      const std::string value =
          equals == std::string::npos ? arguments[++i] : word.substr(equals + 1);
      if (!take(name, option.setting, value, out, error)) return false;
    }
    if (!known) {
      *error = "unknown option '" + word + "'";
      return false;
    }
  }
  out->program.assign(arguments.begin() + static_cast<std::ptrdiff_t>(i), arguments.end());
  if (out->program.empty()) {
    *error = "no program to run";
    return false;
  }
  return true;
}

}  // namespace opennrt::emu::launcher
