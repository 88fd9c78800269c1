// SPDX-License-Identifier: Apache-2.0
//
// Base of plans with one source and one destination over the same partitions.
#pragma once

#include <string>

#include "compute/engine_check.h"
#include "compute/operand.h"
#include "compute/plan.h"

namespace opennrt::emu {

class InOut : public ComputePlan {
 public:
  void visit_operands(EngineState& state, OperandVisitor& visitor) const override {
    in_.visit(state, visitor, Access::kRead);
    out_.visit(state, visitor, Access::kWrite);
  }

 protected:
  struct Places {
    Operand scratch[2];
    const Operand *in, *out;
  };

  bool plan_in_out(const PlanContext& context, const std::uint8_t* record, const OperandFields& in,
                   Use in_use, const OperandFields& out, Use out_use, std::uint32_t partitions,
                   std::string* error) {
    partitions_ = partitions;
    return check_engine(context, record, error) &&
           in_.plan(context, in, partitions, in_use, error) &&
           out_.plan(context, out, partitions, out_use, error);
  }
  bool resolve(EngineState& state, Places* at, std::string* error) const {
    at->in = in_.resolve(state, &at->scratch[0], error);
    at->out = at->in ? out_.resolve(state, &at->scratch[1], error) : nullptr;
    return at->out != nullptr;
  }

  OperandRef in_, out_;
  std::uint32_t partitions_ = 0;
};

}  // namespace opennrt::emu
