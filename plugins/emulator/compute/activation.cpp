// SPDX-License-Identifier: Apache-2.0
//
// ACTIVATE, ACTIVATE_QUANTIZE, ACTIVATION_READ_ACCUMULATOR:
// y = function(scale * x + bias) in FP32 for each element of each partition.
#include <algorithm>
#include <bit>
#include <cmath>

#include "compute/activation_affine.h"
#include "compute/activation_tables.h"
#include "compute/engine_check.h"
#include "compute/families.h"
#include "compute/operand.h"
#include "compute/plan.h"
#include "device/bus.h"
#include "opennrt/isa/layouts.h"
#include "opennrt/isa/records.h"

namespace opennrt::emu {

namespace {

namespace layout = isa::layout;
namespace accum = isa::code::accum_cmd;

constexpr std::uint32_t kParametricRelu = 4;

bool same_total(const OperandRef& in, const OperandRef& out, std::string* error) {
  if (in.total() == out.total()) return true;
  *error = "source has " + std::to_string(in.total()) +
           " elements per partition, the destination " + std::to_string(out.total());
  return false;
}

// Sum in a fixed order, eight lanes wide.
float sum_of(const float* x, std::uint64_t n) {
  float lanes[8] = {};
  std::uint64_t i = 0;
  for (; i + 8 <= n; i += 8)
    for (int k = 0; k < 8; ++k) lanes[k] += x[i + static_cast<std::uint64_t>(k)];
  for (int k = 0; i < n; ++i, ++k) lanes[k] += x[i];
  return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) +
         ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

class Activate final : public ComputePlan {
 public:
  static std::unique_ptr<ComputePlan> make(const PlanContext& context, const std::uint8_t* record,
                                           std::string* error) {
    namespace ac = layout::S3D3_AC;
    if (!check_engine(context, record, error)) return nullptr;
    auto plan = std::make_unique<Activate>();
    Activate& p = *plan;
    p.function_ = ac::activation_func(record);
    p.accumulate_ = ac::accumulator_cmd(record);
    p.partitions_ = ac::num_active_channels(record);
    const std::uint32_t types = ac::in_bias_dtype(record);
    if (p.accumulate_ > accum::ZERO_ACCUMULATE) {
      *error = "accumulator command " + std::to_string(p.accumulate_) +
               " is not implemented: the field of its initial value is not known";
      return nullptr;
    }
    if (!p.in_.plan(context, tensor3d("source", ac::src(record), types & 0xF), p.partitions_,
                    Use::kArithmetic, error) ||
        !p.out_.plan(context, tensor3d("destination", ac::dst(record), ac::out_dtype(record)),
                     p.partitions_, Use::kResult, error) ||
        !same_total(p.in_, p.out_, error))
      return nullptr;
    // The bias code is inverted: 0 pointer, 1 number.
    std::uint32_t bias_source = ac::bias_src_n(record);
    if (bias_source < 2) bias_source ^= 1;
    if (!p.scale_.plan(context, "scale", ac::scale_src(record), ac::scale(record), isa::kDtFloat32,
                       p.partitions_, error) ||
        !p.bias_.plan(context, "bias", bias_source, ac::bias(record), types >> 4, p.partitions_,
                      error))
      return nullptr;
    // Other functions do not read the third operand.
    if (p.function_ == kParametricRelu &&
        !p.slope_.plan(context, "slope", ac::imm_src(record), ac::imm(record), isa::kDtFloat32,
                       p.partitions_, error))
      return nullptr;
    p.load_ = load_kernel(p.in_.shape().dtype);
    p.store_ = store_kernel(p.out_.shape().dtype);
    p.copy_ = copy_kernel(p.in_.shape(), p.out_.shape());
    p.affine_ = affine_kernel(p.in_.shape(), p.out_.shape());
    return plan;
  }

