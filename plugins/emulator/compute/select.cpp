// SPDX-License-Identifier: Apache-2.0
//
// Predicated copies and SELECT_REDUCE: one of two values per element, chosen by
// an integer predicate tensor.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "compute/alu.h"
#include "compute/checks.h"
#include "compute/families.h"
#include "compute/lanes.h"
#include "compute/stream.h"
#include "device/bus.h"
#include "opennrt/isa/layouts.h"

namespace opennrt::emu {

namespace {

namespace alu = isa::code::alu_op;

// Visits the elements of partition p whose flag is not 0 (or 0, if reversed).
void visit_chosen(OperandVisitor& visitor, const char* name, const Operand& operand,
                  std::uint32_t p, const std::vector<std::uint32_t>& flags, bool reversed,
                  Access access) {
  Operand part = operand;
  part.first_partition = operand.first_partition + p;
  Cursor cursor(operand.pattern);
  for (std::uint64_t i = 0; i < flags.size();) {
    const Cursor::Run run = cursor.next(flags.size() - i);
    for (std::uint64_t j = 0; j < run.count;) {
      const auto chosen = [&](std::uint64_t k) { return (flags[i + k] != 0) != reversed; };
      std::uint64_t end = j;
      while (end < run.count && chosen(end)) ++end;
      if (end != j) {
        part.base = operand.partition(p) +
                    (run.offset + static_cast<std::int64_t>(j) * run.step) * operand.element_bytes;
        const std::uint64_t n = end - j;
        const std::int64_t reach = run.step * static_cast<std::int64_t>(n - 1);
        part.pattern = Pattern();
        part.pattern.step[0] = run.step;
        part.pattern.count[0] = part.pattern.total = n;
        part.pattern.lowest = std::min<std::int64_t>(reach, 0);
        part.pattern.highest = std::max<std::int64_t>(reach, 0);
        visitor.visit(name, part, 1, access);
      }
      j = end + 1;
    }
    i += run.count;
  }
}

// Predicates of partition p.
std::vector<std::uint32_t> read_flags(const Operand& predicate, std::uint32_t p) {
  std::vector<std::uint32_t> flags(predicate.pattern.total);
  BitReader(predicate, p).next(flags.size(), flags.data());
  return flags;
}

// COPY_PREDICATED and CAST_PREDICATED: dst = src1 where src0 != 0, the other
// elements keep what they have.
class CopyPredicated final : public ComputePlan {
 public:
  static std::unique_ptr<ComputePlan> make(const PlanContext& context, const std::uint8_t* r,
                                           std::string* error) {
    namespace f = isa::layout::S3S3D3_TT;
    auto plan = std::make_unique<CopyPredicated>();
    const std::uint32_t types = f::in0_in1_dtype(r), out = f::out_dtype(r);
    plan->convert_ = r[0] == isa::op::CAST_PREDICATED && types >> 4 != out;
    plan->partitions_ = f::num_active_channels(r);
    if (!plan->convert_ && types >> 4 != out) {
      *error = "predicated copy from data type " + std::to_string(types >> 4) + " to " +
               std::to_string(out) + ", a copy keeps the type";
      return nullptr;
    }
    if (!check_reserved(context, r, error) || !check_zero("op", f::op(r), error) ||
        !check_integer("predicate", types & 0xF, error) ||
        !plan->pred_.plan(context, tensor3d("predicate", f::src0(r), types & 0xF),
                          plan->partitions_, Use::kBits, error) ||
        !plan->in_.plan(context, tensor3d("source 1", f::src1(r), types >> 4), plan->partitions_,
                        plan->convert_ ? Use::kArithmetic : Use::kBits, error) ||
        !plan->out_.plan(context, tensor3d("destination", f::dst(r), out), plan->partitions_,
                         plan->convert_ ? Use::kResult : Use::kBits, error) ||
        !check_same_total("predicate", plan->pred_, plan->out_, error) ||
        !check_same_total("source 1", plan->in_, plan->out_, error))
      return nullptr;
    return plan;
  }

