// SPDX-License-Identifier: Apache-2.0
#include "compute/lane_scalar.h"

#include <bit>

#include "device/bus.h"
#include "opennrt/isa/layouts.h"

namespace opennrt::emu {

namespace {

// Register form of an address: number in byte 0, marker in byte 3.
constexpr std::uint32_t kRegisterMarker = 0x80000000;

}  // namespace

OperandFields LaneScalar::fields(std::uint32_t address) const {
  OperandFields f{};
  f.name = name_;
  f.address = address;
  f.dtype = dtype_;
  f.step[0] = 1;
  f.count[0] = 1;
  f.dims = 1;
  return f;
}

bool LaneScalar::make(const PlanContext& context, const char* name, std::uint32_t source,
                      std::uint32_t bits, std::uint32_t dtype, std::uint32_t partitions,
                      LaneScalar* out, std::string* error) {
  *out = {};
  out->name_ = name;
  out->dtype_ = dtype;
  out->partitions_ = partitions;
  out->load_ = load_kernel(dtype);
  switch (source) {
    case isa::code::imm_src::INSTRUCTION:
      out->kind_ = Kind::kNumber;
      out->number_ = std::bit_cast<float>(bits);
      return true;
    case isa::code::imm_src::POINTER:
      out->kind_ = Kind::kPointer;
      return resolve_operand(context, out->fields(bits), partitions, &out->operand_, error);
    case isa::code::imm_src::REG_POINTER:
      out->kind_ = Kind::kRegister;
      out->register_ = bits & ~kRegisterMarker;
      if (out->register_ >= EngineState::kRegisters) {
        *error = std::string(name) + ": register " + hex(bits) + ", registers are 0 to 63";
        return false;
      }
      if (!out->load_) {
        *error = std::string(name) + ": data type " + std::to_string(dtype) + " is not implemented";
        return false;
      }
      return true;
    default:
      *error =
          std::string(name) + ": source code " + std::to_string(source) + ", the codes are 0 to 2";
      return false;
  }
}

bool LaneScalar::bind(const EngineState& state, Operand* out, std::string* error) const {
  if (kind_ == Kind::kRegister) {
    const PlanContext context{state.bus->map(), state.core, state.engine};
    if (resolve_operand(context, fields(state.registers[register_]), partitions_, out, error))
      return true;
    *error += " (address from register " + std::to_string(register_) + ")";
    return false;
  }
  *out = operand_;
  return true;
}

void LaneScalar::visit(EngineState& state, OperandVisitor& visitor) const {
  if (kind_ == Kind::kNumber) return;
  Operand bound;
  std::string error;
  if (bind(state, &bound, &error)) visitor.visit(name_, bound, partitions_, Access::kRead);
}

}  // namespace opennrt::emu
