// SPDX-License-Identifier: Apache-2.0
//
// Compilation of table functions. A table of which each sign reaches only one
// cubic (relu, square, sign, copy, ...) needs no lookup at run time.
#include "compute/activation_function.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "opennrt/isa/table.h"

namespace opennrt::emu {

namespace {

constexpr std::uint32_t kMantissaBits = 23;
constexpr std::uint32_t kInfinityExponent = 255;
constexpr std::uint32_t kCanonicalNan = 0x7FC00000;
constexpr std::uint32_t kInfinity = 0x7F800000;
constexpr std::uint32_t kParametricSource = 2;  // fma source: slopes from constant and instruction

std::uint32_t limit_of(std::uint32_t exponent, std::uint32_t mantissa) {
  if (exponent > kInfinityExponent) return kInfinity;
  return (exponent << kMantissaBits) + std::min(mantissa, 1u << kMantissaBits);
}

bool same_cubic(const ActivationBucket& a, const ActivationBucket& b) {
  return std::memcmp(&a, &b, 5 * sizeof(float)) == 0;
}

// One side's control words; first collects whether all reachable buckets agree.
struct Reach {
  const std::vector<ActivationBucket>& buckets;
  const ActivationBucket* first = nullptr;
  bool uniform = true;

  void add(std::uint32_t bucket) {
    if (!first)
      first = &buckets[bucket];
    else if (!same_cubic(*first, buckets[bucket]))
      uniform = false;
  }
};

}  // namespace

bool ActivationFunction::compile(const ActivationProfile& p,
                                 const std::vector<std::uint32_t>& control_words,
                                 const std::vector<ActivationBucket>& set_buckets,
                                 std::string* error) {
  const auto fail = [&](const std::string& what, std::uint64_t value, std::uint64_t limit) {
    *error = activation_function_name(p.func_id) + ": " + what + " is " + std::to_string(value) +
             ", the limit is " + std::to_string(limit);
    return false;
  };
  if (p.fma_source != 0) {
    if (p.fma_source != kParametricSource || p.fma_const_0 != 0x3F800000) {
      *error = activation_function_name(p.func_id) + ": operand source " +
               std::to_string(p.fma_source) + " of the profile is not implemented";
      return false;
    }
    kind = Kind::kParametric;
    return true;
  }
  if (set_buckets.empty()) return fail("number of buckets", 0, 1);
  nan_result = p.nan_result;
  zero_result = p.zero_result;
  infinity_result[kPositive] = p.positive_infinity_result;
  infinity_result[kNegative] = p.negative_infinity_result;
  fold = p.fold != 0;
  fold_to_negative = fold && p.fold_to_negative != 0;
  invert = fold && p.invert != 0;
  twice_symmetry_point = 2 * std::bit_cast<float>(p.symmetry_point);
  buckets = set_buckets.data();

  bool uniform = true;
  for (const std::uint32_t side : {kPositive, kNegative}) {
    std::uint32_t* words = &control[side * 256];
    // Never selected: zero and NaN have their own results, and the other side of
    // a folded function is not visited.
    std::fill(words, words + 256, 0);
    if (fold && side != (fold_to_negative ? kNegative : kPositive)) {
      small_limit[side] = 0;
      large_limit[side] = 0;
      continue;
    }
    small_limit[side] = limit_of(p.small_exponent[side], 0);
    large_limit[side] = limit_of(p.large_exponent[side], p.large_mantissa[side]);
    small_bucket[side] = p.small_bucket[side];
    large_bucket[side] = p.large_bucket[side];
    Reach reach{set_buckets};
    if (small_limit[side] > 1) {  // the smallest |x| that is not zero is 1
      if (small_bucket[side] >= set_buckets.size())
        return fail("small-signal bucket", small_bucket[side], set_buckets.size() - 1);
      reach.add(small_bucket[side]);
    } else {
      small_bucket[side] = 0;
    }
    if (large_limit[side] < kInfinity) {
      if (large_bucket[side] >= set_buckets.size())
        return fail("large-signal bucket", large_bucket[side], set_buckets.size() - 1);
      reach.add(large_bucket[side]);
    } else {
      large_bucket[side] = 0;
    }
    for (std::uint32_t e = 0; e < kInfinityExponent; ++e) {
      const std::uint32_t lowest = std::max(e << kMantissaBits, 1u);
      const std::uint32_t highest = ((e + 1) << kMantissaBits) - 1;
      if (highest < small_limit[side] || lowest >= large_limit[side]) continue;
      const std::int64_t index = std::int64_t{p.control_base[side]} + e - 127 - p.exponent_offset;
      if (index < 0 || index >= static_cast<std::int64_t>(control_words.size()))
        return fail("control entry of exponent " + std::to_string(e),
                    static_cast<std::uint64_t>(index), control_words.size() - 1);
      const std::uint32_t word = control_words[static_cast<std::size_t>(index)];
      const std::uint32_t first = word & 0x7FF, shift = word >> 11 & 31, bits = word >> 16;
      if (bits > kMantissaBits) return fail("mantissa bits of a control entry", bits, 23);
      // Bits above the mantissa do not exist, and the large-signal bucket takes
      // over in the middle of an exponent.
      const std::uint32_t top =
          (std::min(highest, large_limit[side] - 1) & ((1u << kMantissaBits) - 1)) >> shift;
      const std::uint32_t last = first + std::min(top, (1u << bits) - 1);
      if (last >= set_buckets.size())
        return fail("last bucket of exponent " + std::to_string(e), last, set_buckets.size() - 1);
      words[e] = word;
      for (std::uint32_t b = first; b <= last; ++b) reach.add(b);
    }
    uniform = uniform && reach.uniform;
    piece[side] = reach.first ? *reach.first : set_buckets[0];
  }
  if (fold)
    piece[fold_to_negative ? kPositive : kNegative] =
        piece[fold_to_negative ? kNegative : kPositive];
  if (!uniform) {
    kind = Kind::kTable;
    return true;
  }
  kind = Kind::kTwoPieces;
  const auto is_linear = [](const ActivationBucket& b) {
    return b.d0 == 0 && b.d1 == 1 && b.d2 == 0 && b.d3 == 0 && b.x0 == 0;
  };
  if (!fold && is_linear(piece[kPositive]) && is_linear(piece[kNegative]) && zero_result == 0 &&
      nan_result == kCanonicalNan && infinity_result[kPositive] == kInfinity &&
      infinity_result[kNegative] == (kInfinity | 0x80000000))
    kind = Kind::kIdentity;
  return true;
}

std::string activation_function_name(std::uint32_t code) {
  const isa::EnumTable* table = isa::find_enumeration("activation_function");
  const char* name = table ? table->find(code) : nullptr;
  return name ? name : "activation function " + std::to_string(code);
}

}  // namespace opennrt::emu
