// SPDX-License-Identifier: Apache-2.0
//
// SCALAR_TENSOR_TENSOR, (src0 op0 scalar) op1 src1, in FP32 and on bits.
#include "compute/alu.h"
#include "compute/checks.h"
#include "compute/families.h"
#include "compute/stream.h"
#include "opennrt/isa/layouts.h"

namespace opennrt::emu {

namespace {

namespace field = isa::layout::S2S2D2_STT;

class ScalarTensorTensor final : public ComputePlan {
 public:
  static std::unique_ptr<ComputePlan> make(const PlanContext& context, const std::uint8_t* r,
                                           std::string* error) {
    auto plan = std::make_unique<ScalarTensorTensor>();
    const bool bits = r[0] == isa::op::SCALAR_TENSOR_TENSOR_BITVEC;
    const std::uint32_t types = field::in0_in1_dtype(r), out = field::out_dtype(r);
    const std::uint32_t scalar = field::imm0_dtype(r);
    const Use in = bits ? Use::kBits : Use::kArithmetic;
    plan->partitions_ = field::num_active_channels(r);
    plan->reverse_ = field::reverse_operands(r);
    if (!check_reserved(context, r, error) ||
        !check_zero("accumulator_cmd", field::accumulator_cmd(r), error) ||
        !check_zero("reverse_operands", plan->reverse_ & ~3u, error) ||
        !plan->a_.plan(context, tensor2d("source 0", field::src0(r), types & 0xF),
                       plan->partitions_, in, error) ||
        !plan->b_.plan(context, tensor2d("source 1", field::src1(r), types >> 4), plan->partitions_,
                       in, error) ||
        !plan->out_.plan(context, tensor2d("destination", field::dst(r), out), plan->partitions_,
                         bits ? Use::kBits : Use::kResult, error) ||
        !check_same_total("source 0", plan->a_, plan->out_, error) ||
        !check_same_total("source 1", plan->b_, plan->out_, error) ||
        !plan->scalar_.plan(context, "scalar", field::imm0_src(r), field::imm0(r), scalar,
                            plan->partitions_, error))
      return nullptr;
    if (bits) {
      for (const std::uint32_t type : {types & 0xF, types >> 4, scalar})
        if (!check_integer("operand", type, error)) return nullptr;
      plan->width_ = 8 * element_bytes(out);
      for (const std::uint32_t type : {types & 0xF, types >> 4, scalar})
        if (8 * element_bytes(type) != plan->width_ || !check_integer("destination", out, error)) {
          *error = "bit operation on operands of different widths";
          return nullptr;
        }
    } else if (plan->scalar_.immediate() && scalar != isa::kDtFloat32) {
      *error = "scalar: immediate of data type " + std::to_string(scalar) +
               ", FP32 arithmetic takes FP32";
      return nullptr;
    }
    const std::uint32_t ops[2] = {field::op0(r), field::op1(r)};
    for (const int i : {0, 1}) {
      plan->arith_[i] = bits ? nullptr : arith_op(ops[i], context.generation);
      plan->bit_[i] = bits ? bit_op(ops[i]) : nullptr;
      if (plan->arith_[i] || plan->bit_[i]) continue;
      refuse_operation(ops[i], "is not an operation of this record", error);
      return nullptr;
    }
    return plan;
  }

  bool execute(EngineState& state, std::string* error) const override {
    Operand places[3];
    ScalarRef::Values scalar;
    const Operand* a = a_.resolve(state, &places[0], error);
    const Operand* b = a ? b_.resolve(state, &places[1], error) : nullptr;
    const Operand* out = b ? out_.resolve(state, &places[2], error) : nullptr;
    if (!out || !scalar_.resolve(state, &scalar, error)) return false;
    for (std::uint32_t p = 0; p < partitions_; ++p)
      if (width_ != 0)
        run_bits(*a, *b, *out, scalar.raw(p), p);
      else
        run(*a, *b, *out, scalar.number(p), p);
    return true;
  }

  void visit_operands(EngineState& state, OperandVisitor& visitor) const override {
    a_.visit(state, visitor, Access::kRead);
    b_.visit(state, visitor, Access::kRead);
    scalar_.visit(state, visitor);
    out_.visit(state, visitor, Access::kWrite);
  }

 private:
  bool reversed(int i) const { return (reverse_ >> i & 1) != 0; }

  void run(const Operand& a, const Operand& b, const Operand& out, float s, std::uint32_t p) const {
    Reader from_a(a, p), from_b(b, p);
    Writer to(out, p);
    const ScalarKernel first = reversed(0) ? arith_[0]->reversed : arith_[0]->scalar;
    const std::uint64_t chunk = chunk_elements(out.pattern);
    float in_a[kChunk], in_b[kChunk], between[kChunk], result[kChunk];
    for (std::uint64_t left = out.pattern.total; left != 0;) {
      const std::uint64_t n = std::min(left, chunk);
      first(from_a.next(n, in_a), s, between, n);
      const float* vb = from_b.next(n, in_b);
      float* target = to.begin(n, result);
      if (reversed(1))
        arith_[1]->vectors(vb, between, target, n);
      else
        arith_[1]->vectors(between, vb, target, n);
      to.end(n, target);
      left -= n;
    }
  }

  void run_bits(const Operand& a, const Operand& b, const Operand& out, std::uint32_t s,
                std::uint32_t p) const {
    BitReader from_a(a, p), from_b(b, p);
    BitWriter to(out, p);
    std::uint32_t va[kChunk], vb[kChunk], vs[kChunk];
    std::fill_n(vs, std::min(out.pattern.total, kChunk), s & (0xFFFFFFFFu >> (32 - width_)));
    for (std::uint64_t left = out.pattern.total; left != 0;) {
      const std::uint64_t n = std::min(left, kChunk);
      from_a.next(n, va);
      from_b.next(n, vb);
      if (reversed(0))
        bit_[0]->vectors(vs, va, va, n, width_);
      else
        bit_[0]->vectors(va, vs, va, n, width_);
      if (reversed(1))
        bit_[1]->vectors(vb, va, va, n, width_);
      else
        bit_[1]->vectors(va, vb, va, n, width_);
      to.next(n, va);
      left -= n;
    }
  }

  OperandRef a_, b_, out_;
  ScalarRef scalar_;
  std::uint32_t partitions_ = 0, reverse_ = 0;
  std::uint32_t width_ = 0;  // 0: FP32
  const ArithOp* arith_[2] = {};
  const BitOp* bit_[2] = {};
};

}  // namespace

std::span<const PlanEntry> scalar_tensor_tensor_plans() {
  static constexpr PlanEntry kPlans[] = {
      {isa::op::SCALAR_TENSOR_TENSOR_ARITH, ScalarTensorTensor::make},
      {isa::op::SCALAR_TENSOR_TENSOR_BITVEC, ScalarTensorTensor::make}};
  return kPlans;
}

}  // namespace opennrt::emu
