// SPDX-License-Identifier: Apache-2.0
//
// What needs a device: attach, detach and starting an engine.
#pragma once

#include "arch-common/facts.h"

namespace opennrt::arch_common {

int attach(const nrtp_host* host, const nrtp_host_dev* dev, void** ctx);
void detach(void* ctx);
// On silicon the microcode start-up has no published register description, so
// starting an engine is refused there; the software device runs the same
// sequence.
int fetch_start(const ArchFacts& f, void* ctx, std::uint32_t core, std::uint32_t engine,
                std::uint64_t program_pa);

}  // namespace opennrt::arch_common
