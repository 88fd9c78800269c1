// SPDX-License-Identifier: Apache-2.0
//
// The callback of the implicit asynchronous mode. Executions are synchronous
// here; the callback is told about each of them, so that programs written for
// the mode go on working.
#pragma once

#include <cstdint>

#include "nrt/nrt_experimental.h"

namespace opennrt::api {

// Calls what is registered, on this thread. The lock is not held meanwhile.
void report_execution(std::uint32_t model_id, std::uint32_t vnc, std::uint64_t job_id,
                      NRT_STATUS status);

}  // namespace opennrt::api
