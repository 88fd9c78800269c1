// SPDX-License-Identifier: Apache-2.0
//
// NONZERO_WITH_COUNT: positions of the elements that are not zero, padding up to
// the length of the source, then their number. Each core of the pool engine does
// it for the first of its 16 partitions.
#include <algorithm>

#include "compute/checks.h"
#include "compute/families.h"
#include "compute/in_out.h"
#include "compute/special_common.h"
#include "compute/stream.h"
#include "opennrt/isa/layouts.h"

namespace opennrt::emu {

namespace {

constexpr std::uint32_t kCorePartitions = 16;

class Nonzero final : public InOut {
 public:
  static std::unique_ptr<ComputePlan> make(const PlanContext& context, const std::uint8_t* r,
                                           std::string* error) {
    namespace f = isa::layout::S3D3_NONZERO_WC;
    auto plan = std::make_unique<Nonzero>();
    Nonzero& p = *plan;
    const std::uint32_t in = f::in_dtype(r), out = f::out_dtype(r);
    const std::uint32_t partitions = f::num_active_channels(r);
    // The sign of an FP32 zero does not count.
    p.mask_ = in == isa::kDtFloat32 ? 0x7FFFFFFF : 0xFFFFFFFF;
    if (!expect(in == isa::kDtFloat32 || in == isa::kDtInt32, "source data type", in,
                "it must be INT32 (8) or FP32 (10)", error) ||
        !expect(out == isa::kDtInt32, "destination data type", out, "it must be INT32 (8)",
                error) ||
        !p.plan_in_out(context, r, tensor3d("source", f::src(r), in), Use::kBits,
                       tensor3d("destination", f::dst(r), out), Use::kBits, partitions, error) ||
        !expect(p.out_.total() == p.in_.total() + 1, "number of destination elements",
                p.out_.total(), "it must be one more than that of the source", error) ||
        !p.offset_.plan(context, "index offset", f::index_offset_src(r), f::index_offset(r),
                        isa::kDtInt32, partitions, error) ||
        !p.padding_.plan(context, "padding value", f::padding_val_src(r), f::padding_val(r),
                         isa::kDtInt32, partitions, error))
      return nullptr;
    return plan;
  }

  bool execute(EngineState& state, std::string* error) const override {
    Places at;
    ScalarRef::Values offset, padding;
    if (!resolve(state, &at, error) || !offset_.resolve(state, &offset, error) ||
        !padding_.resolve(state, &padding, error))
      return false;
    std::uint32_t values[kChunk], found[kChunk];
    for (std::uint32_t p = 0; p < partitions_; p += kCorePartitions) {
      BitReader from(*at.in, p);
      BitWriter to(*at.out, p);
      const std::uint32_t total = static_cast<std::uint32_t>(in_.total());
      std::uint32_t position = offset.raw(p), count = 0;
      for (std::uint64_t left = total; left != 0;) {
        const std::uint64_t n = std::min(left, kChunk);
        from.next(n, values);
        std::uint64_t hits = 0;
        for (std::uint64_t i = 0; i < n; ++i, ++position)
          if ((values[i] & mask_) != 0) found[hits++] = position;
        to.next(hits, found);
        count += static_cast<std::uint32_t>(hits);
        left -= n;
      }
      std::fill_n(found, std::min<std::uint64_t>(total - count, kChunk), padding.raw(p));
      for (std::uint64_t left = total - count; left != 0;) {
        const std::uint64_t n = std::min(left, kChunk);
        to.next(n, found);
        left -= n;
      }
      to.next(1, &count);
    }
    return true;
  }

  void visit_operands(EngineState& state, OperandVisitor& visitor) const override {
    Places at;
    std::string ignored;  // a bad address: execute() reports it
    if (resolve(state, &at, &ignored))
      for (std::uint32_t p = 0; p < partitions_; p += kCorePartitions) {
        visit_one(visitor, "source", *at.in, p, Access::kRead);
        visit_one(visitor, "destination", *at.out, p, Access::kWrite);
      }
    offset_.visit(state, visitor);
    padding_.visit(state, visitor);
  }

 private:
  static void visit_one(OperandVisitor& visitor, const char* name, Operand operand,
                        std::uint32_t partition, Access access) {
    operand.base = operand.partition(partition);
    operand.first_partition += partition;
    visitor.visit(name, operand, 1, access);
  }

  ScalarRef offset_, padding_;
  std::uint32_t mask_ = 0;
};

}  // namespace

std::span<const PlanEntry> nonzero_plans() {
  static constexpr PlanEntry kPlans[] = {{isa::op::NONZERO_WITH_COUNT, Nonzero::make}};
  return kPlans;
}

}  // namespace opennrt::emu