  bool execute(EngineState& state, std::string* error) const override {
    Operand places[3];
    const Operand* pred = pred_.resolve(state, &places[0], error);
    const Operand* in = pred ? in_.resolve(state, &places[1], error) : nullptr;
    const Operand* out = in ? out_.resolve(state, &places[2], error) : nullptr;
    if (!out) return false;
    for (std::uint32_t p = 0; p < partitions_; ++p) {
      BitReader chosen(*pred, p);
      Cursor from(in->pattern), to(out->pattern);
      std::uint32_t keep[kChunk];
      for (std::uint64_t left = out->pattern.total; left != 0;) {
        const std::uint64_t n = std::min(left, kChunk);
        chosen.next(n, keep);
        for (std::uint64_t i = 0; i < n; ++i) {
          const std::int64_t source = from.next(1).offset, target = to.next(1).offset;
          if (keep[i] != 0) put(*in, *out, p, source, target);
        }
        left -= n;
      }
    }
    return true;
  }

  void visit_operands(EngineState& state, OperandVisitor& visitor) const override {
    pred_.visit(state, visitor, Access::kRead);
    Operand places[3];
    std::string ignored;  // a bad address: execute() reports it
    const Operand* pred = pred_.resolve(state, &places[0], &ignored);
    const Operand* in = pred ? in_.resolve(state, &places[1], &ignored) : nullptr;
    const Operand* out = in ? out_.resolve(state, &places[2], &ignored) : nullptr;
    if (!out) return;
    for (std::uint32_t p = 0; p < partitions_; ++p) {
      const std::vector<std::uint32_t> flags = read_flags(*pred, p);
      visit_chosen(visitor, "source 1", *in, p, flags, false, Access::kRead);
      visit_chosen(visitor, "destination", *out, p, flags, false, Access::kWrite);
    }
  }

 private:
  void put(const Operand& in, const Operand& out, std::uint32_t p, std::int64_t source,
           std::int64_t target) const {
    const std::uint8_t* a = in.partition(p) + source * static_cast<std::int64_t>(in.element_bytes);
    std::uint8_t* b = out.partition(p) + target * static_cast<std::int64_t>(out.element_bytes);
    if (!convert_) {
      std::memmove(b, a, out.element_bytes);
      return;
    }
    constexpr Block kOne{0, 1, 0, 1, 1};
    float v;
    format(in.dtype).load(a, kOne, &v);
    format(out.dtype).store(b, kOne, &v);
  }

  OperandRef pred_, in_, out_;
  std::uint32_t partitions_ = 0;
  bool convert_ = false;
};

// COPY_PREDICATED_SCALAR: dst = scalar where the predicate is not 0, or, with
// reversed_pred, where it is 0 (polarity as in compiled programs).
class CopyPredicatedScalar final : public ComputePlan {
 public:
  static std::unique_ptr<ComputePlan> make(const PlanContext& context, const std::uint8_t* r,
                                           std::string* error) {
    namespace f = isa::layout::S3D3_CP_PRED_SCALAR;
    auto plan = std::make_unique<CopyPredicatedScalar>();
    const std::uint32_t type = f::out_dtype(r);
    plan->partitions_ = f::num_active_channels(r);
    plan->reversed_ = f::reversed_pred(r) != 0;
    if (f::in_dtype(r) != type) {
      *error = "scalar of data type " + std::to_string(f::in_dtype(r)) + " into " +
               std::to_string(type) + ", a copy keeps the type";
      return nullptr;
    }
    if (!check_reserved(context, r, error) ||
        !check_zero("reversed_pred", f::reversed_pred(r) & ~1u, error) ||
        !check_integer("predicate", f::pred_dtype(r), error) ||
        !plan->pred_.plan(context, tensor3d("predicate", f::pred(r), f::pred_dtype(r)),
                          plan->partitions_, Use::kBits, error) ||
        !plan->out_.plan(context, tensor3d("destination", f::dst(r), type), plan->partitions_,
                         Use::kBits, error) ||
        !check_same_total("predicate", plan->pred_, plan->out_, error) ||
        !plan->scalar_.plan(context, "scalar", f::src0_src(r), f::src0(r), type, plan->partitions_,
                            error))
      return nullptr;
    const std::uint32_t bytes = plan->out_.shape().element_bytes;
    if (bytes == 8) {
      *error = "destination: scalars of 64 bits are not implemented";
      return nullptr;
    }
    if (plan->scalar_.immediate() && bytes < 4 && f::src0(r) >> (8 * bytes) != 0) {
      *error = "scalar " + hex(f::src0(r)) + " is wider than the element (" +
               std::to_string(bytes) + " bytes)";
      return nullptr;
    }
    return plan;
  }

