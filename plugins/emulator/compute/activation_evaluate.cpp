// SPDX-License-Identifier: Apache-2.0
//
// Evaluation of compiled activation functions. The AVX2 and the portable form
// perform the same FP32 operations in the same order, so results do not depend
// on the processor.
#include <bit>
#include <cstring>

#include "compute/activation_function.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace opennrt::emu {

namespace {

constexpr std::uint32_t kMagnitude = 0x7FFFFFFF;
constexpr std::uint32_t kMantissa = 0x007FFFFF;
constexpr std::uint32_t kInfinity = 0x7F800000;
constexpr std::uint32_t kCanonicalNan = 0x7FC00000;

float cubic(const ActivationBucket& b, float x) {
  const float t = x - b.x0;
  return b.d0 + t * (b.d1 + t * (b.d2 + t * b.d3));
}

float identity(float x) { return x != x ? std::bit_cast<float>(kCanonicalNan) : x + 0.0f; }

float parametric(float x, float slope) {
  if (x != x) return std::bit_cast<float>(kCanonicalNan);
  return x > 0 ? x : x * slope + 0.0f;
}

template <bool kLookup>
float one(const ActivationFunction& f, float x) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t magnitude = bits & kMagnitude;
  const std::uint32_t sign = bits >> 31;
  if (magnitude == 0) return std::bit_cast<float>(f.zero_result);
  if (magnitude == kInfinity) return std::bit_cast<float>(f.infinity_result[sign]);
  if (magnitude > kInfinity) return std::bit_cast<float>(f.nan_result);
  const std::uint32_t side = f.fold ? (f.fold_to_negative ? 1 : 0) : sign;
  const float at = std::bit_cast<float>(magnitude | side << 31);
  float y;
  if constexpr (kLookup) {
    const std::uint32_t word = f.control[side * 256 + (magnitude >> 23)];
    const std::uint32_t bits_used = word >> 16;
    std::uint32_t bucket =
        (word & 0x7FF) + ((magnitude & kMantissa) >> (word >> 11 & 31) & ((1u << bits_used) - 1));
    if (magnitude >= f.large_limit[side]) bucket = f.large_bucket[side];
    if (magnitude < f.small_limit[side]) bucket = f.small_bucket[side];
    y = cubic(f.buckets[bucket], at);
  } else {
    y = cubic(f.piece[side], at);
  }
  return f.invert && side != sign ? f.twice_symmetry_point - y : y;
}

#if defined(__x86_64__)

#define OPENNRT_AVX2 __attribute__((target("avx2")))

OPENNRT_AVX2 inline __m256 bits8(std::uint32_t v) {
  return _mm256_castsi256_ps(_mm256_set1_epi32(static_cast<int>(v)));
}

// Chooses b where the mask's sign bits are set.
OPENNRT_AVX2 inline __m256 choose(__m256 a, __m256 b, __m256i mask) {
  return _mm256_blendv_ps(a, b, _mm256_castsi256_ps(mask));
}
OPENNRT_AVX2 inline __m256i choose_int(std::uint32_t a, std::uint32_t b, __m256i mask) {
  return _mm256_blendv_epi8(_mm256_set1_epi32(static_cast<int>(a)),
                            _mm256_set1_epi32(static_cast<int>(b)), mask);
}

