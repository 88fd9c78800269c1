// SPDX-License-Identifier: Apache-2.0
#include "engine/scalar.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "opennrt/isa/layouts.h"

namespace opennrt::emu {

namespace {

namespace alu = isa::code::alu_op;
namespace dt = isa::code::dtype;

enum class Class : std::uint8_t { kBoth, kInteger, kFloat, kNewest, kElsewhere };

// Where an operation exists. The integer band 0xC4 and up, POW, RSQRT and CRC32
// belong to POOL's data path.
Class class_of(std::uint32_t code) {
  switch (code) {
    case alu::BITWISE_NOT:
    case alu::ARITH_SHIFT_LEFT:
    case alu::ARITH_SHIFT_RIGHT:
    case alu::LOGICAL_SHIFT_LEFT:
    case alu::LOGICAL_SHIFT_RIGHT:
    case alu::BITWISE_AND:
    case alu::BITWISE_OR:
    case alu::BITWISE_XOR:
    case alu::MOD:  // of floats: the sign rule is not published
      return Class::kInteger;
    case alu::ABS_MAX:
    case alu::ABS_MIN:
    case alu::RELU:
    case alu::SQUARE:
      return Class::kNewest;
    case alu::POW:
    case alu::CRC32:
    case alu::RSQRT:
      return Class::kElsewhere;
    default:
      return code <= alu::ABSOLUTE_VALUE ? Class::kBoth : Class::kElsewhere;
  }
}

template <typename T>
T as(std::uint64_t bits) {
  if constexpr (std::is_same_v<T, float>)
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  else
    return static_cast<T>(bits);
}

// Comparisons and the like, which are the same for all types.
template <typename T>
bool common(std::uint32_t code, T a, T b, T* r) {
  switch (code) {
    case alu::BYPASS:
      *r = a;
      return true;
    case alu::MAX:
      *r = a > b || a != a ? a : b;  // NaN propagates
      return true;
    case alu::MIN:
      *r = a < b || a != a ? a : b;
      return true;
    case alu::LOGICAL_AND:
      *r = a != 0 && b != 0;
      return true;
    case alu::LOGICAL_OR:
      *r = a != 0 || b != 0;
      return true;
    case alu::LOGICAL_XOR:
      *r = (a != 0) != (b != 0);
      return true;
    case alu::IS_EQ:
      *r = a == b;
      return true;
    case alu::IS_GT:
      *r = a > b;
      return true;
    case alu::IS_GE:
      *r = a >= b;
      return true;
    case alu::IS_LE:
      *r = a <= b;
      return true;
    case alu::IS_LT:
      *r = a < b;
      return true;
    case alu::IS_NE:
      *r = a != b;
      return true;
    case alu::RELU:
      *r = a > 0 || a != a ? a : T{0};
      return true;
    default:
      return false;
  }
}

std::uint64_t operate_float(std::uint32_t code, float a, float b) {
  float r = 0;
  if (!common(code, a, b, &r)) {
    switch (code) {
      case alu::ADD:
        r = a + b;
        break;
      case alu::SUBTRACT:
        r = a - b;
        break;
      case alu::MULT:
        r = a * b;
        break;
      case alu::DIVIDE:
        r = a / b;
        break;
      case alu::ABSOLUTE_DIFF:
        r = std::fabs(a - b);
        break;
      case alu::ABSOLUTE_VALUE:
        r = std::fabs(a);
        break;
      case alu::ABS_MAX:
        common<float>(alu::MAX, std::fabs(a), std::fabs(b), &r);
        break;
      case alu::ABS_MIN:
        common<float>(alu::MIN, std::fabs(a), std::fabs(b), &r);
        break;
      default:  // SQUARE
        r = a * a;
        break;
    }
  }
  return std::bit_cast<std::uint32_t>(r);
}

// 32-bit integers; `Int` gives comparisons and absolute values their sign.
template <typename Int>
bool operate_int(std::uint32_t code, std::uint32_t a, std::uint32_t b, std::uint32_t* r,
                 std::string* error) {
  const Int sa = static_cast<Int>(a), sb = static_cast<Int>(b);
  const auto magnitude = [](Int v) {
    const auto u = static_cast<std::uint32_t>(v);
    return v < 0 ? 0u - u : u;
  };
  Int truth = 0;
  if (common(code, sa, sb, &truth)) {
    *r = static_cast<std::uint32_t>(truth);
    return true;
  }
  switch (code) {
    case alu::ADD:
      *r = a + b;
      return true;
    case alu::SUBTRACT:
      *r = a - b;
      return true;
    case alu::MULT:
      *r = a * b;
      return true;
    case alu::SQUARE:
      *r = a * a;
      return true;
    case alu::BITWISE_NOT:
      *r = ~a;
      return true;
    case alu::BITWISE_AND:
      *r = a & b;
      return true;
    case alu::BITWISE_OR:
      *r = a | b;
      return true;
    case alu::BITWISE_XOR:
      *r = a ^ b;
      return true;
    case alu::ABSOLUTE_DIFF:
      *r = sa > sb ? a - b : b - a;
      return true;
    case alu::ABSOLUTE_VALUE:
      *r = magnitude(sa);
      return true;
    case alu::ABS_MAX:
      *r = std::max(magnitude(sa), magnitude(sb));
      return true;
    case alu::ABS_MIN:
      *r = std::min(magnitude(sa), magnitude(sb));
      return true;
    case alu::DIVIDE:
    case alu::MOD:
      if (b == 0) {
        *error = "division by zero";
        return false;
      }
      if (sa < 0 || sb < 0) {
        *error = "division of negative integers: its rounding is not published";
        return false;
      }
      *r = code == alu::DIVIDE ? a / b : a % b;
      return true;
    default:
      break;
  }
  // Shifts.
  if (b > 31) {
    *error = "shift of a 32-bit register by " + std::to_string(sb) + " is not defined";
    return false;
  }
  if (code == alu::LOGICAL_SHIFT_RIGHT)
    *r = a >> b;
  else if (code == alu::ARITH_SHIFT_RIGHT)
    *r = static_cast<std::uint32_t>(static_cast<std::int32_t>(a) >> b);
  else
    *r = a << b;
  return true;
}

}  // namespace

bool scalar_is_wide(std::uint32_t dtype) { return dtype == dt::INT64 || dtype == dt::UINT64; }

std::string alu_op_name(std::uint32_t code) {
  static const isa::EnumTable* const names = isa::find_enumeration("alu_op");
  const char* name = names ? names->find(code) : nullptr;
  return name ? name : "operation " + std::to_string(code);
}

std::string dtype_name(std::uint32_t dtype) {
  static const isa::EnumTable* const names = isa::find_enumeration("dtype");
  const char* name = names ? names->find(dtype) : nullptr;
  return name ? std::string(name) + " (" + std::to_string(dtype) + ")" : std::to_string(dtype);
}

std::string scalar_refusal(std::uint32_t code, std::uint32_t dtype, isa::Generation generation) {
  const std::string what = alu_op_name(code) + " on data type " + dtype_name(dtype);
  const Class c = class_of(code);
  if (c == Class::kElsewhere) return what + ": the sequencers do not have this operation";
  if (c == Class::kNewest && generation != isa::Generation::kMariana)
    return what + ": exists on mariana only";
  if (scalar_is_wide(dtype)) {
    if (code == alu::ADD || code == alu::SUBTRACT || code == alu::MULT) return {};
    return what + ": at 64 bits there are addition, subtraction and multiplication";
  }
  if (dtype == dt::INT32 || dtype == dt::UINT32) return {};
  if (dtype != dt::FP32)
    return what + ": registers hold INT32, UINT32, FP32, and INT64 and UINT64 as pairs";
  if (c == Class::kInteger) return what + ": an integer operation";
  return {};
}

bool scalar_operate(std::uint32_t code, std::uint32_t dtype, std::uint64_t a, std::uint64_t b,
                    std::uint64_t* result, std::string* error) {
  if (scalar_is_wide(dtype)) {
    *result = code == alu::ADD ? a + b : code == alu::SUBTRACT ? a - b : a * b;
    return true;
  }
  if (dtype == dt::FP32) {
    *result = operate_float(code, as<float>(a), as<float>(b));
    return true;
  }
  std::uint32_t r = 0;
  const auto la = static_cast<std::uint32_t>(a), lb = static_cast<std::uint32_t>(b);
  const bool good = dtype == dt::INT32 ? operate_int<std::int32_t>(code, la, lb, &r, error)
                                       : operate_int<std::uint32_t>(code, la, lb, &r, error);
  if (!good) *error = alu_op_name(code) + ": " + *error;
  *result = r;
  return good;
}

}  // namespace opennrt::emu
