// SPDX-License-Identifier: Apache-2.0
//
// Figures for the cycle model, from the public architecture documentation.
// Never used for correctness. The SP clock is inferred.
#include <array>

#include "facts.h"

namespace opennrt::sunda {
namespace {

constexpr std::array<nrtp_timing_kv, 32> kValues = {{
    {"clock_ghz.pe", 2.8},
    {"clock_ghz.dve", 1.12},
    {"clock_ghz.act", 1.4},
    {"clock_ghz.pool", 1.4},
    {"clock_ghz.sp", 1.4},
    {"lanes.pe_rows", 128},
    {"lanes.pe_cols", 128},
    {"lanes.dve", 128},
    {"lanes.act", 128},
    {"lanes.pool", 128},
    {"pe_input_width.bf16", 256},
    {"tflops_per_core.bf16", 92},
    {"tflops_per_core.fp8", 92},
    {"tflops_per_core.fp32", 23},
    {"tflops_per_device.bf16", 190},
    {"tflops_per_device.fp8", 190},
    {"tflops_per_device.fp32", 47.5},
    {"hbm_gb_per_s", 820},
    {"neuronlink_gb_per_s", 384},
    {"dma_engine_bytes_per_ns", 17},
    {"dma_total_gb_per_s", 1000},
    {"dma_start_latency_ns", 1300},
    {"pe_matmul_min_cycles", 64},
    {"pe_fp32_factor", 4},
    {"pe_load_stationary_speedup", 4},
    {"dve_elems_per_cycle.one_input", 128},
    {"dve_elems_per_cycle.two_inputs", 64},
    {"act_elems_per_cycle", 128},
    {"engine_static_overhead_cycles", 100},
    {"sbuf_access_latency_cycles", 60},
    {"act_read_accumulator_cycles", 64},
    {"efficient_dma_min_bytes_per_partition", 2048},
}};

}  // namespace

constinit const nrtp_arch_timing kTiming = {
    .size = sizeof(nrtp_arch_timing),
    .n = kValues.size(),
    .kv = kValues.data(),
};

}  // namespace opennrt::sunda
