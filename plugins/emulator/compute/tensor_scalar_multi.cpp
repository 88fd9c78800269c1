// SPDX-License-Identifier: Apache-2.0
//
// TENSOR_SCALAR_IMM_LD loads up to eight scalars per lane,
// TENSOR_SCALAR_PTR_MULTI applies one operation with another of them to each
// slice of the outermost dimension: dst[w] = src[w] op scalar[w]; the dual form
// takes pairs, dst[w] = (src[w] op scalar[2w]) * scalar[2w + 1].
#include <algorithm>

#include "compute/alu.h"
#include "compute/checks.h"
#include "compute/families.h"
#include "compute/in_out.h"
#include "compute/lanes.h"
#include "compute/special_common.h"
#include "compute/stream.h"
#include "opennrt/isa/layouts.h"

namespace opennrt::emu {

namespace {

namespace alu = isa::code::alu_op;
namespace field = isa::layout::S4D4_TSM;

class LoadScalars final : public ComputePlan {
 public:
  static std::unique_ptr<ComputePlan> make(const PlanContext& context, const std::uint8_t* r,
                                           std::string* error) {
    namespace f = isa::layout::S2_BN;
    auto plan = std::make_unique<LoadScalars>();
    LoadScalars& p = *plan;
    p.bits_ = r[0] == isa::op::TENSOR_SCALAR_IMM_LD_BITVEC;
    p.partitions_ = f::num_active_channels(r);
    if (!check_engine(context, r, error) || !check_zero("imm1", f::imm1(r), error) ||
        !check_zero("imm0", f::imm0_ptr(r), error) ||
        !check_zero("source of imm0", f::imm0_src(r), error) ||
        (p.bits_ && !check_integer("scalars", f::dtype(r), error)) ||
        !p.in_.plan(context, tensor2d("scalars", f::src(r), f::dtype(r)), p.partitions_,
                    p.bits_ ? Use::kBits : Use::kArithmetic, error) ||
        !expect(p.in_.total() <= LaneState::kScalars, "number of scalars", p.in_.total(),
                "the limit is 8", error))
      return nullptr;
    return plan;
  }

  bool execute(EngineState& state, std::string* error) const override {
    Operand scratch;
    const Operand* in = in_.resolve(state, &scratch, error);
    if (!in) return false;
    LaneState& lanes = LaneState::of(state);
    const std::uint64_t n = in_.total();
    for (std::uint32_t p = 0; p < partitions_; ++p)
      if (bits_)
        BitReader(*in, p).next(n, lanes.scalars[p].data());
      else
        Reader(*in, p).copy(n, reinterpret_cast<float*>(lanes.scalars[p].data()));
    lanes.scalar_lanes = partitions_;
    lanes.scalar_count = static_cast<std::uint32_t>(n);
    lanes.scalars_are_bits = bits_;
    return true;
  }

  void visit_operands(EngineState& state, OperandVisitor& visitor) const override {
    in_.visit(state, visitor, Access::kRead);
  }

 private:
  OperandRef in_;
  std::uint32_t partitions_ = 0;
  bool bits_ = false;
};

class Multi : public InOut {
 protected:
  bool plan(const PlanContext& context, const std::uint8_t* r, bool bits, std::string* error) {
    namespace rev = isa::code::reverse_operands;
    const OperandFields source = tensor4d("source", field::src(r), field::in_dtype(r));
    const std::uint32_t reverse = field::reverse_operands(r);
    per_slice_ = r[0] == isa::op::TENSOR_SCALAR_PTR_MULTI_DUAL_ARITH ? 2 : 1;
    slices_ = source.count[3];
    reversed_ = reverse == rev::BOTH || (per_slice_ == 2 && reverse == rev::FIRST);
    if (per_slice_ == 1 && reverse != rev::NONE && reverse != rev::BOTH) {
      *error = "reversed operands code " + std::to_string(reverse) + ", known are 0 and 3";
      return false;
    }
    return expect(reverse <= rev::BOTH, "reversed operands code", reverse, "the last is 3",
                  error) &&
           expect(field::op_dim(r) == isa::code::subdim::XYZ, "dimensions of a slice code",
                  field::op_dim(r), "it must be 4 (XYZ)", error) &&
           plan_in_out(context, r, source, bits ? Use::kBits : Use::kArithmetic,
                       tensor4d("destination", field::dst(r), field::out_dtype(r)),
                       bits ? Use::kBits : Use::kResult, field::num_active_channels(r), error) &&
           check_same_total("source", in_, out_, error) &&
           expect(slices_ * per_slice_ <= LaneState::kScalars, "number of slices", slices_,
                  per_slice_ == 1 ? "the limit is 8" : "the limit is 4", error);
  }
  // The loaded scalars are those this record takes.
  bool check_loaded(const LaneState& lanes, bool bits, std::string* error) const {
    if (lanes.scalar_count == slices_ * per_slice_ && lanes.scalar_lanes >= partitions_ &&
        lanes.scalars_are_bits == bits)
      return true;
    *error = std::to_string(slices_ * per_slice_) + (bits ? " integer" : " number") +
             " scalars for each of " + std::to_string(partitions_) +
             " channels are needed, the last TENSOR_SCALAR_IMM_LD has loaded " +
             std::to_string(lanes.scalar_count) +
             (lanes.scalars_are_bits ? " integers" : " numbers") + " for " +
             std::to_string(lanes.scalar_lanes);
    return false;
  }
  std::uint64_t slice_elements() const { return in_.total() / slices_; }

