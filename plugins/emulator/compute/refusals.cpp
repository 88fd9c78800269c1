// SPDX-License-Identifier: Apache-2.0
//
// Instructions that are decoded but not executed, with the reason a program
// that uses one is told.
#include <string>

#include "compute/families.h"
#include "opennrt/isa/layouts.h"

namespace opennrt::emu {

namespace {

constexpr const char* kPayload = "the layout of its fields is not published";
constexpr const char* kGradient =
    "how the loaded count, mean and three coefficients make the gradient is not published";

struct Refusal {
  std::uint8_t opcode;
  const char* reason;
};

constexpr Refusal kRefusals[] = {
    {isa::op::BATCH_NORM_PARAM_LOAD, kGradient},
    {isa::op::BATCH_NORM_PARAM_LOAD2, kPayload},
    {isa::op::BATCH_NORM_BACK_PROP, kGradient},
    {isa::op::LOAD_PARAMETER_RAM, kPayload},
    {isa::op::EXTENDED_INST, "the microcode of POOL is not modelled"},
    {isa::op::SORT, kPayload},
    {isa::op::ROI_ALIGN, kPayload},
    {isa::op::TENSOR_SCALAR_ADDR, kPayload},
    {isa::op::EMBEDDING_UPDATE, kPayload},
    {isa::op::LOAD_POOL_ARGUMENT, kPayload},
    {isa::op::JPEG_DECODE, kPayload},
    {isa::op::CUSTOM_OP_HEADER, kPayload},
    {isa::op::CUSTOM_OP_PAYLOAD, kPayload},
    {isa::op::TENSOR_REDUCE_RANGE_CHECK, kPayload},
    {isa::op::GET_SEQUENCE_BOUNDS, kPayload},
    {isa::op::SB2SB_COLLECTIVE, kPayload},
    {isa::op::SPARSITY_COMPRESS, kPayload},
    {isa::op::SPARSITY_COMPRESS_TAG, kPayload},
    {isa::op::CONV_LUT_LOAD, kPayload},
    {isa::op::REG_LOAD, kPayload},
    {isa::op::REG_STORE, kPayload},
    {isa::op::REG_SHUFFLE, kPayload},
};

std::unique_ptr<ComputePlan> refuse(const PlanContext&, const std::uint8_t* record,
                                    std::string* error) {
  for (const Refusal& r : kRefusals)
    if (r.opcode == record[0])
      *error = std::string(isa::opcode_name(record[0])) + " is not implemented: " + r.reason;
  return nullptr;
}

}  // namespace

std::span<const PlanEntry> refused_plans() {
  static const auto plans = [] {
    std::array<PlanEntry, std::size(kRefusals)> entries{};
    for (std::size_t i = 0; i < entries.size(); ++i) entries[i] = {kRefusals[i].opcode, refuse};
    return entries;
  }();
  return plans;
}

}  // namespace opennrt::emu