  bool execute(EngineState& state, std::string* error) const override {
    auto& act = state.family<ActivationState>(Family::kActivation);
    const ActivationFunction* f = act.function(state, function_, error);
    if (!f) return false;
    Operand in_scratch, out_scratch;
    const Operand* in = in_.resolve(state, &in_scratch, error);
    const Operand* out = in ? out_.resolve(state, &out_scratch, error) : nullptr;
    ScalarRef::Values scales, biases, slopes;
    if (!out || !scale_.resolve(state, &scales, error) || !bias_.resolve(state, &biases, error) ||
        !slope_.resolve(state, &slopes, error))
      return false;
    if (accumulate_ == accum::ZERO || accumulate_ == accum::ZERO_ACCUMULATE)
      std::fill_n(act.accumulator.begin(), partitions_, 0.0f);
    const bool sums = accumulate_ >= accum::ACCUMULATE;
    const bool identity = !sums && f->kind == ActivationFunction::Kind::kIdentity;
    for (std::uint32_t p = 0; p < partitions_; ++p) {
      const float scale = scales.number(p), bias = biases.number(p);
      if (identity && affine_) {
        affine_(*in, *out, p, scale, bias);
        continue;
      }
      if (identity && copy_ && scale == 1.0f && bias == 0.0f) {
        copy_(*in, *out, p);
        continue;
      }
      const float slope = slopes.number(p);
      Cursor from(in->pattern), to(out->pattern);
      float x[kChunk];
      for (std::uint64_t left = out->pattern.total; left != 0;) {
        const std::uint64_t n = std::min(left, kChunk);
        load_(in->partition(p), from, x, n);
        for (std::uint64_t i = 0; i < n; ++i) x[i] = x[i] * scale + bias;
        f->evaluate(x, n, slope);
        if (sums) act.accumulator[p] += sum_of(x, n);
        store_(out->partition(p), to, x, n);
        left -= n;
      }
    }
    return true;
  }

  void visit_operands(EngineState& state, OperandVisitor& visitor) const override {
    in_.visit(state, visitor, Access::kRead);
    scale_.visit(state, visitor);
    bias_.visit(state, visitor);
    slope_.visit(state, visitor);
    out_.visit(state, visitor, Access::kWrite);
  }

 private:
  OperandRef in_, out_;
  ScalarRef scale_, bias_, slope_;
  std::uint32_t partitions_ = 0, function_ = 0, accumulate_ = 0;
  LoadKernel load_;
  StoreKernel store_;
  CopyKernel copy_ = nullptr;
  AffineKernel affine_ = nullptr;
};

// y = saturated to 8 bits (function(x * input scale + bias) * output scale + zero point).
class ActivateQuantize final : public ComputePlan {
 public:
  static std::unique_ptr<ComputePlan> make(const PlanContext& context, const std::uint8_t* record,
                                           std::string* error) {
    namespace aq = layout::S3D3_AQ;
    if (!check_engine(context, record, error)) return nullptr;
    auto plan = std::make_unique<ActivateQuantize>();
    ActivateQuantize& p = *plan;
    p.function_ = aq::activation_func(record);
    p.partitions_ = aq::num_active_channels(record);
    p.in_scale_ = aq::dequant_scale(record);
    p.out_scale_ = aq::quant_scale(record);
    p.zero_ = aq::quant_zero(record);
    const std::uint32_t types = aq::in_bias_dtype(record);
    if (p.function_ == kParametricRelu) {
      *error = "the record has no slope for parametric_relu";
      return nullptr;
    }
    if (p.in_scale_ == 0 || p.out_scale_ == 0) {
      *error = std::string(p.in_scale_ == 0 ? "input" : "output") +
               " scale is 0, scales must not be zero";
      return nullptr;
    }
    if (aq::out_dtype(record) != isa::kDtUint8) {
      *error = "output data type " + std::to_string(aq::out_dtype(record)) +
               ", quantized values are " + std::to_string(isa::kDtUint8) + " (UINT8)";
      return nullptr;
    }
    if (!p.in_.plan(context, tensor3d("source", aq::src(record), types & 0xF), p.partitions_,
                    Use::kArithmetic, error) ||
        !p.out_.plan(context, tensor3d("destination", aq::dst(record), isa::kDtUint8),
                     p.partitions_, Use::kResult, error) ||
        !same_total(p.in_, p.out_, error) ||
        !p.bias_.plan(context, "bias", isa::code::imm_src::POINTER, aq::bias_addr(record),
                      types >> 4, p.partitions_, error))
      return nullptr;
    p.load_ = load_kernel(p.in_.shape().dtype);
    p.store_ = store_kernel(p.out_.shape().dtype);
    return plan;
  }

