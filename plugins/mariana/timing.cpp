// SPDX-License-Identifier: Apache-2.0
//
// Figures for the cycle model, from the public architecture documentation.
// Never used for correctness. The SP clock is inferred; the shortest matmul is
// the documented one of sunda.
#include <array>

#include "facts.h"

namespace opennrt::mariana {
namespace {

constexpr std::array<nrtp_timing_kv, 35> kValues = {{
    {"clock_ghz.pe", 2.4},
    {"clock_ghz.dve", 1.2},
    {"clock_ghz.act", 1.2},
    {"clock_ghz.pool", 1.2},
    {"clock_ghz.sp", 1.2},
    {"lanes.pe_rows", 128},
    {"lanes.pe_cols", 128},
    {"lanes.dve", 128},
    {"lanes.act", 128},
    {"lanes.pool", 128},
    {"dve_elems_per_cycle.bf16_fp16_fp8", 512},
    {"dve_elems_per_cycle.other", 256},
    {"act_elems_per_cycle.bf16_fp16_fp8", 256},
    {"act_elems_per_cycle.other", 128},
    {"pe_input_width.mxfp8", 1024},
    {"pe_input_width.other_dense", 256},
    {"pe_input_width.sparse", 640},
    {"tflops_per_core.mxfp8", 315},
    {"tflops_per_core.bf16", 79},
    {"tflops_per_core.fp32", 20},
    {"tflops_per_device.mxfp8", 2517},
    {"tflops_per_device.bf16", 671},
    {"tflops_per_device.fp32", 183},
    {"hbm_gb_per_s", 4900},
    {"neuronlink_gb_per_s", 2560},
    {"dma_engine_bytes_per_ns", 33},
    {"dma_total_gb_per_s", 4900},
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

}  // namespace opennrt::mariana
