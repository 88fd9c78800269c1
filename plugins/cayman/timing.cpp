// SPDX-License-Identifier: Apache-2.0
//
// Figures of this family for the cycle model. The SP clock is inferred.
#include "arch-common/timing.h"

#include "facts.h"

namespace opennrt::cayman {
namespace {

constexpr auto kFigures = arch_common::with_common_timing(std::to_array<nrtp_timing_kv>({
    {"clock_ghz.pe", 2.4},
    {"clock_ghz.dve", 0.96},
    {"clock_ghz.act", 1.2},
    {"clock_ghz.pool", 1.2},
    {"clock_ghz.sp", 1.2},
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
}));

}  // namespace

constinit const nrtp_arch_timing kTiming = arch_common::make_timing(kFigures);

}  // namespace opennrt::cayman
