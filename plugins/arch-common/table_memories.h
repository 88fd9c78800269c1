// SPDX-License-Identifier: Apache-2.0
//
// Table memories of DVE and ACT: what is loaded, in which order, and where to.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "opennrt/arch.h"

namespace opennrt::arch_common {

// The four parts of the activation tables have the same place in the memory of
// each family.
constexpr std::array<nrtp_table_slot, 4> act_tables(std::uint64_t local) {
  return {{
      {"directory", local, 0x20000},
      {"control", local + 0x20000, 0x20000},
      {"profiles", local + 0x40000, 0x40000},
      {"buckets", local + 0x80000, 0x80000},
  }};
}

// Distances of the DVE tables of cayman and mariana from the first one; param_ram
// holds the 256 floats 1 / (i + 1). Which control table is the fast one is
// inferred from the order of their places.
constexpr std::array<nrtp_table_slot, 5> dve_tables(std::uint64_t local) {
  return {{
      {"opcode", local + 0x6000, 0x400},
      {"control_fast", local, 0x1000},
      {"control_slow", local + 0x1000, 0x1000},
      {"datapath", local + 0x2000, 0x4000},
      {"param_ram", local + 0x7000, 0x400},
  }};
}

// kick: descriptors including the event write. Here one for each table.
template <std::size_t kDve, std::size_t kAct>
constexpr nrtp_arch_tables make_tables(const std::array<nrtp_table_slot, kDve>& dve,
                                       const std::array<nrtp_table_slot, kAct>& act) {
  nrtp_arch_tables t{};
  t.size = sizeof t;
  t.dve = dve.data();
  t.n_dve = kDve;
  t.dve_kick = 1;
  for (const nrtp_table_slot& slot : dve) t.dve_kick += slot.bytes != 0 ? 1 : 0;
  t.act = act.data();
  t.n_act = kAct;
  t.act_kick = kAct + 1;
  return t;
}

}  // namespace opennrt::arch_common
