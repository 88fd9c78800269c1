// SPDX-License-Identifier: Apache-2.0
//
// One descriptor of a DMA block that computes while it copies, divided over the
// rings of its queue set.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "tdrv/image/block_split.h"
#include "tdrv/vring.h"

namespace opennrt::tdrv::image {

struct ComputeJob {
  const neff::Descriptor* descriptor = nullptr;
  std::vector<PatternWalk> from;
  PatternWalk to;
};

// Appends to parts[i] what ring i does. A message of a refusal names what is
// wrong, not the place. `limit`: descriptors a ring may hold for one block.
Status append_compute(const ComputeJob& job, const nrtp_arch_dma& dma, std::size_t limit,
                      std::span<VirtualRing> parts);

}  // namespace opennrt::tdrv::image
