// SPDX-License-Identifier: Apache-2.0
//
// TENSOR_DEQUANTIZE: packed 4-bit and 6-bit codes to FP8 bytes. Source and
// destination are streams of 32-bit words; codes and bytes lie in them from the
// low bits up.
#include <algorithm>
#include <array>

#include "compute/families.h"
#include "compute/in_out.h"
#include "compute/numeric.h"
#include "compute/special_common.h"
#include "compute/stream.h"
#include "opennrt/isa/layouts.h"

namespace opennrt::emu {

namespace {

namespace format_code = isa::code::dequant_format;

// Value of a code of one sign bit, two exponent bits of bias 1 and `fraction` bits.
float small_float(std::uint32_t code, int fraction) {
  const std::uint32_t f = code & ((1u << fraction) - 1), e = code >> fraction & 3;
  const float unit = 1.0f / static_cast<float>(1u << fraction);
  const float magnitude =
      e == 0 ? static_cast<float>(f) * unit
             : (1.0f + static_cast<float>(f) * unit) * static_cast<float>(1u << (e - 1));
  return (code >> (fraction + 2) & 1) != 0 ? -magnitude : magnitude;
}

// Quantiles of the normal distribution (QLoRA, appendix E).
constexpr float kNormalFloat[16] = {-1.0f,        -0.69619280f, -0.52507305f,  -0.39491749f,
                                    -0.28444138f, -0.18477343f, -0.091050036f, 0.0f,
                                    0.079580300f, 0.16093020f,  0.24611230f,   0.33791524f,
                                    0.44070983f,  0.56261700f,  0.72295684f,   1.0f};

std::uint8_t e5m2(float v) { return f32_to_fp8<5, 2, Fp8Top::kInfinity, false>(v); }
std::uint8_t e4m3(float v) { return f32_to_fp8<4, 3, Fp8Top::kInfinity, false>(v); }

std::uint8_t convert(std::uint32_t format, std::uint32_t code) {
  switch (format) {
    case format_code::E2M1_TO_E5M2:
      return e5m2(small_float(code, 1));
    case format_code::INT4_TO_E5M2:
      return e5m2(static_cast<float>(static_cast<std::int32_t>(code << 28) >> 28));
    case format_code::NF4_TO_E4M3:
      return e4m3(kNormalFloat[code & 15]);
    default:
      return e4m3(small_float(code, 3));
  }
}

class Dequantize final : public InOut {
 public:
  static std::unique_ptr<ComputePlan> make(const PlanContext& context, const std::uint8_t* r,
                                           std::string* error) {
    namespace f = isa::layout::S3D3_TENS_DEQUANT;
    if (!check_engine(context, r, error)) return nullptr;
    if (context.generation == isa::Generation::kSunda) {
      *error = "its record has no published layout on sunda";
      return nullptr;
    }
    auto plan = std::make_unique<Dequantize>();
    Dequantize& p = *plan;
    const std::uint32_t format = f::dequant_fmt(r), in = f::in_dtype(r), out = f::out_dtype(r);
    const bool six = format == format_code::E2M3_TO_E4M3;
    p.width_ = six ? 6 : 4;
    p.in_words_ = six ? 3 : 1;
    p.out_words_ = six ? 4 : 2;
    const char* words = "codes and FP8 bytes lie in UINT32 (9) words";
    if (!expect(format != 0 && format <= format_code::E2M3_TO_E4M3, "format code", format,
                "known are 1 to 4", error) ||
        !expect(f::group_size(r) == 0, "group size", f::group_size(r),
                "only 0 is implemented (place and type of the scale of a group of 8 are not "
                "published)",
                error) ||
        !expect(in == isa::kDtUint32, "source data type", in, words, error) ||
        !expect(out == isa::kDtUint32, "destination data type", out, words, error) ||
        !p.plan_in_out(context, r, tensor3d("source", f::src(r), in), Use::kBits,
                       tensor3d("destination", f::dst(r), out), Use::kBits,
                       f::num_active_channels(r), error) ||
        !expect(p.in_.total() % p.in_words_ == 0, "number of source words", p.in_.total(),
                "3 words hold 16 codes of 6 bits", error) ||
        !expect(
            p.in_.total() / p.in_words_ * p.out_words_ == p.out_.total(),
            "number of destination words", p.out_.total(),
            six ? "it must be 4 for each 3 of the source" : "it must be twice that of the source",
            error))
      return nullptr;
    for (std::uint32_t code = 0; code < 1u << p.width_; ++code)
      p.table_[code] = emu::convert(format, code);
    return plan;
  }

  bool execute(EngineState& state, std::string* error) const override {
    Places at;
    if (!resolve(state, &at, error)) return false;
    constexpr std::uint64_t kGroups = 64;
    std::uint32_t in[3 * kGroups], out[4 * kGroups];
    for (std::uint32_t p = 0; p < partitions_; ++p) {
      BitReader from(*at.in, p);
      BitWriter to(*at.out, p);
      for (std::uint64_t left = in_.total() / in_words_; left != 0;) {
        const std::uint64_t n = std::min(left, kGroups);
        from.next(n * in_words_, in);
        for (std::uint64_t g = 0; g < n; ++g) expand(in + g * in_words_, out + g * out_words_);
        to.next(n * out_words_, out);
        left -= n;
      }
    }
    return true;
  }

 private:
  void expand(const std::uint32_t* in, std::uint32_t* out) const {
    for (std::uint32_t i = 0; i < 4 * out_words_; ++i) {
      const std::uint32_t bit = i * width_, word = bit / 32, shift = bit % 32;
      std::uint32_t code = in[word] >> shift;
      if (shift + width_ > 32) code |= in[word + 1] << (32 - shift);
      const std::uint32_t byte = table_[code & ((1u << width_) - 1)];
      out[i / 4] = i % 4 == 0 ? byte : out[i / 4] | byte << (8 * (i % 4));
    }
  }

  std::array<std::uint8_t, 64> table_{};  // FP8 by code
  std::uint32_t width_ = 4, in_words_ = 1, out_words_ = 2;
};

}  // namespace

std::span<const PlanEntry> dequantize_plans() {
  static constexpr PlanEntry kPlans[] = {{isa::op::TENSOR_DEQUANTIZE, Dequantize::make}};
  return kPlans;
}

}  // namespace opennrt::emu
