// SPDX-License-Identifier: Apache-2.0
//
// A compute record, decoded once: operands resolved to host pointers, kernels
// chosen. What can be wrong with a record is found when its plan is made; only
// what depends on registers or data is found when it executes.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "compute/engine_state.h"
#include "compute/formats.h"
#include "device/address_map.h"
#include "opennrt/isa/table.h"

namespace opennrt::emu {

struct Operand;

// What a plan is made for.
struct PlanContext {
  const AddressMap& map;
  std::uint32_t core = 0;
  std::uint32_t engine = 0;  // nrtp_engine
  isa::Generation generation = isa::Generation::kSunda;
  NumericConfig numeric{};
  // Of the second half of a record: the operand of this name is what the first
  // half leaves in the staging area (staging.h), whatever its address.
  const char* staged_operand = nullptr;
};

enum class Access : std::uint8_t { kRead, kWrite, kReadWrite };

// Receives what a record touches in SBUF and PSUM.
class OperandVisitor {
 public:
  // name: as in messages, "source 0". The operand covers `partitions` from its
  // base; an operand that is only partly touched (gather, predicated write) is
  // reported whole.
  virtual void visit(const char* name, const Operand& operand, std::uint32_t partitions,
                     Access access) = 0;

 protected:
  ~OperandVisitor() = default;
};

class ComputePlan {
 public:
  virtual ~ComputePlan() = default;
  // False: *error says what a register or an index is, and its limit; nothing
  // has been written to memory then.
  virtual bool execute(EngineState& state, std::string* error) const = 0;
  // Calls `visitor` for each operand, as the next execute() would use it.
  virtual void visit_operands(EngineState& state, OperandVisitor& visitor) const = 0;
};

using PlanMaker = std::unique_ptr<ComputePlan> (*)(const PlanContext& context,
                                                   const std::uint8_t* record, std::string* error);
struct PlanEntry {
  std::uint8_t opcode;
  PlanMaker make;
};

// Maker of the plans of an opcode; nullptr: not a compute opcode that the
// software device executes.
PlanMaker find_plan_maker(std::uint8_t opcode);

// What the families say about an opcode: how many execute it (more than one is a
// mistake), and whether it is only refused with a reason.
struct PlanSupport {
  std::uint32_t executing = 0;
  bool refused = false;
};
PlanSupport plan_support(std::uint8_t opcode);

// nullptr: *error says what the software device does not do. The opcode has a
// maker.
std::unique_ptr<ComputePlan> plan_compute(const PlanContext& context, const std::uint8_t* record,
                                          std::string* error);

}  // namespace opennrt::emu
