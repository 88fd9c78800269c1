// SPDX-License-Identifier: Apache-2.0
//
// What is left behind for support when a call fails because of the runtime or
// the hardware: the latest lines of the log, a description of the process, and
// whatever a helper program collects from the device.
//
// Threading: every function may be called from any thread. Dumps are taken one
// after the other; others wait.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace opennrt::dump {

struct Core {
  std::uint32_t device = 0, core = 0;
};

struct Failure {
  const char* api = "";
  NRT_STATUS code = NRT_FAILURE;
};

struct Settings {
  // Templates (path_template.h). Both empty: no dumps.
  std::string directory, s3_prefix;
  // The directory is not just the default: it gets files without a helper too.
  bool directory_given = false;
  std::string helper;
  bool helper_given = false;       // not just the default place
  int helper_timeout_ms = 60'000;  // of all its runs for one dump
  std::string instance_id, cluster_id;
  std::vector<std::vector<Core>> cores;  // by logical core
  // Description of the process, written with the first dump.
  std::function<std::string(const Failure&)> describe;
};

// From now on failures leave dumps, if the settings ask for any.
void open(Settings settings);
void close();
// A forked child leaves none.
void enter_forked_child() noexcept;

// Errors of the runtime or the hardware; not mistakes of a caller, nor what
// callers wait for and try again.
bool deserves_dump(NRT_STATUS code) noexcept;

// Which program on which logical core this thread failed in, for the next
// on_failure() of this thread in the same call.
void blame(std::int32_t core, std::string_view neff_name,
           const std::array<std::uint8_t, 16>& neff_uuid) noexcept;

// Leaves a dump when the failure deserves one. One line of log tells where, or
// why not.
void on_failure(const Failure& failure) noexcept;

}  // namespace opennrt::dump
