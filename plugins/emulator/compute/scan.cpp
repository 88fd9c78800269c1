// SPDX-License-Identifier: Apache-2.0
//
// Running values along the free dimensions, one per partition, in element order.
#include "compute/alu.h"
#include "compute/checks.h"
#include "compute/families.h"
#include "compute/lanes.h"
#include "compute/stream.h"
#include "opennrt/isa/layouts.h"

namespace opennrt::emu {

namespace {

namespace alu = isa::code::alu_op;

// TENSOR_TENSOR_SCAN: r = (src0[i] op0 r) op1 src1[i], r starts as the scalar;
// dst[i] = r. Reversed operations swap their sides.
class TensorTensorScan final : public ComputePlan {
 public:
  static std::unique_ptr<ComputePlan> make(const PlanContext& context, const std::uint8_t* r,
                                           std::string* error) {
    namespace f = isa::layout::S2S2D2_STT;
    auto plan = std::make_unique<TensorTensorScan>();
    const std::uint32_t types = f::in0_in1_dtype(r);
    plan->partitions_ = f::num_active_channels(r);
    plan->reverse_ = f::reverse_operands(r);
    if (!check_reserved(context, r, error) ||
        !check_zero("accumulator_cmd", f::accumulator_cmd(r), error) ||
        !check_zero("reverse_operands", plan->reverse_ & ~3u, error) ||
        !plan->a_.plan(context, tensor2d("source 0", f::src0(r), types & 0xF), plan->partitions_,
                       Use::kArithmetic, error) ||
        !plan->b_.plan(context, tensor2d("source 1", f::src1(r), types >> 4), plan->partitions_,
                       Use::kArithmetic, error) ||
        !plan->out_.plan(context, tensor2d("destination", f::dst(r), f::out_dtype(r)),
                         plan->partitions_, Use::kResult, error) ||
        !check_same_total("source 0", plan->a_, plan->out_, error) ||
        !check_same_total("source 1", plan->b_, plan->out_, error) ||
        !plan->start_.plan(context, "scalar", f::imm0_src(r), f::imm0(r), f::imm0_dtype(r),
                           plan->partitions_, error))
      return nullptr;
    if (plan->start_.immediate() && f::imm0_dtype(r) != isa::kDtFloat32) {
      *error = "scalar: immediate of data type " + std::to_string(f::imm0_dtype(r)) +
               ", FP32 arithmetic takes FP32";
      return nullptr;
    }
    const std::uint32_t ops[2] = {f::op0(r), f::op1(r)};
    for (const int i : {0, 1}) {
      const ArithOp* op = arith_op(ops[i], context.generation);
      if (!op) {
        refuse_operation(ops[i], "is not FP32 arithmetic of this device", error);
        return nullptr;
      }
      plan->op_[i] = op->one;
    }
    return plan;
  }

  bool execute(EngineState& state, std::string* error) const override {
    Operand places[3];
    ScalarRef::Values start;
    const Operand* a = a_.resolve(state, &places[0], error);
    const Operand* b = a ? b_.resolve(state, &places[1], error) : nullptr;
    const Operand* out = b ? out_.resolve(state, &places[2], error) : nullptr;
    if (!out || !start_.resolve(state, &start, error)) return false;
    const bool first = (reverse_ & 1) != 0, second = (reverse_ & 2) != 0;
    float in_a[kChunk], in_b[kChunk], result[kChunk];
    for (std::uint32_t p = 0; p < partitions_; ++p) {
      Reader from_a(*a, p), from_b(*b, p);
      Writer to(*out, p);
      float running = start.number(p);
      for (std::uint64_t left = out->pattern.total; left != 0;) {
        const std::uint64_t n = std::min(left, kChunk);
        const float* va = from_a.next(n, in_a);
        const float* vb = from_b.next(n, in_b);
        for (std::uint64_t i = 0; i < n; ++i) {
          const float t = first ? op_[0](running, va[i]) : op_[0](va[i], running);
          running = second ? op_[1](vb[i], t) : op_[1](t, vb[i]);
          result[i] = running;
        }
        to.end(n, result);
        left -= n;
      }
    }
    return true;
  }

  void visit_operands(EngineState& state, OperandVisitor& visitor) const override {
    a_.visit(state, visitor, Access::kRead);
    b_.visit(state, visitor, Access::kRead);
    start_.visit(state, visitor);
    out_.visit(state, visitor, Access::kWrite);
  }

