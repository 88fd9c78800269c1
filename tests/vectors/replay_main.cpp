// SPDX-License-Identifier: Apache-2.0
//
// driver_replay [--through process|daemon|emu] TRANSCRIPT INTERFACE [SCENARIO]
// Replays the recorded scenarios of the kernel driver against the emulated one, in
// this process, by processes that reach it through the daemon's socket, or by unmodified
// programs with the preloaded library, and reports what is equal, what cannot be replayed yet,
// and what differs.
#include <yaml-cpp/yaml.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <string>

#include "cayman/table.h"
#include "device/device.h"
#include "session.h"
#include "sunda/table.h"

namespace {

using namespace opennrt;

constexpr int kSkipped = 77;  // what CTest takes for a skip

// "aws-neuron-driver 2.24.7.0, unmodified .." -> preset
const emu::DriverPreset* preset_of(const std::string& text) {
  for (const emu::DriverPreset& preset : emu::kDriverPresets)
    if (text.find(preset.text) != std::string::npos) return &preset;
  return nullptr;
}

// What was recorded: the family, one device, a full board.
struct Recorded {
  const nrtp_arch_plugin* arch;
  const char* single;
  const char* board;
};

const Recorded* recorded_on(std::uint32_t arch_type) {
  static const Recorded kAll[] = {{&sunda::plugin(), "trn1.2xlarge", "trn1.32xlarge"},
                                  {&cayman::plugin(), "trn2.3xlarge", "trn2.48xlarge"}};
  for (const Recorded& r : kAll)
    if (r.arch->arch_type == arch_type) return &r;
  return nullptr;
}

const nrtp_product* product_named(const nrtp_arch_plugin& arch, const char* name) {
  for (std::uint32_t i = 0; i < arch.n_products; ++i) {
    const auto* p = reinterpret_cast<const nrtp_product*>(
        reinterpret_cast<const char*>(arch.products) + std::size_t{i} * arch.product_stride);
    if (std::strcmp(p->name, name) == 0) return p;
  }
  return nullptr;
}

emu::MachineConfig config_of(const Recorded& recorded, const emu::DriverPreset* preset,
                             const YAML::Node& scenario) {
  emu::MachineConfig config;
  const nrtp_arch_plugin& arch = *recorded.arch;
  config.arch = &arch;
  config.driver = preset;
  config.make_device = &emu::Device::create;
  config.product = product_named(arch, recorded.single);
  const std::string machine = scenario["machine"] ? scenario["machine"].as<std::string>() : "";
  if (machine.find("16 devices") != std::string::npos) {
    config.product = product_named(arch, recorded.board);
    config.devices = 16;
  } else if (machine.find("firmware status") != std::string::npos) {
    config.failed_reset = true;
  } else if (!machine.empty()) {
    throw replay::NotYet{"machine: " + machine};
  }
  if (!config.product) throw replay::NotYet{"the arch table lacks the product"};
  return config;
}

}  // namespace

int main(int argc, char** argv) {
  std::string name_of_way = "process";
  if (argc > 2 && std::strcmp(argv[1], "--through") == 0) {
    name_of_way = argv[2];
    argv += 2;
    argc -= 2;
  }
  static const std::map<std::string, replay::Way> kWays = {{"process", replay::Way::kProcess},
                                                           {"daemon", replay::Way::kDaemon},
                                                           {"emu", replay::Way::kEmu}};
  if (argc < 3 || !kWays.contains(name_of_way)) {
    std::fprintf(
        stderr,
        "usage: driver_replay [--through process|daemon|emu] TRANSCRIPT INTERFACE [SCENARIO]\n");
    return 2;
  }
  const replay::Way way = kWays.at(name_of_way);
  if (way == replay::Way::kEmu && !std::filesystem::exists(OPENNRT_PRELOAD)) {
    std::printf("skipped: %s is not part of this build\n", OPENNRT_PRELOAD);
    return kSkipped;
  }
  replay::make_buffer_arena();
  if (way != replay::Way::kProcess && !replay::start_nursery()) {
    std::fprintf(stderr, "no process can be forked: %s\n", std::strerror(errno));
    return 2;
  }
  for (int i = 1; i < 3; ++i)
    if (!std::filesystem::exists(argv[i])) {
      std::printf("skipped: %s does not exist; set OPENNRT_VECTORS and OPENNRT_SPEC\n", argv[i]);
      return kSkipped;
    }
  replay::Interface interface;
  std::string error;
  if (!interface.load(argv[2], &error)) {
    std::fprintf(stderr, "%s\n", error.c_str());
    return 2;
  }
  const YAML::Node file = YAML::LoadFile(argv[1]);
  const emu::DriverPreset* preset = preset_of(file["meta"]["driver"].as<std::string>());
  const Recorded* recorded = recorded_on(file["meta"]["arch"].as<std::uint32_t>());
  if (!preset || !recorded) {
    std::printf("skipped: no preset or no arch table for %s\n", argv[1]);
    return kSkipped;
  }
  int equal = 0, not_yet = 0, different = 0;
  for (const auto& scenario : file["scenarios"]) {
    const std::string name = scenario["name"].as<std::string>();
    if (argc > 3 && name != argv[3]) continue;
    replay::Report report;
    try {
      replay::Session session(interface, config_of(*recorded, preset, scenario), name, preset->text,
                              way);
      report = session.run(scenario);
    } catch (const replay::NotYet& e) {
      report.not_yet = e.reason;
    }
    for (const std::string& text : report.differences)
      std::printf("%s: different: %s\n", name.c_str(), text.c_str());
    if (!report.not_yet.empty())
      std::printf("%s: not yet: %s\n", name.c_str(), report.not_yet.c_str());
    for (const std::string& text : report.deviations)
      std::printf("%s: stated deviation: %s\n", name.c_str(), text.c_str());
    if (!report.differences.empty())
      ++different;
    else if (!report.not_yet.empty())
      ++not_yet;
    else
      ++equal;
  }
  std::printf("%d equal, %d not yet, %d different\n", equal, not_yet, different);
  return different == 0 && equal > 0 ? 0 : 1;
}