  bool execute(EngineState& state, std::string* error) const override {
    Operand places[2];
    ScalarRef::Values scalar;
    const Operand* pred = pred_.resolve(state, &places[0], error);
    const Operand* out = pred ? out_.resolve(state, &places[1], error) : nullptr;
    if (!out || !scalar_.resolve(state, &scalar, error)) return false;
    const StoreBits store = store_bits(out->element_bytes);
    for (std::uint32_t p = 0; p < partitions_; ++p) {
      const std::uint32_t value = scalar.raw(p);
      BitReader chosen(*pred, p);
      Cursor to(out->pattern);
      std::uint32_t flags[kChunk];
      for (std::uint64_t left = out->pattern.total; left != 0;) {
        const std::uint64_t n = std::min(left, kChunk);
        chosen.next(n, flags);
        for (std::uint64_t i = 0; i < n; ++i) {
          const std::int64_t at = to.next(1).offset;
          if ((flags[i] != 0) != reversed_) store(out->partition(p), {at, 1, 0, 1, 1}, &value);
        }
        left -= n;
      }
    }
    return true;
  }

  void visit_operands(EngineState& state, OperandVisitor& visitor) const override {
    pred_.visit(state, visitor, Access::kRead);
    scalar_.visit(state, visitor);
    Operand places[2];
    std::string ignored;  // a bad address: execute() reports it
    const Operand* pred = pred_.resolve(state, &places[0], &ignored);
    const Operand* out = pred ? out_.resolve(state, &places[1], &ignored) : nullptr;
    if (!out) return;
    for (std::uint32_t p = 0; p < partitions_; ++p)
      visit_chosen(visitor, "destination", *out, p, read_flags(*pred, p), reversed_,
                   Access::kWrite);
  }

