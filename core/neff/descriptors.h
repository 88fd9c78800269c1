// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/status.h"
#include "neff/definition.h"

namespace opennrt::neff {

// One element of a block's "desc", checked against the variables it touches.
Result<Descriptor> read_descriptor(const Json& item, const SubgraphReader& reader);

}  // namespace opennrt::neff
