// SPDX-License-Identifier: Apache-2.0
//
// The system port of the software device. One machine serves all attaches of
// the process; the first makes it, the last detach frees it.
#pragma once

#include <cstdint>

#include "opennrt/port.h"

namespace opennrt::emu {

// nullptr: unknown major.
const nrtp_sys_port* port_table(std::uint32_t host_major);

}  // namespace opennrt::emu