 private:
  OperandRef a_, b_, out_;
  ScalarRef start_;
  std::uint32_t partitions_ = 0, reverse_ = 0;
  float (*op_[2])(float, float) = {};
};

// TENSOR_SCALAR_CACHE_CUMULATIVE: r = (src[i] op0 scalar0) op1 r, dst[i] = r; r
// is the accumulator.
class Cumulative final : public ComputePlan {
 public:
  static std::unique_ptr<ComputePlan> make(const PlanContext& context, const std::uint8_t* r,
                                           std::string* error) {
    namespace f = isa::layout::S3D3_TS;
    auto plan = std::make_unique<Cumulative>();
    plan->partitions_ = f::num_active_channels(r);
    plan->command_ = f::accumulator_cmd(r);
    plan->reversed_ = f::reverse_operands(r) == isa::code::reverse_operands::FIRST;
    const ArithOp* op0 = arith_op(f::op0(r), context.generation);
    const ArithOp* op1 = arith_op(f::op1(r), context.generation);
    if (!op0) {
      refuse_operation(f::op0(r), "is not FP32 arithmetic of this device", error);
      return nullptr;
    }
    if (!op1 || !reset_value(f::op1(r), &plan->reset_)) {
      refuse_operation(f::op1(r), "does not cumulate", error);
      return nullptr;
    }
    plan->op0_ = plan->reversed_ ? op0->reversed : op0->scalar;
    plan->op1_ = op1->one;
    if (!check_reserved(context, r, error) || !check_accumulator_command(plan->command_, error) ||
        !check_zero("reverse_operands", f::reverse_operands(r) & ~1u, error))
      return nullptr;
    if (!accumulates(plan->command_)) {
      *error = "accumulator command " + std::to_string(plan->command_) +
               ", what a cumulative record starts from with it is not published";
      return nullptr;
    }
    if (!plan->in_.plan(context, tensor3d("source", f::src(r), f::in_dtype(r)), plan->partitions_,
                        Use::kArithmetic, error) ||
        !plan->out_.plan(context, tensor3d("destination", f::dst(r), f::out_dtype(r)),
                         plan->partitions_, Use::kResult, error) ||
        !check_same_total("source", plan->in_, plan->out_, error) ||
        !plan->scalar_[0].plan(context, "scalar 0", f::imm0_src(r), f::imm0(r), isa::kDtFloat32,
                               plan->partitions_, error) ||
        !plan->scalar_[1].plan(context, "scalar 1", f::imm1_src(r), f::imm1(r), isa::kDtFloat32,
                               plan->partitions_, error))
      return nullptr;
    return plan;
  }

  bool execute(EngineState& state, std::string* error) const override {
    Operand places[2];
    ScalarRef::Values scalar[2];
    const Operand* in = in_.resolve(state, &places[0], error);
    const Operand* out = in ? out_.resolve(state, &places[1], error) : nullptr;
    if (!out || !scalar_[0].resolve(state, &scalar[0], error) ||
        !scalar_[1].resolve(state, &scalar[1], error))
      return false;
    LaneState& lanes = LaneState::of(state);
    float values[kChunk], result[kChunk];
    for (std::uint32_t p = 0; p < partitions_; ++p) {
      Reader from(*in, p);
      Writer to(*out, p);
      float& held = lanes.accumulator[p];
      float running = accumulator_start(command_, held, reset_, scalar[1].number(p));
      const float s0 = scalar[0].number(p);
      for (std::uint64_t left = out->pattern.total; left != 0;) {
        const std::uint64_t n = std::min(left, kChunk);
        op0_(from.next(n, values), s0, result, n);
        for (std::uint64_t i = 0; i < n; ++i) result[i] = running = op1_(result[i], running);
        to.end(n, result);
        left -= n;
      }
      held = running;
    }
    return true;
  }

  void visit_operands(EngineState& state, OperandVisitor& visitor) const override {
    in_.visit(state, visitor, Access::kRead);
    scalar_[0].visit(state, visitor);
    scalar_[1].visit(state, visitor);
    out_.visit(state, visitor, Access::kWrite);
  }

