// SPDX-License-Identifier: Apache-2.0
//
// What nrt_init and nrt_close do about traces.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "config/config.h"

namespace opennrt::api {

// Begins an inspection if the configuration asks for one.
Status start_tracing(const config::Config& config, std::uint32_t cores);
// While the runtime still works: ends inspection, system trace and
// nrt_trace_start, in this order.
void stop_tracing();
// After the last call: profiles and debug streams.
void forget_tracing();

}  // namespace opennrt::api