  bool execute(EngineState& state, std::string* error) const override {
    auto& act = state.family<ActivationState>(Family::kActivation);
    const ActivationFunction* f = act.function(state, function_, error);
    if (!f) return false;
    Operand in_scratch, out_scratch;
    const Operand* in = in_.resolve(state, &in_scratch, error);
    const Operand* out = in ? out_.resolve(state, &out_scratch, error) : nullptr;
    ScalarRef::Values biases;
    if (!out || !bias_.resolve(state, &biases, error)) return false;
    for (std::uint32_t p = 0; p < partitions_; ++p) {
      const float bias = biases.number(p);
      Cursor from(in->pattern), to(out->pattern);
      float x[kChunk];
      for (std::uint64_t left = out->pattern.total; left != 0;) {
        const std::uint64_t n = std::min(left, kChunk);
        load_(in->partition(p), from, x, n);
        for (std::uint64_t i = 0; i < n; ++i) x[i] = x[i] * in_scale_ + bias;
        f->evaluate(x, n, 0);
        for (std::uint64_t i = 0; i < n; ++i) x[i] = x[i] * out_scale_ + zero_;
        store_(out->partition(p), to, x, n);
        left -= n;
      }
    }
    return true;
  }

  void visit_operands(EngineState& state, OperandVisitor& visitor) const override {
    in_.visit(state, visitor, Access::kRead);
    bias_.visit(state, visitor);
    out_.visit(state, visitor, Access::kWrite);
  }

 private:
  OperandRef in_, out_;
  ScalarRef bias_;
  float in_scale_ = 1, out_scale_ = 1, zero_ = 0;
  std::uint32_t partitions_ = 0, function_ = 0;
  LoadKernel load_;
  StoreKernel store_;
};

class ReadAccumulator final : public ComputePlan {
 public:
  static std::unique_ptr<ComputePlan> make(const PlanContext& context, const std::uint8_t* record,
                                           std::string* error) {
    namespace rd = layout::D1_RD;
    if (!check_engine(context, record, error)) return nullptr;
    auto plan = std::make_unique<ReadAccumulator>();
    ReadAccumulator& p = *plan;
    p.partitions_ = rd::num_active_channels(record);
    if (rd::dst_element_count(record) != 1) {
      *error = "element count " + std::to_string(rd::dst_element_count(record)) +
               ", an accumulator is one element per partition";
      return nullptr;
    }
    if (rd::negated(record) != 0) {
      *error = "negated is " + std::to_string(rd::negated(record)) + ", ACT does not negate";
      return nullptr;
    }
    const std::uint32_t dtype = rd::dtype(record);
    if (dtype != isa::kDtBfloat16 && dtype != isa::kDtFloat16 && dtype != isa::kDtFloat32 &&
        dtype != isa::code::dtype::FP32R) {
      *error = "data type " + std::to_string(dtype) +
               ", the accumulator is read as BFLOAT16, FP16, FP32 or FP32R";
      return nullptr;
    }
    if (!p.out_.plan(context, tensor1d("destination", rd::dst(record), dtype), p.partitions_,
                     Use::kResult, error))
      return nullptr;
    if (p.out_.total() != 1) {
      *error = "destination has " + std::to_string(p.out_.total()) +
               " elements per partition, an accumulator is one";
      return nullptr;
    }
    p.store_ = store_kernel(p.out_.shape().dtype);
    return plan;
  }

  bool execute(EngineState& state, std::string* error) const override {
    Operand scratch;
    const Operand* out = out_.resolve(state, &scratch, error);
    if (!out) return false;
    const auto& act = state.family<ActivationState>(Family::kActivation);
    for (std::uint32_t p = 0; p < partitions_; ++p) {
      Cursor to(out->pattern);
      store_(out->partition(p), to, &act.accumulator[p], 1);
    }
    return true;
  }

  void visit_operands(EngineState& state, OperandVisitor& visitor) const override {
    out_.visit(state, visitor, Access::kWrite);
  }

 private:
  OperandRef out_;
  std::uint32_t partitions_ = 0;
  StoreKernel store_ = nullptr;
};

}  // namespace

std::span<const PlanEntry> activation_plans() {
  static constexpr PlanEntry kPlans[] = {
      {isa::op::ACTIVATE, Activate::make},
      {isa::op::ACTIVATE_QUANTIZE, ActivateQuantize::make},
      {isa::op::ACTIVATION_READ_ACCUMULATOR, ReadAccumulator::make}};
  return kPlans;
}

}  // namespace opennrt::emu
