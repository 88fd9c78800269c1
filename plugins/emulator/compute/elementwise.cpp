// SPDX-License-Identifier: Apache-2.0
//
// TENSOR_TENSOR, COPY, CAST, MEMSET: one pass over the elements of each
// partition. Operands widen to FP32, results round once to their type.
#include <algorithm>
#include <cstring>

#include "compute/alu.h"
#include "compute/families.h"
#include "compute/operand.h"
#include "compute/plan.h"
#include "device/bus.h"
#include "opennrt/isa/records.h"

namespace opennrt::emu {

namespace {

bool same_total(const Operand& a, const char* name, const Operand& dst, std::string* error) {
  if (a.pattern.total == dst.pattern.total) return true;
  *error = std::string(name) + " has " + std::to_string(a.pattern.total) +
           " elements per partition, the destination " + std::to_string(dst.pattern.total);
  return false;
}

class TensorTensor final : public ComputePlan {
 public:
  static std::unique_ptr<ComputePlan> make(const PlanContext& context, const std::uint8_t* record,
                                           std::string* error) {
    const auto r = isa::load_record<isa::TensorTensorRecord>(record);
    auto plan = std::make_unique<TensorTensor>();
    plan->kernel_ = binary_kernel(r.op);
    if (!plan->kernel_) {
      *error = "ALU operation " + hex(r.op) + " is not implemented";
      return nullptr;
    }
    plan->partitions_ = r.partitions;
    if (!resolve_operand(context, tensor3d("source 0", record + 16, r.src_dtypes & 0xF),
                         r.partitions, &plan->a_, error) ||
        !resolve_operand(context, tensor3d("source 1", record + 32, r.src_dtypes >> 4),
                         r.partitions, &plan->b_, error) ||
        !resolve_operand(context, tensor3d("destination", record + 48, r.dst_dtype), r.partitions,
                         &plan->out_, error) ||
        !same_total(plan->a_, "source 0", plan->out_, error) ||
        !same_total(plan->b_, "source 1", plan->out_, error))
      return nullptr;
    plan->load_a_ = load_kernel(plan->a_.dtype);
    plan->load_b_ = load_kernel(plan->b_.dtype);
    plan->store_ = store_kernel(plan->out_.dtype);
    const auto plain = [](const Operand& o) {
      return o.dtype == isa::kDtFloat32 && o.pattern.dense();
    };
    plan->direct_ = plain(plan->a_) && plain(plan->b_) && plain(plan->out_);
    return plan;
  }

  bool execute(EngineState&, std::string*) const override {
    for (std::uint32_t p = 0; p < partitions_; ++p) {
      std::uint8_t* a = a_.partition(p);
      std::uint8_t* b = b_.partition(p);
      std::uint8_t* out = out_.partition(p);
      if (direct_) {
        kernel_(reinterpret_cast<const float*>(a), reinterpret_cast<const float*>(b),
                reinterpret_cast<float*>(out), out_.pattern.total);
        continue;
      }
      Cursor cursor_a(a_.pattern), cursor_b(b_.pattern), cursor_out(out_.pattern);
      float in_a[kChunk], in_b[kChunk];
      for (std::uint64_t left = out_.pattern.total; left != 0;) {
        const std::uint64_t n = std::min(left, kChunk);
        load_a_(a, cursor_a, in_a, n);
        load_b_(b, cursor_b, in_b, n);
        kernel_(in_a, in_b, in_a, n);
        store_(out, cursor_out, in_a, n);
        left -= n;
      }
    }
    return true;
  }

  void visit_operands(EngineState&, OperandVisitor& visitor) const override {
    visitor.visit("source 0", a_, partitions_, Access::kRead);
    visitor.visit("source 1", b_, partitions_, Access::kRead);
    visitor.visit("destination", out_, partitions_, Access::kWrite);
  }

 private:
  Operand a_, b_, out_;
  std::uint32_t partitions_ = 0;
  bool direct_ = false;  // all FP32 and dense: no conversion, no gather
  BinaryKernel kernel_ = nullptr;
  LoadKernel load_a_ = nullptr, load_b_ = nullptr;
  StoreKernel store_ = nullptr;
};

// COPY moves the bits of equal types, CAST converts through FP32.
class CopyCast final : public ComputePlan {
 public:
  static std::unique_ptr<ComputePlan> make(const PlanContext& context, const std::uint8_t* record,
                                           std::string* error) {
    auto plan = std::make_unique<CopyCast>();
    const std::uint32_t in = record[32], out = record[33];
    plan->partitions_ = record[34];
    for (const int i : {35, 36, 37, 38})
      if (record[i] != 0) {
        *error = "field at byte " + std::to_string(i) + " is " + std::to_string(record[i]) +
                 ", copies and casts have 0";
        return nullptr;
      }
    if (record[0] == isa::kOpCopy && in != out) {
      *error = "copy from data type " + std::to_string(in) + " to " + std::to_string(out) +
               ", a copy keeps the type";
      return nullptr;
    }
    if (!resolve_operand(context, tensor4d("source", record + 12, in), plan->partitions_,
                         &plan->in_, error) ||
        !resolve_operand(context, tensor4d("destination", record + 44, out), plan->partitions_,
                         &plan->out_, error) ||
        !same_total(plan->in_, "source", plan->out_, error))
      return nullptr;
    plan->raw_ = in == out;
    plan->load_ = load_kernel(in);
    plan->store_ = store_kernel(out);
    return plan;
  }

