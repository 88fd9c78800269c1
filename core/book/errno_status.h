// SPDX-License-Identifier: Apache-2.0
//
// Status of a failed driver call.
#pragma once

#include "base/status.h"

namespace opennrt::book {

// "<what>: <text of the error>" with ENOMEM -> NRT_RESOURCE, EINVAL ->
// NRT_INVALID, EBUSY -> NRT_EXEC_NC_BUSY, EOWNERDEAD (a software device that has
// ended) -> NRT_HW_ERROR, anything else -> NRT_FAILURE.
// error: 0 or negative errno; must not be 0.
Status errno_status(int error, std::string_view what);

}  // namespace opennrt::book
