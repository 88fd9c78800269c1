// SPDX-License-Identifier: Apache-2.0
//
// TRANSPOSE_*: the source goes through the 32 x 32 block transposition of
// STREAM_TRANSPOSE, and what comes out is the source of the plain instruction.
#include <algorithm>

#include "compute/engine_check.h"
#include "compute/families.h"
#include "compute/special_common.h"
#include "compute/staging.h"
#include "compute/transpose.h"
#include "opennrt/isa/layouts.h"
#include "opennrt/isa/records.h"

namespace opennrt::emu {

namespace {

namespace layout = isa::layout;

// Where a record has its source.
struct Source {
  std::size_t offset;
  std::uint32_t dims, dtype, partitions;
};
Source source_of(const std::uint8_t* r) {
  const auto at = [&](const std::uint8_t* part) { return static_cast<std::size_t>(part - r); };
  switch (r[0]) {
    case isa::op::TRANSPOSE_BATCH_NORM_STATS2: {
      namespace f = layout::S4D2_BN;
      return {at(f::src(r)), 4, f::in_dtype(r), f::num_active_channels(r)};
    }
    case isa::op::TRANSPOSE_TENSOR_SCALAR_ARITH_OP: {
      namespace f = layout::S3D3_TS;
      return {at(f::src(r)), 3, f::in_dtype(r), f::num_active_channels(r)};
    }
    default: {
      namespace f = layout::S4D4_TR;
      return {at(f::src(r)), 4, f::in_dtype(r), f::num_active_channels(r)};
    }
  }
}

class Transposed final : public ComputePlan {
 public:
  template <std::uint8_t kPlain>
  static std::unique_ptr<ComputePlan> make(const PlanContext& context, const std::uint8_t* record,
                                           std::string* error) {
    if (!check_engine(context, record, error)) return nullptr;
    auto plan = std::make_unique<Transposed>();
    Transposed& p = *plan;
    const Source source = source_of(record);
    p.partitions_ = source.partitions;
    OperandFields fields =
        pattern_fields("source", record + source.offset, source.dtype, source.dims);
    if (!p.in_.plan(context, fields, p.partitions_, Use::kBits, error) ||
        !expect(p.partitions_ % kQuadrant == 0, "number of channels", p.partitions_,
                "blocks of 32 are transposed", error) ||
        !expect(p.in_.total() % kQuadrant == 0, "number of source elements", p.in_.total(),
                "blocks of 32 are transposed", error))
      return nullptr;
    const std::uint64_t bytes = p.in_.total() * p.in_.shape().element_bytes;
    if (!expect(bytes <= Staging::kBytes, "source bytes per partition", bytes,
                "the limit is 262144", error))
      return nullptr;
    // The plain record over the dense stream of the same shape.
    std::uint8_t plain[isa::kRecordBytes];
    std::copy_n(record, sizeof plain, plain);
    plain[0] = kPlain;
    std::uint64_t step = 1;
    for (std::uint32_t i = 0; i < source.dims; ++i) {
      if (fields.count[i] > 1 && !expect(step <= INT16_MAX, "elements below an outer dimension",
                                         step, "the limit is 32767", error))
        return nullptr;
      fields.step[i] = static_cast<std::int16_t>(fields.count[i] > 1 ? step : 1);
      step *= fields.count[i];
    }
    std::memcpy(plain + source.offset + 4, fields.step, 2 * source.dims);
    PlanContext inner = context;
    inner.staged_operand = fields.name;
    p.plain_ = find_plan_maker(kPlain)(inner, plain, error);
    if (!p.plain_) return nullptr;
    p.dense_ = p.in_.shape();
    p.dense_.partition_stride = Staging::stride(p.dense_);
    p.dense_.pattern = Pattern{};
    p.dense_.pattern.count[0] = p.dense_.pattern.total = p.in_.total();
    return plan;
  }

  bool execute(EngineState& state, std::string* error) const override {
    Operand scratch;
    const Operand* in = in_.resolve(state, &scratch, error);
    if (!in) return false;
    Operand dense = dense_;
    dense.base = Staging::of(state).bytes();
    transpose_blocks(*in, dense, partitions_, nullptr);
    return plain_->execute(state, error);
  }

  void visit_operands(EngineState& state, OperandVisitor& visitor) const override {
    in_.visit(state, visitor, Access::kRead);
    plain_->visit_operands(state, visitor);
  }

 private:
  OperandRef in_;
  Operand dense_;  // the transposed stream, without its base
  std::unique_ptr<ComputePlan> plain_;
  std::uint32_t partitions_ = 0;
};

}  // namespace

std::span<const PlanEntry> transposed_plans() {
  static constexpr PlanEntry kPlans[] = {
      {isa::op::TRANSPOSE_BATCH_NORM_STATS2, Transposed::make<isa::op::BATCH_NORM_STATS2>},
      {isa::op::TRANSPOSE_TENSOR_REDUCE_ARITH_OP,
       Transposed::make<isa::op::TENSOR_REDUCE_ARITH_OP>},
      {isa::op::TRANSPOSE_TENSOR_REDUCE_BITVEC_OP,
       Transposed::make<isa::op::TENSOR_REDUCE_BITVEC_OP>},
      {isa::op::TRANSPOSE_TENSOR_SCALAR_ARITH_OP,
       Transposed::make<isa::op::TENSOR_SCALAR_ARITH_OP>}};
  return kPlans;
}

}  // namespace opennrt::emu
