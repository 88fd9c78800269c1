// SPDX-License-Identifier: Apache-2.0
//
// The instruction families of the software device. A new family adds its table
// here and to kFamilyTables in plan.cpp.
#pragma once

#include <span>

#include "compute/plan.h"

namespace opennrt::emu {

std::span<const PlanEntry> elementwise_plans();  // TENSOR_TENSOR, COPY, CAST, MEMSET
std::span<const PlanEntry> pe_load_plans();      // LDWEIGHTS
std::span<const PlanEntry> pe_matmul_plans();    // MATMUL
std::span<const PlanEntry> pe_mx_plans();        // LDWEIGHTS_MX, MATMUL_MX
std::span<const PlanEntry> pe_refused_plans();   // the other records of the PE engine

}  // namespace opennrt::emu
