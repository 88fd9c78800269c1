// SPDX-License-Identifier: Apache-2.0
#include "compute/activation_affine.h"

#include <algorithm>
#include <bit>

#include "opennrt/isa/records.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "compute/numeric.h"

namespace opennrt::emu {

namespace {

constexpr std::uint32_t kCanonicalNan = 0x7FC00000;

template <typename T>
float widen(T v);
template <>
float widen(float v) {
  return v;
}
template <>
float widen(std::uint16_t v) {
  return f16_to_f32(v);
}
template <typename T>
T narrow(float v);
template <>
float narrow(float v) {
  return v;
}
template <>
std::uint16_t narrow(float v) {
  return f32_to_f16(v);
}

float affine_one(float x, float scale, float bias) {
  const float y = x * scale + bias;
  return y != y ? std::bit_cast<float>(kCanonicalNan) : y + 0.0f;
}

#if defined(__x86_64__)

#define OPENNRT_AVX2 __attribute__((target("avx2,f16c")))

OPENNRT_AVX2 inline __m256 load8(const float* p) { return _mm256_loadu_ps(p); }
OPENNRT_AVX2 inline __m256 load8(const std::uint16_t* p) {
  return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}
OPENNRT_AVX2 inline void store8(float* p, __m256 v) { _mm256_storeu_ps(p, v); }
OPENNRT_AVX2 inline void store8(std::uint16_t* p, __m256 v) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p),
                   _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}

template <typename In, typename Out>
OPENNRT_AVX2 std::uint64_t affine_avx2(const In* in, Out* out, std::uint64_t n, float scale,
                                       float bias) {
  const __m256 s = _mm256_set1_ps(scale), b = _mm256_set1_ps(bias);
  const __m256 nan = _mm256_castsi256_ps(_mm256_set1_epi32(static_cast<int>(kCanonicalNan)));
  std::uint64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    const __m256 y = _mm256_add_ps(_mm256_mul_ps(load8(in + i), s), b);
    const __m256 plus = _mm256_add_ps(y, _mm256_setzero_ps());
    store8(out + i, _mm256_blendv_ps(plus, nan, _mm256_cmp_ps(y, y, _CMP_UNORD_Q)));
  }
  return i;
}

bool has_avx2() {
  static const bool has = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c");
  return has;
}

#endif

// Calls move(source offset and step, destination offset and step, count) for the
// runs that are straight on both sides.
template <typename Move>
void for_each_run(const Operand& in, const Operand& out, Move move) {
  Cursor source(in.pattern), destination(out.pattern);
  for (std::uint64_t left = out.pattern.total; left != 0;) {
    Cursor::Run a = source.next(left);
    left -= a.count;
    while (a.count != 0) {
      const Cursor::Run b = destination.next(a.count);
      move(a, b, b.count);
      a.offset += static_cast<std::int64_t>(b.count) * a.step;
      a.count -= b.count;
    }
  }
}

template <typename In, typename Out>
void affine(const Operand& source, const Operand& destination, std::uint32_t partition, float scale,
            float bias) {
  const auto* from = reinterpret_cast<const In*>(source.partition(partition));
  auto* to = reinterpret_cast<Out*>(destination.partition(partition));
  for_each_run(source, destination,
               [&](const Cursor::Run& a, const Cursor::Run& b, std::uint64_t n) {
                 const In* in = from + a.offset;
                 Out* out = to + b.offset;
                 std::uint64_t i = 0;
#if defined(__x86_64__)
                 if (has_avx2()) i = affine_avx2(in, out, n, scale, bias);
#endif
                 for (; i < n; ++i) out[i] = narrow<Out>(affine_one(widen(in[i]), scale, bias));
               });
}

// Bits of a float type: infinity, the canonical NaN, everything but the sign.
template <typename T, T kInfinity, T kNan, T kMagnitude>
T tidy(T v) {
  const T magnitude = v & kMagnitude;
  T result = magnitude > kInfinity ? kNan : v;
  result = magnitude == 0 ? T{0} : result;
  return result;
}

template <typename T, T kInfinity, T kNan, T kMagnitude>
void copy(const Operand& in, const Operand& out, std::uint32_t partition) {
  const T* from = reinterpret_cast<const T*>(in.partition(partition));
  T* to = reinterpret_cast<T*>(out.partition(partition));
  constexpr auto fix = tidy<T, kInfinity, kNan, kMagnitude>;
  if (in.pattern.step[0] != 1 && out.pattern.dense()) {
    const GatherBytes gather = gather_bytes(sizeof(T));
    Cursor source(in.pattern);
    T values[kChunk];
    for (std::uint64_t left = out.pattern.total; left != 0;) {
      const Block b = source.block(std::min(left, kChunk));
      const std::uint64_t n = b.total();
      gather(in.partition(partition), b, reinterpret_cast<std::uint8_t*>(values));
      for (std::uint64_t i = 0; i < n; ++i) to[i] = fix(values[i]);
      to += n;
      left -= n;
    }
    return;
  }
  for_each_run(in, out, [&](const Cursor::Run& a, const Cursor::Run& b, std::uint64_t count) {
    const T* p = from + a.offset;
    T* q = to + b.offset;
    const auto n = static_cast<std::int64_t>(count);
    if (a.step == 1 && b.step == 1)
      for (std::int64_t i = 0; i < n; ++i) q[i] = fix(p[i]);
    else
      for (std::int64_t i = 0; i < n; ++i) q[i * b.step] = fix(p[i * a.step]);
  });
}

}  // namespace

AffineKernel affine_kernel(const Operand& in, const Operand& out) {
  if (in.pattern.step[0] != 1 || out.pattern.step[0] != 1) return nullptr;
  const bool in_half = in.dtype == isa::kDtFloat16, out_half = out.dtype == isa::kDtFloat16;
  if ((!in_half && in.dtype != isa::kDtFloat32) || (!out_half && out.dtype != isa::kDtFloat32))
    return nullptr;
  if (in_half)
    return out_half ? affine<std::uint16_t, std::uint16_t> : affine<std::uint16_t, float>;
  return out_half ? affine<float, std::uint16_t> : affine<float, float>;
}

CopyKernel copy_kernel(const Operand& in, const Operand& out) {
  if (in.dtype != out.dtype) return nullptr;
  switch (in.dtype) {
    case isa::kDtFloat32:
      return copy<std::uint32_t, 0x7F800000, 0x7FC00000, 0x7FFFFFFF>;
    case isa::kDtFloat16:
      return copy<std::uint16_t, 0x7C00, 0x7E00, 0x7FFF>;
    case isa::kDtBfloat16:
      return copy<std::uint16_t, 0x7F80, 0x7FC0, 0x7FFF>;
    default:
      return nullptr;
  }
}

}  // namespace opennrt::emu
