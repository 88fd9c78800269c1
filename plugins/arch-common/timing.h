// SPDX-License-Identifier: Apache-2.0
//
// Figures for the cycle model, from the public architecture documentation.
// Never used for correctness. Here: what is documented alike for all families;
// the shortest matmul is documented for sunda and assumed for the others.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "opennrt/arch.h"

namespace opennrt::arch_common {

inline constexpr std::array<nrtp_timing_kv, 13> kCommonTiming = {{
    {"lanes.pe_rows", 128},
    {"lanes.pe_cols", 128},
    {"lanes.dve", 128},
    {"lanes.act", 128},
    {"lanes.pool", 128},
    {"dma_start_latency_ns", 1300},
    {"pe_matmul_min_cycles", 64},
    {"pe_fp32_factor", 4},
    {"pe_load_stationary_speedup", 4},
    {"engine_static_overhead_cycles", 100},
    {"sbuf_access_latency_cycles", 60},
    {"act_read_accumulator_cycles", 64},
    {"efficient_dma_min_bytes_per_partition", 2048},
}};

// A family's own figures and the common ones.
template <std::size_t N>
constexpr auto with_common_timing(const std::array<nrtp_timing_kv, N>& own) {
  std::array<nrtp_timing_kv, N + kCommonTiming.size()> out{};
  std::copy(own.begin(), own.end(), out.begin());
  std::copy(kCommonTiming.begin(), kCommonTiming.end(), out.begin() + N);
  return out;
}

template <std::size_t N>
constexpr nrtp_arch_timing make_timing(const std::array<nrtp_timing_kv, N>& figures) {
  return {.size = sizeof(nrtp_arch_timing), .n = N, .kv = figures.data()};
}

}  // namespace opennrt::arch_common
