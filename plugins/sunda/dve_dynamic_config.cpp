// SPDX-License-Identifier: Apache-2.0
//
// Table memories of DVE and ACT. Sizes as NEFFs of this family carry them. The
// destinations are ours: they are not published, and only the software device
// uses them. The kick of ACT has no sample here; the count of the next family.
#include "arch-common/table_memories.h"
#include "facts.h"

namespace opennrt::sunda {
namespace {

// A NEFF's control table fills control_fast; this family has no slow one.
// param_ram holds the 256 floats 1 / (i + 1).
constexpr std::array<nrtp_table_slot, 5> kDve = {{
    {"opcode", kDveTablesLocal, 0x800},
    {"control_fast", kDveTablesLocal + 0x1000, 0x800},
    {"control_slow", 0, 0},
    {"datapath", kDveTablesLocal + 0x2000, 0x2000},
    {"param_ram", kDveTablesLocal + 0x7000, 0x400},
}};
constexpr auto kAct = arch_common::act_tables(kActTablesLocal);

}  // namespace

constinit const nrtp_arch_tables kTables = arch_common::make_tables(kDve, kAct);

}  // namespace opennrt::sunda
