// SPDX-License-Identifier: Apache-2.0
//
// Records on the sequencer's registers: MOVE, ALU_OP, COMPARE_BRANCH. ALU_OP and
// COMPARE_BRANCH as in compiled programs and device images; MOVE by its
// published fields.
#include <cstring>

#include "engine/scalar.h"
#include "engine/sequencer.h"
#include "opennrt/isa/layouts.h"

namespace opennrt::emu {

namespace {

namespace op = isa::op;
namespace dt = isa::code::dtype;
namespace MV = isa::layout::CTRL_MV;
namespace AL = isa::layout::CTRL_AL;

std::uint32_t load_word(const std::uint8_t* bytes) {
  std::uint32_t word;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

bool check_register(const char* name, std::uint32_t number, std::string* error) {
  return known_register(number) || refuse(error, std::string(name) + " register " +
                                                     std::to_string(number) + " does not exist");
}

// --- MOVE: up to 8 registers from registers or immediates; a pair is two.

constexpr std::uint32_t kMoveMax = 8;
// Compilers write this type for 64-bit immediates.
constexpr std::uint32_t kMovePairType = dt::FP8_EXP5;

bool check_move(const PlanContext&, const Decoded& d, std::string* error) {
  const std::uint32_t n = MV::num_valid(d.raw), dtype = MV::dtype(d.raw);
  const std::uint32_t mode = MV::src_mode(d.raw);
  const bool pair = scalar_is_wide(dtype) || dtype == kMovePairType;
  if (mode > 1) return refuse(error, "source mode " + std::to_string(mode));
  if (n == 0 || n > kMoveMax)
    return refuse(error, "moves " + std::to_string(n) + " registers, the record holds 1 to 8");
  if (!pair && dtype != dt::INT32 && dtype != dt::UINT32 && dtype != dt::FP32)
    return refuse(error, "moves data type " + dtype_name(dtype) +
                             ", registers hold INT32, UINT32, FP32, INT64, UINT64");
  if (pair && (n != 2 || mode != 1))
    return refuse(error, "a 64-bit move is one pair from an immediate");
  for (std::uint32_t i = 0; i < kMoveMax; ++i) {
    const std::uint32_t to = MV::dst_regs(d.raw, i), from = MV::src_regs(d.raw, i);
    if (i >= n) {
      if ((to | from) != 0) return refuse(error, "names registers beyond its count");
      continue;
    }
    if (!check_register("destination", to, error)) return false;
    if (mode == 1 && from != 0) return refuse(error, "names a source register of an immediate");
    if (mode == 0 && !check_register("source", from, error)) return false;
    for (std::uint32_t k = i + 1; mode == 0 && k < n; ++k)
      if (MV::src_regs(d.raw, k) == to)
        return refuse(error, "register " + std::to_string(to) +
                                 " is written and read later in the same record; the order is "
                                 "not published");
  }
  return true;
}

Outcome move(Sequencer& s, const Decoded& d) {
  const std::uint32_t n = MV::num_valid(d.raw);
  const bool immediate = MV::src_mode(d.raw) == 1;
  for (std::uint32_t i = 0; i < n; ++i)
    *s.reg(MV::dst_regs(d.raw, i)) = immediate ? load_word(d.raw + MV::immediate.kOffset + 4 * i)
                                               : *s.reg(MV::src_regs(d.raw, i));
  return Outcome::kNext;
}

// --- ALU_OP

bool check_alu(const PlanContext& context, const Decoded& d, std::string* error) {
  const std::uint32_t dtype = AL::dtype(d.raw), result = AL::dst_dtype(d.raw);
  std::string text = scalar_refusal(AL::op(d.raw), dtype, context.generation);
  if (!text.empty()) return refuse(error, std::move(text));
  if (result != 0 && result != dtype)
    return refuse(error, "result of data type " + dtype_name(result) + " from " +
                             dtype_name(dtype) + ": the conversion is not published");
  const std::uint32_t mode = AL::src1_mode(d.raw);
  if (mode > 1) return refuse(error, "source mode " + std::to_string(mode));
  const bool wide = scalar_is_wide(dtype);
  const auto pair = [&](const char* name, std::uint32_t lo, std::uint32_t hi) {
    if (!check_register(name, lo, error) || !check_register(name, hi, error)) return false;
    return wide || hi == 0 ||
           refuse(error, std::string(name) + " is a register pair in a 32-bit operation");
  };
  if (!pair("source 0", AL::src0_lo(d.raw), AL::src0_hi(d.raw)) ||
      !pair("source 1", AL::src1_lo(d.raw), AL::src1_hi(d.raw)) ||
      !pair("destination", AL::dst_lo(d.raw), AL::dst_hi(d.raw)))
    return false;
  const std::uint32_t high = static_cast<std::uint32_t>(AL::immediate(d.raw) >> 32);
  if (!wide && high != 0 && high != UINT32_MAX)  // zero or sign extended
    return refuse(error,
                  "64-bit immediate " + hex(AL::immediate(d.raw)) + " in a 32-bit operation");
  return true;
}

Outcome alu(Sequencer& s, const Decoded& d) {
  const std::uint32_t dtype = AL::dtype(d.raw);
  const bool wide = scalar_is_wide(dtype);
  const auto value = [&](std::uint32_t lo, std::uint32_t hi) {
    return (wide ? std::uint64_t{*s.reg(hi)} << 32 : 0) | *s.reg(lo);
  };
  const std::uint64_t a = value(AL::src0_lo(d.raw), AL::src0_hi(d.raw));
  const std::uint64_t b = AL::src1_mode(d.raw) == 1 ? AL::immediate(d.raw)
                                                    : value(AL::src1_lo(d.raw), AL::src1_hi(d.raw));
  std::uint64_t r = 0;
  std::string error;
  if (!scalar_operate(AL::op(d.raw), dtype, a, b, &r, &error)) return s.fail(d.raw[0], error);
  *s.reg(AL::dst_lo(d.raw)) = static_cast<std::uint32_t>(r);
  if (wide) *s.reg(AL::dst_hi(d.raw)) = static_cast<std::uint32_t>(r >> 32);
  return Outcome::kNext;
}

// --- COMPARE_BRANCH

// Register forms follow the immediate ones.
constexpr std::uint32_t kBranchRegisterForms = 8;

bool check_branch(const PlanContext&, const Decoded& d, std::string* error) {
  const auto r = d.as<isa::CompareBranchRecord>();
  const bool register_form = r.op > kBranchRegisterForms;
  const std::uint32_t op = register_form ? r.op - kBranchRegisterForms : r.op;
  if (op > isa::kBranchGtImm || r.op == kBranchRegisterForms)
    return refuse(error, "compare code " + std::to_string(r.op));
  if (op != isa::kBranchAlways) {
    if (scalar_is_wide(r.dtype))
      return refuse(
          error, "compares data type " + dtype_name(r.dtype) + ": there is no 64-bit comparison");
    if (r.dtype != dt::UINT32 && r.dtype != dt::INT32 && r.dtype != dt::FP32)
      return refuse(error, "compares data type " + dtype_name(r.dtype) +
                               ", registers hold INT32, UINT32 and FP32");
    if (!check_register("compared", r.lhs, error) ||
        (register_form && !check_register("compared", r.rhs, error)))
      return false;
  }
  if (r.target_mode == isa::kTargetRegister)
    return check_register("target", r.target_lo, error) &&
           check_register("target", r.target_hi, error);
  return r.target_mode == isa::kTargetRelative ||
         refuse(error, "branch target mode " + std::to_string(r.target_mode) +
                           ", known are 1 (registers) and 3 (relative)");
}

template <typename T>
bool compare(std::uint32_t op, T a, T b) {
  switch (op) {
    case isa::kBranchLtImm:
      return a < b;
    case isa::kBranchLeImm:
      return a <= b;
    case isa::kBranchEqImm:
      return a == b;
    case isa::kBranchNeImm:
      return a != b;
    case isa::kBranchGeImm:
      return a >= b;
    default:
      return a > b;
  }
}

float as_float(std::uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

Outcome compare_branch(Sequencer& s, const Decoded& d) {
  const auto r = d.as<isa::CompareBranchRecord>();
  bool taken = r.op == isa::kBranchAlways;
  if (!taken) {
    const bool register_form = r.op > kBranchRegisterForms;
    const std::uint32_t op = register_form ? r.op - kBranchRegisterForms : r.op;
    const std::uint32_t a = *s.reg(r.lhs);
    const std::uint32_t b = register_form ? *s.reg(r.rhs) : r.immediate;
    if (r.dtype == dt::INT32)
      taken = compare(op, static_cast<std::int32_t>(a), static_cast<std::int32_t>(b));
    else if (r.dtype == dt::FP32)
      taken = compare(op, as_float(a), as_float(b));
    else
      taken = compare(op, a, b);
  }
  if (!taken) return Outcome::kNext;
  if (r.target_mode == isa::kTargetRegister)
    s.jump(std::uint64_t{*s.reg(r.target_hi)} << 32 | *s.reg(r.target_lo));
  else
    s.jump(s.program_counter() + static_cast<std::uint64_t>(std::int64_t{r.offset}));
  return Outcome::kJumped;
}

// --- ACTIVATION_TABLE_LOAD selects a set for the ACTIVATE records that follow.

Outcome activation_table_load(Sequencer& s, const Decoded& d) {
  s.state().activation_set = d.as<isa::ControlRecord>().act_set_index;
  return Outcome::kNext;
}

constexpr RecordEntry kEntries[] = {
    {op::MOVE, move, check_move},
    {op::ALU_OP, alu, check_alu},
    {op::COMPARE_BRANCH, compare_branch, check_branch},
    {op::ACTIVATION_TABLE_LOAD, activation_table_load, nullptr},
};

}  // namespace

std::span<const RecordEntry> register_records() { return kEntries; }

}  // namespace opennrt::emu
