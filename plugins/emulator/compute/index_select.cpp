// SPDX-License-Identifier: Apache-2.0
//
// Values and selections that depend on the position of an element: IOTA,
// AFFINE_SELECT, RANGE_SELECT.
#include <bit>
#include <cstring>

#include "compute/alu.h"
#include "compute/checks.h"
#include "compute/families.h"
#include "compute/lanes.h"
#include "compute/stream.h"
#include "opennrt/isa/layouts.h"

namespace opennrt::emu {

namespace {

namespace alu = isa::code::alu_op;

// base + channel * multiplier + sum of index * step, 32-bit integers that wrap.
class Ramp {
 public:
  bool plan(const std::uint8_t* data4d, std::int32_t channel_multiplier, std::string* error) {
    std::int16_t step[4];
    std::uint16_t count[4];
    std::memcpy(&base_, data4d, 4);
    std::memcpy(step, data4d + 4, sizeof step);
    std::memcpy(count, data4d + 12, sizeof count);
    for (int d = 0; d < 4; ++d)
      if (count[d] == 0) {
        *error = "ramp: element count 0 in dimension " + std::to_string(d);
        return false;
      }
    pattern_ = Pattern::make(step, count, 4);
    multiplier_ = static_cast<std::uint32_t>(channel_multiplier);
    return true;
  }
  std::uint64_t total() const { return pattern_.total; }

  class Values {
   public:
    Values(const Ramp& ramp, std::uint32_t channel)
        : cursor_(ramp.pattern_), start_(ramp.base_ + channel * ramp.multiplier_) {}
    void next(std::uint64_t n, std::uint32_t* out) {
      while (n != 0) {
        const Cursor::Run run = cursor_.next(n);
        auto v = start_ + static_cast<std::uint32_t>(run.offset);
        for (std::uint64_t i = 0; i < run.count; ++i, v += static_cast<std::uint32_t>(run.step))
          *out++ = v;
        n -= run.count;
      }
    }

   private:
    Cursor cursor_;
    std::uint32_t start_;
  };

 private:
  std::uint32_t base_ = 0, multiplier_ = 0;
  Pattern pattern_;
};

bool check_ramp(const Ramp& ramp, const OperandRef& out, std::string* error) {
  if (ramp.total() == out.total()) return true;
  *error = "ramp has " + std::to_string(ramp.total()) + " elements, the destination " +
           std::to_string(out.total()) + " per partition";
  return false;
}

class Iota final : public ComputePlan {
 public:
  static std::unique_ptr<ComputePlan> make(const PlanContext& context, const std::uint8_t* r,
                                           std::string* error) {
    namespace f = isa::layout::D4_IOTA;
    auto plan = std::make_unique<Iota>();
    const std::uint32_t type = f::out_dtype(r);
    plan->partitions_ = f::num_active_channels(r);
    plan->exact_ = type == isa::kDtInt32 || type == isa::kDtUint32;
    if (!check_reserved(context, r, error) ||
        !plan->ramp_.plan(f::pattern(r), f::channel_multiplier(r), error) ||
        !plan->out_.plan(context, tensor4d("destination", f::dst(r), type), plan->partitions_,
                         Use::kResult, error) ||
        !check_ramp(plan->ramp_, plan->out_, error))
      return nullptr;
    return plan;
  }

  bool execute(EngineState& state, std::string* error) const override {
    Operand scratch;
    const Operand* out = out_.resolve(state, &scratch, error);
    if (!out) return false;
    std::uint32_t v[kChunk];
    float numbers[kChunk];
    for (std::uint32_t p = 0; p < partitions_; ++p) {
      Ramp::Values ramp(ramp_, p);
      Writer to(*out, p);
      BitWriter bits(*out, p);
      for (std::uint64_t left = out->pattern.total; left != 0;) {
        const std::uint64_t n = std::min(left, kChunk);
        ramp.next(n, v);
        if (exact_) {
          bits.next(n, v);
        } else {
          for (std::uint64_t i = 0; i < n; ++i)
            numbers[i] = static_cast<float>(static_cast<std::int32_t>(v[i]));
          to.end(n, numbers);
        }
        left -= n;
      }
    }
    return true;
  }

  void visit_operands(EngineState& state, OperandVisitor& visitor) const override {
    out_.visit(state, visitor, Access::kWrite);
  }

