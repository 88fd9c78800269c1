// SPDX-License-Identifier: Apache-2.0
//
// Recording (setting ndl.record): a port in front of the one in use that writes
// every call to a trace (trace.h) and passes it on. What it cannot write it
// reports once; no call fails because of it.
#pragma once

#include "opennrt/port.h"

namespace opennrt::ndl {

// Puts a recorder in front of the port when ndl.record names a file; `ndl` is
// the plugin's name for the header. A file that cannot be written is reported
// and nothing is recorded.
void begin_recording(const nrtp_host* host, const char* ndl, const nrtp_sys_port** port,
                     void** port_ctx) noexcept;
// After the last call. Does nothing when the port is not a recorder.
void end_recording(const nrtp_sys_port* port, void* port_ctx) noexcept;

}  // namespace opennrt::ndl
