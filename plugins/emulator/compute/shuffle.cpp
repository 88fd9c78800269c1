// SPDX-License-Identifier: Apache-2.0
//
// Moves of bits inside SBUF: LOAD_MASK_SELECT and STREAM_SHUFFLE between the
// partitions of a quadrant, POOL_BUFFER_LOAD and GATHER by index inside a
// partition, INDIRECT_COPY by index for groups of 16 partitions.
#include <algorithm>

#include "compute/families.h"
#include "compute/special_common.h"
#include "compute/special_state.h"
#include "opennrt/isa/layouts.h"
#include "opennrt/isa/records.h"

namespace opennrt::emu {

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

class LoadMask final : public ComputePlan {
 public:
  static std::unique_ptr<ComputePlan> make(const PlanContext& context, const std::uint8_t* record,
                                           std::string* error) {
    auto plan = std::make_unique<LoadMask>();
    if (!check_engine(context, record, error)) return nullptr;
    for (std::uint32_t i = 0; i < SpecialState::kQuadrant; ++i) {
      const std::uint8_t entry = layout::LOAD_MASK::mask(record, i);
      // Bits 6 and 7 come with bit 5 in the form 255.
      if (entry >= SpecialState::kQuadrant && (entry & SpecialState::kKeep) == 0) {
        *error = "mask entry " + std::to_string(i) + " is " + std::to_string(entry) +
                 ", lanes are 0 to 31 and bit 5 keeps the destination";
        return nullptr;
      }
      plan->mask_[i] = entry;
    }
    return plan;
  }

  bool execute(EngineState& state, std::string*) const override {
    auto& s = state.family<SpecialState>(Family::kVector);
    s.mask = mask_;
    s.mask_loaded = true;
    return true;
  }

  void visit_operands(EngineState&, OperandVisitor&) const override {}

 private:
  std::array<std::uint8_t, SpecialState::kQuadrant> mask_{};
};

class StreamShuffle final : public ComputePlan {
 public:
  static std::unique_ptr<ComputePlan> make(const PlanContext& context, const std::uint8_t* record,
                                           std::string* error) {
    namespace tr = layout::S4D4_TR;
    auto plan = std::make_unique<StreamShuffle>();
    StreamShuffle& p = *plan;
    p.partitions_ = tr::num_active_channels(record);
    if (!check_engine(context, record, error) ||
        !expect(tr::negated(record) == 0, "negated", tr::negated(record), "a shuffle has 0",
                error) ||
        !expect(tr::op(record) == 0, "ALU operation", tr::op(record), "a shuffle has 0", error) ||
        !expect(tr::op_dim(record) == 0, "reduced dimensions", tr::op_dim(record),
                "a shuffle has 0", error) ||
        !expect(tr::mask_enable(record) == 0, "mask enable", tr::mask_enable(record),
                "a shuffle has 0 and always uses the mask", error) ||
        !same_bits(tr::in_dtype(record), tr::out_dtype(record), error) ||
        !resolve_operand(context, tensor4d("source", tr::src(record), tr::in_dtype(record)),
                         p.partitions_, &p.in_, error) ||
        !resolve_operand(context, tensor4d("destination", tr::dst(record), tr::out_dtype(record)),
                         p.partitions_, &p.out_, error) ||
        !same_total(p.in_, p.out_, error))
      return nullptr;
    return plan;
  }

  bool execute(EngineState& state, std::string* error) const override {
    const auto& s = state.family<SpecialState>(Family::kVector);
    if (!s.mask_loaded) {
      *error = "no shuffle mask is loaded (LOAD_MASK_SELECT comes first)";
      return false;
    }
    const std::uint32_t quadrant = SpecialState::kQuadrant;
    const std::uint32_t lanes = std::min(partitions_, quadrant);
    for (std::uint32_t lane = 0; lane < lanes; ++lane)
      if ((s.mask[lane] & SpecialState::kKeep) == 0 &&
          (partitions_ - 1) / quadrant * quadrant + s.mask[lane] >= partitions_ &&
          (partitions_ - 1) / quadrant * quadrant + lane < partitions_) {
        *error = "lane " + std::to_string(lane) + " takes lane " + std::to_string(s.mask[lane]) +
                 " of a quadrant, the record has " + std::to_string(partitions_) + " channels";
        return false;
      }
    // A chunk of all lanes of a quadrant is read before any of it is written:
    // source and destination may be the same place.
    std::uint32_t values[SpecialState::kQuadrant][kPiece];
    for (std::uint32_t first = 0; first < partitions_; first += quadrant) {
      const std::uint32_t count = std::min(quadrant, partitions_ - first);
      Cursor from(in_.pattern), to(out_.pattern);
      for (std::uint64_t left = in_.pattern.total; left != 0;) {
        const std::uint64_t n = std::min<std::uint64_t>(left, kPiece);
        for (std::uint64_t k = 0; k < n;) {
          const Cursor::Run run = from.next(n - k);
          for (std::uint64_t i = 0; i < run.count; ++i, ++k)
            for (std::uint32_t lane = 0; lane < count; ++lane)
              std::memcpy(&values[lane][k], at(in_, first + lane, run, i), in_.element_bytes);
        }
        for (std::uint64_t k = 0; k < n;) {
          const Cursor::Run run = to.next(n - k);
          for (std::uint64_t i = 0; i < run.count; ++i, ++k)
            for (std::uint32_t lane = 0; lane < count; ++lane)
              if ((s.mask[lane] & SpecialState::kKeep) == 0)
                std::memcpy(at(out_, first + lane, run, i), &values[s.mask[lane]][k],
                            out_.element_bytes);
        }
        left -= n;
      }
    }
    return true;
  }

  void visit_operands(EngineState&, OperandVisitor& visitor) const override {
    visitor.visit("source", in_, partitions_, Access::kRead);
    visitor.visit("destination", out_, partitions_, Access::kWrite);
  }

 private:
  static constexpr std::uint32_t kPiece = 64;
  static std::uint8_t* at(const Operand& o, std::uint32_t partition, const Cursor::Run& run,
                          std::uint64_t i) {
    return o.partition(partition) + (run.offset + static_cast<std::int64_t>(i) * run.step) *
                                        static_cast<std::int64_t>(o.element_bytes);
  }

  Operand in_, out_;
  std::uint32_t partitions_ = 0;
};

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

std::span<const PlanEntry> shuffle_plans() {
  static constexpr PlanEntry kPlans[] = {{isa::op::LOAD_MASK_SELECT, LoadMask::make},
                                         {isa::op::STREAM_SHUFFLE, StreamShuffle::make},
                                         {isa::op::POOL_BUFFER_LOAD, PoolBufferLoad::make},
                                         {isa::op::GATHER, Gather::make}};
  return kPlans;
}

}  // namespace opennrt::emu