template <bool kLookup>
OPENNRT_AVX2 void table_avx2(const ActivationFunction& f, float* x, std::uint64_t n) {
  const __m256i magnitude_mask = _mm256_set1_epi32(static_cast<int>(kMagnitude));
  const __m256i infinity = _mm256_set1_epi32(static_cast<int>(kInfinity));
  const auto* base = reinterpret_cast<const float*>(f.buckets);
  for (std::uint64_t i = 0; i + 8 <= n; i += 8) {
    const __m256i bits = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x + i));
    const __m256i magnitude = _mm256_and_si256(bits, magnitude_mask);
    const __m256i negative = _mm256_srai_epi32(bits, 31);  // all ones below zero
    const __m256i side = f.fold ? _mm256_set1_epi32(f.fold_to_negative ? -1 : 0) : negative;
    const __m256 at = _mm256_castsi256_ps(_mm256_or_si256(magnitude, _mm256_slli_epi32(side, 31)));
    __m256 d0, d1, d2, d3, x0;
    if constexpr (kLookup) {
      // Sign and exponent select the control word.
      const __m256i index = _mm256_add_epi32(_mm256_srli_epi32(magnitude, 23),
                                             _mm256_and_si256(side, _mm256_set1_epi32(256)));
      const __m256i word =
          _mm256_i32gather_epi32(reinterpret_cast<const int*>(f.control.data()), index, 4);
      const __m256i first = _mm256_and_si256(word, _mm256_set1_epi32(0x7FF));
      const __m256i shift = _mm256_and_si256(_mm256_srli_epi32(word, 11), _mm256_set1_epi32(31));
      const __m256i run =
          _mm256_sub_epi32(_mm256_sllv_epi32(_mm256_set1_epi32(1), _mm256_srli_epi32(word, 16)),
                           _mm256_set1_epi32(1));
      const __m256i mantissa =
          _mm256_and_si256(magnitude, _mm256_set1_epi32(static_cast<int>(kMantissa)));
      __m256i bucket =
          _mm256_add_epi32(first, _mm256_and_si256(_mm256_srlv_epi32(mantissa, shift), run));
      const __m256i below_large =
          _mm256_cmpgt_epi32(choose_int(f.large_limit[0], f.large_limit[1], side), magnitude);
      const __m256i below_small =
          _mm256_cmpgt_epi32(choose_int(f.small_limit[0], f.small_limit[1], side), magnitude);
      bucket = _mm256_blendv_epi8(choose_int(f.large_bucket[0], f.large_bucket[1], side), bucket,
                                  below_large);
      bucket = _mm256_blendv_epi8(bucket, choose_int(f.small_bucket[0], f.small_bucket[1], side),
                                  below_small);
      const __m256i at_bucket = _mm256_slli_epi32(bucket, 3);
      d0 = _mm256_i32gather_ps(base, at_bucket, 4);
      d1 = _mm256_i32gather_ps(base + 1, at_bucket, 4);
      d2 = _mm256_i32gather_ps(base + 2, at_bucket, 4);
      d3 = _mm256_i32gather_ps(base + 3, at_bucket, 4);
      x0 = _mm256_i32gather_ps(base + 4, at_bucket, 4);
    } else {
      const ActivationBucket& p = f.piece[0];
      const ActivationBucket& q = f.piece[1];
      d0 = choose(_mm256_set1_ps(p.d0), _mm256_set1_ps(q.d0), side);
      d1 = choose(_mm256_set1_ps(p.d1), _mm256_set1_ps(q.d1), side);
      d2 = choose(_mm256_set1_ps(p.d2), _mm256_set1_ps(q.d2), side);
      d3 = choose(_mm256_set1_ps(p.d3), _mm256_set1_ps(q.d3), side);
      x0 = choose(_mm256_set1_ps(p.x0), _mm256_set1_ps(q.x0), side);
    }
    const __m256 t = _mm256_sub_ps(at, x0);
    __m256 y = _mm256_add_ps(d2, _mm256_mul_ps(t, d3));
    y = _mm256_add_ps(d1, _mm256_mul_ps(t, y));
    y = _mm256_add_ps(d0, _mm256_mul_ps(t, y));
    if (f.invert)
      y = choose(y, _mm256_sub_ps(_mm256_set1_ps(f.twice_symmetry_point), y),
                 _mm256_xor_si256(side, negative));
    const __m256 infinite = choose(bits8(f.infinity_result[0]), bits8(f.infinity_result[1]), bits);
    y = choose(y, infinite, _mm256_cmpeq_epi32(magnitude, infinity));
    y = choose(y, bits8(f.nan_result), _mm256_cmpgt_epi32(magnitude, infinity));
    y = choose(y, bits8(f.zero_result), _mm256_cmpeq_epi32(magnitude, _mm256_setzero_si256()));
    _mm256_storeu_ps(x + i, y);
  }
}

OPENNRT_AVX2 void identity_avx2(float* x, std::uint64_t n) {
  const __m256 nan = bits8(kCanonicalNan);
  for (std::uint64_t i = 0; i + 8 <= n; i += 8) {
    const __m256 v = _mm256_loadu_ps(x + i);
    const __m256 y = _mm256_add_ps(v, _mm256_setzero_ps());
    _mm256_storeu_ps(x + i, _mm256_blendv_ps(y, nan, _mm256_cmp_ps(v, v, _CMP_UNORD_Q)));
  }
}

bool has_avx2() {
  static const bool has = __builtin_cpu_supports("avx2");
  return has;
}

#endif

}  // namespace

void evaluate_portable(const ActivationFunction& f, float* x, std::uint64_t n, float slope) {
  switch (f.kind) {
    case ActivationFunction::Kind::kIdentity:
      for (std::uint64_t i = 0; i < n; ++i) x[i] = identity(x[i]);
      return;
    case ActivationFunction::Kind::kTwoPieces:
      for (std::uint64_t i = 0; i < n; ++i) x[i] = one<false>(f, x[i]);
      return;
    case ActivationFunction::Kind::kTable:
      for (std::uint64_t i = 0; i < n; ++i) x[i] = one<true>(f, x[i]);
      return;
    case ActivationFunction::Kind::kParametric:
      for (std::uint64_t i = 0; i < n; ++i) x[i] = parametric(x[i], slope);
      return;
    case ActivationFunction::Kind::kExact:
      for (std::uint64_t i = 0; i < n; ++i) x[i] = f.exact(x[i]);
      return;
  }
}

void ActivationFunction::evaluate(float* x, std::uint64_t n, float slope) const {
  std::uint64_t done = 0;
#if defined(__x86_64__)
  if (has_avx2()) {
    done = n / 8 * 8;
    if (kind == Kind::kTable)
      table_avx2<true>(*this, x, n);
    else if (kind == Kind::kTwoPieces)
      table_avx2<false>(*this, x, n);
    else if (kind == Kind::kIdentity)
      identity_avx2(x, n);
    else
      done = 0;
  }
#endif
  evaluate_portable(*this, x + done, n - done, slope);
}

}  // namespace opennrt::emu
