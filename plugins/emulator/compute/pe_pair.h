// SPDX-License-Identifier: Apache-2.0
//
// FP32 products come as two passes with the same operands: load LOW, multiply,
// load HIGH, multiply. When four records in a row are such a pair, the LOW
// product is left out and the HIGH one uses whole numbers: half the work, and
// the same sum with fewer roundings.
//
// Nobody can tell: the first three records post no update, so that nothing may
// depend on the LOW product alone or replace the operands before the HIGH one,
// and a pair is none while a breakpoint looks at what the LOW product leaves.
#pragma once

#include <cstdint>

#include "compute/engine_state.h"

namespace opennrt::emu {

// Places of the records, in bytes from the first.
inline constexpr std::uint64_t kPairLowProduct = 64, kPairHighLoad = 128, kPairHighProduct = 192;

// Whether the record that executes and the three behind it are a pair.
bool begins_fp32_pair(const EngineState& state);

}  // namespace opennrt::emu
