// SPDX-License-Identifier: Apache-2.0
//
// CROSS_LANE_REDUCE: elements of all partitions become one partition's, or a
// single element.
#include "compute/alu.h"
#include "compute/checks.h"
#include "compute/families.h"
#include "compute/stream.h"
#include "opennrt/isa/layouts.h"

namespace opennrt::emu {

namespace {

namespace field = isa::layout::S4D4_CR;
namespace alu = isa::code::alu_op;
namespace reduce = isa::code::cross_lane_reduce;

class CrossLaneReduce final : public ComputePlan {
 public:
  static std::unique_ptr<ComputePlan> make(const PlanContext& context, const std::uint8_t* r,
                                           std::string* error) {
    auto plan = std::make_unique<CrossLaneReduce>();
    const bool bits = r[0] == isa::op::CROSS_LANE_REDUCE_BITVEC;
    const std::uint32_t op = field::reduce_op(r), in = field::in_dtype(r),
                        out = field::out_dtype(r);
    plan->partitions_ = field::num_active_channels(r);
    if (!plan->choose(op, bits)) {
      *error = "reduction " + std::to_string(op) + " is not one of this record";
      return nullptr;
    }
    if (field::reduce_axis(r) > 1) {
      *error = "reduced axes code " + std::to_string(field::reduce_axis(r)) + ", known are 0 and 1";
      return nullptr;
    }
    plan->everything_ = field::reduce_axis(r) == 0;
    plan->average_ = op == reduce::AVERAGE;
    plan->scale_ = field::mean_scale(r);
    if (!plan->average_ && plan->scale_ != 0 && plan->scale_ != 1) {
      *error = "mean_scale is " + std::to_string(plan->scale_) + ", only an average scales";
      return nullptr;
    }
    if (!check_reserved(context, r, error) ||
        (bits &&
         (!check_integer("source", in, error) || !check_integer("destination", out, error))) ||
        !plan->in_.plan(context, tensor4d("source", field::src(r), in), plan->partitions_,
                        bits ? Use::kBits : Use::kArithmetic, error) ||
        !plan->out_.plan(context, tensor4d("destination", field::dst(r), out), 1,
                         bits ? Use::kBits : Use::kResult, error))
      return nullptr;
    if (bits && element_bytes(in) != element_bytes(out)) {
      *error = "bit operation on operands of different widths";
      return nullptr;
    }
    const std::uint64_t want = plan->everything_ ? 1 : plan->in_.total();
    if (plan->out_.total() == want) return plan;
    *error = "destination has " + std::to_string(plan->out_.total()) + " elements, the result " +
             std::to_string(want);
    return nullptr;
  }

  bool execute(EngineState& state, std::string* error) const override {
    Operand places[2];
    const Operand* in = in_.resolve(state, &places[0], error);
    const Operand* out = in ? out_.resolve(state, &places[1], error) : nullptr;
    if (!out) return false;
    if (bit_)
      run_bits(*in, *out);
    else
      run(*in, *out);
    return true;
  }

  void visit_operands(EngineState& state, OperandVisitor& visitor) const override {
    in_.visit(state, visitor, Access::kRead);
    out_.visit(state, visitor, Access::kWrite);
  }

 private:
  bool choose(std::uint32_t op, bool bits) {
    switch (op) {
      case reduce::ADD:
      case reduce::AVERAGE:
      case reduce::MAX:
        if (bits) return false;
        arith_ = arith_op(op == reduce::MAX ? alu::MAX : alu::ADD);
        return true;
      case reduce::OR:
      case reduce::AND:
      case reduce::XOR:
        if (!bits) return false;
        bit_ = bit_op(op == reduce::OR    ? alu::BITWISE_OR
                      : op == reduce::AND ? alu::BITWISE_AND
                                          : alu::BITWISE_XOR);
        return true;
      default:
        return false;
    }
  }

  // The pattern's chunks in order; within one, partition after partition.
  void run(const Operand& in, const Operand& out) const {
    const LoadKernel load = format(in.dtype).load;
    Writer to(out, 0);
    float acc[kChunk], v[kChunk], all = 0;
    Cursor chunk(in.pattern);
    bool first = true;
    for (std::uint64_t left = in.pattern.total; left != 0;) {
      const std::uint64_t n = std::min(left, kChunk);
      Cursor after = chunk;
      for (std::uint32_t p = 0; p < partitions_; ++p) {
        Cursor here = chunk;
        load(in.partition(p), here, p == 0 ? acc : v, n);
        if (p != 0) arith_->vectors(acc, v, acc, n);
        after = here;
      }
      chunk = after;
      if (everything_) {
        all = first ? arith_->fold(acc + 1, n - 1, acc[0]) : arith_->fold(acc, n, all);
        first = false;
      } else {
        scale(acc, n);
        to.end(n, acc);
      }
      left -= n;
    }
    if (!everything_) return;
    scale(&all, 1);
    to.end(1, &all);
  }
  void scale(float* v, std::uint64_t n) const {
    if (average_) arith_op(alu::MULT)->scalar(v, scale_, v, n);
  }

  void run_bits(const Operand& in, const Operand& out) const {
    const std::uint32_t width = 8 * in.element_bytes;
    const LoadBits load = load_bits(in.element_bytes);
    BitWriter to(out, 0);
    std::uint32_t acc[kChunk], v[kChunk], all = 0;
    Cursor chunk(in.pattern);
    bool first = true;
    for (std::uint64_t left = in.pattern.total; left != 0;) {
      const Block b = chunk.block(std::min(left, kChunk));
      const std::uint64_t n = b.total();
      load(in.partition(0), b, acc);
      for (std::uint32_t p = 1; p < partitions_; ++p) {
        load(in.partition(p), b, v);
        bit_->vectors(acc, v, acc, n, width);
      }
      if (everything_) {
        for (std::uint64_t i = 0; i < n; ++i, first = false)
          all = first ? acc[i] : bit_->one(all, acc[i], width);
      } else {
        to.next(n, acc);
      }
      left -= n;
    }
    if (everything_) to.next(1, &all);
  }

  OperandRef in_, out_;
  std::uint32_t partitions_ = 0;
  bool everything_ = false, average_ = false;
  float scale_ = 0;
  const ArithOp* arith_ = nullptr;
  const BitOp* bit_ = nullptr;
};

}  // namespace

std::span<const PlanEntry> cross_lane_plans() {
  static constexpr PlanEntry kPlans[] = {
      {isa::op::CROSS_LANE_REDUCE_ARITH, CrossLaneReduce::make},
      {isa::op::CROSS_LANE_REDUCE_BITVEC, CrossLaneReduce::make}};
  return kPlans;
}

}  // namespace opennrt::emu