 private:
  OperandRef out_;
  Ramp ramp_;
  std::uint32_t partitions_ = 0;
  bool exact_ = false;  // 32-bit integers: no FP32 in between
};

// dst = ramp compared with 0 ? src : FP32 value in a register.
class AffineSelect final : public ComputePlan {
 public:
  static std::unique_ptr<ComputePlan> make(const PlanContext& context, const std::uint8_t* r,
                                           std::string* error) {
    namespace f = isa::layout::S2D2_TS_AS;
    auto plan = std::make_unique<AffineSelect>();
    const std::uint32_t types = f::in_out_dtype(r);
    plan->partitions_ = f::num_active_channels(r);
    plan->compare_ = f::fill_mode(r);
    plan->fill_register_ = f::fill_reg(r);
    if (plan->compare_ > isa::code::affine_select_cmp::NOT_EQ) {
      *error = "comparison " + std::to_string(plan->compare_) + " is not known";
      return nullptr;
    }
    if (plan->fill_register_ >= EngineState::kRegisters) {
      *error =
          "fill value in register " + std::to_string(plan->fill_register_) + ", the last is 63";
      return nullptr;
    }
    if (!check_reserved(context, r, error) ||
        !plan->ramp_.plan(f::mask_pattern(r), f::channel_multiplier(r), error) ||
        !plan->in_.plan(context, tensor2d("source", f::src(r), types & 0xF), plan->partitions_,
                        Use::kArithmetic, error) ||
        !plan->out_.plan(context, tensor2d("destination", f::dst(r), types >> 4), plan->partitions_,
                         Use::kResult, error) ||
        !check_same_total("source", plan->in_, plan->out_, error) ||
        !check_ramp(plan->ramp_, plan->out_, error))
      return nullptr;
    return plan;
  }

  bool execute(EngineState& state, std::string* error) const override {
    Operand places[2];
    const Operand* in = in_.resolve(state, &places[0], error);
    const Operand* out = in ? out_.resolve(state, &places[1], error) : nullptr;
    if (!out) return false;
    const float fill = std::bit_cast<float>(state.registers[fill_register_]);
    std::uint32_t ramp[kChunk];
    float values[kChunk], result[kChunk];
    for (std::uint32_t p = 0; p < partitions_; ++p) {
      Ramp::Values affine(ramp_, p);
      Reader from(*in, p);
      Writer to(*out, p);
      for (std::uint64_t left = out->pattern.total; left != 0;) {
        const std::uint64_t n = std::min(left, kChunk);
        affine.next(n, ramp);
        const float* v = from.next(n, values);
        for (std::uint64_t i = 0; i < n; ++i)
          result[i] = holds(static_cast<std::int32_t>(ramp[i])) ? v[i] : fill;
        to.end(n, result);
        left -= n;
      }
    }
    return true;
  }

  void visit_operands(EngineState& state, OperandVisitor& visitor) const override {
    in_.visit(state, visitor, Access::kRead);
    out_.visit(state, visitor, Access::kWrite);
  }

 private:
  bool holds(std::int32_t v) const {
    namespace cmp = isa::code::affine_select_cmp;
    switch (compare_) {
      case cmp::GREATER_THAN:
        return v > 0;
      case cmp::GREATER_THAN_EQ:
        return v >= 0;
      case cmp::EQ:
        return v == 0;
      default:
        return v != 0;
    }
  }

