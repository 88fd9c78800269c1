// SPDX-License-Identifier: Apache-2.0
#include "compute/formats.h"

#include <array>
#include <type_traits>

#include "compute/numeric.h"
#include "compute/targets.h"
#include "opennrt/isa/records.h"

#if OPENNRT_HAS_AVX2_TARGET
#include <immintrin.h>
#endif

namespace opennrt::emu {

namespace {

template <int kExponent, int kFraction, Fp8Top kTop>
constexpr std::array<float, 256> fp8_values() {
  std::array<float, 256> values{};
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = fp8_to_f32<kExponent, kFraction, kTop>(static_cast<std::uint8_t>(i));
  return values;
}
template <int kExponent, int kFraction, Fp8Top kTop>
constexpr std::array<float, 256> kFp8Values = fp8_values<kExponent, kFraction, kTop>();

[[maybe_unused]] constexpr std::uint64_t kHalfScratch = 512;

namespace baseline {
#include "compute/format_loops.inc"
}

#if OPENNRT_HAS_AVX2_TARGET
OPENNRT_BEGIN_AVX2
namespace avx2 {
#define OPENNRT_TARGET_AVX2
#include "compute/format_loops.inc"
#undef OPENNRT_TARGET_AVX2
}  // namespace avx2
OPENNRT_END_AVX2
#else
namespace avx2 = baseline;
#endif

bool fast() {
  static const bool value = use_avx2();
  return value;
}

const avx2::RawMoves& raw_avx2(std::uint32_t bytes) { return avx2::raw(bytes); }

}  // namespace

std::uint32_t format_of(std::uint32_t dtype, const NumericConfig& config) {
  if (dtype < isa::kDtFloat8e3 || dtype > isa::kDtFloat8e5) return dtype;
  return dtype | (config.e4m3fn && dtype == isa::kDtFloat8e4 ? kFormatOcp : 0) |
         (config.fp8_saturate ? kFormatSaturate : 0);
}

const Format& format(std::uint32_t code) {
  return fast() ? avx2::find(code) : baseline::find(code);
}

const Format& format_of_target(std::uint32_t code, int target) {
  return target == 0 ? baseline::find(code) : format(code);
}

LoadBits load_bits(std::uint32_t bytes) {
  return fast() ? raw_avx2(bytes).load : baseline::raw(bytes).load;
}
StoreBits store_bits(std::uint32_t bytes) {
  return fast() ? raw_avx2(bytes).store : baseline::raw(bytes).store;
}
GatherBytes gather_bytes(std::uint32_t bytes) {
  return fast() ? raw_avx2(bytes).gather : baseline::raw(bytes).gather;
}
ScatterBytes scatter_bytes(std::uint32_t bytes) {
  return fast() ? raw_avx2(bytes).scatter : baseline::raw(bytes).scatter;
}

}  // namespace opennrt::emu
