// SPDX-License-Identifier: Apache-2.0
//
// COPY, CAST, RECIPROCAL and MEMSET. Equal types move as bits.
#include <cstring>

#include "compute/alu.h"
#include "compute/checks.h"
#include "compute/families.h"
#include "compute/move.h"
#include "compute/stream.h"
#include "device/bus.h"
#include "opennrt/isa/layouts.h"

namespace opennrt::emu {

namespace {

namespace field = isa::layout::S4D4_TR;

class Copy final : public ComputePlan {
 public:
  static std::unique_ptr<ComputePlan> make(const PlanContext& context, const std::uint8_t* record,
                                           std::string* error) {
    auto plan = std::make_unique<Copy>();
    const std::uint8_t opcode = record[0];
    const std::uint32_t in = field::in_dtype(record), out = field::out_dtype(record);
    plan->partitions_ = field::num_active_channels(record);
    if (!check_reserved(context, record, error) ||
        !check_zero("negated", field::negated(record), error) ||
        !check_zero("op", field::op(record), error) ||
        !check_zero("op_dim", field::op_dim(record), error) ||
        !check_zero("mask_enable", field::mask_enable(record), error))
      return nullptr;
    if (opcode == isa::op::COPY && in != out) {
      *error = "copy from data type " + std::to_string(in) + " to " + std::to_string(out) +
               ", a copy keeps the type";
      return nullptr;
    }
    if (opcode == isa::op::RECIPROCAL)
      plan->kernel_ = reciprocal_kernel();
    else
      plan->raw_ = in == out;
    if (!plan->in_.plan(context, tensor4d("source", field::src(record), in), plan->partitions_,
                        plan->raw_ ? Use::kBits : Use::kArithmetic, error) ||
        !plan->out_.plan(context, tensor4d("destination", field::dst(record), out),
                         plan->partitions_, plan->raw_ ? Use::kBits : Use::kResult, error) ||
        !check_same_total("source", plan->in_, plan->out_, error))
      return nullptr;
    return plan;
  }

  bool execute(EngineState& state, std::string* error) const override {
    Operand places[2];
    const Operand* in = in_.resolve(state, &places[0], error);
    const Operand* out = in ? out_.resolve(state, &places[1], error) : nullptr;
    if (!out) return false;
    for (std::uint32_t p = 0; p < partitions_; ++p)
      if (raw_)
        move_elements(in->partition(p), in->pattern, out->partition(p), out->pattern,
                      out->element_bytes);
      else
        convert(*in, *out, p);
    return true;
  }

  void visit_operands(EngineState& state, OperandVisitor& visitor) const override {
    in_.visit(state, visitor, Access::kRead);
    out_.visit(state, visitor, Access::kWrite);
  }

 private:
  void convert(const Operand& in, const Operand& out, std::uint32_t p) const {
    Reader from(in, p);
    Writer to(out, p);
    float values[kChunk], result[kChunk];
    const std::uint64_t chunk = chunk_elements(out.pattern);
    for (std::uint64_t left = out.pattern.total; left != 0;) {
      const std::uint64_t n = std::min(left, chunk);
      if (kernel_) {
        const float* v = from.next(n, values);
        float* target = to.begin(n, result);
        kernel_(v, target, n);
        to.end(n, target);
      } else if (float* target = to.begin(n, result); target != result) {
        from.copy(n, target);
        to.end(n, target);
      } else {
        to.end(n, from.next(n, values));
      }
      left -= n;
    }
  }

  OperandRef in_, out_;
  std::uint32_t partitions_ = 0;
  bool raw_ = false;
  UnaryKernel kernel_ = nullptr;  // reciprocal
};

class Memset final : public ComputePlan {
 public:
  static std::unique_ptr<ComputePlan> make(const PlanContext& context, const std::uint8_t* record,
                                           std::string* error) {
    namespace f = isa::layout::D4_MR;
    auto plan = std::make_unique<Memset>();
    const std::uint32_t dtype = f::dtype(record);
    const std::uint32_t bytes = element_bytes(dtype);
    plan->partitions_ = f::num_active_channels(record);
    if (!check_reserved(context, record, error) ||
        !check_zero("serialization_mode", f::serialization_mode(record), error) ||
        !plan->out_.plan(context, tensor4d("destination", f::dst(record), dtype), plan->partitions_,
                         Use::kBits, error))
      return nullptr;
    const std::uint32_t count = f::dst_element_count(record);
    if (count != plan->out_.total()) {
      *error = "element count " + std::to_string(count) + ", the destination has " +
               std::to_string(plan->out_.total());
      return nullptr;
    }
    // The pattern of one element; a narrow one may fill the word.
    const std::uint32_t value = f::set_value(record);
    const std::uint32_t low = bytes >= 4 ? value : value & ((1u << (8 * bytes)) - 1);
    const std::uint32_t word = bytes == 1 ? low * 0x01010101u : bytes == 2 ? low * 0x10001u : low;
    if ((value != low && value != word) || (bytes == 8 && value != 0)) {
      *error = "fill value " + hex(value) + " is wider than the element (" + std::to_string(bytes) +
               " bytes)";
      return nullptr;
    }
    plan->value_ = word;
    return plan;
  }

  bool execute(EngineState& state, std::string* error) const override {
    Operand scratch;
    const Operand* out = out_.resolve(state, &scratch, error);
    if (!out) return false;
    const std::uint32_t bytes = out->element_bytes;
    const ScatterBytes scatter = scatter_bytes(bytes);
    alignas(8) std::uint8_t fill[8 * kChunk + 4];
    for (std::uint64_t i = 0; i < bytes * std::min(out->pattern.total, kChunk) + 3; i += 4)
      std::memcpy(fill + i, &value_, 4);
    const bool uniform = value_ == (value_ & 0xFF) * 0x01010101u;
    for (std::uint32_t p = 0; p < partitions_; ++p) {
      Cursor to(out->pattern);
      for (std::uint64_t left = out->pattern.total; left != 0;) {
        if (uniform && to.contiguous()) {
          const Cursor::Run row = to.next(left);
          std::memset(out->partition(p) + row.offset * static_cast<std::int64_t>(bytes),
                      static_cast<int>(value_ & 0xFF), row.count * bytes);
          left -= row.count;
          continue;
        }
        const Block b = to.block(std::min(left, kChunk));
        scatter(out->partition(p), b, fill);
        left -= b.total();
      }
    }
    return true;
  }

  void visit_operands(EngineState& state, OperandVisitor& visitor) const override {
    out_.visit(state, visitor, Access::kWrite);
  }

 private:
  OperandRef out_;
  std::uint32_t partitions_ = 0;
  std::uint32_t value_ = 0;  // the pattern, repeated through a word
};

}  // namespace

std::span<const PlanEntry> copy_plans() {
  static constexpr PlanEntry kPlans[] = {{isa::op::COPY, Copy::make},
                                         {isa::op::CAST, Copy::make},
                                         {isa::op::RECIPROCAL, Copy::make},
                                         {isa::op::MEMSET, Memset::make}};
  return kPlans;
}

}  // namespace opennrt::emu
