// SPDX-License-Identifier: Apache-2.0
#include "compute/operand.h"

#include <cstring>
#include <string_view>

#include "compute/staging.h"
#include "device/bus.h"
#include "opennrt/isa/layouts.h"
#include "opennrt/isa/records.h"

namespace opennrt::emu {

namespace {

OperandFields tensor(const char* name, const std::uint8_t* bytes, std::uint32_t dtype,
                     std::uint32_t dims) {
  OperandFields f{};
  f.name = name;
  f.dtype = dtype;
  f.dims = dims;
  std::memcpy(&f.address, bytes, 4);
  std::memcpy(f.step, bytes + 4, 2 * dims);
  std::memcpy(f.count, bytes + 4 + 2 * dims, 2 * dims);
  return f;
}

bool fail(std::string* error, const char* name, const std::string& text) {
  *error = std::string(name) + ": " + text;
  return false;
}

// Engines address partitions from the start of a quadrant; a group of more than
// 32 starts at 0 or 64, one of more than 64 at 0 (NKI documentation, tile
// placement).
bool legal_start(std::uint64_t first, std::uint32_t partitions) {
  return first % (partitions > 64 ? 128 : partitions > 32 ? 64 : 32) == 0;
}

// Type, pattern and counts; *out lacks its place.
bool describe(const NumericConfig& numeric, const OperandFields& f, std::uint32_t partitions,
              Operand* out, std::string* error) {
  const std::uint32_t bytes = element_bytes(f.dtype);
  if (bytes == 0)
    return fail(error, f.name, "data type " + std::to_string(f.dtype) + " is not implemented");
  if (partitions == 0) return fail(error, f.name, "0 partitions");
  for (std::uint32_t i = 0; i < f.dims; ++i)
    if (f.count[i] == 0)
      return fail(error, f.name, "element count 0 in dimension " + std::to_string(i));
  out->dtype = format_of(f.dtype, numeric);
  out->element_bytes = bytes;
  out->pattern = Pattern::make(f.step, f.count, f.dims);
  return true;
}

// Finds the place of a described operand.
bool place(const AddressMap& map, std::uint32_t core, const char* name, std::uint32_t address,
           std::uint32_t partitions, Operand* out, std::string* error) {
  const nrtp_arch_geometry& g = map.geometry();
  const bool psum = address >= g.psum_local_base;
  const std::uint64_t offset = psum ? address - g.psum_local_base : address;
  const std::uint64_t stride = psum ? g.psum_partition_stride : g.sbuf_partition_stride;
  const std::uint64_t usable = psum ? g.psum_partition_bytes : g.sbuf_partition_bytes;
  const std::uint32_t available = psum ? g.psum_partitions : g.sbuf_partitions;
  const std::uint64_t first = offset / stride;
  const std::uint64_t inside = offset % stride;
  if (first + partitions > available)
    return fail(error, name,
                "partitions " + std::to_string(first) + " to " +
                    std::to_string(first + partitions) + " (exclusive) at address " + hex(address) +
                    ", the memory has " + std::to_string(available));
  if (!legal_start(first, partitions))
    return fail(error, name,
                std::to_string(partitions) + " partitions from partition " + std::to_string(first) +
                    ", they start at a multiple of " +
                    (partitions > 64   ? "128"
                     : partitions > 32 ? "64"
                                       : "32"));
  const std::uint32_t bytes = out->element_bytes;
  if (inside % bytes != 0)
    return fail(error, name,
                "address " + hex(address) + " is not a multiple of the element size " +
                    std::to_string(bytes));
  const Pattern& p = out->pattern;
  const std::int64_t low = static_cast<std::int64_t>(inside) + p.lowest * bytes;
  const std::int64_t high = static_cast<std::int64_t>(inside) + (p.highest + 1) * bytes;
  if (low < 0 || high > static_cast<std::int64_t>(usable))
    return fail(error, name,
                "bytes " + std::to_string(low) + " to " + std::to_string(high) +
                    " of a partition at address " + hex(address) + ", a partition has " +
                    std::to_string(usable));
  // No useful operand repeats itself beyond a partition's worth of elements.
  if (p.total > usable)
    return fail(error, name,
                std::to_string(p.total) + " elements per partition, the limit is " +
                    std::to_string(usable));
  out->base = (psum ? map.psum(core) : map.sbuf(core)) + offset;
  out->partition_stride = stride;
  out->first_partition = static_cast<std::uint32_t>(first);
  return true;
}

std::string unknown_form(std::uint32_t address) {
  switch (address >> 29) {
    case 1:
    case 5:
      return "indirect address " + hex(address) +
             " is not implemented (type and unit of the indices are not published)";
    case 2:
    case 6:
      return "shape register in address " + hex(address) +
             " is not implemented (no published record writes one)";
    default:
      return "address form " + hex(address) + " is not implemented";
  }
}

}  // namespace

OperandFields tensor1d(const char* name, const std::uint8_t* bytes, std::uint32_t dtype) {
  return tensor(name, bytes, dtype, 1);
}
OperandFields tensor2d(const char* name, const std::uint8_t* bytes, std::uint32_t dtype) {
  return tensor(name, bytes, dtype, 2);
}
OperandFields tensor3d(const char* name, const std::uint8_t* bytes, std::uint32_t dtype) {
  return tensor(name, bytes, dtype, 3);
}
OperandFields tensor4d(const char* name, const std::uint8_t* bytes, std::uint32_t dtype) {
  return tensor(name, bytes, dtype, 4);
}
OperandFields one_element(const char* name, std::uint32_t address, std::uint32_t dtype) {
  OperandFields f{};
  f.name = name;
  f.address = address;
  f.dtype = dtype;
  f.dims = 1;
  f.count[0] = 1;
  return f;
}

AddressForm address_form(std::uint32_t address) {
  if (address >> 26 == 0) return AddressForm::kImmediate;
  // Byte 3 is the marker 0x80, byte 0 the register, the others are zero.
  if ((address & 0xFFFFFF00) == 0x80000000) return AddressForm::kRegister;
  return AddressForm::kOther;
}

std::uint32_t element_bytes(std::uint32_t dtype) { return format(dtype).bytes; }
LoadKernel load_kernel(std::uint32_t dtype) { return format(dtype).load; }
StoreKernel store_kernel(std::uint32_t dtype) { return format(dtype).store; }

bool resolve_operand(const PlanContext& context, const OperandFields& f, std::uint32_t partitions,
                     Operand* out, std::string* error) {
  if (!describe(context.numeric, f, partitions, out, error)) return false;
  switch (address_form(f.address)) {
    case AddressForm::kImmediate:
      return place(context.map, context.core, f.name, f.address, partitions, out, error);
    case AddressForm::kRegister:
      return fail(error, f.name, "an address in a register is not implemented for this record");
    default:
      return fail(error, f.name, unknown_form(f.address));
  }
}

bool OperandRef::plan(const PlanContext& context, const OperandFields& f, std::uint32_t partitions,
                      Use use, std::string* error) {
  name_ = f.name;
  partitions_ = partitions;
  if (!describe(context.numeric, f, partitions, &operand_, error)) return false;
  const Format& type = format(operand_.dtype);
  if (use == Use::kArithmetic && !type.load)
    return fail(error, name_,
                "data type " + std::to_string(f.dtype) + " has no arithmetic, it is only copied");
  if (use == Use::kResult && !type.store)
    return fail(error, name_,
                f.dtype == isa::kDtFloat32r
                    ? std::string("results of type FP32R are not implemented (the number of kept "
                                  "significand bits is not published)")
                    : "data type " + std::to_string(f.dtype) + " cannot be a result");
  if (context.staged_operand && std::string_view(context.staged_operand) == name_) {
    staged_ = true;
    operand_.partition_stride = Staging::stride(operand_);
    return true;
  }
  switch (address_form(f.address)) {
    case AddressForm::kImmediate:
      return place(context.map, context.core, name_, f.address, partitions, &operand_, error);
    case AddressForm::kRegister:
      register_ = static_cast<int>(f.address & 0xFF);
      if (register_ >= static_cast<int>(EngineState::kRegisters))
        return fail(error, name_,
                    "address in register " + std::to_string(register_) + ", the last is 63");
      return true;
    default:
      return fail(error, name_, unknown_form(f.address));
  }
}

const Operand* OperandRef::resolve_register(EngineState& state, Operand* scratch,
                                            std::string* error) const {
  *scratch = operand_;
  const std::uint32_t address = state.registers[static_cast<std::size_t>(register_)];
  if (address_form(address) != AddressForm::kImmediate) {
    fail(error, name_,
         "register " + std::to_string(register_) + " holds " + hex(address) +
             ", an address of SBUF or PSUM is below 0x4000000");
    return nullptr;
  }
  if (!place(state.bus->map(), state.core, name_, address, partitions_, scratch, error)) {
    *error += " (address in register " + std::to_string(register_) + ")";
    return nullptr;
  }
  return scratch;
}

const Operand* OperandRef::resolve_staged(EngineState& state, Operand* scratch) const {
  *scratch = operand_;
  scratch->base = Staging::of(state).bytes();
  return scratch;
}

void OperandRef::visit(EngineState& state, OperandVisitor& visitor, Access access) const {
  if (staged_) return;  // no memory of the device
  Operand scratch;
  std::string ignored;
  if (const Operand* o = resolve(state, &scratch, &ignored))
    visitor.visit(name_, *o, partitions_, access);
}

bool ScalarRef::plan(const PlanContext& context, const char* name, std::uint32_t source,
                     std::uint32_t bits, std::uint32_t dtype, std::uint32_t partitions,
                     std::string* error) {
  namespace code = isa::code::imm_src;
  bits_ = bits;
  pointer_ = source != code::INSTRUCTION;
  if (!pointer_) return true;
  if (source != code::POINTER && source != code::REG_POINTER)
    return fail(error, name, "source code " + std::to_string(source) + " is not known");
  // A register pointer names the register that holds the address.
  if (source == code::REG_POINTER) {
    if ((bits & 0x00FFFF00) != 0 || (bits >> 24 != 0 && bits >> 24 != 0x80))
      return fail(error, name, "register pointer " + hex(bits) + " is not a register number");
    bits |= 0x80000000;
  }
  if (!ref_.plan(context, one_element(name, bits, dtype), partitions, Use::kArithmetic, error))
    return false;
  load_ = format(ref_.shape().dtype).load;
  load_bits_ = load_bits(ref_.shape().element_bytes);
  return true;
}

bool ScalarRef::resolve(EngineState& state, Values* out, std::string* error) const {
  out->bits_ = bits_;
  if (!pointer_) return true;
  out->load_ = load_;
  out->load_bits_ = load_bits_;
  out->place_ = ref_.resolve(state, &out->scratch_, error);
  return out->place_ != nullptr;
}

}  // namespace opennrt::emu
