// SPDX-License-Identifier: Apache-2.0
//
// The built-in system port: plain system calls. Outside the NDL plugins this is
// the one place that opens device nodes.
#pragma once

#include "opennrt/port.h"

namespace opennrt::plugin {

// Valid until process exit. Its context carries no state.
const nrtp_sys_port* libc_port();

}  // namespace opennrt::plugin
