// SPDX-License-Identifier: Apache-2.0
//
// The instruction families of the software device. A new family adds its table
// here and to kFamilyTables in plan.cpp.
#pragma once

#include <span>

#include "compute/plan.h"

namespace opennrt::emu {

std::span<const PlanEntry> activation_plans();     // ACTIVATE and its accumulator
std::span<const PlanEntry> match_plans();          // MAX8, FIND_INDEX8, MATCH_REPLACE8
std::span<const PlanEntry> elementwise_plans();    // TENSOR_TENSOR, COPY, CAST, MEMSET
std::span<const PlanEntry> pe_load_plans();        // LDWEIGHTS
std::span<const PlanEntry> pe_matmul_plans();      // MATMUL
std::span<const PlanEntry> copy_plans();           // COPY, CAST, RECIPROCAL, MEMSET
std::span<const PlanEntry> tensor_scalar_plans();  // TENSOR_SCALAR, EXPONENTIAL
std::span<const PlanEntry> refused_plans();        // decoded, not executed; the others override it
std::span<const PlanEntry> gather_plans();         // GATHER, INDIRECT_COPY
std::span<const PlanEntry> statistics_plans();     // BATCH_NORM_STATS
std::span<const PlanEntry> random_plans();         // RNG, DROPOUT
std::span<const PlanEntry> quantize_plans();       // QUANTIZE_MX
std::span<const PlanEntry> scalar_tensor_tensor_plans();  // SCALAR_TENSOR_TENSOR
std::span<const PlanEntry> reduce_plans();                // TENSOR_REDUCE, POOL
std::span<const PlanEntry> lane_plans();                  // lane state: accumulator, mask
std::span<const PlanEntry> scan_plans();                  // scans and cumulative records
std::span<const PlanEntry> select_plans();                // predicated copies, SELECT_REDUCE
std::span<const PlanEntry> index_select_plans();          // IOTA, AFFINE_SELECT, RANGE_SELECT
std::span<const PlanEntry> transpose_plans();             // STREAM_TRANSPOSE, STREAM_SHUFFLE
std::span<const PlanEntry> vector_refused_plans();        // decoded only
std::span<const PlanEntry> cross_lane_plans();            // CROSS_LANE_REDUCE
std::span<const PlanEntry> pe_mx_plans();                 // LDWEIGHTS_MX, MATMUL_MX
std::span<const PlanEntry> transposed_plans();            // TRANSPOSE_* in front of others
std::span<const PlanEntry> tensor_scalar_select_plans();  // TENSOR_SCALAR_SELECT
std::span<const PlanEntry> tensor_scalar_multi_plans();   // scalars loaded ahead
std::span<const PlanEntry> random_state_plans();          // RAND, RAND2, generator state
std::span<const PlanEntry> dequantize_plans();            // TENSOR_DEQUANTIZE
std::span<const PlanEntry> nonzero_plans();               // NONZERO_WITH_COUNT
std::span<const PlanEntry> batch_norm_gradient_plans();   // BATCH_NORM_GRAD_ACCUMULATE
std::span<const PlanEntry> activate2_plans();             // ACTIVATE2
std::span<const PlanEntry> pe_sparse_plans();             // LDTAGS, MATMUL_SPARSE
std::span<const PlanEntry> pe_seed_plans();               // PE_MANAGE_SEED
std::span<const PlanEntry> pe_refused_plans();            // the other records of the PE engine

}  // namespace opennrt::emu
