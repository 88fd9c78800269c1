// SPDX-License-Identifier: Apache-2.0
#include "compute/half.h"

#include "compute/numeric.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace opennrt::emu {

void half_to_float_portable(const std::uint16_t* in, float* out, std::uint64_t n) {
  for (std::uint64_t i = 0; i < n; ++i) out[i] = f16_to_f32(in[i]);
}

void float_to_half_portable(const float* in, std::uint16_t* out, std::uint64_t n) {
  for (std::uint64_t i = 0; i < n; ++i) out[i] = f32_to_f16(in[i]);
}

#if defined(__x86_64__)

namespace {

__attribute__((target("avx,f16c"))) void half_to_float_f16c(const std::uint16_t* in, float* out,
                                                            std::uint64_t n) {
  std::uint64_t i = 0;
  for (; i + 8 <= n; i += 8)
    _mm256_storeu_ps(out + i,
                     _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(in + i))));
  half_to_float_portable(in + i, out + i, n - i);
}

__attribute__((target("avx,f16c"))) void float_to_half_f16c(const float* in, std::uint16_t* out,
                                                            std::uint64_t n) {
  std::uint64_t i = 0;
  for (; i + 8 <= n; i += 8)
    _mm_storeu_si128(
        reinterpret_cast<__m128i*>(out + i),
        _mm256_cvtps_ph(_mm256_loadu_ps(in + i), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
  float_to_half_portable(in + i, out + i, n - i);
}

bool has_f16c() { return __builtin_cpu_supports("avx") && __builtin_cpu_supports("f16c"); }

}  // namespace

HalfToFloat half_to_float() { return has_f16c() ? half_to_float_f16c : half_to_float_portable; }
FloatToHalf float_to_half() { return has_f16c() ? float_to_half_f16c : float_to_half_portable; }

#else

HalfToFloat half_to_float() { return half_to_float_portable; }
FloatToHalf float_to_half() { return float_to_half_portable; }

#endif

}  // namespace opennrt::emu
