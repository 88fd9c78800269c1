// SPDX-License-Identifier: Apache-2.0
#include "port.h"

extern "C" NRTP_EXPORT const nrtp_sys_port* nrtp_port_query(uint32_t host_major,
                                                            uint32_t /*host_minor*/) {
  return opennrt::replay::port_table(host_major);
}
