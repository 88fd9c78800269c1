// SPDX-License-Identifier: Apache-2.0
//
// What inspect.* of the configuration asks for.
#pragma once

#include "base/status.h"
#include "config/config.h"
#include "trace/inspect.h"

namespace opennrt::api {

// NRT_INVALID: a filter names what does not exist.
Result<trace::inspect::Options> inspect_options(const config::Config& config);

}  // namespace opennrt::api
