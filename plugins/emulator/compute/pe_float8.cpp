// SPDX-License-Identifier: Apache-2.0
#include "compute/pe_float8.h"

#include <array>
#include <limits>

#include "opennrt/isa/records.h"

namespace opennrt::emu {

namespace {

constexpr float power_of_two(int e) {
  float v = 1;
  for (; e > 0; --e) v *= 2;
  for (; e < 0; ++e) v /= 2;
  return v;
}

enum class Top { kSpecial, kNan, kNumbers };

template <int kExponent, int kFraction, Top kTop>
constexpr auto values() {
  constexpr int kBits = kExponent + kFraction;
  constexpr int kBias = (1 << (kExponent - 1)) - 1;
  std::array<float, std::size_t{2} << kBits> all{};
  for (int i = 0; i < 1 << kBits; ++i) {
    const int e = i >> kFraction, f = i & ((1 << kFraction) - 1);
    const float fraction = static_cast<float>(f) / static_cast<float>(1 << kFraction);
    float v =
        e == 0 ? fraction * power_of_two(1 - kBias) : (1 + fraction) * power_of_two(e - kBias);
    const bool top = e == (1 << kExponent) - 1;
    if (kTop == Top::kSpecial && top)
      v = f == 0 ? std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN();
    if (kTop == Top::kNan && i == (1 << kBits) - 1) v = std::numeric_limits<float>::quiet_NaN();
    all[static_cast<std::size_t>(i)] = v;
    all[static_cast<std::size_t>(i + (1 << kBits))] = -v;
  }
  return all;
}

constexpr auto kE3 = values<3, 4, Top::kSpecial>();
constexpr auto kE4 = values<4, 3, Top::kSpecial>();
constexpr auto kE4fn = values<4, 3, Top::kNan>();
constexpr auto kE5 = values<5, 2, Top::kSpecial>();
constexpr auto kE2 = values<2, 1, Top::kNumbers>();

}  // namespace

const float* float8_table(std::uint32_t dtype, bool e4m3fn) {
  switch (dtype) {
    case isa::kDtFloat8e3:
      return kE3.data();
    case isa::kDtFloat8e4:
      return e4m3fn ? kE4fn.data() : kE4.data();
    case isa::kDtFloat8e5:
      return kE5.data();
    default:
      return nullptr;
  }
}

const float* float4_table() { return kE2.data(); }

}  // namespace opennrt::emu
