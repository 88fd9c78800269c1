// SPDX-License-Identifier: Apache-2.0
//
// TENSOR_TENSOR in FP32, on bits, and in the pool engine's exact integers.
#include "compute/alu.h"
#include "compute/checks.h"
#include "compute/families.h"
#include "compute/stream.h"
#include "opennrt/arch.h"
#include "opennrt/isa/layouts.h"

namespace opennrt::emu {

namespace {

namespace field = isa::layout::S3S3D3_TT;
namespace alu = isa::code::alu_op;

// Operands of all three forms.
class TensorTensor : public ComputePlan {
 public:
  void visit_operands(EngineState& state, OperandVisitor& visitor) const override {
    a_.visit(state, visitor, Access::kRead);
    b_.visit(state, visitor, Access::kRead);
    out_.visit(state, visitor, Access::kWrite);
  }

 protected:
  bool plan(const PlanContext& context, const std::uint8_t* r, bool bits, std::string* error) {
    partitions_ = field::num_active_channels(r);
    const std::uint32_t types = field::in0_in1_dtype(r);
    const Use in = bits ? Use::kBits : Use::kArithmetic;
    return check_reserved(context, r, error) &&
           a_.plan(context, tensor3d("source 0", field::src0(r), types & 0xF), partitions_, in,
                   error) &&
           b_.plan(context, tensor3d("source 1", field::src1(r), types >> 4), partitions_, in,
                   error) &&
           out_.plan(context, tensor3d("destination", field::dst(r), field::out_dtype(r)),
                     partitions_, bits ? Use::kBits : Use::kResult, error) &&
           check_same_total("source 0", a_, out_, error) &&
           check_same_total("source 1", b_, out_, error);
  }
  struct Places {
    Operand scratch[3];
    const Operand *a, *b, *out;
  };
  bool resolve(EngineState& state, Places* places, std::string* error) const {
    places->a = a_.resolve(state, &places->scratch[0], error);
    places->b = places->a ? b_.resolve(state, &places->scratch[1], error) : nullptr;
    places->out = places->b ? out_.resolve(state, &places->scratch[2], error) : nullptr;
    return places->out != nullptr;
  }

  OperandRef a_, b_, out_;
  std::uint32_t partitions_ = 0;
};

class Arithmetic final : public TensorTensor {
 public:
  static std::unique_ptr<ComputePlan> make_op(const PlanContext& context,
                                              const std::uint8_t* record, std::uint32_t op,
                                              std::string* error) {
    auto made = std::make_unique<Arithmetic>();
    const ArithOp* found = arith_op(op, context.generation);
    if (!found) {
      refuse_operation(op, "is not FP32 arithmetic of this device", error);
      return nullptr;
    }
    made->kernel_ = found->vectors;
    return made->plan(context, record, false, error) ? std::move(made) : nullptr;
  }

  bool execute(EngineState& state, std::string* error) const override {
    Places at;
    if (!resolve(state, &at, error)) return false;
    const std::uint64_t chunk = chunk_elements(at.out->pattern);
    float in_a[kChunk], in_b[kChunk], result[kChunk];
    for (std::uint32_t p = 0; p < partitions_; ++p) {
      Reader a(*at.a, p), b(*at.b, p);
      Writer out(*at.out, p);
      for (std::uint64_t left = at.out->pattern.total; left != 0;) {
        const std::uint64_t n = std::min(left, chunk);
        const float* va = a.next(n, in_a);
        const float* vb = b.next(n, in_b);
        float* to = out.begin(n, result);
        kernel_(va, vb, to, n);
        out.end(n, to);
        left -= n;
      }
    }
    return true;
  }

 private:
  BinaryKernel kernel_ = nullptr;
};

// On raw integers of one width.
class Bits final : public TensorTensor {
 public:
  static std::unique_ptr<ComputePlan> make(const PlanContext& context, const std::uint8_t* record,
                                           std::string* error) {
    auto made = std::make_unique<Bits>();
    const std::uint32_t types = field::in0_in1_dtype(record), out = field::out_dtype(record);
    const std::uint32_t op = field::op(record);
    const BitOp* found = bit_op(op);
    if (!found) {
      refuse_operation(op, "is not a bit operation of this device", error);
      return nullptr;
    }
    made->kernel_ = found->vectors;
    if (!check_integer("source 0", types & 0xF, error) ||
        !check_integer("source 1", types >> 4, error) ||
        !check_integer("destination", out, error) || !made->plan(context, record, true, error))
      return nullptr;
    const std::uint32_t bytes = element_bytes(out);
    if (element_bytes(types & 0xF) != bytes || element_bytes(types >> 4) != bytes) {
      *error = "bit operation on operands of different widths";
      return nullptr;
    }
    made->width_ = 8 * bytes;
    return made;
  }

  bool execute(EngineState& state, std::string* error) const override {
    Places at;
    if (!resolve(state, &at, error)) return false;
    std::uint32_t va[kChunk], vb[kChunk];
    for (std::uint32_t p = 0; p < partitions_; ++p) {
      BitReader a(*at.a, p), b(*at.b, p);
      BitWriter out(*at.out, p);
      for (std::uint64_t left = at.out->pattern.total; left != 0;) {
        const std::uint64_t n = std::min(left, kChunk);
        a.next(n, va);
        b.next(n, vb);
        kernel_(va, vb, va, n, width_);
        out.next(n, va);
        left -= n;
      }
    }
    return true;
  }

