// SPDX-License-Identifier: Apache-2.0
#include "compute/alu.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "compute/exact_math.h"
#include "compute/targets.h"
#include "opennrt/isa/layouts.h"

namespace opennrt::emu {

namespace {

namespace code = isa::code::alu_op;

// Truth values are 1 and 0; minimum and maximum propagate NaN.
#define OPENNRT_ARITH(Name, associative, expression)  \
  struct Name {                                       \
    static constexpr bool kAssociative = associative; \
    static inline float apply(float a, float b) {     \
      (void)b;                                        \
      return expression;                              \
    }                                                 \
  };
OPENNRT_ARITH(Bypass, false, a)
OPENNRT_ARITH(Add, true, a + b)
OPENNRT_ARITH(Subtract, false, a - b)
OPENNRT_ARITH(Multiply, true, a* b)
OPENNRT_ARITH(Divide, false, a / b)
OPENNRT_ARITH(Max, true, a > b || a != a ? a : b)
OPENNRT_ARITH(Min, true, a < b || a != a ? a : b)
OPENNRT_ARITH(LogicalAnd, true, a != 0 && b != 0 ? 1.0f : 0.0f)
OPENNRT_ARITH(LogicalOr, true, a != 0 || b != 0 ? 1.0f : 0.0f)
OPENNRT_ARITH(LogicalXor, true, (a != 0) != (b != 0) ? 1.0f : 0.0f)
OPENNRT_ARITH(Equal, false, a == b ? 1.0f : 0.0f)
OPENNRT_ARITH(Greater, false, a > b ? 1.0f : 0.0f)
OPENNRT_ARITH(GreaterEqual, false, a >= b ? 1.0f : 0.0f)
OPENNRT_ARITH(LessEqual, false, a <= b ? 1.0f : 0.0f)
OPENNRT_ARITH(Less, false, a < b ? 1.0f : 0.0f)
OPENNRT_ARITH(AbsoluteDifference, false, __builtin_fabsf(a - b))
OPENNRT_ARITH(NotEqual, false, a != b ? 1.0f : 0.0f)
OPENNRT_ARITH(AbsoluteValue, false, __builtin_fabsf(a))
OPENNRT_ARITH(Power, false, exact_powf(a, b))
OPENNRT_ARITH(ReciprocalSqrt, false, 1.0f / __builtin_sqrtf(a))
OPENNRT_ARITH(AbsoluteMax, true, Max::apply(__builtin_fabsf(a), __builtin_fabsf(b)))
OPENNRT_ARITH(AbsoluteMin, true, Min::apply(__builtin_fabsf(a), __builtin_fabsf(b)))
OPENNRT_ARITH(Relu, false, a > 0 || a != a ? a : 0.0f)
OPENNRT_ARITH(Square, false, a* a)
#undef OPENNRT_ARITH

// Remainder with the sign of the divisor, as nki.language.mod. fmod is exact.
struct Modulo {
  static constexpr bool kAssociative = false;
  static inline float apply(float a, float b) {
    const float r = std::fmod(a, b);
    if (r == 0) return std::copysign(0.0f, b);
    return (r < 0) != (b < 0) ? r + b : r;
  }
};

inline std::uint32_t mask_of(std::uint32_t width) { return 0xFFFFFFFFu >> (32 - width); }

struct BitBypass {
  static inline std::uint32_t apply(std::uint32_t a, std::uint32_t, std::uint32_t) { return a; }
};
struct BitNot {
  static inline std::uint32_t apply(std::uint32_t a, std::uint32_t, std::uint32_t width) {
    return ~a & mask_of(width);
  }
};
struct BitAnd {
  static inline std::uint32_t apply(std::uint32_t a, std::uint32_t b, std::uint32_t) {
    return a & b;
  }
};
struct BitOr {
  static inline std::uint32_t apply(std::uint32_t a, std::uint32_t b, std::uint32_t) {
    return a | b;
  }
};
struct BitXor {
  static inline std::uint32_t apply(std::uint32_t a, std::uint32_t b, std::uint32_t) {
    return a ^ b;
  }
};
struct ShiftLeft {
  static inline std::uint32_t apply(std::uint32_t a, std::uint32_t b, std::uint32_t width) {
    return b < width ? (a << (b & 31)) & mask_of(width) : 0;
  }
};
struct ShiftRight {
  static inline std::uint32_t apply(std::uint32_t a, std::uint32_t b, std::uint32_t width) {
    return b < width ? a >> (b & 31) : 0;
  }
};
struct ShiftRightSign {
  static inline std::uint32_t apply(std::uint32_t a, std::uint32_t b, std::uint32_t width) {
    const std::uint32_t up = 32 - width;
    const auto value = static_cast<std::int32_t>(a << up) >> up;
    return static_cast<std::uint32_t>(value >> (b < 31 ? b : 31)) & mask_of(width);
  }
};

namespace baseline {
#include "compute/alu_loops.inc"
}

#if OPENNRT_HAS_AVX2_TARGET
OPENNRT_BEGIN_AVX2
namespace avx2 {
#include "compute/alu_loops.inc"
}
OPENNRT_END_AVX2
#else
namespace avx2 = baseline;
#endif

bool fast() {
  static const bool value = use_avx2();
  return value;
}

template <typename Entries>
auto find(const Entries& entries, std::uint32_t op) -> const decltype(entries[0].op)* {
  for (const auto& e : entries)
    if (e.code == op) return &e.op;
  return nullptr;
}

using U = std::uint32_t;
std::int32_t s(U v) { return static_cast<std::int32_t>(v); }
U magnitude(U v) { return s(v) < 0 ? 0 - v : v; }

struct IntegerEntry {
  std::uint32_t code;
  IntegerOp op;
};
// Where an operation has a signed and an unsigned form, the plain name is signed.
const IntegerEntry kIntegers[] = {
    {code::ADD_INT, {[](U a, U b) { return a + b; }}},
    {code::MULT_INT, {[](U a, U b) { return a * b; }}},
    {code::SUBTRACT_INT, {[](U a, U b) { return a - b; }}},
    {code::IS_EQ_INT, {[](U a, U b) -> U { return a == b; }}},
    {code::IS_NE_INT, {[](U a, U b) -> U { return a != b; }}},
    {code::ABS_MAX_INT, {[](U a, U b) { return std::max(magnitude(a), magnitude(b)); }}},
    {code::ABS_MIN_INT, {[](U a, U b) { return std::min(magnitude(a), magnitude(b)); }}},
    {code::ABS_DIFF_INT, {[](U a, U b) { return s(a) > s(b) ? a - b : b - a; }}},
    {code::ABS_VALUE_INT, {[](U a, U) { return magnitude(a); }}},
    {code::MAX_INT, {[](U a, U b) { return s(a) > s(b) ? a : b; }}},
    {code::MIN_INT, {[](U a, U b) { return s(a) < s(b) ? a : b; }}},
    {code::IS_GT_INT, {[](U a, U b) -> U { return s(a) > s(b); }}},
    {code::IS_GE_INT, {[](U a, U b) -> U { return s(a) >= s(b); }}},
    {code::IS_LE_INT, {[](U a, U b) -> U { return s(a) <= s(b); }}},
    {code::IS_LT_INT, {[](U a, U b) -> U { return s(a) < s(b); }}},
    {code::MAX_UINT, {[](U a, U b) { return std::max(a, b); }}},
    {code::MIN_UINT, {[](U a, U b) { return std::min(a, b); }}},
    {code::IS_GT_UINT, {[](U a, U b) -> U { return a > b; }}},
    {code::IS_GE_UINT, {[](U a, U b) -> U { return a >= b; }}},
    {code::IS_LE_UINT, {[](U a, U b) -> U { return a <= b; }}},
    {code::IS_LT_UINT, {[](U a, U b) -> U { return a < b; }}},
    {code::MULT_UINT, {[](U a, U b) { return a * b; }}},
    {code::DIVIDE_UINT, {[](U a, U b) { return a / b; }, true}},
    {code::MOD_UINT, {[](U a, U b) { return a % b; }, true}},
};

}  // namespace

const ArithOp* arith_op(std::uint32_t op, isa::Generation generation) {
  if (op >= code::ABS_MAX && op <= code::SQUARE && generation != isa::Generation::kMariana)
    return nullptr;
  return arith_op_of_target(op, fast() ? 1 : 0);
}

const ArithOp* arith_op_of_target(std::uint32_t op, int target) {
  return target == 1 && fast() ? find(avx2::kEntries, op) : find(baseline::kEntries, op);
}

bool reset_value(std::uint32_t op, float* value) {
  switch (op) {
    case code::ADD:
    case code::SUBTRACT:
      *value = 0;
      return true;
    case code::MULT:
      *value = 1;
      return true;
    case code::MAX:
      *value = -std::numeric_limits<float>::infinity();
      return true;
    case code::MIN:
      *value = std::numeric_limits<float>::infinity();
      return true;
    default:
      return false;
  }
}

BinaryKernel binary_kernel(std::uint32_t op) {
  const ArithOp* found = arith_op(op);
  return found ? found->vectors : nullptr;
}

UnaryKernel reciprocal_kernel() { return fast() ? avx2::reciprocal : baseline::reciprocal; }
ScalarKernel exponential_kernel() { return fast() ? avx2::exponential : baseline::exponential; }

const BitOp* bit_op(std::uint32_t op) {
  return fast() ? find(avx2::kBitEntries, op) : find(baseline::kBitEntries, op);
}

const IntegerOp* integer_op(std::uint32_t op, isa::Generation generation) {
  // The first generation has the first three only.
  if (op > code::SUBTRACT_INT && generation == isa::Generation::kSunda) return nullptr;
  return find(kIntegers, op);
}

const char* alu_name(std::uint32_t op) {
  const isa::EnumTable* names = isa::find_enumeration("alu_op");
  const char* name = names ? names->find(op) : nullptr;
  return name ? name : "unknown";
}

}  // namespace opennrt::emu
