// SPDX-License-Identifier: Apache-2.0
//
// Table memories of DVE and ACT. Kicks of 6 and 5 descriptors as in device images.
#include "arch-common/table_memories.h"
#include "facts.h"

namespace opennrt::cayman {
namespace {

constexpr auto kDve = arch_common::dve_tables(kDveTables);
constexpr auto kAct = arch_common::act_tables(split::kActTablesLocal);

}  // namespace

constinit const nrtp_arch_tables kTables = arch_common::make_tables(kDve, kAct);

}  // namespace opennrt::cayman
