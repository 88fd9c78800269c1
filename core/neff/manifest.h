// SPDX-License-Identifier: Apache-2.0
//
// The manifests above the subgraphs: neff.json, the kelf descriptor, info.json
// and hlo_stats.json, and the gates on arch and core count.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "neff/container.h"
#include "neff/members.h"
#include "neff/program.h"

namespace opennrt::neff {

struct GraphReference {
  std::string name;        // "sg00"
  std::string definition;  // "sg00/def.json", exists
};

struct Manifest {
  std::string io_member;                    // neff.json or kelp.json
  std::vector<TensorInfo> inputs, outputs;  // byte order of the name
  std::string target;
  std::vector<GraphReference> graphs;
  std::string compiler_version;
  std::uint64_t mac_count = 0;
};

// The target alone, whatever this process runs on.
Result<std::string> read_target(const MemberTable& members);

Result<Manifest> read_manifest(const MemberTable& members, const Header& header,
                               const LoadLimits& limits);

}  // namespace opennrt::neff
