// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/client.h"

namespace opennrt::emu {

// Sends SIGKILL to that process and to no other: a pid that has been given to a
// later process, or that names no single user process, is left alone. False: no
// signal was sent.
bool kill_process(const Client& client);

}  // namespace opennrt::emu
