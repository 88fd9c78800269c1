// SPDX-License-Identifier: Apache-2.0
//
// TENSOR_REDUCE in FP32 and on bits, POOL and MAX_POOL_SELECT: the innermost dimensions of the
// source become one element each.
#include "compute/alu.h"
#include "compute/checks.h"
#include "compute/families.h"
#include "compute/stream.h"
#include "device/bus.h"
#include "opennrt/isa/layouts.h"

namespace opennrt::emu {

namespace {

namespace alu = isa::code::alu_op;

// Innermost dimensions that an op_dim code names; 0: none.
std::uint32_t reduced_dims(std::uint32_t op_dim) {
  namespace dim = isa::code::subdim;
  return op_dim >= dim::X && op_dim <= dim::XYZW ? op_dim - dim::X + 1 : 0;
}

class ReduceBase : public ComputePlan {
 public:
  void visit_operands(EngineState& state, OperandVisitor& visitor) const override {
    in_.visit(state, visitor, Access::kRead);
    out_.visit(state, visitor, Access::kWrite);
  }

 protected:
  bool plan(const PlanContext& context, const std::uint8_t* record, const OperandFields& source,
            const OperandFields& destination, std::uint32_t op_dim, std::uint32_t partitions,
            bool bits, std::string* error) {
    partitions_ = partitions;
    const std::uint32_t dims = reduced_dims(op_dim);
    if (dims == 0) {
      *error = "reduced dimensions code " + std::to_string(op_dim) + ", known are 2 to 5";
      return false;
    }
    if (!check_reserved(context, record, error) ||
        !in_.plan(context, source, partitions, bits ? Use::kBits : Use::kArithmetic, error) ||
        !out_.plan(context, destination, partitions, bits ? Use::kBits : Use::kResult, error))
      return false;
    inner_ = Pattern::make(source.step, source.count, dims);
    outer_ = Pattern::make(source.step + dims, source.count + dims, 4 - dims);
    if (outer_.total == out_.total()) return true;
    *error = "source has " + std::to_string(outer_.total) +
             " elements per partition after the reduction, the destination " +
             std::to_string(out_.total());
    return false;
  }
  bool resolve(EngineState& state, Operand* scratch, const Operand** in, const Operand** out,
               std::string* error) const {
    *in = in_.resolve(state, &scratch[0], error);
    *out = *in ? out_.resolve(state, &scratch[1], error) : nullptr;
    return *out != nullptr;
  }

  // Below this many elements a reduction runs over many results at once.
  static constexpr std::uint64_t kShort = 16;

  OperandRef in_, out_;
  Pattern inner_, outer_;  // of the source
  std::uint32_t partitions_ = 0;
};

class Reduce final : public ReduceBase {
 public:
  static std::unique_ptr<ComputePlan> make_op(const PlanContext& context, const std::uint8_t* r,
                                              std::uint32_t op, std::string* error) {
    namespace f = isa::layout::S4D4_TR;
    auto made = std::make_unique<Reduce>();
    if (!check_zero("mask_enable", f::mask_enable(r), error) ||
        !check_zero("negated", f::negated(r) & ~1u, error) || !made->choose(context, op, error) ||
        !made->plan(context, r, tensor4d("source", f::src(r), f::in_dtype(r)),
                    tensor4d("destination", f::dst(r), f::out_dtype(r)), f::op_dim(r),
                    f::num_active_channels(r), false, error))
      return nullptr;
    made->factor_ = f::negated(r) != 0 ? -1.0f : 1.0f;
    return made;
  }
  static std::unique_ptr<ComputePlan> make(const PlanContext& context, const std::uint8_t* r,
                                           std::string* error) {
    return make_op(context, r, isa::layout::S4D4_TR::op(r), error);
  }
  static std::unique_ptr<ComputePlan> make_pool(const PlanContext& context, const std::uint8_t* r,
                                                std::string* error) {
    namespace f = isa::layout::S4D4_PL;
    namespace type = isa::code::pool_type;
    auto made = std::make_unique<Reduce>();
    const std::uint32_t function = f::pool_func(r);
    if (function != type::MAX_POOL && function != type::AVG_POOL) {
      *error = "pooling function " + std::to_string(function) + ", known are 1 and 2";
      return nullptr;
    }
    if (function == type::MAX_POOL && f::pool_scale(r) != 1.0f) {
      *error = "scale of max pooling is " + std::to_string(f::pool_scale(r)) +
               ", what it does is not known (1 in compiled programs)";
      return nullptr;
    }
    if (!made->choose(context, function == type::MAX_POOL ? alu::MAX : alu::ADD, error) ||
        !made->plan(context, r, tensor4d("source", f::src(r), f::in_dtype(r)),
                    tensor4d("destination", f::dst(r), f::out_dtype(r)), f::pool_dim(r),
                    f::num_active_channels(r), false, error))
      return nullptr;
    made->factor_ = f::pool_scale(r);
    return made;
  }