 private:
  decltype(BitOp::vectors) kernel_ = nullptr;
  std::uint32_t width_ = 0;
};

// Codes from 0xC4: 32-bit results without FP32 in between; narrower sources
// widen by their own type.
class Integers final : public TensorTensor {
 public:
  static std::unique_ptr<ComputePlan> make_op(const PlanContext& context,
                                              const std::uint8_t* record, std::uint32_t op,
                                              std::string* error) {
    auto made = std::make_unique<Integers>();
    const std::uint32_t types = field::in0_in1_dtype(record), out = field::out_dtype(record);
    if (context.engine != NRTP_ENGINE_POOL) {
      refuse_operation(op, "runs on the pool engine only", error);
      return nullptr;
    }
    const IntegerOp* found = integer_op(op, context.generation);
    if (!found) {
      refuse_operation(op, "is not implemented (its result is not published)", error);
      return nullptr;
    }
    made->op_ = *found;
    made->signed_a_ = format(types & 0xF).is_signed;
    made->signed_b_ = format(types >> 4).is_signed;
    if (!check_integer("source 0", types & 0xF, error) ||
        !check_integer("source 1", types >> 4, error) ||
        !check_integer("destination", out, error) || !made->plan(context, record, true, error))
      return nullptr;
    if (element_bytes(out) != 4) {
      *error = "destination: integer arithmetic into " + std::to_string(8 * element_bytes(out)) +
               " bits is not implemented (INT32 and UINT32 only)";
      return nullptr;
    }
    return made;
  }

  bool execute(EngineState& state, std::string* error) const override {
    Places at;
    if (!resolve(state, &at, error)) return false;
    std::uint32_t va[kChunk], vb[kChunk];
    if (op_.divides && !check_divisors(*at.b, error)) return false;
    for (std::uint32_t p = 0; p < partitions_; ++p) {
      BitReader a(*at.a, p), b(*at.b, p);
      BitWriter out(*at.out, p);
      for (std::uint64_t left = at.out->pattern.total; left != 0;) {
        const std::uint64_t n = std::min(left, kChunk);
        a.next(n, va);
        b.next(n, vb);
        for (std::uint64_t i = 0; i < n; ++i)
          va[i] = op_.one(widen(va[i], *at.a, signed_a_), widen(vb[i], *at.b, signed_b_));
        out.next(n, va);
        left -= n;
      }
    }
    return true;
  }

 private:
  static std::uint32_t widen(std::uint32_t v, const Operand& o, bool is_signed) {
    const std::uint32_t up = 32 - 8 * o.element_bytes;
    return is_signed ? static_cast<std::uint32_t>(static_cast<std::int32_t>(v << up) >> up) : v;
  }
  bool check_divisors(const Operand& divisors, std::string* error) const {
    std::uint32_t v[kChunk];
    for (std::uint32_t p = 0; p < partitions_; ++p) {
      BitReader b(divisors, p);
      for (std::uint64_t left = divisors.pattern.total; left != 0;) {
        const std::uint64_t n = std::min(left, kChunk);
        b.next(n, v);
        left -= n;
        if (std::find(v, v + n, 0u) == v + n) continue;
        *error = "source 1: integer division by 0 in partition " + std::to_string(p) +
                 ", its result is not published";
        return false;
      }
    }
    return true;
  }

  IntegerOp op_;
  bool signed_a_ = false, signed_b_ = false;
};

std::unique_ptr<ComputePlan> make_arithmetic(const PlanContext& context, const std::uint8_t* record,
                                             std::string* error) {
  const std::uint32_t op = field::op(record);
  return op >= alu::ADD_INT ? Integers::make_op(context, record, op, error)
                            : Arithmetic::make_op(context, record, op, error);
}

// The fast BF16 forms of the first generation: the operation is in the opcode,
// the result that of the general form.
template <std::uint32_t kOp>
std::unique_ptr<ComputePlan> make_bf16(const PlanContext& context, const std::uint8_t* record,
                                       std::string* error) {
  constexpr std::uint32_t kBf16 = isa::kDtBfloat16;
  if (field::in0_in1_dtype(record) != (kBf16 << 4 | kBf16) || field::out_dtype(record) != kBf16) {
    *error = "operand types of a BF16 record are not all BFLOAT16";
    return nullptr;
  }
  const std::uint32_t op = field::op(record);
  if (op != 0 && op != kOp) {
    refuse_operation(op, "contradicts the opcode", error);
    return nullptr;
  }
  return Arithmetic::make_op(context, record, kOp, error);
}

}  // namespace

std::span<const PlanEntry> elementwise_plans() {
  static constexpr PlanEntry kPlans[] = {
      {isa::op::TENSOR_TENSOR_ARITH_OP, make_arithmetic},
      {isa::op::TENSOR_TENSOR_BITVEC_OP, Bits::make},
      {isa::op::TENSOR_TENSOR_ADD_BF16, make_bf16<alu::ADD>},
      {isa::op::TENSOR_TENSOR_MULT_BF16, make_bf16<alu::MULT>},
      {isa::op::TENSOR_TENSOR_SUB_BF16, make_bf16<alu::SUBTRACT>}};
  return kPlans;
}

}  // namespace opennrt::emu
