// SPDX-License-Identifier: Apache-2.0
//
// Figures of this family for the cycle model. The SP clock is inferred.
#include "arch-common/timing.h"

#include "facts.h"

namespace opennrt::sunda {
namespace {

constexpr auto kFigures = arch_common::with_common_timing(std::to_array<nrtp_timing_kv>({
    {"clock_ghz.pe", 2.8},
    {"clock_ghz.dve", 1.12},
    {"clock_ghz.act", 1.4},
    {"clock_ghz.pool", 1.4},
    {"clock_ghz.sp", 1.4},
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
    {"dve_elems_per_cycle.one_input", 128},
    {"dve_elems_per_cycle.two_inputs", 64},
    {"act_elems_per_cycle", 128},
}));

}  // namespace

constinit const nrtp_arch_timing kTiming = arch_common::make_timing(kFigures);

}  // namespace opennrt::sunda
