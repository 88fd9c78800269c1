// SPDX-License-Identifier: Apache-2.0
//
// Semaphores and events that the runtime keeps for itself: the same on all
// families. Entries 0 to 2, 6 to 8 and 11 to 13 as device images use them; 5
// and 14 ours.
#pragma once

#include <cstdint>

#include "opennrt/arch.h"

namespace opennrt::arch_common {

constexpr nrtp_arch_sync make_sync(std::uint32_t dge_mailbox_coretype) {
  constexpr std::uint8_t kAbsent = 0xFF;
  return {
      .size = sizeof(nrtp_arch_sync),
      .id = {0,       1, 2, kAbsent, kAbsent, 10,      0,       3,       4,       kAbsent,
             kAbsent, 6, 7, 8,       9,       kAbsent, kAbsent, kAbsent, kAbsent, 3},
      .dge_mailbox_coretype = dge_mailbox_coretype,
  };
}

}  // namespace opennrt::arch_common
