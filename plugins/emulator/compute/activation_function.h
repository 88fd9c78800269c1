// SPDX-License-Identifier: Apache-2.0
//
// One activation function, ready to evaluate: compiled from the table memory of
// ACT, or an exact function where a program brings no table.
//
// A table function is a piecewise cubic. The exponent of |x| and its sign pick a
// control entry, the upper mantissa bits a bucket from the entry's run of
// buckets; bucket = (d0, d1, d2, d3, x0), y = d0 + t(d1 + t(d2 + t d3)) with
// t = x - x0. NaN, infinities and zero have fixed results.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace opennrt::emu {

// Words of a function profile in table memory, in their order.
struct ActivationProfile {
  std::uint32_t func_id;
  std::uint32_t nan_result, positive_infinity_result, negative_infinity_result, zero_result;
  std::uint32_t fold, fold_to_negative, invert;  // symmetry
  std::uint32_t symmetry_point;                  // FP32 bits
  std::uint32_t small_exponent[2];               // positive, negative
  std::uint32_t large_exponent[2];
  std::uint32_t large_mantissa[2];
  std::uint32_t small_bucket[2];
  std::uint32_t large_bucket[2];
  std::uint32_t control_base[2];
  std::int32_t exponent_offset;
  std::uint32_t lower_bound, upper_bound, imm_bias, fma_const_0, fma_const_1, fma_source;
  std::uint32_t reserved[4];
};
static_assert(sizeof(ActivationProfile) == 128);

struct ActivationBucket {
  float d0, d1, d2, d3, x0;
  float unused[3];
};
static_assert(sizeof(ActivationBucket) == 32);

class ActivationFunction {
 public:
  enum class Kind : std::uint8_t {
    kIdentity,    // y = x, NaN becomes the canonical NaN, -0 becomes 0
    kTwoPieces,   // one cubic for each sign
    kTable,       // cubic by exponent and mantissa
    kParametric,  // y = x above zero, slope * x below
    kExact        // a function of one FP32 value
  };
  using Exact = float (*)(float);

  // Indices of the sides.
  static constexpr std::uint32_t kPositive = 0, kNegative = 1;

  Kind kind = Kind::kIdentity;
  Exact exact = nullptr;  // kExact

  // kTwoPieces and kTable. Results are FP32 bits.
  std::uint32_t nan_result = 0, zero_result = 0;
  std::uint32_t infinity_result[2] = {};
  bool fold = false;  // evaluate at |x| (or -|x|) whatever the sign
  bool fold_to_negative = false;
  bool invert = false;  // folded values: twice the symmetry point minus the result
  float twice_symmetry_point = 0;
  // kTable: limits on the bits of |x|, and the buckets beyond them.
  std::uint32_t small_limit[2] = {}, large_limit[2] = {};
  std::uint32_t small_bucket[2] = {}, large_bucket[2] = {};
  // Control word by side and exponent: bits 0-10 first bucket, 11-15 shift,
  // 16-31 mantissa bits.
  std::array<std::uint32_t, 512> control{};
  const ActivationBucket* buckets = nullptr;  // of the set, which outlives the function
  ActivationBucket piece[2] = {};             // kTwoPieces

  // Function of a profile over its set's tables. False: *error names the entry
  // that is out of range. Every index that evaluation can reach is checked.
  bool compile(const ActivationProfile& profile, const std::vector<std::uint32_t>& control_words,
               const std::vector<ActivationBucket>& set_buckets, std::string* error);

  // The mathematical function of a code. False: the code has none.
  bool make_exact(std::uint32_t code);

  // x[i] = f(x[i]); slope is read by kParametric only.
  void evaluate(float* x, std::uint64_t n, float slope) const;
};

// "exp", or "activation function 77".
std::string activation_function_name(std::uint32_t code);

// True for codes that are exact elementwise functions on the silicon too; the
// others need a table there.
bool activation_is_fixed(std::uint32_t code);

// Evaluation without processor extensions, for tests: same bits as evaluate().
void evaluate_portable(const ActivationFunction& f, float* x, std::uint64_t n, float slope);

}  // namespace opennrt::emu
