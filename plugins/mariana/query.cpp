// SPDX-License-Identifier: Apache-2.0
#include "mariana/table.h"

extern "C" NRTP_EXPORT const nrtp_arch_plugin* nrtp_arch_query(std::uint32_t host_major,
                                                               std::uint32_t) {
  return host_major == NRTP_ARCH_ABI_MAJOR ? &opennrt::mariana::plugin() : nullptr;
}
