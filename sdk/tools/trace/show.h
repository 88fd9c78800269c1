// SPDX-License-Identifier: Apache-2.0
//
// What `opennrt trace` prints.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ndl-common/record/trace.h"

namespace opennrt::tools {

struct TraceOptions {
  std::string file;
  std::vector<std::string> requests;  // names, any case; empty: all
  bool errors = false;
  bool summary = false;
  std::optional<std::uint64_t> thread, from, to;  // from, to: sequence numbers
  bool help = false;
};

// False: *error says what is wrong with the words.
bool parse_trace_options(const std::vector<std::string>& words, TraceOptions* out,
                         std::string* error);
std::string trace_help();

// Lines or the table, as text.
std::string show_trace(const trace::Trace& recording, const TraceOptions& options);

}  // namespace opennrt::tools
