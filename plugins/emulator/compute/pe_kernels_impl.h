// SPDX-License-Identifier: Apache-2.0
//
// Included once per instruction set, with OPENNRT_PE_KERNELS naming the set and
// the compiler flags choosing the vector type. No standard library here: an
// inline function compiled for a newer CPU must not be shared with other files.
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include "compute/pe_kernels.h"

namespace opennrt::emu {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using F32 = hn::ScalableTag<float>;
using Vector = hn::Vec<F32>;

constexpr std::uint32_t kLanes = hn::MaxLanes(F32());
static_assert(3 * kLanes >= kPeMinWidth);
constexpr std::uint32_t kWidth = 3 * kLanes;
// Accumulators, three inputs and one weight fill the register file.
#if HWY_TARGET <= HWY_AVX3
constexpr std::uint32_t kTileRows = 8;
#else
constexpr std::uint32_t kTileRows = 4;
#endif

// --- widening

struct WidenF32 {
  using Lane = float;
  template <class D>
  static HWY_INLINE hn::Vec<D> load(D d, const Lane* in) {
    return hn::LoadU(d, in);
  }
};

struct WidenF16 {
  using Lane = hwy::float16_t;
  template <class D>
  static HWY_INLINE hn::Vec<D> load(D d, const Lane* in) {
    return hn::PromoteTo(d, hn::LoadU(hn::Rebind<Lane, D>(), in));
  }
};

struct WidenBf16 {
  using Lane = std::uint16_t;
  template <class D>
  static HWY_INLINE hn::Vec<D> load(D d, const Lane* in) {
    const hn::RebindToUnsigned<D> du;
    const auto bits = hn::PromoteTo(du, hn::LoadU(hn::Rebind<Lane, D>(), in));
    return hn::BitCast(d, hn::ShiftLeft<16>(bits));
  }
};

template <class Widen, class D>
HWY_INLINE void pack_panels(D d, const void* raw, std::uint32_t n, float* out, std::uint32_t width,
                            std::uint64_t stride) {
  using Lane = typename Widen::Lane;
  constexpr std::uint32_t lanes = hn::MaxLanes(D());
  const Lane* in = static_cast<const Lane*>(raw);
  for (; n >= width; n -= width, in += width, out += stride)
    for (std::uint32_t i = 0; i < width; i += lanes) hn::StoreU(Widen::load(d, in + i), d, out + i);
  for (; n >= lanes; n -= lanes, in += lanes, out += lanes) hn::StoreU(Widen::load(d, in), d, out);
  if (n == 0) return;
  Lane rest[lanes] = {};
  for (std::uint32_t i = 0; i < n; ++i) rest[i] = in[i];
  hn::StoreU(Widen::load(d, rest), d, out);
}

template <class Widen>
void pack(const void* in, std::uint32_t n, float* out, std::uint32_t width, std::uint64_t stride) {
  if (width % kLanes == 0)
    pack_panels<Widen>(F32(), in, n, out, width, stride);
  else
    pack_panels<Widen>(hn::CappedTag<float, kPeBlock>(), in, n, out, width, stride);
}

// --- multiplication

// One tile of kTileRows x kVectors vectors; `tail` columns of the last vector
// count (0: all of them).
template <int kVectors>
HWY_INLINE void tile(const float* HWY_RESTRICT w, const float* HWY_RESTRICT x, std::uint32_t k,
                     float* c, std::uint64_t c_stride, std::uint32_t rows, std::uint32_t tail,
                     bool add) {
  const F32 d;
  const std::uint32_t rows_used = rows < kTileRows ? rows : kTileRows;
  if (add)
    for (std::uint32_t i = 0; i < rows_used; ++i)
      for (std::uint32_t v = 0; v < kVectors; ++v) hwy::Prefetch(c + i * c_stride + v * kLanes);
  Vector sum[kTileRows][kVectors];
  for (std::uint32_t i = 0; i < kTileRows; ++i)
    for (int v = 0; v < kVectors; ++v) sum[i][v] = hn::Zero(d);
  for (; k != 0; --k, w += kPeBlock, x += kWidth) {
    Vector in[kVectors];
    for (int v = 0; v < kVectors; ++v)
      in[v] = hn::Load(d, x + static_cast<std::uint32_t>(v) * kLanes);
    for (std::uint32_t i = 0; i < kTileRows; ++i) {
      const Vector weight = hn::Set(d, w[i]);
      for (int v = 0; v < kVectors; ++v) sum[i][v] = hn::MulAdd(weight, in[v], sum[i][v]);
    }
  }
  const auto finish = [&](float* row, const Vector(&s)[kVectors]) HWY_ATTR {
    for (int v = 0; v < kVectors; ++v, row += kLanes) {
      if (v == kVectors - 1 && tail != 0) {
        float rest[kLanes];
        hn::StoreU(s[v], d, rest);
        for (std::uint32_t j = 0; j < tail; ++j) row[j] = add ? row[j] + rest[j] : rest[j];
        return;
      }
      hn::StoreU(add ? hn::Add(hn::LoadU(d, row), s[v]) : s[v], d, row);
    }
  };
  if (rows_used == kTileRows) {
    for (std::uint32_t i = 0; i < kTileRows; ++i) finish(c + i * c_stride, sum[i]);
    return;
  }
  for (std::uint32_t i = 0; i < kTileRows; ++i)
    if (i < rows_used) finish(c + i * c_stride, sum[i]);
}

void multiply(const float* w, const float* x, std::uint32_t k, float* c, std::uint64_t c_stride,
              std::uint32_t rows, std::uint32_t n, bool add) {
  for (std::uint32_t i = 0; i < rows; i += kTileRows) {
    const std::uint32_t left = rows - i, tail = n % kLanes;
    float* to = c + i * c_stride;
    if (n > 2 * kLanes)
      tile<3>(w + i, x, k, to, c_stride, left, tail, add);
    else if (n > kLanes)
      tile<2>(w + i, x, k, to, c_stride, left, tail, add);
    else
      tile<1>(w + i, x, k, to, c_stride, left, tail, add);
  }
}

}  // namespace

extern const PeKernels OPENNRT_PE_KERNELS;
const PeKernels OPENNRT_PE_KERNELS = {
    hwy::TargetName(HWY_TARGET), kWidth, pack<WidenF32>, pack<WidenF16>, pack<WidenBf16>, multiply};

}  // namespace opennrt::emu
