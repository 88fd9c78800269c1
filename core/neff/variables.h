// SPDX-License-Identifier: Apache-2.0
//
// The section "var" of a definition.
#pragma once

#include <vector>

#include "base/status.h"
#include "neff/definition.h"
#include "neff/manifest.h"

namespace opennrt::neff {

// All variables but the targets of remote ones; constants get their content.
Status read_variables(MemberTable& members, const LoadLimits& limits, const Manifest& manifest,
                      SubgraphReader& reader);

// Finds the variable behind every remote one, when all subgraphs are read.
Status resolve_remote_variables(std::vector<SubgraphReader>& readers);

}  // namespace opennrt::neff
