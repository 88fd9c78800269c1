// SPDX-License-Identifier: Apache-2.0
//
// Dense runs of half-precision values to and from FP32: the CPU's conversion
// instructions where it has them, the portable formulas elsewhere. Both give
// the same bits for every input, NaN payloads included.
#pragma once

#include <cstdint>

namespace opennrt::emu {

using HalfToFloat = void (*)(const std::uint16_t* in, float* out, std::uint64_t n);
using FloatToHalf = void (*)(const float* in, std::uint16_t* out, std::uint64_t n);

HalfToFloat half_to_float();
FloatToHalf float_to_half();

// The portable forms, for tests.
void half_to_float_portable(const std::uint16_t* in, float* out, std::uint64_t n);
void float_to_half_portable(const float* in, std::uint16_t* out, std::uint64_t n);

}  // namespace opennrt::emu
