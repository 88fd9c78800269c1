// SPDX-License-Identifier: Apache-2.0
//
// Search for the largest values and for given values: MAX8, MATCH_VALUE_LOAD,
// FIND_INDEX8, MATCH_REPLACE8, DVE_READ_INDICES.
//
// Slots are emitted in order 0 to 7. Key k of a load goes to slot 7 - k, so
// that a compiled program, which reads its keys backwards, gets position j for
// its key j. Slots with equal keys take successive occurrences.
#include <algorithm>
#include <limits>

#include "compute/families.h"
#include "compute/special_common.h"
#include "compute/special_state.h"
#include "opennrt/isa/layouts.h"
#include "opennrt/isa/records.h"

namespace opennrt::emu {

namespace {

namespace layout = isa::layout;
constexpr std::uint32_t kSlots = SpecialState::kSlots;
constexpr std::uint64_t kMinElements = 8, kMaxElements = 16384;

bool check_length(std::uint64_t n, std::string* error) {
  return expect(n >= kMinElements && n <= kMaxElements, "number of source elements", n,
                "the limits are 8 and 16384", error);
}

// Only the statistics records use these two fields.
bool check_counts(const std::uint8_t* record, std::string* error) {
  namespace bn = layout::S4D2_BN;
  if (bn::even_count(record) == 0 && bn::odd_count(record) == 0) return true;
  *error = "the element count fields are not zero, this instruction has none";
  return false;
}

void store_positions(const Operand& out, std::uint32_t partition, const std::uint32_t* positions) {
  std::uint32_t slot = 0;
  for_each_element(out, partition, [&](std::uint8_t* to) {
    std::memcpy(to, &positions[slot++], out.element_bytes);  // 16 bits: the low half
  });
}

// Fills positions with the place of each slot's value among x[0..n), and calls
// found(place) for it.
template <typename Found>
void find(const float* x, std::uint64_t n, const std::array<float, kSlots>& keys,
          std::uint32_t* positions, Found found) {
  std::fill_n(positions, kSlots, SpecialState::kNoPosition);
  std::uint32_t left = kSlots;
  for (std::uint64_t i = 0; i < n && left != 0; ++i)
    for (std::uint32_t slot = 0; slot < kSlots; ++slot) {
      if (positions[slot] != SpecialState::kNoPosition || keys[slot] != x[i]) continue;
      positions[slot] = static_cast<std::uint32_t>(i);
      found(i);
      --left;
      break;
    }
}

bool check_keys(const SpecialState& s, std::uint32_t lanes, std::string* error) {
  return expect(s.key_lanes >= lanes, "number of channels", lanes,
                "more than the last MATCH_VALUE_LOAD has given keys to", error);
}

class Max8 final : public ComputePlan {
 public:
  static std::unique_ptr<ComputePlan> make(const PlanContext& context, const std::uint8_t* record,
                                           std::string* error) {
    namespace bn = layout::S4D2_BN;
    auto plan = std::make_unique<Max8>();
    Max8& p = *plan;
    p.partitions_ = bn::num_active_channels(record);
    if (!check_engine(context, record, error) || !check_counts(record, error) ||
        !resolve_number(context, pattern_fields("source", bn::src(record), bn::in_dtype(record), 4),
                        p.partitions_, &p.in_, error) ||
        !resolve_number(context,
                        pattern_fields("destination", bn::dst(record), bn::out_dtype(record), 2),
                        p.partitions_, &p.out_, error) ||
        !check_length(p.in_.pattern.total, error) ||
        !expect(p.out_.pattern.total == kSlots, "number of destination elements",
                p.out_.pattern.total, "it must be 8", error))
      return nullptr;
    return plan;
  }

  bool execute(EngineState&, std::string*) const override {
    const auto load = load_kernel(in_.dtype);
    const auto store = store_kernel(out_.dtype);
    for (std::uint32_t p = 0; p < partitions_; ++p) {
      float best[kSlots];  // smallest first
      std::fill_n(best, kSlots, -std::numeric_limits<float>::infinity());
      Cursor from(in_.pattern), to(out_.pattern);
      float x[kChunk];
      for (std::uint64_t left = in_.pattern.total; left != 0;) {
        const std::uint64_t n = std::min(left, kChunk);
        load(in_.partition(p), from, x, n);
        for (std::uint64_t i = 0; i < n; ++i) {
          if (!(x[i] > best[0])) continue;
          std::uint32_t k = 0;
          for (; k + 1 < kSlots && best[k + 1] < x[i]; ++k) best[k] = best[k + 1];
          best[k] = x[i];
        }
        left -= n;
      }
      store(out_.partition(p), to, best, kSlots);
    }
    return true;
  }

