// SPDX-License-Identifier: Apache-2.0
//
// (src op0 scalar0) op1 scalar1 in FP32 and on bits, and the forms that reduce
// into the accumulator: EXPONENTIAL and TENSOR_SCALAR_CACHE_REDUCE.
#include "compute/alu.h"
#include "compute/checks.h"
#include "compute/families.h"
#include "compute/lanes.h"
#include "compute/stream.h"
#include "opennrt/isa/layouts.h"

namespace opennrt::emu {

namespace {

namespace field = isa::layout::S3D3_TS;
namespace alu = isa::code::alu_op;
namespace rev = isa::code::reverse_operands;

class TensorScalarBase : public ComputePlan {
 public:
  void visit_operands(EngineState& state, OperandVisitor& visitor) const override {
    in_.visit(state, visitor, Access::kRead);
    scalar_[0].visit(state, visitor);
    scalar_[1].visit(state, visitor);
    out_.visit(state, visitor, Access::kWrite);
  }

 protected:
  // scalar_dtype: of scalars in memory.
  bool plan(const PlanContext& context, const std::uint8_t* r, bool bits,
            std::uint32_t scalar_dtype, std::string* error) {
    partitions_ = field::num_active_channels(r);
    reverse_ = field::reverse_operands(r);
    command_ = field::accumulator_cmd(r);
    if (reverse_ > rev::BOTH) return check_zero("reverse_operands", reverse_, error);
    return check_reserved(context, r, error) &&
           in_.plan(context, tensor3d("source", field::src(r), field::in_dtype(r)), partitions_,
                    bits ? Use::kBits : Use::kArithmetic, error) &&
           out_.plan(context, tensor3d("destination", field::dst(r), field::out_dtype(r)),
                     partitions_, bits ? Use::kBits : Use::kResult, error) &&
           check_same_total("source", in_, out_, error) &&
           scalar_[0].plan(context, "scalar 0", field::imm0_src(r), field::imm0(r), scalar_dtype,
                           partitions_, error) &&
           scalar_[1].plan(context, "scalar 1", field::imm1_src(r), field::imm1(r), scalar_dtype,
                           partitions_, error);
  }
  // BYPASS first means that nothing is computed.
  static bool check_bypass(const std::uint8_t* r, std::string* error) {
    if (field::op0(r) != alu::BYPASS || field::op1(r) == alu::BYPASS) return true;
    return refuse_operation(field::op1(r), "follows BYPASS, which it must not", error);
  }
  struct Places {
    Operand scratch[2];
    const Operand *in, *out;
    ScalarRef::Values scalar[2];
  };
  bool resolve(EngineState& state, Places* at, std::string* error) const {
    at->in = in_.resolve(state, &at->scratch[0], error);
    at->out = at->in ? out_.resolve(state, &at->scratch[1], error) : nullptr;
    return at->out && scalar_[0].resolve(state, &at->scalar[0], error) &&
           scalar_[1].resolve(state, &at->scalar[1], error);
  }

  OperandRef in_, out_;
  ScalarRef scalar_[2];
  std::uint32_t partitions_ = 0, reverse_ = 0, command_ = 0;
};

ScalarKernel pick(const ArithOp& op, bool reversed) { return reversed ? op.reversed : op.scalar; }

class Arithmetic final : public TensorScalarBase {
 public:
  static std::unique_ptr<ComputePlan> make(const PlanContext& context, const std::uint8_t* record,
                                           std::string* error) {
    auto made = std::make_unique<Arithmetic>();
    if (!made->plan(context, record, false, isa::kDtFloat32, error) ||
        !check_zero("accumulator_cmd", made->command_, error) || !check_bypass(record, error))
      return nullptr;
    const std::uint32_t ops[2] = {field::op0(record), field::op1(record)};
    for (const int i : {0, 1}) {
      const ArithOp* op = arith_op(ops[i], context.generation);
      if (!op) {
        refuse_operation(ops[i], "is not FP32 arithmetic of this device", error);
        return nullptr;
      }
      const bool reversed = (made->reverse_ >> i & 1) != 0;
      if (ops[i] != alu::BYPASS || reversed) made->kernel_[i] = pick(*op, reversed);
    }
    return made;
  }

