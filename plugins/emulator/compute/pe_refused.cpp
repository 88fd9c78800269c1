// SPDX-License-Identifier: Apache-2.0
//
// PE records that are decoded and not executed, with the reason.
#include "compute/families.h"
#include "opennrt/isa/layouts.h"

namespace opennrt::emu {

namespace {

constexpr char kRegister[] = "PE_REG_WRITE: the meaning of its registers is not known";
constexpr char kMask[] = "WEIGHT_MASK: the layout of the record is not known";
constexpr char kShift[] = "WEIGHT_SHIFT: the layout of the record is not known";

template <const char* kReason>
std::unique_ptr<ComputePlan> refuse(const PlanContext&, const std::uint8_t*, std::string* error) {
  *error = kReason;
  return nullptr;
}

}  // namespace

std::span<const PlanEntry> pe_refused_plans() {
  static constexpr PlanEntry kPlans[] = {{isa::op::PE_REG_WRITE, refuse<kRegister>},
                                         {isa::op::WEIGHT_MASK, refuse<kMask>},
                                         {isa::op::WEIGHT_SHIFT, refuse<kShift>}};
  return kPlans;
}

}  // namespace opennrt::emu
