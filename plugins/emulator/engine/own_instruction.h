// SPDX-License-Identifier: Apache-2.0
//
// Instructions that an arch plugin executes itself: the `semantics` group of its
// table, called with a bounded view of the core.
#pragma once

#include "engine/decode.h"

namespace opennrt::emu {

// The plugin executes the opcode on that engine.
bool claimed(const nrtp_arch_plugin& arch, std::uint32_t engine, std::uint8_t opcode);
Outcome execute_own(Sequencer& sequencer, const Decoded& decoded);

}  // namespace opennrt::emu
