// SPDX-License-Identifier: Apache-2.0
//
// Figures for the cycle model, from the public architecture documentation.
// Never used for correctness. The SP clock is inferred; the shortest matmul is
// the documented one of sunda.
#include <array>

#include "facts.h"

namespace opennrt::cayman {
namespace {

constexpr std::array<nrtp_timing_kv, 36> kValues = {{
    {"clock_ghz.pe", 2.4},
    {"clock_ghz.dve", 0.96},
    {"clock_ghz.act", 1.2},
    {"clock_ghz.pool", 1.2},
    {"clock_ghz.sp", 1.2},
    {"lanes.pe_rows", 128},
    {"lanes.pe_cols", 128},
    {"lanes.dve", 128},
    {"lanes.act", 128},
    {"lanes.pool", 128},
    {"dve_elems_per_cycle.bf16_fp16", 512},
    {"dve_elems_per_cycle.other", 256},
    {"act_elems_per_cycle", 128},
    {"pe_input_width.fp8", 512},
    {"pe_input_width.bf16", 256},
    {"pe_input_width.sparse", 640},
    {"tflops_per_core.fp8", 158},
    {"tflops_per_core.bf16", 79},
    {"tflops_per_core.fp32", 20},
    {"tflops_per_core.sparse", 316},
    {"tflops_per_device.fp8", 1299},
    {"tflops_per_device.bf16", 667},
    {"tflops_per_device.fp32", 181},
    {"tflops_per_device.sparse", 2563},
    {"hbm_gb_per_s", 2900},
    {"neuronlink_gb_per_s", 1280},
    {"dma_engine_bytes_per_ns", 23},
    {"dma_total_gb_per_s", 3500},
    {"dma_start_latency_ns", 1300},
    {"pe_matmul_min_cycles", 64},
    {"pe_fp32_factor", 4},
    {"pe_load_stationary_speedup", 4},
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

}  // namespace opennrt::cayman
