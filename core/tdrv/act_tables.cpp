// SPDX-License-Identifier: Apache-2.0
#include "tdrv/tables.h"

namespace opennrt::tdrv {

Result<std::vector<TablePart>> act_tables(const nrtp_arch_plugin& arch,
                                          const neff::Subgraph& subgraph) {
  std::vector<TablePart> parts;
  return parts;
}

}  // namespace opennrt::tdrv
