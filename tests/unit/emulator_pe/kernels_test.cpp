// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include "array.h"
#include "compute/pe_float8.h"
#include "compute/pe_kernels.h"
#include "compute/pe_rows.h"

namespace opennrt::emu::test {
namespace {

struct Free {
  void operator()(float* p) const { std::free(p); }
};
using Aligned = std::unique_ptr<float, Free>;
Aligned aligned(std::size_t n) {
  return Aligned(static_cast<float*>(std::aligned_alloc(64, (n * 4 + 63) / 64 * 64)));
}

// Fused multiply-add chains in row order are the definition for CPUs that have
// the instruction.
TEST(Kernels, ElementsAreFmaChainsWhereverTheyLie) {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> value(-2, 2);
  for (const PeKernels* k : usable_pe_kernels()) {
    SCOPED_TRACE(k->name);
    const bool fused = k != usable_pe_kernels().front();
    for (const std::uint32_t depth : {1u, 2u, 77u, 128u})
      for (std::uint32_t rows = 1; rows <= kPeBlock; ++rows)
        for (std::uint32_t n = 1; n <= k->width; n += n < 4 || n + 4 > k->width ? 1 : 3) {
          const Aligned w = aligned(depth * kPeBlock), x = aligned(depth * k->width);
          for (std::uint32_t i = 0; i < depth * kPeBlock; ++i) w.get()[i] = value(random);
          for (std::uint32_t i = 0; i < depth * k->width; ++i) x.get()[i] = value(random);
          std::vector<float> c(kPeBlock * 100, 3.25f);
          for (const bool add : {false, true}) {
            const std::vector<float> before = c;
            k->multiply(w.get(), x.get(), depth, c.data() + 1, 100, rows, n, add);
            for (std::uint32_t i = 0; i < kPeBlock; ++i)
              for (std::uint32_t j = 0; j < 99; ++j) {
                const std::size_t at = i * 100 + j + 1;
                if (i >= rows || j >= n) {
                  ASSERT_EQ(c[at], before[at]) << i << " " << j;
                  continue;
                }
                float sum = 0;
                for (std::uint32_t d = 0; d < depth; ++d) {
                  const float a = w.get()[d * kPeBlock + i], b = x.get()[d * k->width + j];
                  sum = fused ? std::fma(a, b, sum) : a * b + sum;
                }
                if (add) sum = before[at] + sum;
                ASSERT_EQ(std::bit_cast<std::uint32_t>(c[at]), std::bit_cast<std::uint32_t>(sum))
                    << depth << " " << rows << " " << n << ": " << i << " " << j;
              }
          }
        }
  }
}

TEST(Kernels, PackingWidensEveryValueAndPadsWithZero) {
  std::vector<std::uint16_t> in(0x10000);
  for (std::uint32_t i = 0; i < in.size(); ++i) in[i] = static_cast<std::uint16_t>(i);
  for (const PeKernels* k : usable_pe_kernels())
    for (const std::uint32_t width : {kPeBlock, k->width})
      for (const bool half : {true, false}) {
        SCOPED_TRACE(testing::Message() << k->name << " width " << width << " half " << half);
        const std::uint32_t n = static_cast<std::uint32_t>(in.size()) - 3;
        const std::uint64_t stride = width + 5;
        std::vector<float> out((n / width + 2) * stride, -1);
        (half ? k->pack_f16 : k->pack_bf16)(in.data(), n, out.data(), width, stride);
        for (std::uint32_t i = 0; i < n; ++i) {
          const double want = value_of(in[i], half ? isa::kDtFloat16 : isa::kDtBfloat16);
          const float got = out[i / width * stride + i % width];
          if (std::isnan(want))
            ASSERT_TRUE(std::isnan(got)) << i;
          else
            ASSERT_EQ(got, want) << i;
        }
        EXPECT_EQ(out[width], -1) << "the gap between panels is not written";
      }
}

TEST(Kernels, TheFastestSetIsTheLast) {
  ASSERT_FALSE(usable_pe_kernels().empty());
  EXPECT_EQ(&pe_kernels(), usable_pe_kernels().back());
}

TEST(Float8, EveryCodeOfEveryFormat) {
  struct Case {
    std::uint32_t dtype;
    int exponent, fraction;
  };
  for (const auto& [dtype, exponent, fraction] :
       {Case{isa::kDtFloat8e3, 3, 4}, Case{isa::kDtFloat8e4, 4, 3}, Case{isa::kDtFloat8e5, 5, 2}})
    for (std::uint32_t i = 0; i < 256; ++i) {
      const double want = field_value(i, exponent, fraction);
      const float got = float8_table(dtype, false)[i];
      if (std::isnan(want))
        ASSERT_TRUE(std::isnan(got)) << dtype << " " << i;
      else
        ASSERT_EQ(got, want) << dtype << " " << i;
      ASSERT_EQ(std::signbit(got), i >= 128) << dtype << " " << i;
    }
  EXPECT_EQ(float8_table(isa::kDtFloat8e4, false)[0x77], 240);
  EXPECT_EQ(float8_table(isa::kDtFloat8e5, false)[0x7B], 57344);
  EXPECT_EQ(float8_table(isa::kDtFloat16, false), nullptr);
}

TEST(Float8, OcpFormAndFourBits) {
  const float* fn = float8_table(isa::kDtFloat8e4, true);
  for (std::uint32_t i = 0; i < 0x78; ++i) EXPECT_EQ(fn[i], field_value(i, 4, 3));
  EXPECT_EQ(fn[0x78], 256);
  EXPECT_EQ(fn[0x7E], 448);
  EXPECT_TRUE(std::isnan(fn[0x7F]));
  EXPECT_TRUE(std::isnan(fn[0xFF]));
  const float four[] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
  for (std::uint32_t i = 0; i < 8; ++i) {
    EXPECT_EQ(float4_table()[i], four[i]);
    EXPECT_EQ(float4_table()[i + 8], -four[i]);
  }
}

TEST(Fp32Parts, SplitIsExact) {
  std::mt19937 random(3);
  for (int i = 0; i < 200000; ++i) {
    const float x = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    if (!std::isfinite(x)) continue;
    const float high = fp32_high(x), low = fp32_low(x);
    ASSERT_EQ(static_cast<double>(high) + static_cast<double>(low), static_cast<double>(x));
    ASSERT_EQ(std::bit_cast<std::uint32_t>(high) & 0xFFF, 0u);
  }
  EXPECT_EQ(fp32_high(1.0f), 1.0f);
  EXPECT_EQ(fp32_low(1.0f), 0.0f);
  EXPECT_EQ(fp32_high(INFINITY), INFINITY);
  EXPECT_EQ(fp32_low(INFINITY), 0.0f);
  EXPECT_TRUE(std::isnan(fp32_high(std::bit_cast<float>(0x7F800001u))));
}

}  // namespace
}  // namespace opennrt::emu::test
