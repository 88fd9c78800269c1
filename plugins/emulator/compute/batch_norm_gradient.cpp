// SPDX-License-Identifier: Apache-2.0
//
// BATCH_NORM_GRAD_ACCUMULATE and BATCH_NORM_GRAD_ACCUMULATE2: three sums over
// the forward values x and the gradients g of a channel, with its mean and
// reciprocal standard deviation: of g, of g * xn and of xn, where
// xn = (x - mean) * rstd. Sums are kept in double precision and rounded once.
#include <algorithm>

#include "compute/checks.h"
#include "compute/engine_check.h"
#include "compute/families.h"
#include "compute/operand.h"
#include "compute/special_common.h"
#include "compute/stream.h"
#include "opennrt/isa/layouts.h"

namespace opennrt::emu {

namespace {

namespace source = isa::code::imm_src;
constexpr std::uint32_t kSums = 3;

class GradientSums final : public ComputePlan {
 public:
  // Pointers; a data type of 0 is FP32.
  static std::unique_ptr<ComputePlan> make(const PlanContext& context, const std::uint8_t* r,
                                           std::string* error) {
    namespace f = isa::layout::S3S3D1_BN;
    auto made = std::make_unique<GradientSums>();
    const std::uint32_t statistics = f::imm_dtype(r);
    return made->plan(context, r, source::POINTER | source::POINTER << 4, statistics,
                      f::out_dtype(r), error)
               ? std::move(made)
               : nullptr;
  }
  static std::unique_ptr<ComputePlan> make2(const PlanContext& context, const std::uint8_t* r,
                                            std::string* error) {
    namespace f = isa::layout::S3S3D1_BN2;
    auto made = std::make_unique<GradientSums>();
    const std::uint32_t types = f::imm_out_dtype(r);
    return made->plan(context, r, f::imm_src_pair(r), types & 0xF, types >> 4, error)
               ? std::move(made)
               : nullptr;
  }

  bool execute(EngineState& state, std::string* error) const override {
    Operand scratch[3];
    ScalarRef::Values means, rstds;
    const Operand* x = x_.resolve(state, &scratch[0], error);
    const Operand* g = x ? g_.resolve(state, &scratch[1], error) : nullptr;
    const Operand* out = g ? out_.resolve(state, &scratch[2], error) : nullptr;
    if (!out || !mean_.resolve(state, &means, error) || !rstd_.resolve(state, &rstds, error))
      return false;
    float xs[kChunk], gs[kChunk];
    for (std::uint32_t p = 0; p < partitions_; ++p) {
      const double mean = means.number(p), rstd = rstds.number(p);
      Reader from_x(*x, p), from_g(*g, p);
      double sums[kSums] = {};
      for (std::uint64_t left = x->pattern.total; left != 0;) {
        const std::uint64_t n = std::min(left, kChunk);
        const float* vx = from_x.next(n, xs);
        const float* vg = from_g.next(n, gs);
        for (std::uint64_t i = 0; i < n; ++i) {
          const double normal = (vx[i] - mean) * rstd;
          sums[0] += vg[i];
          sums[1] += vg[i] * normal;
          sums[2] += normal;
        }
        left -= n;
      }
      float results[kSums];
      for (std::uint32_t i = 0; i < kSums; ++i) results[i] = static_cast<float>(sums[i]);
      Writer(*out, p).end(kSums, results);
    }
    return true;
  }

  void visit_operands(EngineState& state, OperandVisitor& visitor) const override {
    x_.visit(state, visitor, Access::kRead);
    g_.visit(state, visitor, Access::kRead);
    mean_.visit(state, visitor);
    rstd_.visit(state, visitor);
    out_.visit(state, visitor, Access::kWrite);
  }

 private:
  // Both layouts agree but for bytes 61 and 62.
  bool plan(const PlanContext& context, const std::uint8_t* r, std::uint32_t sources,
            std::uint32_t statistics, std::uint32_t out, std::string* error) {
    namespace f = isa::layout::S3S3D1_BN;
    const std::uint32_t types = f::in0_in1_dtype(r);
    const std::uint32_t type = statistics == 0 ? std::uint32_t{isa::kDtFloat32} : statistics;
    partitions_ = f::num_active_channels(r);
    return check_engine(context, r, error) &&
           x_.plan(context, tensor3d("source 0", f::src0(r), types & 0xF), partitions_,
                   Use::kArithmetic, error) &&
           g_.plan(context, tensor3d("source 1", f::src1(r), types >> 4), partitions_,
                   Use::kArithmetic, error) &&
           check_same_total("source 0", x_, g_, error) &&
           out_.plan(context, tensor1d("destination", f::dst(r), out), partitions_, Use::kResult,
                     error) &&
           expect(out_.total() == kSums, "number of destination elements", out_.total(),
                  "it must be 3", error) &&
           mean_.plan(context, "mean", sources & 0xF, f::imm0(r), type, partitions_, error) &&
           rstd_.plan(context, "reciprocal standard deviation", sources >> 4, f::imm1(r), type,
                      partitions_, error);
  }

  OperandRef x_, g_, out_;
  ScalarRef mean_, rstd_;
  std::uint32_t partitions_ = 0;
};

}  // namespace

std::span<const PlanEntry> batch_norm_gradient_plans() {
  static constexpr PlanEntry kPlans[] = {
      {isa::op::BATCH_NORM_GRAD_ACCUMULATE, GradientSums::make},
      {isa::op::BATCH_NORM_GRAD_ACCUMULATE2, GradientSums::make2}};
  return kPlans;
}

}  // namespace opennrt::emu
