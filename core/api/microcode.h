// SPDX-License-Identifier: Apache-2.0
//
// Microcode of the POOL engines that the caller brings for the next nrt_init.
#pragma once

#include "base/status.h"
#include "nrt/nrt_experimental.h"

namespace opennrt::api {

// Remembers what the caller gave; the buffers stay the caller's.
// NRT_FAILURE: the runtime is not in the state before nrt_init.
Status offer_microcode(const nrt_ucode_info& info);
// What was offered, once: it is forgotten by this. size 0: nothing.
nrt_ucode_info take_microcode();

}  // namespace opennrt::api