  bool execute(EngineState&, std::string*) const override {
    for (std::uint32_t p = 0; p < partitions_; ++p) {
      if (!raw_)
        convert(p);
      else if (in_.pattern.dense() && out_.pattern.dense())
        std::memmove(out_.partition(p), in_.partition(p), out_.pattern.total * out_.element_bytes);
      else if (in_.element_bytes == 1)
        move<std::uint8_t>(p);
      else if (in_.element_bytes == 2)
        move<std::uint16_t>(p);
      else
        move<std::uint32_t>(p);
    }
    return true;
  }

  void visit_operands(EngineState&, OperandVisitor& visitor) const override {
    visitor.visit("source", in_, partitions_, Access::kRead);
    visitor.visit("destination", out_, partitions_, Access::kWrite);
  }

 private:
  void convert(std::uint32_t p) const {
    Cursor from(in_.pattern), to(out_.pattern);
    float values[kChunk];
    for (std::uint64_t left = out_.pattern.total; left != 0;) {
      const std::uint64_t n = std::min(left, kChunk);
      load_(in_.partition(p), from, values, n);
      store_(out_.partition(p), to, values, n);
      left -= n;
    }
  }

  template <typename T>
  void move(std::uint32_t p) const {
    const T* in = reinterpret_cast<const T*>(in_.partition(p));
    T* out = reinterpret_cast<T*>(out_.partition(p));
    Cursor from(in_.pattern), to(out_.pattern);
    T values[kChunk];
    for (std::uint64_t left = out_.pattern.total; left != 0;) {
      const std::uint64_t n = std::min(left, kChunk);
      for (std::uint64_t k = 0; k < n;) {
        const Cursor::Run r = from.next(n - k);
        for (std::uint64_t i = 0; i < r.count; ++i)
          values[k + i] = in[r.offset + static_cast<std::int64_t>(i) * r.step];
        k += r.count;
      }
      for (std::uint64_t k = 0; k < n;) {
        const Cursor::Run r = to.next(n - k);
        for (std::uint64_t i = 0; i < r.count; ++i)
          out[r.offset + static_cast<std::int64_t>(i) * r.step] = values[k + i];
        k += r.count;
      }
      left -= n;
    }
  }

  Operand in_, out_;
  std::uint32_t partitions_ = 0;
  bool raw_ = false;
  LoadKernel load_ = nullptr;
  StoreKernel store_ = nullptr;
};

class Memset final : public ComputePlan {
 public:
  static std::unique_ptr<ComputePlan> make(const PlanContext& context, const std::uint8_t* record,
                                           std::string* error) {
    auto plan = std::make_unique<Memset>();
    // Only a zero fill is known from real programs; where another value lies in
    // bytes 12..27 is not.
    for (int i = 12; i < 28; ++i)
      if (record[i] != 0) {
        *error = "fill values other than zero are not implemented";
        return nullptr;
      }
    plan->partitions_ = record[34];
    if (!resolve_operand(context, tensor4d("destination", record + 44, record[32]),
                         plan->partitions_, &plan->out_, error))
      return nullptr;
    std::uint32_t count;
    std::memcpy(&count, record + 28, 4);
    if (count != plan->out_.pattern.total) {
      *error = "element count " + std::to_string(count) + ", the destination has " +
               std::to_string(plan->out_.pattern.total);
      return nullptr;
    }
    return plan;
  }

  bool execute(EngineState&, std::string*) const override {
    for (std::uint32_t p = 0; p < partitions_; ++p) {
      std::uint8_t* base = out_.partition(p);
      Cursor to(out_.pattern);
      for (std::uint64_t left = out_.pattern.total; left != 0;) {
        const Cursor::Run r = to.next(left);
        left -= r.count;
        if (r.step == 1) {
          std::memset(base + r.offset * out_.element_bytes, 0, r.count * out_.element_bytes);
          continue;
        }
        for (std::uint64_t i = 0; i < r.count; ++i)
          std::memset(
              base + (r.offset + static_cast<std::int64_t>(i) * r.step) * out_.element_bytes, 0,
              out_.element_bytes);
      }
    }
    return true;
  }

  void visit_operands(EngineState&, OperandVisitor& visitor) const override {
    visitor.visit("destination", out_, partitions_, Access::kWrite);
  }

 private:
  Operand out_;
  std::uint32_t partitions_ = 0;
};

}  // namespace

std::span<const PlanEntry> elementwise_plans() {
  static constexpr PlanEntry kPlans[] = {{isa::kOpTensorTensor, TensorTensor::make},
                                         {isa::kOpCopy, CopyCast::make},
                                         {isa::kOpCast, CopyCast::make},
                                         {isa::kOpMemset, Memset::make}};
  return kPlans;
}

}  // namespace opennrt::emu