  OperandRef in_, out_;
  Ramp ramp_;
  std::uint32_t partitions_ = 0, compare_ = 0, fill_register_ = 0;
};

// dst = (base + i) satisfies both comparisons ? src : fill; optionally the
// maximum of the results goes into the accumulator.
class RangeSelect final : public ComputePlan {
 public:
  static std::unique_ptr<ComputePlan> make(const PlanContext& context, const std::uint8_t* r,
                                           std::string* error) {
    namespace f = isa::layout::S2D2_RS;
    auto plan = std::make_unique<RangeSelect>();
    const std::uint32_t types = f::in_out_dtype(r);
    if (context.generation == isa::Generation::kSunda) {
      *error = "this generation has no range select";
      return nullptr;
    }
    plan->partitions_ = f::num_active_channels(r);
    plan->command_ = f::reduce_cmd(r);
    plan->base_ = f::base(r);
    plan->fill_ = f::fill_val(r);
    if (!(plan->base_ >= -0x1p24f && plan->base_ <= 0x1p24f)) {
      *error = "base " + std::to_string(plan->base_) + ", the limit is 2^24";
      return nullptr;
    }
    if (accumulates(plan->command_) && f::reduce_op(r) != alu::MAX) {
      refuse_operation(f::reduce_op(r), "does not reduce a selection", error);
      return nullptr;
    }
    if (plan->command_ != 0 && !(plan->command_ == 2 || plan->command_ == 3)) {
      *error = "accumulator command " + std::to_string(plan->command_) + ", known are 0, 2 and 3";
      return nullptr;
    }
    const std::uint32_t compare[2] = {f::comp_op0(r), f::comp_op1(r)};
    for (const int i : {0, 1}) {
      if (compare[i] < alu::IS_EQ || compare[i] > alu::IS_LT) {
        refuse_operation(compare[i], "is not a comparison of range select", error);
        return nullptr;
      }
      plan->compare_[i] = arith_op(compare[i])->one;
    }
    if (!check_reserved(context, r, error) ||
        !plan->in_.plan(context, tensor2d("source", f::src(r), types & 0xF), plan->partitions_,
                        Use::kArithmetic, error) ||
        !plan->out_.plan(context, tensor2d("destination", f::dst(r), types >> 4), plan->partitions_,
                         Use::kResult, error) ||
        !check_same_total("source", plan->in_, plan->out_, error) ||
        !plan->bound_[0].plan(context, "bound 0", f::bound0_src(r), f::bound0(r), isa::kDtFloat32,
                              plan->partitions_, error) ||
        !plan->bound_[1].plan(context, "bound 1", f::bound1_src(r), f::bound1(r), isa::kDtFloat32,
                              plan->partitions_, error))
      return nullptr;
    return plan;
  }

  bool execute(EngineState& state, std::string* error) const override {
    Operand places[2];
    ScalarRef::Values bound[2];
    const Operand* in = in_.resolve(state, &places[0], error);
    const Operand* out = in ? out_.resolve(state, &places[1], error) : nullptr;
    if (!out || !bound_[0].resolve(state, &bound[0], error) ||
        !bound_[1].resolve(state, &bound[1], error))
      return false;
    const FoldKernel fold = accumulates(command_) ? arith_op(alu::MAX)->fold : nullptr;
    LaneState& lanes = LaneState::of(state);
    float reset = 0;
    reset_value(alu::MAX, &reset);
    float values[kChunk], result[kChunk];
    for (std::uint32_t p = 0; p < partitions_; ++p) {
      Reader from(*in, p);
      Writer to(*out, p);
      float& held = lanes.accumulator[p];
      held = accumulator_start(command_, held, reset, 0);
      const float b0 = bound[0].number(p), b1 = bound[1].number(p);
      std::uint64_t place = 0;
      for (std::uint64_t left = out->pattern.total; left != 0;) {
        const std::uint64_t n = std::min(left, kChunk);
        const float* v = from.next(n, values);
        for (std::uint64_t i = 0; i < n; ++i, ++place) {
          const float at = base_ + static_cast<float>(place);
          const bool kept = compare_[0](at, b0) != 0 && compare_[1](at, b1) != 0;
          result[i] = kept ? v[i] : fill_;
        }
        if (fold) held = fold(result, n, held);
        to.end(n, result);
        left -= n;
      }
    }
    return true;
  }

  void visit_operands(EngineState& state, OperandVisitor& visitor) const override {
    in_.visit(state, visitor, Access::kRead);
    bound_[0].visit(state, visitor);
    bound_[1].visit(state, visitor);
    out_.visit(state, visitor, Access::kWrite);
  }

 private:
  OperandRef in_, out_;
  ScalarRef bound_[2];
  std::uint32_t partitions_ = 0, command_ = 0;
  float base_ = 0, fill_ = 0;
  float (*compare_[2])(float, float) = {};
};

}  // namespace

std::span<const PlanEntry> index_select_plans() {
  static constexpr PlanEntry kPlans[] = {{isa::op::IOTA, Iota::make},
                                         {isa::op::TENSOR_SCALAR_AFFINE_SELECT, AffineSelect::make},
                                         {isa::op::RANGE_SELECT, RangeSelect::make}};
  return kPlans;
}

}  // namespace opennrt::emu
