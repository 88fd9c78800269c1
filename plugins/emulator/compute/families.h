// SPDX-License-Identifier: Apache-2.0
//
// The instruction families of the software device. A new family adds its table
// here and to kFamilyTables in plan.cpp.
#pragma once

#include <span>

#include "compute/plan.h"

namespace opennrt::emu {

std::span<const PlanEntry> refused_plans();        // decoded, not executed; the others override it
std::span<const PlanEntry> activation_plans();     // ACTIVATE and its accumulator
std::span<const PlanEntry> match_plans();          // MAX8, FIND_INDEX8, MATCH_REPLACE8
std::span<const PlanEntry> shuffle_plans();        // STREAM_SHUFFLE, GATHER
std::span<const PlanEntry> indirect_copy_plans();  // INDIRECT_COPY
std::span<const PlanEntry> statistics_plans();     // BATCH_NORM_STATS, POOL, CROSS_LANE_REDUCE
std::span<const PlanEntry> random_plans();         // RNG, DROPOUT
std::span<const PlanEntry> quantize_plans();       // QUANTIZE_MX
std::span<const PlanEntry> elementwise_plans();    // TENSOR_TENSOR, COPY, CAST, MEMSET

}  // namespace opennrt::emu
