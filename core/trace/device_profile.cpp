// SPDX-License-Identifier: Apache-2.0
#include "trace/device_profile.h"

namespace opennrt::trace {

Status device_profiles_missing(std::string_view what) {
  return Status::invalid(
      "{}: device profiles (NTFF files) are not supported by this release; use nrt_sys_trace_* or "
      "nrt_inspect_* with device profile mode 0 for host and execution events",
      what);
}

Status write_device_profile(const Harvest&, const std::string& path) {
  return device_profiles_missing(path);
}

}  // namespace opennrt::trace
