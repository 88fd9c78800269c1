// SPDX-License-Identifier: Apache-2.0
//
// The inspection session of the process: a system trace, samples of the host and
// copies of the models loaded meanwhile, written when it ends. It also ends at
// SIGINT, SIGTERM and at exit.
//
// Threading: every function may be called from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "trace/capture.h"

namespace opennrt::trace::inspect {

inline constexpr std::uint32_t kSystemProfile = 1, kDeviceProfile = 2, kHostMemory = 4,
                               kCpuUtil = 8, kAllActivities = 15;

enum class DeviceMode : std::uint32_t { kDisabled = 0, kModel = 1, kSession = 2 };

struct Options {
  int session_id = 1;
  std::string output_dir;  // empty: ./output
  std::uint32_t activities = kAllActivities;
  CaptureOptions capture;
  bool enable = false, enable_on_fail = false;
  DeviceMode device_mode = DeviceMode::kDisabled;
};

// Bits of a name, "all" included; 0: unknown.
std::uint32_t activity_of(std::string_view name);
struct Activity {
  std::string_view name;
  std::uint32_t bit;
};
std::span<const Activity> activities();  // without "all"

// NRT_INVALID: a session is running, the directory is refused, or something is
// asked for that this release lacks. NRT_FAILURE: the directory cannot be made.
// A start that fails leaves nothing running.
Status begin(const Options& options);
// Writes the files. Nothing is running: success.
Status stop();
bool is_running() noexcept;

// Directory of the running or latest session below `output_dir`; of a session
// that would begin now if there was none.
std::string session_directory(std::string_view output_dir);

// A model was loaded: its file is copied into the session, if one is running.
// uuid: 16 bytes.
void keep_model_file(std::span<const std::byte> neff, std::span<const std::byte> uuid,
                     std::uint32_t core);

}  // namespace opennrt::trace::inspect