 private:
  OperandRef in_, out_;
  ScalarRef scalar_[2];
  std::uint32_t partitions_ = 0, command_ = 0;
  bool reversed_ = false;
  float reset_ = 0;
  ScalarKernel op0_ = nullptr;
  float (*op1_)(float, float) = nullptr;
};

// TENSOR_CUMULATIVE: inclusive scan along the op_dim innermost dimensions, which
// starts anew for each element of the others.
class TensorCumulative final : public ComputePlan {
 public:
  static std::unique_ptr<ComputePlan> make(const PlanContext& context, const std::uint8_t* r,
                                           std::string* error) {
    namespace f = isa::layout::S4D4_TR;
    namespace dim = isa::code::subdim;
    auto plan = std::make_unique<TensorCumulative>();
    const bool bits = r[0] == isa::op::TENSOR_CUMULATIVE_BITVEC_OP;
    const std::uint32_t op = f::op(r), in = f::in_dtype(r), out = f::out_dtype(r);
    const std::uint32_t op_dim = f::op_dim(r);
    plan->partitions_ = f::num_active_channels(r);
    float ignored;
    if (!bits && (!reset_value(op, &ignored) || op == alu::SUBTRACT)) {
      refuse_operation(op, "does not cumulate", error);
      return nullptr;
    }
    if (bits && op != alu::BITWISE_AND && op != alu::BITWISE_OR && op != alu::BITWISE_XOR) {
      refuse_operation(op, "does not cumulate bits", error);
      return nullptr;
    }
    if (op_dim < dim::X || op_dim > dim::XYZW) {
      *error = "scanned dimensions code " + std::to_string(op_dim) + ", known are 2 to 5";
      return nullptr;
    }
    const OperandFields source = tensor4d("source", f::src(r), in);
    if (!check_reserved(context, r, error) || !check_zero("negated", f::negated(r), error) ||
        !check_zero("mask_enable", f::mask_enable(r), error) ||
        (bits &&
         (!check_integer("source", in, error) || !check_integer("destination", out, error))) ||
        !plan->in_.plan(context, source, plan->partitions_, bits ? Use::kBits : Use::kArithmetic,
                        error) ||
        !plan->out_.plan(context, tensor4d("destination", f::dst(r), out), plan->partitions_,
                         bits ? Use::kBits : Use::kResult, error) ||
        !check_same_total("source", plan->in_, plan->out_, error))
      return nullptr;
    if (bits && element_bytes(in) != element_bytes(out)) {
      *error = "bit operation on operands of different widths";
      return nullptr;
    }
    for (std::uint32_t d = 0; d <= op_dim - dim::X; ++d) plan->period_ *= source.count[d];
    if (bits)
      plan->bit_ = bit_op(op)->one;
    else
      plan->arith_ = arith_op(op)->one;
    return plan;
  }

  bool execute(EngineState& state, std::string* error) const override {
    Operand places[2];
    const Operand* in = in_.resolve(state, &places[0], error);
    const Operand* out = in ? out_.resolve(state, &places[1], error) : nullptr;
    if (!out) return false;
    for (std::uint32_t p = 0; p < partitions_; ++p)
      if (bit_) {
        BitReader from(*in, p);
        BitWriter to(*out, p);
        const std::uint32_t width = 8 * in->element_bytes;
        scan<std::uint32_t>([&](std::uint64_t n, std::uint32_t* v) { from.next(n, v); },
                            [&](std::uint64_t n, const std::uint32_t* v) { to.next(n, v); },
                            [&](std::uint32_t a, std::uint32_t b) { return bit_(a, b, width); });
      } else {
        Reader from(*in, p);
        Writer to(*out, p);
        scan<float>([&](std::uint64_t n, float* v) { from.copy(n, v); },
                    [&](std::uint64_t n, const float* v) { to.end(n, v); }, arith_);
      }
    return true;
  }

  void visit_operands(EngineState& state, OperandVisitor& visitor) const override {
    in_.visit(state, visitor, Access::kRead);
    out_.visit(state, visitor, Access::kWrite);
  }

 private:
  template <typename T, typename Read, typename Write, typename Op>
  void scan(Read read, Write write, Op op) const {
    T v[kChunk];
    T running{};
    std::uint64_t place = 0;
    for (std::uint64_t left = in_.total(); left != 0;) {
      const std::uint64_t n = std::min(left, kChunk);
      read(n, v);
      for (std::uint64_t i = 0; i < n; ++i) {
        v[i] = running = place == 0 ? v[i] : op(running, v[i]);
        place = place + 1 == period_ ? 0 : place + 1;
      }
      write(n, v);
      left -= n;
    }
  }

  OperandRef in_, out_;
  std::uint32_t partitions_ = 0;
  std::uint64_t period_ = 1;  // elements of one scan
  float (*arith_)(float, float) = nullptr;
  std::uint32_t (*bit_)(std::uint32_t, std::uint32_t, std::uint32_t) = nullptr;
};

}  // namespace

std::span<const PlanEntry> scan_plans() {
  static constexpr PlanEntry kPlans[] = {
      {isa::op::TENSOR_TENSOR_SCAN_ARITH, TensorTensorScan::make},
      {isa::op::TENSOR_SCALAR_CACHE_CUMULATIVE, Cumulative::make},
      {isa::op::TENSOR_CUMULATIVE_ARITH_OP, TensorCumulative::make},
      {isa::op::TENSOR_CUMULATIVE_BITVEC_OP, TensorCumulative::make}};
  return kPlans;
}

}  // namespace opennrt::emu