 private:
  OperandRef pred_, out_;
  ScalarRef scalar_;
  std::uint32_t partitions_ = 0;
  bool reversed_ = false;
};

// SELECT_REDUCE: dst = src0 != 0 ? src1 : scalar; the maximum of the results goes
// into the accumulator.
class SelectReduce final : public ComputePlan {
 public:
  static std::unique_ptr<ComputePlan> make(const PlanContext& context, const std::uint8_t* r,
                                           std::string* error) {
    namespace f = isa::layout::S2S2D2_STT;
    auto plan = std::make_unique<SelectReduce>();
    const std::uint32_t types = f::in0_in1_dtype(r);
    plan->partitions_ = f::num_active_channels(r);
    plan->command_ = f::accumulator_cmd(r);
    if (f::op1(r) != alu::MAX && (f::op1(r) != alu::BYPASS || accumulates(plan->command_))) {
      refuse_operation(f::op1(r), "does not reduce a selection", error);
      return nullptr;
    }
    // LOAD_ACCUMULATE would need a second scalar, which the record has not.
    if (plan->command_ == isa::code::accum_cmd::LOAD_ACCUMULATE) {
      *error = "accumulator command 4 of a selection is not known";
      return nullptr;
    }
    if (!check_reserved(context, r, error) || !check_zero("op0", f::op0(r), error) ||
        !check_zero("reverse_operands", f::reverse_operands(r), error) ||
        !check_accumulator_command(plan->command_, error) ||
        !check_integer("predicate", types & 0xF, error) ||
        !plan->pred_.plan(context, tensor2d("predicate", f::src0(r), types & 0xF),
                          plan->partitions_, Use::kBits, error) ||
        !plan->in_.plan(context, tensor2d("source 1", f::src1(r), types >> 4), plan->partitions_,
                        Use::kArithmetic, error) ||
        !plan->out_.plan(context, tensor2d("destination", f::dst(r), f::out_dtype(r)),
                         plan->partitions_, Use::kResult, error) ||
        !check_same_total("predicate", plan->pred_, plan->out_, error) ||
        !check_same_total("source 1", plan->in_, plan->out_, error) ||
        !plan->scalar_.plan(context, "scalar", f::imm0_src(r), f::imm0(r), f::imm0_dtype(r),
                            plan->partitions_, error))
      return nullptr;
    if (plan->scalar_.immediate() && f::imm0_dtype(r) != isa::kDtFloat32) {
      *error =
          "scalar: immediate of data type " + std::to_string(f::imm0_dtype(r)) + ", FP32 is needed";
      return nullptr;
    }
    return plan;
  }

  bool execute(EngineState& state, std::string* error) const override {
    Operand places[3];
    ScalarRef::Values scalar;
    const Operand* pred = pred_.resolve(state, &places[0], error);
    const Operand* in = pred ? in_.resolve(state, &places[1], error) : nullptr;
    const Operand* out = in ? out_.resolve(state, &places[2], error) : nullptr;
    if (!out || !scalar_.resolve(state, &scalar, error)) return false;
    const FoldKernel fold = accumulates(command_) ? arith_op(alu::MAX)->fold : nullptr;
    LaneState& lanes = LaneState::of(state);
    float reset = 0;
    reset_value(alu::MAX, &reset);
    std::uint32_t flags[kChunk];
    float values[kChunk], result[kChunk];
    for (std::uint32_t p = 0; p < partitions_; ++p) {
      BitReader chosen(*pred, p);
      Reader from(*in, p);
      Writer to(*out, p);
      float& held = lanes.accumulator[in->first_partition + p];
      held = accumulator_start(command_, held, reset, 0);
      const float other = scalar.number(p);
      for (std::uint64_t left = out->pattern.total; left != 0;) {
        const std::uint64_t n = std::min(left, kChunk);
        chosen.next(n, flags);
        const float* v = from.next(n, values);
        for (std::uint64_t i = 0; i < n; ++i) result[i] = flags[i] != 0 ? v[i] : other;
        if (fold) held = fold(result, n, held);
        to.end(n, result);
        left -= n;
      }
    }
    return true;
  }

  void visit_operands(EngineState& state, OperandVisitor& visitor) const override {
    pred_.visit(state, visitor, Access::kRead);
    in_.visit(state, visitor, Access::kRead);
    scalar_.visit(state, visitor);
    out_.visit(state, visitor, Access::kWrite);
  }

 private:
  OperandRef pred_, in_, out_;
  ScalarRef scalar_;
  std::uint32_t partitions_ = 0, command_ = 0;
};

}  // namespace

std::span<const PlanEntry> select_plans() {
  static constexpr PlanEntry kPlans[] = {
      {isa::op::COPY_PREDICATED, CopyPredicated::make},
      {isa::op::CAST_PREDICATED, CopyPredicated::make},
      {isa::op::COPY_PREDICATED_SCALAR, CopyPredicatedScalar::make},
      {isa::op::SELECT_REDUCE, SelectReduce::make}};
  return kPlans;
}

}  // namespace opennrt::emu
