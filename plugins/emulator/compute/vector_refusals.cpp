// SPDX-License-Identifier: Apache-2.0
//
// Vector instructions that are decoded but not executed, with the reason.
#include "compute/families.h"
#include "opennrt/isa/layouts.h"

namespace opennrt::emu {

namespace {

struct Refusal {
  std::uint8_t opcode;
  const char* reason;
};

constexpr Refusal kRefusals[] = {
    {isa::op::TENSOR_SCALAR_PTR_MULTI_DUAL_BITVEC,
     "its second operation stands in no field and has no natural value"},
};

std::unique_ptr<ComputePlan> refuse(const PlanContext&, const std::uint8_t* record,
                                    std::string* error) {
  for (const Refusal& r : kRefusals)
    if (r.opcode == record[0])
      *error = std::string(isa::opcode_name(record[0])) + " is not implemented: " + r.reason;
  return nullptr;
}

}  // namespace

std::span<const PlanEntry> vector_refused_plans() {
  static const auto plans = [] {
    std::array<PlanEntry, std::size(kRefusals)> entries{};
    for (std::size_t i = 0; i < entries.size(); ++i) entries[i] = {kRefusals[i].opcode, refuse};
    return entries;
  }();
  return plans;
}

}  // namespace opennrt::emu