  bool execute(EngineState& state, std::string* error) const override {
    Operand scratch[2];
    const Operand *in, *out;
    if (!resolve(state, scratch, &in, &out, error)) return false;
    for (std::uint32_t p = 0; p < partitions_; ++p)
      if (inner_.total < kShort && outer_.total > 1)
        run_short(*in, *out, p);
      else
        run_long(*in, *out, p);
    return true;
  }

 private:
  bool choose(const PlanContext& context, std::uint32_t op, std::string* error) {
    const ArithOp* found = arith_op(op, context.generation);
    if (!found || op == alu::BYPASS) return refuse_operation(op, "does not reduce", error);
    op_ = found;
    scale_ = arith_op(alu::MULT)->scalar;
    return true;
  }

  // One vector of results at a time, element k of every window in step k.
  void run_short(const Operand& in, const Operand& out, std::uint32_t p) const {
    std::int64_t skips[kShort];
    Cursor walk(inner_);
    for (std::uint64_t k = 0; k < inner_.total; ++k) skips[k] = walk.next(1).offset;
    const std::uint8_t* base = in.partition(p);
    const LoadKernel load = format(in.dtype).load;
    Writer to(out, p);
    float acc[kChunk], next[kChunk];
    Cursor windows(outer_);
    for (std::uint64_t left = outer_.total; left != 0;) {
      const std::uint64_t n = std::min(left, kChunk);
      for (std::uint64_t k = 0; k < inner_.total; ++k) {
        Cursor here = windows;
        load(base + skips[k] * static_cast<std::int64_t>(in.element_bytes), here,
             k == 0 ? acc : next, n);
        if (k != 0) op_->vectors(acc, next, acc, n);
        if (k + 1 == inner_.total) windows = here;
      }
      finish(acc, n);
      to.end(n, acc);
      left -= n;
    }
  }

  void run_long(const Operand& in, const Operand& out, std::uint32_t p) const {
    Writer to(out, p);
    float values[kChunk], results[kChunk];
    Cursor windows(outer_);
    for (std::uint64_t left = outer_.total; left != 0;) {
      const std::uint64_t n = std::min(left, kChunk);
      for (std::uint64_t k = 0; k < n; ++k)
        results[k] = fold(in, windows.next(1).offset, p, values);
      finish(results, n);
      to.end(n, results);
      left -= n;
    }
  }

  float fold(const Operand& in, std::int64_t skip, std::uint32_t p, float* scratch) const {
    Reader from(in, inner_, p, skip);
    const std::uint64_t chunk = chunk_elements(inner_);
    std::uint64_t left = inner_.total;
    std::uint64_t n = std::min(left, chunk);
    const float* v = from.next(n, scratch);
    float acc = op_->fold(v + 1, n - 1, v[0]);
    while ((left -= n) != 0) {
      n = std::min(left, chunk);
      acc = op_->fold(from.next(n, scratch), n, acc);
    }
    return acc;
  }

  void finish(float* values, std::uint64_t n) const {
    if (factor_ != 1.0f) scale_(values, factor_, values, n);
  }

  const ArithOp* op_ = nullptr;
  ScalarKernel scale_ = nullptr;
  float factor_ = 1.0f;
};

class ReduceBits final : public ReduceBase {
 public:
  static std::unique_ptr<ComputePlan> make(const PlanContext& context, const std::uint8_t* r,
                                           std::string* error) {
    namespace f = isa::layout::S4D4_TR;
    auto made = std::make_unique<ReduceBits>();
    const std::uint32_t op = f::op(r), in = f::in_dtype(r), out = f::out_dtype(r);
    if (op != alu::BITWISE_AND && op != alu::BITWISE_OR && op != alu::BITWISE_XOR) {
      refuse_operation(op, "does not reduce bits", error);
      return nullptr;
    }
    made->op_ = bit_op(op);
    if (!check_integer("source", in, error) || !check_integer("destination", out, error) ||
        !check_zero("mask_enable", f::mask_enable(r), error) ||
        !check_zero("negated", f::negated(r), error) ||
        !made->plan(context, r, tensor4d("source", f::src(r), in),
                    tensor4d("destination", f::dst(r), out), f::op_dim(r),
                    f::num_active_channels(r), true, error))
      return nullptr;
    made->width_ = 8 * element_bytes(in);
    if (element_bytes(in) == element_bytes(out)) return made;
    *error = "bit operation on operands of different widths";
    return nullptr;
  }