  std::uint32_t slices_ = 1, per_slice_ = 1;
  bool reversed_ = false;
};

class MultiArithmetic final : public Multi {
 public:
  static std::unique_ptr<ComputePlan> make(const PlanContext& context, const std::uint8_t* r,
                                           std::string* error) {
    auto made = std::make_unique<MultiArithmetic>();
    const ArithOp* op = arith_op(field::op(r), context.generation);
    if (!op) {
      refuse_operation(field::op(r), "is not FP32 arithmetic of this device", error);
      return nullptr;
    }
    if (!made->plan(context, r, false, error)) return nullptr;
    made->kernel_ = made->reversed_ ? op->reversed : op->scalar;
    if (made->per_slice_ == 2) made->product_ = arith_op(alu::MULT)->scalar;
    return made;
  }

  bool execute(EngineState& state, std::string* error) const override {
    Places at;
    const LaneState& lanes = LaneState::of(state);
    if (!check_loaded(lanes, false, error) || !resolve(state, &at, error)) return false;
    float in[kChunk], result[kChunk];
    for (std::uint32_t p = 0; p < partitions_; ++p) {
      Reader from(*at.in, p);
      Writer to(*at.out, p);
      for (std::uint32_t w = 0; w < slices_; ++w)
        for (std::uint64_t left = slice_elements(); left != 0;) {
          const std::uint64_t n = std::min(left, kChunk);
          const float* v = from.next(n, in);
          kernel_(v, std::bit_cast<float>(lanes.scalars[p][w * per_slice_]), result, n);
          if (product_)
            product_(result, std::bit_cast<float>(lanes.scalars[p][2 * w + 1]), result, n);
          to.end(n, result);
          left -= n;
        }
    }
    return true;
  }

 private:
  ScalarKernel kernel_ = nullptr, product_ = nullptr;
};

class MultiBits final : public Multi {
 public:
  static std::unique_ptr<ComputePlan> make(const PlanContext& context, const std::uint8_t* r,
                                           std::string* error) {
    auto made = std::make_unique<MultiBits>();
    const std::uint32_t in = field::in_dtype(r), out = field::out_dtype(r);
    made->op_ = bit_op(field::op(r));
    if (!made->op_) {
      refuse_operation(field::op(r), "is not a bit operation of this device", error);
      return nullptr;
    }
    if (!check_integer("source", in, error) || !made->plan(context, r, true, error)) return nullptr;
    if (in != out) {
      *error = "bit operation from data type " + std::to_string(in) + " to " + std::to_string(out) +
               ", the types must be equal";
      return nullptr;
    }
    made->width_ = 8 * element_bytes(in);
    return made;
  }

  bool execute(EngineState& state, std::string* error) const override {
    Places at;
    const LaneState& lanes = LaneState::of(state);
    if (!check_loaded(lanes, true, error) || !resolve(state, &at, error)) return false;
    const std::uint32_t mask = 0xFFFFFFFFu >> (32 - width_);
    std::uint32_t v[kChunk];
    for (std::uint32_t p = 0; p < partitions_; ++p) {
      BitReader from(*at.in, p);
      BitWriter to(*at.out, p);
      for (std::uint32_t w = 0; w < slices_; ++w) {
        const std::uint32_t s = lanes.scalars[p][w] & mask;
        for (std::uint64_t left = slice_elements(); left != 0;) {
          const std::uint64_t n = std::min(left, kChunk);
          from.next(n, v);
          for (std::uint64_t i = 0; i < n; ++i)
            v[i] = reversed_ ? op_->one(s, v[i], width_) : op_->one(v[i], s, width_);
          to.next(n, v);
          left -= n;
        }
      }
    }
    return true;
  }

 private:
  const BitOp* op_ = nullptr;
  std::uint32_t width_ = 0;
};

}  // namespace

std::span<const PlanEntry> tensor_scalar_multi_plans() {
  static constexpr PlanEntry kPlans[] = {
      {isa::op::TENSOR_SCALAR_IMM_LD_ARITH, LoadScalars::make},
      {isa::op::TENSOR_SCALAR_IMM_LD_BITVEC, LoadScalars::make},
      {isa::op::TENSOR_SCALAR_PTR_MULTI_ARITH, MultiArithmetic::make},
      {isa::op::TENSOR_SCALAR_PTR_MULTI_DUAL_ARITH, MultiArithmetic::make},
      {isa::op::TENSOR_SCALAR_PTR_MULTI_BITVEC, MultiBits::make}};
  return kPlans;
}

}  // namespace opennrt::emu
