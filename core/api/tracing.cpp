// SPDX-License-Identifier: Apache-2.0
#include "api/tracing.h"

#include "api/inspect_config.h"
#include "log/log.h"
#include "trace/debug_stream.h"
#include "trace/inspect.h"
#include "trace/profile.h"
#include "trace/recordings.h"

namespace opennrt::api {

Status start_tracing(const config::Config& config, std::uint32_t cores) {
  using config::Key;
  trace::set_cores(cores);
  // Looked at even when nothing is inspected: a mistake in a filter is one.
  ONRT_ASSIGN(const trace::inspect::Options options, inspect_options(config));
  // One that was begun before goes on.
  if (!config.flag(Key::kInspectEnable) || trace::inspect::is_running()) return {};
  return trace::inspect::begin(options);
}

void stop_tracing() {
  if (Status s = trace::inspect::stop(); !s)
    ONRT_LOG(kNrt, kError, "inspection at nrt_close: {}", s.message());
  trace::stop_recording(trace::Purpose::kSystemTrace);
  trace::stop_recording(trace::Purpose::kTraceCall);
}

void forget_tracing() {
  trace::profile::close();
  trace::debug_stream::close_all();
}

}  // namespace opennrt::api
