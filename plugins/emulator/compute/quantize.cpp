// SPDX-License-Identifier: Apache-2.0
//
// QUANTIZE_MX: FP8 values with one power-of-two scale for 32 of them (8
// partitions times 4 neighbours). The scale leaves the largest value one binade
// below the end of the range: 2^(floor(log2 largest) - (Emax - 1)).
#include <algorithm>
#include <cmath>

#include "compute/families.h"
#include "compute/special_common.h"
#include "opennrt/isa/layouts.h"
#include "opennrt/isa/records.h"

namespace opennrt::emu {

namespace {

namespace layout = isa::layout;

constexpr std::uint32_t kGroupPartitions = 8, kGroupValues = 4;
constexpr std::uint32_t kQuadrant = 32;
constexpr std::uint64_t kMaxValues = 16384;  // per partition, bounded by the partition itself
constexpr int kScaleBias = 127;              // of the 8-bit exponent format
constexpr std::uint8_t kScaleNan = 0xFF;

class QuantizeMx final : public ComputePlan {
 public:
  static std::unique_ptr<ComputePlan> make(const PlanContext& context, const std::uint8_t* record,
                                           std::string* error) {
    namespace q = layout::S3DMX1_QUANT;
    auto plan = std::make_unique<QuantizeMx>();
    QuantizeMx& p = *plan;
    p.partitions_ = q::num_active_channels(record);
    const std::uint32_t in = q::in_dtype(record), out = q::out_dtype(record);
    const std::uint8_t* dst = q::dst(record);
    std::uint32_t data = 0, scale = 0;
    std::uint16_t elements = 0;
    std::memcpy(&data, dst, 4);
    std::memcpy(&scale, dst + 4, 4);
    std::memcpy(&elements, dst + 8, 2);
    if (!check_engine(context, record, error) ||
        !expect(in == isa::kDtBfloat16 || in == isa::kDtFloat16, "input data type", in,
                "it must be BFLOAT16 (6) or FP16 (7)", error) ||
        !expect(out == isa::code::dtype::FP8_EXP4 || out == isa::code::dtype::FP8_EXP5,
                "output data type", out, "it must be FP8_EXP4 (14) or FP8_EXP5 (15)", error) ||
        !expect(p.partitions_ != 0 && p.partitions_ <= 128 && p.partitions_ % kQuadrant == 0,
                "number of channels", p.partitions_, "it must be 32, 64, 96 or 128", error) ||
        !expect(dst[10] == 0, "step sign", dst[10], "only 0 is known", error) ||
        !expect(dst[11] == 0, "scale partition", dst[11], "only 0 is known", error) ||
        !resolve_number(context, tensor3d("source", q::src(record), in), p.partitions_, &p.in_,
                        error))
      return nullptr;
    const std::uint64_t n = p.in_.pattern.total;
    // Four values are one element of the packed type.
    if (!expect(n % kGroupValues == 0 && n <= kMaxValues, "number of source elements", n,
                "it must be a multiple of 4, at most 16384", error) ||
        !expect(elements == n / kGroupValues || elements == n, "number of destination elements",
                elements, "it is a quarter of the source's", error))
      return nullptr;
    // The values overflow nowhere: the largest quotient is below 2^Emax.
    p.format_ = format_of(out, {.e4m3fn = true, .fp8_saturate = true});
    p.emax_ = out == isa::code::dtype::FP8_EXP4 ? 8 : 15;
    OperandFields f{};
    f.name = "destination";
    f.address = data;
    f.dtype = isa::kDtUint8;
    f.step[0] = 1;
    f.count[0] = static_cast<std::uint16_t>(n);
    f.dims = 1;
    if (!resolve_operand(context, f, p.partitions_, &p.out_, error)) return nullptr;
    // Four scale rows at the start of each quadrant: partitions that are not
    // neighbours, resolved quadrant by quadrant.
    f.name = "scales";
    f.count[0] = static_cast<std::uint16_t>(n / kGroupValues);
    for (std::uint32_t first = 0; first < p.partitions_; first += kQuadrant) {
      f.address =
          scale + static_cast<std::uint32_t>(first * context.map.geometry().sbuf_partition_stride);
      if (!resolve_operand(context, f, kQuadrant / kGroupPartitions, &p.scales_[first / kQuadrant],
                           error))
        return nullptr;
    }
    return plan;
  }

  bool execute(EngineState&, std::string*) const override {
    const auto load = load_kernel(in_.dtype);
    const StoreBlock store = format(format_).store;
    for (std::uint32_t first = 0; first < partitions_; first += kGroupPartitions) {
      Cursor cursors[kGroupPartitions] = {
          Cursor(in_.pattern), Cursor(in_.pattern), Cursor(in_.pattern), Cursor(in_.pattern),
          Cursor(in_.pattern), Cursor(in_.pattern), Cursor(in_.pattern), Cursor(in_.pattern)};
      std::uint8_t* scales =
          scales_[first / kQuadrant].partition(first % kQuadrant / kGroupPartitions);
      for (std::uint64_t at = 0; at < in_.pattern.total; at += kGroupValues) {
        float x[kGroupPartitions][kGroupValues];
        float largest = 0;
        bool finite = true;
        for (std::uint32_t p = 0; p < kGroupPartitions; ++p) {
          load(in_.partition(first + p), cursors[p], x[p], kGroupValues);
          for (const float v : x[p]) {
            finite = finite && std::isfinite(v);
            largest = std::max(largest, std::fabs(v));
          }
        }
        int exponent = -kScaleBias;  // of an all-zero group
        if (largest != 0 && finite)
          exponent = std::clamp(std::ilogb(largest) - (emax_ - 1), -kScaleBias, kScaleBias);
        scales[at / kGroupValues] =
            finite ? static_cast<std::uint8_t>(exponent + kScaleBias) : kScaleNan;
        for (std::uint32_t p = 0; p < kGroupPartitions; ++p) {
          for (float& v : x[p]) v = finite ? std::ldexp(v, -exponent) : NAN;
          const Block block{static_cast<std::int64_t>(at), 1, 0, kGroupValues, 1};
          store(out_.partition(first + p), block, x[p]);
        }
      }
    }
    return true;
  }

  void visit_operands(EngineState&, OperandVisitor& visitor) const override {
    visitor.visit("source", in_, partitions_, Access::kRead);
    visitor.visit("destination", out_, partitions_, Access::kWrite);
    for (std::uint32_t q = 0; q < partitions_ / kQuadrant; ++q)
      visitor.visit("scales", scales_[q], kQuadrant / kGroupPartitions, Access::kWrite);
  }

 private:
  Operand in_, out_, scales_[4];
  std::uint32_t partitions_ = 0, format_ = 0;
  int emax_ = 0;
};

}  // namespace

std::span<const PlanEntry> quantize_plans() {
  static constexpr PlanEntry kPlans[] = {{isa::op::QUANTIZE_MX, QuantizeMx::make}};
  return kPlans;
}

}  // namespace opennrt::emu
