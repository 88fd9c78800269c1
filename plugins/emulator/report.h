// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opennrt/plugin.h"

namespace opennrt::emu {

class Machine;

// emulator.report, if one is asked for: complete under its name, or absent.
void write_report(Machine& machine, const nrtp_host* host);

}  // namespace opennrt::emu