  bool execute(EngineState& state, std::string* error) const override {
    Operand scratch[2];
    const Operand *in, *out;
    if (!resolve(state, scratch, &in, &out, error)) return false;
    std::uint32_t values[kChunk];
    for (std::uint32_t p = 0; p < partitions_; ++p) {
      BitWriter to(*out, p);
      Cursor windows(outer_);
      for (std::uint64_t left = outer_.total; left != 0; --left) {
        BitReader from(*in, inner_, p, windows.next(1).offset);
        std::uint32_t acc;
        from.next(1, &acc);
        for (std::uint64_t rest = inner_.total - 1; rest != 0;) {
          const std::uint64_t n = std::min(rest, kChunk);
          from.next(n, values);
          for (std::uint64_t i = 0; i < n; ++i) acc = op_->one(acc, values[i], width_);
          rest -= n;
        }
        to.next(1, &acc);
      }
    }
    return true;
  }

 private:
  const BitOp* op_ = nullptr;
  std::uint32_t width_ = 0;
};

// MAX_POOL_SELECT: the place of the largest element of each window, counted from
// 0 in the order of the window; the first of equal ones, NaN above all numbers.
class SelectMax final : public ReduceBase {
 public:
  static std::unique_ptr<ComputePlan> make(const PlanContext& context, const std::uint8_t* r,
                                           std::string* error) {
    namespace f = isa::layout::S4D4_PL;
    auto made = std::make_unique<SelectMax>();
    const std::uint32_t out = f::out_dtype(r);
    if (f::pool_func(r) != isa::code::pool_type::NONE || f::pool_scale(r) != 1.0f) {
      *error = "pooling function " + std::to_string(f::pool_func(r)) + " with scale " +
               std::to_string(f::pool_scale(r)) + ", they must be 0 and 1";
      return nullptr;
    }
    if (out != isa::kDtUint8 && out != isa::kDtUint16 && out != isa::kDtUint32) {
      *error = "destination: data type " + std::to_string(out) +
               ", places are UINT8 (3), UINT16 (5) or UINT32 (9)";
      return nullptr;
    }
    if (!made->plan(context, r, tensor4d("source", f::src(r), f::in_dtype(r)),
                    tensor4d("destination", f::dst(r), out), f::pool_dim(r),
                    f::num_active_channels(r), false, error))
      return nullptr;
    if (made->inner_.total - 1 > 0xFFFFFFFFu >> (32 - 8 * element_bytes(out))) {
      *error = "window of " + std::to_string(made->inner_.total) +
               " elements, their places do not fit the destination's " +
               std::to_string(8 * element_bytes(out)) + " bits";
      return nullptr;
    }
    return made;
  }

  bool execute(EngineState& state, std::string* error) const override {
    Operand scratch[2];
    const Operand *in, *out;
    if (!resolve(state, scratch, &in, &out, error)) return false;
    for (std::uint32_t p = 0; p < partitions_; ++p) {
      BitWriter to(*out, p);
      Cursor windows(outer_);
      for (std::uint64_t left = outer_.total; left != 0; --left) {
        const std::uint32_t place = find(*in, p, windows.next(1).offset);
        to.next(1, &place);
      }
    }
    return true;
  }

 private:
  std::uint32_t find(const Operand& in, std::uint32_t p, std::int64_t skip) const {
    Reader from(in, inner_, p, skip);
    float values[kChunk], best = 0;
    std::uint32_t at = 0, place = 0;
    for (std::uint64_t left = inner_.total; left != 0;) {
      const std::uint64_t n = std::min(left, kChunk);
      const float* v = from.next(n, values);
      for (std::uint64_t i = 0; i < n; ++i, ++at) {
        const bool better = v[i] > best || (v[i] != v[i] && best == best);
        if (at != 0 && !better) continue;
        best = v[i];
        place = at;
      }
      left -= n;
    }
    return place;
  }
};

template <std::uint32_t kOp>
std::unique_ptr<ComputePlan> make_bf16(const PlanContext& context, const std::uint8_t* r,
                                       std::string* error) {
  namespace f = isa::layout::S4D4_TR;
  if (f::in_dtype(r) != isa::kDtBfloat16 || f::out_dtype(r) != isa::kDtBfloat16) {
    *error = "operand types of a BF16 record are not all BFLOAT16";
    return nullptr;
  }
  if (f::op(r) != 0 && f::op(r) != kOp) {
    refuse_operation(f::op(r), "contradicts the opcode", error);
    return nullptr;
  }
  return Reduce::make_op(context, r, kOp, error);
}

}  // namespace

std::span<const PlanEntry> reduce_plans() {
  static constexpr PlanEntry kPlans[] = {{isa::op::TENSOR_REDUCE_ARITH_OP, Reduce::make},
                                         {isa::op::TENSOR_REDUCE_BITVEC_OP, ReduceBits::make},
                                         {isa::op::POOL, Reduce::make_pool},
                                         {isa::op::MAX_POOL_SELECT, SelectMax::make},
                                         {isa::op::TENSOR_REDUCE_ADD_BF16, make_bf16<alu::ADD>},
                                         {isa::op::TENSOR_REDUCE_MAX_BF16, make_bf16<alu::MAX>}};
  return kPlans;
}

}  // namespace opennrt::emu
