// SPDX-License-Identifier: Apache-2.0
//
// Figures of this family for the cycle model. The SP clock is inferred.
#include "arch-common/timing.h"

#include "facts.h"

namespace opennrt::mariana {
namespace {

constexpr auto kFigures = arch_common::with_common_timing(std::to_array<nrtp_timing_kv>({
    {"clock_ghz.pe", 2.4},
    {"clock_ghz.dve", 1.2},
    {"clock_ghz.act", 1.2},
    {"clock_ghz.pool", 1.2},
    {"clock_ghz.sp", 1.2},
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
}));

}  // namespace

constinit const nrtp_arch_timing kTiming = arch_common::make_timing(kFigures);

}  // namespace opennrt::mariana
