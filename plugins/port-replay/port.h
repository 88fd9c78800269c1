// SPDX-License-Identifier: Apache-2.0
//
// The system port that answers from a recording (`device: replay`).
#pragma once

#include <cstdint>

#include "opennrt/port.h"

namespace opennrt::replay {

// nullptr: unknown major.
const nrtp_sys_port* port_table(std::uint32_t host_major);

}  // namespace opennrt::replay