  void visit_operands(EngineState&, OperandVisitor& visitor) const override {
    visitor.visit("source", in_, partitions_, Access::kRead);
    visitor.visit("destination", out_, partitions_, Access::kWrite);
  }

 private:
  Operand in_, out_;
  std::uint32_t partitions_ = 0;
};

class MatchValueLoad final : public ComputePlan {
 public:
  static std::unique_ptr<ComputePlan> make(const PlanContext& context, const std::uint8_t* record,
                                           std::string* error) {
    namespace bn = layout::S2_BN;
    auto plan = std::make_unique<MatchValueLoad>();
    MatchValueLoad& p = *plan;
    p.partitions_ = bn::num_active_channels(record);
    if (!check_engine(context, record, error) ||
        !expect(bn::imm1(record) == 0, "imm1", bn::imm1(record), "it must be 0", error) ||
        !expect(bn::imm0_ptr(record) == 0, "imm0", bn::imm0_ptr(record), "it must be 0", error) ||
        !expect(bn::imm0_src(record) == 0, "source of imm0", bn::imm0_src(record), "it must be 0",
                error) ||
        !resolve_number(context, pattern_fields("keys", bn::src(record), bn::dtype(record), 2),
                        p.partitions_, &p.in_, error) ||
        !expect(p.in_.pattern.total == kSlots, "number of keys", p.in_.pattern.total,
                "it must be 8", error))
      return nullptr;
    return plan;
  }

  bool execute(EngineState& state, std::string*) const override {
    auto& s = state.family<SpecialState>(Family::kVector);
    const auto load = load_kernel(in_.dtype);
    for (std::uint32_t p = 0; p < partitions_; ++p) {
      Cursor from(in_.pattern);
      float x[kSlots];
      load(in_.partition(p), from, x, kSlots);
      for (std::uint32_t k = 0; k < kSlots; ++k) s.keys[p][kSlots - 1 - k] = x[k];
    }
    s.key_lanes = partitions_;
    return true;
  }

  void visit_operands(EngineState&, OperandVisitor& visitor) const override {
    visitor.visit("keys", in_, partitions_, Access::kRead);
  }

 private:
  Operand in_;
  std::uint32_t partitions_ = 0;
};

class FindIndex8 final : public ComputePlan {
 public:
  static std::unique_ptr<ComputePlan> make(const PlanContext& context, const std::uint8_t* record,
                                           std::string* error) {
    namespace bn = layout::S4D2_BN;
    auto plan = std::make_unique<FindIndex8>();
    FindIndex8& p = *plan;
    p.partitions_ = bn::num_active_channels(record);
    const std::uint32_t out = bn::out_dtype(record);
    if (!check_engine(context, record, error) || !check_counts(record, error) ||
        !expect(is_integer(out, {isa::kDtUint16, isa::kDtUint32}), "output data type", out,
                "positions are UINT16 (5) or UINT32 (9)", error) ||
        !resolve_number(context, pattern_fields("source", bn::src(record), bn::in_dtype(record), 4),
                        p.partitions_, &p.in_, error) ||
        !resolve_operand(context, pattern_fields("destination", bn::dst(record), out, 2),
                         p.partitions_, &p.out_, error) ||
        !check_length(p.in_.pattern.total, error) ||
        !expect(p.out_.pattern.total == kSlots, "number of destination elements",
                p.out_.pattern.total, "it must be 8", error))
      return nullptr;
    return plan;
  }

  bool execute(EngineState& state, std::string* error) const override {
    const auto& s = state.family<SpecialState>(Family::kVector);
    if (!check_keys(s, partitions_, error)) return false;
    const auto load = load_kernel(in_.dtype);
    float x[kMaxElements];
    for (std::uint32_t p = 0; p < partitions_; ++p) {
      Cursor from(in_.pattern);
      load(in_.partition(p), from, x, in_.pattern.total);
      std::uint32_t positions[kSlots];
      find(x, in_.pattern.total, s.keys[p], positions, [](std::uint64_t) {});
      store_positions(out_, p, positions);
    }
    return true;
  }

  void visit_operands(EngineState&, OperandVisitor& visitor) const override {
    visitor.visit("source", in_, partitions_, Access::kRead);
    visitor.visit("destination", out_, partitions_, Access::kWrite);
  }

