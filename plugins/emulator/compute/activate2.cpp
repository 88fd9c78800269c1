// SPDX-License-Identifier: Apache-2.0
//
// ACTIVATE2 of the newest generation: y = function((x op0 imm0) op1 imm1) in
// FP32, and an accumulator per channel (that of ACTIVATE) that takes the results
// in by reduce_op.
#include <algorithm>
#include <cmath>
#include <limits>

#include "compute/activation_tables.h"
#include "compute/alu.h"
#include "compute/checks.h"
#include "compute/families.h"
#include "compute/in_out.h"
#include "compute/stream.h"
#include "opennrt/isa/layouts.h"

namespace opennrt::emu {

namespace {

namespace alu = isa::code::alu_op;
namespace command = isa::code::reduce_cmd;

constexpr std::uint32_t kParametricRelu = 4;

// The pairs of operations the engine has (NKI documentation of activate2).
bool known_pair(std::uint32_t op0, std::uint32_t op1) {
  if (op1 == alu::BYPASS)
    return op0 == alu::BYPASS || op0 == alu::MULT || op0 == alu::ADD || op0 == alu::SUBTRACT;
  return op0 == alu::MULT && (op1 == alu::ADD || op1 == alu::SUBTRACT);
}

// What leaves an accumulator as it is. False: the engine does not reduce by it.
bool neutral(std::uint32_t op, float* value) {
  switch (op) {
    case alu::ABS_MAX:
      *value = 0;
      return true;
    case alu::ABS_MIN:
      *value = std::numeric_limits<float>::infinity();
      return true;
    case alu::ADD:
    case alu::MAX:
    case alu::MIN:
      return reset_value(op, value);
    default:
      return false;
  }
}

class Activate2 final : public InOut {
 public:
  static std::unique_ptr<ComputePlan> make(const PlanContext& context, const std::uint8_t* r,
                                           std::string* error) {
    namespace f = isa::layout::S2D2_AC;
    namespace rev = isa::code::reverse_operands;
    if (!check_engine(context, r, error)) return nullptr;
    auto plan = std::make_unique<Activate2>();
    Activate2& p = *plan;
    const std::uint32_t ops[2] = {f::op0(r), f::op1(r)}, partitions = f::num_active_channels(r);
    const std::uint32_t reverse = f::reverse_operands(r);
    const std::uint32_t type =
        f::imm_dtype(r) == 0 ? std::uint32_t{isa::kDtFloat32} : f::imm_dtype(r);
    p.function_ = f::activation_func(r);
    p.command_ = f::reduce_cmd(r);
    if (!known_pair(ops[0], ops[1])) {
      *error = std::string("operations ") + alu_name(ops[0]) + " and " + alu_name(ops[1]) +
               ", known pairs are MULT with ADD, SUBTRACT or BYPASS, and ADD, SUBTRACT or BYPASS "
               "with BYPASS";
      return nullptr;
    }
    if (reverse > rev::BOTH) {
      check_zero("reverse_operands", reverse, error);
      return nullptr;
    }
    if (p.command_ > command::RESET_REDUCE) {
      *error = "reduce command " + std::to_string(p.command_) + ", the last is 3";
      return nullptr;
    }
    if (p.command_ == command::IDLE
            ? f::reduce_op(r) != alu::BYPASS && !neutral(f::reduce_op(r), &p.reset_)
            : !neutral(f::reduce_op(r), &p.reset_)) {
      refuse_operation(f::reduce_op(r), "does not reduce into the accumulator", error);
      return nullptr;
    }
    if (!p.plan_in_out(context, r, tensor2d("source", f::src(r), f::in_dtype(r)), Use::kArithmetic,
                       tensor2d("destination", f::dst(r), f::out_dtype(r)), Use::kResult,
                       partitions, error) ||
        !check_same_total("source", p.in_, p.out_, error) ||
        !p.scalar_[0].plan(context, "scalar 0", f::imm0_src(r), f::imm0(r), type, partitions,
                           error) ||
        !p.scalar_[1].plan(context, "scalar 1", f::imm1_src(r), f::imm1(r), type, partitions,
                           error) ||
        (p.function_ == kParametricRelu &&
         !p.slope_.plan(context, "slope", f::relu_param_src(r), f::relu_param(r), type, partitions,
                        error)))
      return nullptr;
    for (const std::uint32_t i : {0u, 1u}) {
      if (ops[i] == alu::BYPASS) continue;
      const ArithOp* op = arith_op(ops[i], context.generation);
      p.kernel_[i] = (reverse >> i & 1) != 0 ? op->reversed : op->scalar;
    }
    if (p.command_ >= command::REDUCE)
      p.fold_ = arith_op(f::reduce_op(r), context.generation)->fold;
    return plan;
  }

  bool execute(EngineState& state, std::string* error) const override {
    auto& act = state.family<ActivationState>(Family::kActivation);
    const ActivationFunction* function = act.function(state, function_, error);
    Places at;
    ScalarRef::Values scalar[2], slopes;
    if (!function || !resolve(state, &at, error) || !scalar_[0].resolve(state, &scalar[0], error) ||
        !scalar_[1].resolve(state, &scalar[1], error) || !slope_.resolve(state, &slopes, error))
      return false;
    if (command_ == command::RESET || command_ == command::RESET_REDUCE)
      std::fill_n(act.accumulator.begin(), partitions_, reset_);
    float x[kChunk];
    for (std::uint32_t p = 0; p < partitions_; ++p) {
      const float s[2] = {scalar[0].number(p), scalar[1].number(p)};
      const float slope = slopes.number(p);
      Reader from(*at.in, p);
      Writer to(*at.out, p);
      for (std::uint64_t left = at.out->pattern.total; left != 0;) {
        const std::uint64_t n = std::min(left, kChunk);
        from.copy(n, x);
        for (const std::uint32_t i : {0u, 1u})
          if (kernel_[i]) kernel_[i](x, s[i], x, n);
        function->evaluate(x, n, slope);
        if (fold_) act.accumulator[p] = fold_(x, n, act.accumulator[p]);
        to.end(n, x);
        left -= n;
      }
    }
    return true;
  }

  void visit_operands(EngineState& state, OperandVisitor& visitor) const override {
    InOut::visit_operands(state, visitor);
    scalar_[0].visit(state, visitor);
    scalar_[1].visit(state, visitor);
    slope_.visit(state, visitor);
  }

 private:
  ScalarRef scalar_[2], slope_;
  ScalarKernel kernel_[2] = {};  // nullptr: passes through
  FoldKernel fold_ = nullptr;    // nullptr: the accumulator is left alone
  std::uint32_t function_ = 0, command_ = 0;
  float reset_ = 0;
};

}  // namespace

std::span<const PlanEntry> activate2_plans() {
  static constexpr PlanEntry kPlans[] = {{isa::op::ACTIVATE2, Activate2::make}};
  return kPlans;
}

}  // namespace opennrt::emu
