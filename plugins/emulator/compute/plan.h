// SPDX-License-Identifier: Apache-2.0
//
// A compute record, decoded once: operands resolved to host pointers, kernels
// chosen. Everything that can be wrong with it is found when it is made.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "device/address_map.h"

namespace opennrt::emu {

class ComputePlan {
 public:
  virtual ~ComputePlan() = default;
  virtual void execute() const = 0;
};

bool is_compute_opcode(std::uint8_t opcode);

// nullptr: *error says what the software device does not do.
std::unique_ptr<ComputePlan> plan_compute(const AddressMap& map, std::uint32_t core,
                                          std::uint32_t engine, const std::uint8_t* record,
                                          std::string* error);

}  // namespace opennrt::emu
