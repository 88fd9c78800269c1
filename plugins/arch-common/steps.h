// SPDX-License-Identifier: Apache-2.0
//
// The instruction steps that differ between families, from their StepFacts.
// Region order and everything else belongs to the core.
#pragma once

#include "arch-common/facts.h"

namespace opennrt::arch_common {

// Arguments after the facts are those of the table's member.
int append_step(const ArchFacts& f, std::uint32_t which, const nrtp_ib_env* env, nrtp_ibuf* out);

}  // namespace opennrt::arch_common
