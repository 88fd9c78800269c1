// SPDX-License-Identifier: Apache-2.0
//
// The recordings of the process. Each purpose has at most one; all of them are
// fed by the same events. A forked child starts with none.
//
// Threading: every function may be called from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/status.h"
#include "trace/capture.h"

namespace opennrt::trace {

enum class Purpose : std::uint32_t {
  kSystemTrace,  // nrt_sys_trace_start
  kInspect,      // nrt_inspect_begin
  kTraceCall,    // nrt_trace_start
  kProfile,      // profile sessions
  kCount
};

// NRT_INVALID: there is one for that purpose. NRT_RESOURCE: no memory for rings.
Status start_recording(Purpose purpose, const CaptureOptions& options);
bool is_recording(Purpose purpose);
// Nothing is written to it any more. Empty: there is none.
std::unique_ptr<Capture> stop_recording(Purpose purpose);
// NRT_INVALID: there is none.
Status fetch(Purpose purpose, const FetchOptions& options, std::vector<Record>& out);

// Logical cores of the initialised runtime. Rings that are missing are made; a
// recording that gets none for a core is told about in the log.
void set_cores(std::uint32_t cores);

}  // namespace opennrt::trace
