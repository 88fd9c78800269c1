// SPDX-License-Identifier: Apache-2.0
//
// Sums of g, g * xn and xn with xn = (x - mean) * rstd.
#include "unit/emulator_vector/bench.h"

namespace opennrt::emu::test {
namespace {

namespace v1 = layout::S3S3D1_BN;
namespace v2 = layout::S3S3D1_BN2;

class Gradient : public VectorTest {
 protected:
  static constexpr std::uint32_t kMean = 0x40, kRstd = 0x48;
  static Record base(std::uint8_t opcode, const Tensor& x, const Tensor& g, const Tensor& out,
                     int channels) {
    return Record(opcode)
        .tensor(v1::src0, x, 3)
        .tensor(v1::src1, g, 3)
        .tensor(v1::dst, out, 1)
        .set(v1::in0_in1_dtype, pair(x.type, g.type))
        .set(v1::num_active_channels, channels)
        .set(v1::imm0, kMean)
        .set(v1::imm1, kRstd);
  }
  static Record accumulate(const Tensor& x, const Tensor& g, const Tensor& out, int channels,
                           int statistics = 0) {
    return base(op::BATCH_NORM_GRAD_ACCUMULATE, x, g, out, channels)
        .set(v1::imm_dtype, statistics)
        .set(v1::out_dtype, out.type);
  }
  static Record accumulate2(const Tensor& x, const Tensor& g, const Tensor& out, int channels,
                            int statistics, int sources) {
    return base(op::BATCH_NORM_GRAD_ACCUMULATE2, x, g, out, channels)
        .set(v2::imm_out_dtype, pair(statistics, out.type))
        .set(v2::imm_src_pair, sources);
  }
  void check(const Tensor& x, const Tensor& g, const Tensor& out, int p, double mean, double rstd) {
    double sums[3] = {}, size[3] = {};
    for (int i = 0; i < x.total(); ++i) {
      const double xn = (get(x, p, i) - mean) * rstd;
      const double terms[] = {get(g, p, i), get(g, p, i) * xn, xn};
      for (int k = 0; k < 3; ++k) sums[k] += terms[k], size[k] += std::fabs(terms[k]);
    }
    for (int k = 0; k < 3; ++k)
      EXPECT_NEAR(get(out, p, k), sums[k], size[k] * (out.type == kF32 ? 1e-7 : 0.004)) << k;
  }
};

TEST_F(Gradient, ThreeSums) {
  for (const int type : {kF32, kBf16, kF16})
    for (const int statistics : {0, static_cast<int>(kF32), static_cast<int>(kBf16)}) {
      const int held = statistics == 0 ? static_cast<int>(kF32) : statistics;
      const Tensor x{0x1000, type, {1, 60}, {50, 21}}, g{0x8000, kF32, {2}, {1050}};
      const Tensor out{0x10000, kF32, {2}, {3}}, mean = row(kMean, held, 1),
                                                 rstd = row(kRstd, held, 1);
      fill(x, 40);
      fill(g, 40);
      fill(mean, 40);
      fill(rstd, 40);
      run(accumulate(x, g, out, 40, statistics));
      for (int p = 0; p < 40; ++p) check(x, g, out, p, get(mean, p, 0), get(rstd, p, 0));
    }
}

TEST_F(Gradient, NumbersOfTheInstructionAndRegisters) {
  const Tensor x = row(0x1000, kF32, 100), g = row(0x8000, kBf16, 100), out = row(0x9000, kBf16, 3);
  const Tensor rstd = row(0x2000, kF32, 1);
  fill(x, 3);
  fill(g, 3);
  fill(rstd, 3);
  run(accumulate2(x, g, out, 3, kF32, 0).set(v2::imm0, bits_of(0.25f)).set(v2::imm1, bits_of(3)));
  for (int p = 0; p < 3; ++p) check(x, g, out, p, 0.25, 3);
  state.registers[9] = rstd.address;
  run(accumulate2(x, g, out, 3, kF32, 2 << 4).set(v2::imm0, bits_of(0.25f)).set(v2::imm1, 9));
  for (int p = 0; p < 3; ++p) check(x, g, out, p, 0.25, get(rstd, p, 0));
}

TEST_F(Gradient, WrongFieldsAreRefused) {
  const Tensor x = row(0x1000, kF32, 100), g = row(0x8000, kF32, 100), out = row(0x9000, kF32, 3);
  refused(accumulate(x, row(0x8000, kF32, 99), out, 3), "the destination 99");
  refused(accumulate(x, g, row(0x9000, kF32, 2), 3), "number of destination elements is 2");
  refused(accumulate(row(0x1000, kI64, 100), g, out, 3), "no arithmetic");
  refused(accumulate2(x, g, out, 3, kF32, 3), "mean: source code 3");
  refused(accumulate2(x, g, out, 3, kF32, 0xF0), "standard deviation: source code 15");
  engine = NRTP_ENGINE_POOL;
  refused(accumulate(x, g, out, 3), "does not exist on this engine");
}

}  // namespace
}  // namespace opennrt::emu::test
