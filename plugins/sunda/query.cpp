// SPDX-License-Identifier: Apache-2.0
#include "sunda/table.h"

extern "C" NRTP_EXPORT const nrtp_arch_plugin* nrtp_arch_query(std::uint32_t host_major,
                                                               std::uint32_t) {
  return host_major == NRTP_ARCH_ABI_MAJOR ? &opennrt::sunda::plugin() : nullptr;
}
