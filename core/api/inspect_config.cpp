// SPDX-License-Identifier: Apache-2.0
#include "api/inspect_config.h"

#include "config/value.h"
#include "trace/event_types.h"

namespace opennrt::api {

namespace {

using config::Key;
namespace inspect = trace::inspect;

// "0-3", "5": like cores.visible, but with gaps.
Result<std::bitset<trace::kMaxCores>> cores_of(const std::vector<std::string>& items) {
  std::bitset<trace::kMaxCores> cores;
  for (const std::string& item : items) {
    ONRT_ASSIGN(const config::CoreRange range, config::parse_cores(item));
    for (std::uint32_t core = range.first; core < range.first + range.count; ++core) {
      if (core >= trace::kMaxCores)
        return Status::invalid("core {} is above {}", core, trace::kMaxCores - 1);
      cores.set(core);
    }
  }
  return cores;
}

inspect::DeviceMode mode_of(const std::string& text) {
  if (text == "1" || text == "model") return inspect::DeviceMode::kModel;
  return text == "0" ? inspect::DeviceMode::kDisabled : inspect::DeviceMode::kSession;
}

}  // namespace

Result<inspect::Options> inspect_options(const config::Config& config) {
  inspect::Options out;
  out.enable = true;
  out.output_dir = config.text(Key::kInspectOutputDir);
  out.device_mode = mode_of(config.text(Key::kInspectDeviceProfile));
  out.activities = 0;
  if (config.flag(Key::kInspectSystemProfile)) out.activities |= inspect::kSystemProfile;
  if (config.flag(Key::kInspectCpuUtil)) out.activities |= inspect::kCpuUtil;
  if (config.flag(Key::kInspectHostMemory)) out.activities |= inspect::kHostMemory;
  if (out.device_mode != inspect::DeviceMode::kDisabled) out.activities |= inspect::kDeviceProfile;
  out.capture.events_per_core = config.number(Key::kInspectMaxEventsPerCore);
  if (config.is_set(Key::kInspectFilterCores)) {
    auto cores = cores_of(config.list(Key::kInspectFilterCores));
    if (!cores) return std::move(cores).status().with_context("inspect.filter.cores");
    out.capture.cores = *cores;
  }
  auto types = trace::types_of_filter(config.list(Key::kInspectFilterTypes));
  if (!types) return std::move(types).status().with_context("inspect.filter.types");
  out.capture.types = *types;
  return out;
}

}  // namespace opennrt::api
