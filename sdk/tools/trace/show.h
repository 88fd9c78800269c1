// SPDX-License-Identifier: Apache-2.0
//
// What `opennrt trace` prints.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "command_line.h"
#include "ndl-common/record/trace.h"

namespace opennrt::tools {

struct TraceOptions {
  std::string file;
  std::vector<std::string> requests;  // names, any case; empty: all
  bool errors = false;
  bool summary = false;
  bool json = false;
  std::optional<std::uint64_t> thread, from, to;  // from, to: sequence numbers
};

CommandLine trace_command_line();
// Throws a UsageError.
TraceOptions trace_options(const Arguments& arguments);

// Lines or the table, as text or JSON.
std::string show_trace(const trace::Trace& recording, const TraceOptions& options);

}  // namespace opennrt::tools
