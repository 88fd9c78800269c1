// SPDX-License-Identifier: Apache-2.0
//
// The state word of the process and the count of calls inside the library.
//
//   START --nrt_init--> INIT --nrt_close--> CLOSED --end of nrt_close--> START
//   any   --fork, in the child--> CHILD, for ever
#pragma once

#include <cstdint>

#include "nrt/nrt_status.h"

namespace opennrt::api {

enum class State : std::uint32_t { kStart = 0, kInit = 1, kChild = 2, kClosed = 3 };

State state() noexcept;
void set_state(State state) noexcept;

// Status of a call that needs INIT in another state.
NRT_STATUS rejection(State state) noexcept;
// Logs why the call `name` is refused, the way the state demands.
void log_rejection(const char* name, State state) noexcept;

// Counts this thread in, if the state is INIT; the session stays alive until
// the matching leave(). Returns the state it saw: not counted in unless INIT.
State enter() noexcept;
void leave() noexcept;
// After the state left INIT: waits until no call is inside.
void wait_until_left() noexcept;

// Installs the fork handler once per process. Negative errno on failure.
int install_fork_handler() noexcept;

}  // namespace opennrt::api
