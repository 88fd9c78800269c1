// SPDX-License-Identifier: Apache-2.0
//
// The instruction streams: found, measured, and their DMA triggers checked.
// Opcodes are not judged here; the arch plugin does.
#pragma once

#include "base/status.h"
#include "neff/definition.h"

namespace opennrt::neff {

// Member "instr" of an engine's JSON.
Status read_stream(const Json& root, Engine engine, MemberTable& members, SubgraphReader& reader);

// Every trigger names a block that exists, of a queue the engine owns.
Status check_triggers(const Subgraph& graph);

}  // namespace opennrt::neff
