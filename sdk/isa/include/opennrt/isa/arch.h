// SPDX-License-Identifier: Apache-2.0
//
// The instruction set of an arch plugin.
#pragma once

#include "opennrt/arch.h"
#include "opennrt/isa/table.h"

namespace opennrt::isa {

// The one its table names; without that, the one its type introduced, else the newest.
inline Generation generation_of(const nrtp_arch_plugin& arch) {
  std::uint32_t type = arch.arch_type;
  if (NRTP_HAS(nrtp_arch_ib, arch.ib, isa) && arch.ib->isa != 0) type = arch.ib->isa;
  return generation_of_arch(type).value_or(Generation::kMariana);
}

}  // namespace opennrt::isa
