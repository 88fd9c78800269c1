// SPDX-License-Identifier: Apache-2.0
//
// TENSOR_SCALAR_SELECT: the tensor where the predicate is set, else the scalar;
// reversed_pred swaps them. Predicate and scalar are one per instruction or one
// per partition; values move as bits.
#include <algorithm>

#include "compute/checks.h"
#include "compute/families.h"
#include "compute/in_out.h"
#include "compute/move.h"
#include "device/bus.h"
#include "opennrt/isa/layouts.h"

namespace opennrt::emu {

namespace {

class TensorScalarSelect final : public InOut {
 public:
  static std::unique_ptr<ComputePlan> make(const PlanContext& context, const std::uint8_t* r,
                                           std::string* error) {
    namespace f = isa::layout::S3D3_TS_SELECT;
    auto plan = std::make_unique<TensorScalarSelect>();
    TensorScalarSelect& p = *plan;
    const std::uint32_t type = f::dtype(r), partitions = f::num_active_channels(r);
    const std::uint32_t bytes = element_bytes(type);
    p.reversed_ = f::reversed_pred(r) != 0;
    if (bytes == 8) {
      *error = "destination: scalars of 64 bits are not implemented";
      return nullptr;
    }
    if (!check_zero("reversed_pred", f::reversed_pred(r) & ~1u, error) ||
        !p.plan_in_out(context, r, tensor3d("source", f::src0(r), type), Use::kBits,
                       tensor3d("destination", f::dst(r), type), Use::kBits, partitions, error) ||
        !check_same_total("source", p.in_, p.out_, error) ||
        !check_integer("predicate", f::pred_dtype(r), error) ||
        !p.scalar_.plan(context, "scalar", f::src1_src(r), f::src1(r), type, partitions, error) ||
        !p.pred_.plan(context, "predicate", f::pred_src(r), f::pred(r), f::pred_dtype(r),
                      partitions, error))
      return nullptr;
    if (element_bytes(f::pred_dtype(r)) != bytes) {
      *error = "predicate of " + std::to_string(8 * element_bytes(f::pred_dtype(r))) +
               " bits for values of " + std::to_string(8 * bytes) + ", the widths must be equal";
      return nullptr;
    }
    if (p.pred_.immediate() && f::pred(r) > 1) {
      *error = "predicate is " + hex(f::pred(r)) + ", in the instruction it is 0 or 1";
      return nullptr;
    }
    if (p.scalar_.immediate() && bytes < 4 && f::src1(r) >> (8 * bytes) != 0) {
      *error = "scalar " + hex(f::src1(r)) + " is wider than the element (" +
               std::to_string(bytes) + " bytes)";
      return nullptr;
    }
    return plan;
  }

  bool execute(EngineState& state, std::string* error) const override {
    Places at;
    ScalarRef::Values scalar, pred;
    if (!resolve(state, &at, error) || !scalar_.resolve(state, &scalar, error) ||
        !pred_.resolve(state, &pred, error))
      return false;
    const StoreBits store = store_bits(at.out->element_bytes);
    const std::uint64_t most = std::min(at.out->pattern.total, kChunk);
    std::uint32_t values[kChunk];
    for (std::uint32_t p = 0; p < partitions_; ++p) {
      if ((pred.raw(p) != 0) != reversed_) {
        move_elements(at.in->partition(p), at.in->pattern, at.out->partition(p), at.out->pattern,
                      at.out->element_bytes);
        continue;
      }
      std::fill_n(values, most, scalar.raw(p));
      Cursor to(at.out->pattern);
      for (std::uint64_t left = at.out->pattern.total; left != 0;) {
        const Block b = to.block(std::min(left, kChunk));
        store(at.out->partition(p), b, values);
        left -= b.total();
      }
    }
    return true;
  }

  void visit_operands(EngineState& state, OperandVisitor& visitor) const override {
    // One predicate for all: the source is read or left alone.
    ScalarRef::Values pred;
    std::string ignored;
    const bool scalar_only = pred_.immediate() && pred_.resolve(state, &pred, &ignored) &&
                             (pred.raw(0) != 0) == reversed_;
    if (!scalar_only) in_.visit(state, visitor, Access::kRead);
    out_.visit(state, visitor, Access::kWrite);
    scalar_.visit(state, visitor);
    pred_.visit(state, visitor);
  }

 private:
  ScalarRef scalar_, pred_;
  bool reversed_ = false;
};

}  // namespace

std::span<const PlanEntry> tensor_scalar_select_plans() {
  static constexpr PlanEntry kPlans[] = {{isa::op::TENSOR_SCALAR_SELECT, TensorScalarSelect::make}};
  return kPlans;
}

}  // namespace opennrt::emu
