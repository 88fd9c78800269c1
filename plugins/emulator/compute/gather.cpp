// SPDX-License-Identifier: Apache-2.0
//
// Moves of bits by index inside a partition: POOL_BUFFER_LOAD keeps up to 512
// elements of each channel, GATHER picks from them.
#include <algorithm>

#include "compute/families.h"
#include "compute/special_common.h"
#include "compute/special_state.h"
#include "opennrt/isa/layouts.h"
#include "opennrt/isa/records.h"

namespace opennrt::emu {

// indirect_copy.cpp
std::unique_ptr<ComputePlan> make_indirect_copy(const PlanContext& context,
                                                const std::uint8_t* record, std::string* error);

namespace {

namespace layout = isa::layout;

bool same_bits(std::uint32_t in, std::uint32_t out, std::string* error) {
  if (in == out) return true;
  *error = "output data type " + std::to_string(out) + ", the input has " + std::to_string(in) +
           " and the bits are moved unchanged";
  return false;
}

bool same_total(const Operand& in, const Operand& out, std::string* error) {
  if (in.pattern.total == out.pattern.total) return true;
  *error = "source has " + std::to_string(in.pattern.total) +
           " elements per partition, the destination " + std::to_string(out.pattern.total);
  return false;
}

class PoolBufferLoad final : public ComputePlan {
 public:
  static std::unique_ptr<ComputePlan> make(const PlanContext& context, const std::uint8_t* record,
                                           std::string* error) {
    namespace pb = layout::S4_PB;
    auto plan = std::make_unique<PoolBufferLoad>();
    PoolBufferLoad& p = *plan;
    p.partitions_ = pb::num_active_channels(record);
    if (!check_engine(context, record, error) ||
        !expect(pb::depth_mask(record) == SpecialState::kPoolElements - 1, "depth mask",
                pb::depth_mask(record), "only 511 is known", error) ||
        !resolve_operand(context, tensor4d("source", pb::src(record), pb::dtype(record)),
                         p.partitions_, &p.in_, error) ||
        !expect(p.in_.pattern.total <= SpecialState::kPoolElements, "number of source elements",
                p.in_.pattern.total, "a pool buffer has 512", error) ||
        !expect(pb::element_count(record) == 0 || pb::element_count(record) == p.in_.pattern.total,
                "element count", pb::element_count(record),
                "it is 0 or the number of source elements", error) ||
        !expect(p.in_.element_bytes <= 4, "element size", p.in_.element_bytes, "the limit is 4",
                error))
      return nullptr;
    return plan;
  }

  bool execute(EngineState& state, std::string*) const override {
    auto& s = state.family<SpecialState>(Family::kVector);
    for (std::uint32_t p = 0; p < partitions_; ++p) {
      std::uint32_t* to = s.pool[p].data();
      for_each_element(
          in_, p, [&](const std::uint8_t* from) { std::memcpy(to++, from, in_.element_bytes); });
    }
    s.pool_lanes = partitions_;
    s.pool_count = static_cast<std::uint32_t>(in_.pattern.total);
    s.pool_dtype = in_.dtype;
    return true;
  }

  void visit_operands(EngineState&, OperandVisitor& visitor) const override {
    visitor.visit("source", in_, partitions_, Access::kRead);
  }

 private:
  Operand in_;
  std::uint32_t partitions_ = 0;
};

class Gather final : public ComputePlan {
 public:
  static std::unique_ptr<ComputePlan> make(const PlanContext& context, const std::uint8_t* record,
                                           std::string* error) {
    namespace gt = layout::S4D4_GT;
    auto plan = std::make_unique<Gather>();
    Gather& p = *plan;
    p.partitions_ = gt::num_active_channels(record);
    p.free_ = gt::free_pool_buffer(record) != 0;
    const std::uint32_t index = gt::in_dtype(record);
    if (!check_engine(context, record, error) ||
        !expect(is_integer(index, {isa::kDtUint8, isa::kDtUint16, isa::kDtUint32}),
                "index data type", index, "indices are UINT8, UINT16 or UINT32", error) ||
        !expect(gt::index_miss_behavior(record) == 0, "index miss behaviour",
                gt::index_miss_behavior(record), "only 0 is known", error) ||
        !expect(gt::free_pool_buffer(record) <= 1, "free pool buffer", gt::free_pool_buffer(record),
                "it is 0 or 1", error) ||
        !resolve_operand(context, tensor4d("indices", gt::src(record), index), p.partitions_,
                         &p.index_, error) ||
        !resolve_operand(context, tensor4d("destination", gt::dst(record), gt::out_dtype(record)),
                         p.partitions_, &p.out_, error) ||
        !same_total(p.index_, p.out_, error))
      return nullptr;
    return plan;
  }

  bool execute(EngineState& state, std::string* error) const override {
    auto& s = state.family<SpecialState>(Family::kVector);
    if (!expect(s.pool_lanes >= partitions_, "number of channels", partitions_,
                "more than POOL_BUFFER_LOAD has filled", error) ||
        !same_bits(s.pool_dtype, out_.dtype, error))
      return false;
    for (std::uint32_t p = 0; p < partitions_; ++p)
      for_each_element(index_, p, [&](const std::uint8_t* from) {
        std::uint32_t index = 0;
        std::memcpy(&index, from, index_.element_bytes);
        if (index >= s.pool_count && error->empty())
          *error = "index " + std::to_string(index) + " of channel " + std::to_string(p) +
                   ", the pool buffer has " + std::to_string(s.pool_count) +
                   " elements (what a miss gives is not known)";
      });
    if (!error->empty()) return false;
    for (std::uint32_t p = 0; p < partitions_; ++p) {
      Cursor to(out_.pattern);
      std::uint8_t* base = out_.partition(p);
      Cursor::Run run{0, 0, 0};
      std::uint64_t left = out_.pattern.total;
      for_each_element(index_, p, [&](const std::uint8_t* from) {
        std::uint32_t index = 0;
        std::memcpy(&index, from, index_.element_bytes);
        if (run.count == 0) {
          run = to.next(left);
          left -= run.count;
        }
        // Indices and destination may overlap.
        if (index < s.pool_count)
          std::memcpy(base + run.offset * static_cast<std::int64_t>(out_.element_bytes),
                      &s.pool[p][index], out_.element_bytes);
        run.offset += run.step;
        --run.count;
      });
    }
    if (free_) s.pool_lanes = 0;
    return true;
  }

  void visit_operands(EngineState&, OperandVisitor& visitor) const override {
    visitor.visit("indices", index_, partitions_, Access::kRead);
    visitor.visit("destination", out_, partitions_, Access::kWrite);
  }

 private:
  Operand index_, out_;
  std::uint32_t partitions_ = 0;
  bool free_ = false;
};

}  // namespace

std::span<const PlanEntry> gather_plans() {
  static constexpr PlanEntry kPlans[] = {{isa::op::POOL_BUFFER_LOAD, PoolBufferLoad::make},
                                         {isa::op::GATHER, Gather::make},
                                         {isa::op::INDIRECT_COPY, make_indirect_copy}};
  return kPlans;
}

}  // namespace opennrt::emu
