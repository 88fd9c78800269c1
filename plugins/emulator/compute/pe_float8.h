// SPDX-License-Identifier: Apache-2.0
//
// Values of the 8-bit and 4-bit float formats and of E8M0 scales.
#pragma once

#include <cstdint>

namespace opennrt::emu {

// 256 values of FP8_EXP3 (1-3-4), FP8_EXP4 (1-4-3) or FP8_EXP5 (1-5-2), with
// infinity and NaN in the largest exponent; `e4m3fn`: FP8_EXP4 in its OCP form,
// whose only special value is NaN in all ones. nullptr for other types.
const float* float8_table(std::uint32_t dtype, bool e4m3fn);

// 16 values of FP4_EXP2 (1-2-1): no special values.
const float* float4_table();

}  // namespace opennrt::emu
