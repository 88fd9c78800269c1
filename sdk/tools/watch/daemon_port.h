// SPDX-License-Identifier: Apache-2.0
//
// The system port of who only watches a shared software device: over a client that
// takes whatever machine there is, starts none and keeps none.
#pragma once

#include "opennrt/port.h"
#include "remote/client.h"

namespace opennrt::tools {

// The port over that client, which must outlive every attachment. One client of a
// process at a time.
const nrtp_sys_port& daemon_port(emu::remote::Client* client);

}  // namespace opennrt::tools
