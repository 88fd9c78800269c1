// SPDX-License-Identifier: Apache-2.0
//
// Tables that the activation and DVE engines load.
#pragma once

#include "base/status.h"
#include "neff/definition.h"

namespace opennrt::neff {

// root: the activation engine's JSON.
Status read_activation_sets(const Json& root, MemberTable& members, SubgraphReader& reader);

// root: the DVE engine's JSON.
Status read_dve_tables(const Json& root, MemberTable& members, SubgraphReader& reader);

}  // namespace opennrt::neff
