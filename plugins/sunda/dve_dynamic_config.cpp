// SPDX-License-Identifier: Apache-2.0
//
// Table memories of DVE and ACT: what is loaded, in which order, and where to.
// Sizes as NEFFs of this family carry them. The destinations are ours: they are
// not published, and only the software device uses them.
#include <array>

#include "layout.h"

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

constexpr std::array<nrtp_table_slot, 4> kAct = {{
    {"directory", kActTablesLocal, 0x20000},
    {"control", kActTablesLocal + 0x20000, 0x20000},
    {"profiles", kActTablesLocal + 0x40000, 0x40000},
    {"buckets", kActTablesLocal + 0x80000, 0x80000},
}};

}  // namespace

constinit const nrtp_arch_tables kTables = {
    .size = sizeof(nrtp_arch_tables),
    .reserved = 0,
    .dve = kDve.data(),
    .n_dve = kDve.size(),
    .dve_kick = 5,  // four tables and the event
    .act = kAct.data(),
    .n_act = kAct.size(),
    .act_kick = 5,  // no sample of this family; the count of the next one
    .stage_dve = nullptr,
    .stage_act = nullptr,
    .default_dve = nullptr,
};

}  // namespace opennrt::sunda
