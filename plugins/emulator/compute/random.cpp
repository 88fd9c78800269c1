// SPDX-License-Identifier: Apache-2.0
//
// RNG fills with random bits, DROPOUT zeroes elements at random. What sets and
// reads the generators, and uniform numbers, are in random_state.cpp.
#include "compute/random.h"

#include <algorithm>

#include "compute/families.h"
#include "compute/special_common.h"
#include "compute/special_state.h"
#include "opennrt/isa/layouts.h"
#include "opennrt/isa/records.h"

namespace opennrt::emu {

namespace {

namespace layout = isa::layout;

class RandomBits final : public ComputePlan {
 public:
  static std::unique_ptr<ComputePlan> make(const PlanContext& context, const std::uint8_t* record,
                                           std::string* error) {
    namespace mr = layout::D4_MR;
    auto plan = std::make_unique<RandomBits>();
    RandomBits& p = *plan;
    p.partitions_ = mr::num_active_channels(record);
    if (!check_engine(context, record, error) ||
        !expect(mr::serialization_mode(record) == 0, "serialization mode",
                mr::serialization_mode(record), "it must be 0", error) ||
        !expect(mr::set_value(record) == 0, "set value", mr::set_value(record), "it must be 0",
                error) ||
        !resolve_operand(context, tensor4d("destination", mr::dst(record), mr::dtype(record)),
                         p.partitions_, &p.out_, error) ||
        !expect(mr::dst_element_count(record) == p.out_.pattern.total, "element count",
                mr::dst_element_count(record), "the destination has another number", error) ||
        !expect(p.out_.element_bytes <= 4, "element size", p.out_.element_bytes, "the limit is 4",
                error))
      return nullptr;
    return plan;
  }

  bool execute(EngineState& state, std::string*) const override {
    for (std::uint32_t p = 0; p < partitions_; ++p) {
      Draws draws(state, p);
      for_each_element(out_, p, [&](std::uint8_t* to) {
        const std::uint32_t bits = draws.next();
        std::memcpy(to, &bits, out_.element_bytes);
      });
    }
    return true;
  }

  void visit_operands(EngineState&, OperandVisitor& visitor) const override {
    visitor.visit("destination", out_, partitions_, Access::kWrite);
  }

 private:
  Operand out_;
  std::uint32_t partitions_ = 0;
};

class Dropout final : public ComputePlan {
 public:
  static std::unique_ptr<ComputePlan> make(const PlanContext& context, const std::uint8_t* record,
                                           std::string* error) {
    namespace dr = layout::S3D3_DROPOUT;
    auto plan = std::make_unique<Dropout>();
    Dropout& p = *plan;
    p.partitions_ = dr::num_active_channels(record);
    p.keep_rate_ = dr::threshold_type(record) == isa::code::dropout_threshold_type::KEEP_RATE;
    const std::uint32_t in = dr::in_dtype(record), out = dr::out_dtype(record);
    std::uint32_t rate = dr::threshold_dtype(record);
    if (rate == 0) rate = isa::kDtFloat32;
    if (!check_engine(context, record, error) ||
        !expect(in == out, "output data type", out, "dropout keeps the data type", error) ||
        !expect(dr::threshold_type(record) <= 1, "threshold type", dr::threshold_type(record),
                "0 is a drop rate and 1 a keep rate", error) ||
        !expect(dr::threshold_src(record) != 0 || rate == isa::kDtFloat32, "threshold data type",
                rate, "a number in the record is FP32", error) ||
        !resolve_operand(context, tensor3d("source", dr::src(record), in), p.partitions_, &p.in_,
                         error) ||
        !resolve_operand(context, tensor3d("destination", dr::dst(record), out), p.partitions_,
                         &p.out_, error) ||
        !p.threshold_.plan(context, "threshold", dr::threshold_src(record), dr::threshold(record),
                           rate, p.partitions_, error) ||
        !expect(p.in_.pattern.total == p.out_.pattern.total, "number of destination elements",
                p.out_.pattern.total, "the source has another number", error))
      return nullptr;
    return plan;
  }

  bool execute(EngineState& state, std::string* error) const override {
    ScalarRef::Values thresholds;
    if (!threshold_.resolve(state, &thresholds, error)) return false;
    const auto gather = gather_bytes(in_.element_bytes);
    const auto scatter = scatter_bytes(out_.element_bytes);
    for (std::uint32_t p = 0; p < partitions_; ++p) {
      const float threshold = thresholds.number(p);
      Draws draws(state, p);
      Cursor from(in_.pattern), to(out_.pattern);
      std::uint8_t bytes[kChunk * 8];
      for (std::uint64_t left = in_.pattern.total; left != 0;) {
        const std::uint64_t n = std::min(left, kChunk);
        for (std::uint64_t k = 0; k < n;) {
          const Block b = from.block(n - k);
          gather(in_.partition(p), b, bytes + k * in_.element_bytes);
          k += b.total();
        }
        for (std::uint64_t i = 0; i < n; ++i)
          if ((uniform_of(draws.next()) < threshold) != keep_rate_)
            std::memset(bytes + i * in_.element_bytes, 0, in_.element_bytes);
        for (std::uint64_t k = 0; k < n;) {
          const Block b = to.block(n - k);
          scatter(out_.partition(p), b, bytes + k * out_.element_bytes);
          k += b.total();
        }
        left -= n;
      }
    }
    return true;
  }

  void visit_operands(EngineState& state, OperandVisitor& visitor) const override {
    visitor.visit("source", in_, partitions_, Access::kRead);
    threshold_.visit(state, visitor);
    visitor.visit("destination", out_, partitions_, Access::kWrite);
  }

 private:
  Operand in_, out_;
  ScalarRef threshold_;
  std::uint32_t partitions_ = 0;
  bool keep_rate_ = false;
};

}  // namespace

std::span<const PlanEntry> random_plans() {
  static constexpr PlanEntry kPlans[] = {{isa::op::RNG, RandomBits::make},
                                         {isa::op::DROPOUT, Dropout::make}};
  return kPlans;
}

}  // namespace opennrt::emu
