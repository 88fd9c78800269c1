// SPDX-License-Identifier: Apache-2.0
//
// The section "dma_queue" of a definition.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "neff/definition.h"

namespace opennrt::neff {

Status read_queues(const LoadLimits& limits, SubgraphReader& reader);

// Refuses a semaphore that the arch does not have or the runtime owns.
Status check_semaphore(const Json& item, std::uint64_t index, const Subgraph& graph,
                       const LoadLimits& limits);

}  // namespace opennrt::neff
