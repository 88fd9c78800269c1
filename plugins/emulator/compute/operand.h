// SPDX-License-Identifier: Apache-2.0
//
// An operand of a compute record: where it lies in SBUF or PSUM, its data type
// and access pattern. An address may stand in a register; such an operand has
// its place only when the record executes.
#pragma once

#include <bit>
#include <cstdint>
#include <string>

#include "compute/formats.h"
#include "compute/pattern.h"
#include "compute/plan.h"

namespace opennrt::emu {

struct Operand {
  std::uint8_t* base = nullptr;        // first element in the first partition
  std::uint64_t partition_stride = 0;  // bytes
  std::uint32_t dtype = 0;             // isa::DType, and the marks of format_of() on FP8 types
  std::uint32_t element_bytes = 0;
  std::uint32_t first_partition = 0;
  Pattern pattern;

  std::uint8_t* partition(std::uint32_t p) const { return base + p * partition_stride; }
};

// Fields of an operand as they stand in a record.
struct OperandFields {
  const char* name;  // for texts: "source 0"
  std::uint32_t address;
  std::uint32_t dtype;
  std::int16_t step[4];
  std::uint16_t count[4];
  std::uint32_t dims;
};

// TENSOR1D to TENSOR4D at `bytes`.
OperandFields tensor1d(const char* name, const std::uint8_t* bytes, std::uint32_t dtype);
OperandFields tensor2d(const char* name, const std::uint8_t* bytes, std::uint32_t dtype);
OperandFields tensor3d(const char* name, const std::uint8_t* bytes, std::uint32_t dtype);
OperandFields tensor4d(const char* name, const std::uint8_t* bytes, std::uint32_t dtype);
// One FP32 or other value per partition at an address.
OperandFields one_element(const char* name, std::uint32_t address, std::uint32_t dtype);

// Forms of an address, by its top bits (an immediate address uses bits 25:0).
enum class AddressForm : std::uint8_t { kImmediate, kRegister, kOther };
AddressForm address_form(std::uint32_t address);

// Bytes of one element, 0 for a type the device does not know.
std::uint32_t element_bytes(std::uint32_t dtype);
// Empty for types without arithmetic (64-bit integers), the second also for
// types that cannot be results (FP32R). Takes Operand::dtype.
LoadKernel load_kernel(std::uint32_t dtype);
StoreKernel store_kernel(std::uint32_t dtype);

// False: *error says why. An operand with an immediate address; checks
// partitions, alignment and that no element lies outside its partition.
bool resolve_operand(const PlanContext& context, const OperandFields& fields,
                     std::uint32_t partitions, Operand* out, std::string* error);

// How a plan uses an operand.
enum class Use : std::uint8_t {
  kArithmetic,  // elements become FP32 values
  kResult,      // elements are made from FP32 values
  kBits         // elements are moved or taken as integers
};

// An operand of a plan: placed when the plan is made, or, for an address in a
// register, when it executes.
class OperandRef {
 public:
  // Checks all that does not depend on a register.
  bool plan(const PlanContext& context, const OperandFields& fields, std::uint32_t partitions,
            Use use, std::string* error);
  // As it stands for this execution: the planned operand, or *scratch. nullptr:
  // *error says what the register holds.
  const Operand* resolve(EngineState& state, Operand* scratch, std::string* error) const {
    if (staged_) return resolve_staged(state, scratch);
    return register_ < 0 ? &operand_ : resolve_register(state, scratch, error);
  }
  // For visit_operands().
  void visit(EngineState& state, OperandVisitor& visitor, Access access) const;

  // Type and pattern are known from the start; `base` is null for registers.
  const Operand& shape() const { return operand_; }
  const Pattern& pattern() const { return operand_.pattern; }
  std::uint64_t total() const { return operand_.pattern.total; }

 private:
  const Operand* resolve_register(EngineState& state, Operand* scratch, std::string* error) const;
  const Operand* resolve_staged(EngineState& state, Operand* scratch) const;

  Operand operand_;
  const char* name_ = "";
  std::uint32_t partitions_ = 0;
  int register_ = -1;
  bool staged_ = false;
};

// A scalar operand (immN with immN_src): an immediate, or one value per
// partition at an address that stands in the record or in a register.
class ScalarRef {
 public:
  // dtype: of the value in memory. `bits`: the field of the record.
  bool plan(const PlanContext& context, const char* name, std::uint32_t source, std::uint32_t bits,
            std::uint32_t dtype, std::uint32_t partitions, std::string* error);
  void set_immediate(std::uint32_t bits) {
    bits_ = bits;
    pointer_ = false;
  }
  void visit(EngineState& state, OperandVisitor& visitor) const {
    if (pointer_) ref_.visit(state, visitor, Access::kRead);
  }
  bool immediate() const { return !pointer_; }

  // Values for one execution.
  class Values {
   public:
    // An immediate is its own bits; a value in memory widens to FP32.
    float number(std::uint32_t p) const {
      if (!place_) return std::bit_cast<float>(bits_);
      float v;
      load_(place_->partition(p), kOne, &v);
      return v;
    }
    // Raw integer of the element's width.
    std::uint32_t raw(std::uint32_t p) const {
      if (!place_) return bits_;
      std::uint32_t v;
      load_bits_(place_->partition(p), kOne, &v);
      return v;
    }

   private:
    friend class ScalarRef;
    static constexpr Block kOne{0, 1, 0, 1, 1};
    std::uint32_t bits_ = 0;
    const Operand* place_ = nullptr;
    Operand scratch_;
    LoadBlock load_ = nullptr;
    LoadBits load_bits_ = nullptr;
  };
  bool resolve(EngineState& state, Values* out, std::string* error) const;

 private:
  OperandRef ref_;
  LoadBlock load_ = nullptr;
  LoadBits load_bits_ = nullptr;
  std::uint32_t bits_ = 0;
  bool pointer_ = false;
};

// Elements converted at a time.
inline constexpr std::uint64_t kChunk = 512;

}  // namespace opennrt::emu
