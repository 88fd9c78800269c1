// SPDX-License-Identifier: Apache-2.0
#include "compute/plan.h"

#include <array>

#include "compute/families.h"

namespace opennrt::emu {

namespace {

// Of opcodes that are decoded only; a family that executes one overrides them.
constexpr std::span<const PlanEntry> (*kRefusalTables[])() = {pe_refused_plans, refused_plans,
                                                              vector_refused_plans};

constexpr std::span<const PlanEntry> (*kFamilyTables[])() = {activate2_plans,
                                                             activation_plans,
                                                             batch_norm_gradient_plans,
                                                             copy_plans,
                                                             cross_lane_plans,
                                                             dequantize_plans,
                                                             elementwise_plans,
                                                             gather_plans,
                                                             index_select_plans,
                                                             lane_plans,
                                                             match_plans,
                                                             nonzero_plans,
                                                             pe_load_plans,
                                                             pe_matmul_plans,
                                                             pe_mx_plans,
                                                             pe_seed_plans,
                                                             pe_sparse_plans,
                                                             quantize_plans,
                                                             random_plans,
                                                             random_state_plans,
                                                             reduce_plans,
                                                             scalar_tensor_tensor_plans,
                                                             scan_plans,
                                                             select_plans,
                                                             statistics_plans,
                                                             tensor_scalar_multi_plans,
                                                             tensor_scalar_plans,
                                                             tensor_scalar_select_plans,
                                                             transpose_plans,
                                                             transposed_plans};

std::array<PlanMaker, 256> join_tables() {
  std::array<PlanMaker, 256> makers{};
  for (const auto table : kRefusalTables)
    for (const PlanEntry& e : table()) makers[e.opcode] = e.make;
  for (const auto table : kFamilyTables)
    for (const PlanEntry& e : table()) makers[e.opcode] = e.make;
  return makers;
}

}  // namespace

PlanMaker find_plan_maker(std::uint8_t opcode) {
  static const std::array<PlanMaker, 256> makers = join_tables();
  return makers[opcode];
}

PlanSupport plan_support(std::uint8_t opcode) {
  PlanSupport support;
  for (const auto table : kFamilyTables)
    for (const PlanEntry& e : table()) support.executing += e.opcode == opcode ? 1 : 0;
  for (const auto table : kRefusalTables)
    for (const PlanEntry& e : table()) support.refused |= e.opcode == opcode;
  return support;
}

std::unique_ptr<ComputePlan> plan_compute(const PlanContext& context, const std::uint8_t* record,
                                          std::string* error) {
  return find_plan_maker(record[0])(context, record, error);
}

}  // namespace opennrt::emu
