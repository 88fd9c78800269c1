// SPDX-License-Identifier: Apache-2.0
//
// LOAD_MASK_SELECT and DVE_READ_ACCUMULATOR: what goes into and out of the lane
// state by itself.
#include "compute/lanes.h"

#include <algorithm>

#include "compute/checks.h"
#include "compute/families.h"
#include "compute/stream.h"
#include "opennrt/isa/layouts.h"

namespace opennrt::emu {

namespace command = isa::code::accum_cmd;

bool check_accumulator_command(std::uint32_t c, std::string* error) {
  if (c <= command::LOAD_ACCUMULATE) return true;
  *error = "accumulator command " + std::to_string(c) + " is not known";
  return false;
}

bool accumulates(std::uint32_t c) { return c >= command::ACCUMULATE; }

float accumulator_start(std::uint32_t c, float held, float reset, float loaded) {
  switch (c) {
    case command::ZERO:
    case command::ZERO_ACCUMULATE:
      return reset;
    case command::LOAD_ACCUMULATE:
      return loaded;
    default:
      return held;
  }
}

namespace {

class ReadAccumulator final : public ComputePlan {
 public:
  static std::unique_ptr<ComputePlan> make(const PlanContext& context, const std::uint8_t* record,
                                           std::string* error) {
    namespace f = isa::layout::D1_RD;
    auto plan = std::make_unique<ReadAccumulator>();
    plan->partitions_ = f::num_active_channels(record);
    plan->negated_ = f::negated(record) != 0;
    if (!check_reserved(context, record, error) ||
        !check_zero("negated", f::negated(record) & ~1u, error) ||
        !plan->out_.plan(context, tensor1d("destination", f::dst(record), f::dtype(record)),
                         plan->partitions_, Use::kResult, error))
      return nullptr;
    if (plan->out_.total() != 1 || f::dst_element_count(record) != 1) {
      *error = "destination has " + std::to_string(plan->out_.total()) +
               " elements per partition, the accumulator is one";
      return nullptr;
    }
    return plan;
  }

  bool execute(EngineState& state, std::string* error) const override {
    Operand scratch;
    const Operand* out = out_.resolve(state, &scratch, error);
    if (!out) return false;
    const LaneState& lanes = LaneState::of(state);
    for (std::uint32_t p = 0; p < partitions_; ++p) {
      const float held = lanes.accumulator[p];
      const float value = negated_ ? -held : held;
      Writer(*out, p).end(1, &value);
    }
    return true;
  }

  void visit_operands(EngineState& state, OperandVisitor& visitor) const override {
    out_.visit(state, visitor, Access::kWrite);
  }

 private:
  OperandRef out_;
  std::uint32_t partitions_ = 0;
  bool negated_ = false;
};

class LoadMask final : public ComputePlan {
 public:
  static std::unique_ptr<ComputePlan> make(const PlanContext& context, const std::uint8_t* record,
                                           std::string* error) {
    auto plan = std::make_unique<LoadMask>();
    if (!check_reserved(context, record, error)) return nullptr;
    for (std::size_t i = 0; i < plan->mask_.size(); ++i)
      plan->mask_[i] = isa::layout::LOAD_MASK::mask(record, i);
    return plan;
  }
  bool execute(EngineState& state, std::string*) const override {
    LaneState& lanes = LaneState::of(state);
    lanes.mask = mask_;
    lanes.mask_loaded = true;
    return true;
  }
  void visit_operands(EngineState&, OperandVisitor&) const override {}

 private:
  std::array<std::uint8_t, 32> mask_{};
};

}  // namespace

std::span<const PlanEntry> lane_plans() {
  static constexpr PlanEntry kPlans[] = {{isa::op::DVE_READ_ACCUMULATOR, ReadAccumulator::make},
                                         {isa::op::LOAD_MASK_SELECT, LoadMask::make}};
  return kPlans;
}

}  // namespace opennrt::emu