  bool execute(EngineState& state, std::string* error) const override {
    Places at;
    if (!resolve(state, &at, error)) return false;
    const std::uint64_t chunk = chunk_elements(at.out->pattern);
    float in[kChunk], result[kChunk];
    for (std::uint32_t p = 0; p < partitions_; ++p) {
      Reader from(*at.in, p);
      Writer to(*at.out, p);
      const float s0 = at.scalar[0].number(p), s1 = at.scalar[1].number(p);
      for (std::uint64_t left = at.out->pattern.total; left != 0;) {
        const std::uint64_t n = std::min(left, chunk);
        const float* v = from.next(n, in);
        float* target = to.begin(n, result);
        if (kernel_[0]) kernel_[0](v, s0, target, n), v = target;
        if (kernel_[1]) kernel_[1](v, s1, target, n), v = target;
        if (v != target) std::copy_n(v, n, target);
        to.end(n, target);
        left -= n;
      }
    }
    return true;
  }

 private:
  ScalarKernel kernel_[2] = {};  // nullptr: passes through
};

// On raw integers of one width; scalars are raw integers of that width.
class Bits final : public TensorScalarBase {
 public:
  static std::unique_ptr<ComputePlan> make(const PlanContext& context, const std::uint8_t* record,
                                           std::string* error) {
    auto made = std::make_unique<Bits>();
    const std::uint32_t in = field::in_dtype(record), out = field::out_dtype(record);
    if (!check_integer("source", in, error) || !check_integer("destination", out, error))
      return nullptr;
    if (element_bytes(in) != element_bytes(out)) {
      *error = "bit operation from data type " + std::to_string(in) + " to " + std::to_string(out) +
               ", the widths differ";
      return nullptr;
    }
    made->width_ = 8 * element_bytes(in);
    if (!made->plan(context, record, true, in, error) ||
        !check_zero("accumulator_cmd", made->command_, error) || !check_bypass(record, error))
      return nullptr;
    const std::uint32_t ops[2] = {field::op0(record), field::op1(record)};
    for (const int i : {0, 1}) {
      made->op_[i] = bit_op(ops[i]);
      if (made->op_[i]) continue;
      refuse_operation(ops[i], "is not a bit operation of this device", error);
      return nullptr;
    }
    return made;
  }

  bool execute(EngineState& state, std::string* error) const override {
    Places at;
    if (!resolve(state, &at, error)) return false;
    std::uint32_t v[kChunk], s[2][kChunk];
    const std::uint64_t most = std::min(at.out->pattern.total, kChunk);
    const std::uint32_t mask = 0xFFFFFFFFu >> (32 - width_);
    for (std::uint32_t p = 0; p < partitions_; ++p) {
      BitReader from(*at.in, p);
      BitWriter to(*at.out, p);
      for (const int i : {0, 1}) std::fill_n(s[i], most, at.scalar[i].raw(p) & mask);
      for (std::uint64_t left = at.out->pattern.total; left != 0;) {
        const std::uint64_t n = std::min(left, kChunk);
        from.next(n, v);
        for (const int i : {0, 1}) {
          if ((reverse_ >> i & 1) != 0)
            op_[i]->vectors(s[i], v, v, n, width_);
          else
            op_[i]->vectors(v, s[i], v, n, width_);
        }
        to.next(n, v);
        left -= n;
      }
    }
    return true;
  }