 private:
  Operand in_, out_;
  std::uint32_t partitions_ = 0;
};

class MatchReplace8 final : public ComputePlan {
 public:
  static std::unique_ptr<ComputePlan> make(const PlanContext& context, const std::uint8_t* record,
                                           std::string* error) {
    namespace mr = layout::S4D4_MR;
    auto plan = std::make_unique<MatchReplace8>();
    MatchReplace8& p = *plan;
    p.partitions_ = mr::num_active_channels(record);
    p.replacement_ = mr::immediate(record);
    if (!check_engine(context, record, error) ||
        !resolve_number(context, pattern_fields("source", mr::src(record), mr::in_dtype(record), 4),
                        p.partitions_, &p.in_, error) ||
        !resolve_number(context,
                        pattern_fields("destination", mr::dst(record), mr::out_dtype(record), 4),
                        p.partitions_, &p.out_, error) ||
        !expect(p.in_.pattern.total <= kMaxElements, "number of source elements",
                p.in_.pattern.total, "the limit is 16384", error) ||
        !expect(p.in_.pattern.total == p.out_.pattern.total, "number of destination elements",
                p.out_.pattern.total, "the source has another number", error))
      return nullptr;
    return plan;
  }

  bool execute(EngineState& state, std::string* error) const override {
    auto& s = state.family<SpecialState>(Family::kVector);
    if (!check_keys(s, partitions_, error)) return false;
    const auto load = load_kernel(in_.dtype);
    const auto store = store_kernel(out_.dtype);
    const std::uint64_t n = in_.pattern.total;
    float x[kMaxElements];
    for (std::uint32_t p = 0; p < partitions_; ++p) {
      Cursor from(in_.pattern), to(out_.pattern);
      load(in_.partition(p), from, x, n);
      find(x, n, s.keys[p], s.positions[p].data(), [&](std::uint64_t i) { x[i] = replacement_; });
      store(out_.partition(p), to, x, n);
    }
    s.position_lanes = partitions_;
    return true;
  }

  void visit_operands(EngineState&, OperandVisitor& visitor) const override {
    visitor.visit("source", in_, partitions_, Access::kRead);
    visitor.visit("destination", out_, partitions_, Access::kWrite);
  }

 private:
  Operand in_, out_;
  std::uint32_t partitions_ = 0;
  float replacement_ = 0;
};

// Positions found by the last MATCH_REPLACE8.
class ReadIndices final : public ComputePlan {
 public:
  static std::unique_ptr<ComputePlan> make(const PlanContext& context, const std::uint8_t* record,
                                           std::string* error) {
    namespace mr = layout::D4_MR;
    auto plan = std::make_unique<ReadIndices>();
    ReadIndices& p = *plan;
    p.partitions_ = mr::num_active_channels(record);
    const std::uint32_t dtype = mr::dtype(record);
    if (!check_engine(context, record, error) ||
        !expect(is_integer(dtype, {isa::kDtUint16, isa::kDtUint32}), "data type", dtype,
                "positions are UINT16 (5) or UINT32 (9)", error) ||
        !expect(mr::serialization_mode(record) == 0, "serialization mode",
                mr::serialization_mode(record), "it must be 0", error) ||
        !expect(mr::set_value(record) == 0, "set value", mr::set_value(record), "it must be 0",
                error) ||
        !expect(mr::dst_element_count(record) == kSlots, "element count",
                mr::dst_element_count(record), "it must be 8", error) ||
        !resolve_operand(context, pattern_fields("destination", mr::dst(record), dtype, 4),
                         p.partitions_, &p.out_, error) ||
        !expect(p.out_.pattern.total == kSlots, "number of destination elements",
                p.out_.pattern.total, "it must be 8", error))
      return nullptr;
    return plan;
  }

  bool execute(EngineState& state, std::string* error) const override {
    const auto& s = state.family<SpecialState>(Family::kVector);
    if (!expect(s.position_lanes >= partitions_, "number of channels", partitions_,
                "more than the last MATCH_REPLACE8 has searched", error))
      return false;
    for (std::uint32_t p = 0; p < partitions_; ++p) store_positions(out_, p, s.positions[p].data());
    return true;
  }

  void visit_operands(EngineState&, OperandVisitor& visitor) const override {
    visitor.visit("destination", out_, partitions_, Access::kWrite);
  }

 private:
  Operand out_;
  std::uint32_t partitions_ = 0;
};

}  // namespace

std::span<const PlanEntry> match_plans() {
  static constexpr PlanEntry kPlans[] = {{isa::op::MAX8, Max8::make},
                                         {isa::op::MATCH_VALUE_LOAD, MatchValueLoad::make},
                                         {isa::op::FIND_INDEX8, FindIndex8::make},
                                         {isa::op::MATCH_REPLACE8, MatchReplace8::make},
                                         {isa::op::DVE_READ_INDICES, ReadIndices::make}};
  return kPlans;
}

}  // namespace opennrt::emu