 private:
  const BitOp* op_[2] = {};
  std::uint32_t width_ = 0;
};

// dst = src op0 scalar0 (or e^(src - scalar0)), and the accumulator takes the
// results in by op1; scalar 1 is its start for LOAD_ACCUMULATE.
class CacheReduce final : public TensorScalarBase {
 public:
  static std::unique_ptr<ComputePlan> make_reduce(const PlanContext& context,
                                                  const std::uint8_t* record, std::string* error) {
    auto made = std::make_unique<CacheReduce>();
    const ArithOp* op0 = arith_op(field::op0(record), context.generation);
    if (!op0) {
      refuse_operation(field::op0(record), "is not FP32 arithmetic of this device", error);
      return nullptr;
    }
    if (!made->common(context, record, field::op1(record), error)) return nullptr;
    made->kernel_ = pick(*op0, made->reverse_ == rev::FIRST);
    return made;
  }
  static std::unique_ptr<ComputePlan> make_exponential(const PlanContext& context,
                                                       const std::uint8_t* record,
                                                       std::string* error) {
    auto made = std::make_unique<CacheReduce>();
    if (context.generation != isa::Generation::kMariana) {
      *error = "this generation has no exponential in its vector engine";
      return nullptr;
    }
    if (!check_zero("op0", field::op0(record), error) ||
        !check_zero("op1", field::op1(record), error) ||
        !check_zero("reverse_operands", field::reverse_operands(record), error) ||
        !made->common(context, record, alu::ADD, error))
      return nullptr;
    made->kernel_ = exponential_kernel();
    return made;
  }

  bool execute(EngineState& state, std::string* error) const override {
    Places at;
    if (!resolve(state, &at, error)) return false;
    LaneState& lanes = LaneState::of(state);
    const std::uint64_t chunk = chunk_elements(at.out->pattern);
    float in[kChunk], result[kChunk];
    for (std::uint32_t p = 0; p < partitions_; ++p) {
      Reader from(*at.in, p);
      Writer to(*at.out, p);
      float& held = lanes.accumulator[p];
      held = accumulator_start(command_, held, reset_, at.scalar[1].number(p));
      const float s0 = at.scalar[0].number(p);
      for (std::uint64_t left = at.out->pattern.total; left != 0;) {
        const std::uint64_t n = std::min(left, chunk);
        const float* v = from.next(n, in);
        float* target = to.begin(n, result);
        kernel_(v, s0, target, n);
        if (fold_) held = fold_(target, n, held);
        to.end(n, target);
        left -= n;
      }
    }
    return true;
  }

 private:
  bool common(const PlanContext& context, const std::uint8_t* record, std::uint32_t reduce,
              std::string* error) {
    if (!plan(context, record, false, isa::kDtFloat32, error) ||
        !check_accumulator_command(command_, error) ||
        !check_zero("reverse_operands", reverse_ & ~1u, error))
      return false;
    if (!reset_value(reduce, &reset_))
      return command_ == 0 && reduce == alu::BYPASS
                 ? true
                 : refuse_operation(reduce, "does not reduce into the accumulator", error);
    if (accumulates(command_)) fold_ = arith_op(reduce)->fold;
    return true;
  }

  ScalarKernel kernel_ = nullptr;
  FoldKernel fold_ = nullptr;  // nullptr: the accumulator is left alone
  float reset_ = 0;
};

// The pointer forms of old compilers.
template <PlanMaker kMake>
std::unique_ptr<ComputePlan> make_pointer(const PlanContext& context, const std::uint8_t* record,
                                          std::string* error) {
  namespace source = isa::code::imm_src;
  const bool second = field::op1(record) != alu::BYPASS;
  if (field::imm0_src(record) != source::POINTER ||
      (second && field::imm1_src(record) != source::POINTER)) {
    *error = "scalars of a pointer record that are not marked as pointers";
    return nullptr;
  }
  return kMake(context, record, error);
}

}  // namespace

std::span<const PlanEntry> tensor_scalar_plans() {
  static constexpr PlanEntry kPlans[] = {
      {isa::op::TENSOR_SCALAR_ARITH_OP, Arithmetic::make},
      {isa::op::TENSOR_SCALAR_PTR_ARITH_OP, make_pointer<Arithmetic::make>},
      {isa::op::TENSOR_SCALAR_BITVEC_OP, Bits::make},
      {isa::op::TENSOR_SCALAR_PTR_BITVEC_OP, make_pointer<Bits::make>},
      {isa::op::TENSOR_SCALAR_CACHE_REDUCE, CacheReduce::make_reduce},
      {isa::op::EXPONENTIAL, CacheReduce::make_exponential}};
  return kPlans;
}

}  // namespace opennrt::emu
