// SPDX-License-Identifier: Apache-2.0
#include "unit/emulator_vector/bench.h"

namespace opennrt::emu::test {
namespace {

namespace f = layout::S2D2_AC;

class Activate2 : public VectorTest {
 protected:
  static constexpr int kIdentity = 1, kRelu = 2, kParametric = 4;
  Activate2() { engine = state.engine = NRTP_ENGINE_ACT; }
  static Record activate(const Tensor& in, const Tensor& out, int function, std::uint32_t op0,
                         std::uint32_t op1, int channels = 4) {
    return Record(op::ACTIVATE2)
        .tensor(f::src, in, 2)
        .tensor(f::dst, out, 2)
        .set(f::in_dtype, in.type)
        .set(f::out_dtype, out.type)
        .set(f::num_active_channels, channels)
        .set(f::activation_func, function)
        .set(f::op0, op0)
        .set(f::op1, op1)
        .set(f::imm0, bits_of(1.75f))
        .set(f::imm1, bits_of(-0.375f));
  }
  // Reads the accumulators of ACTIVATE into `out`.
  void read(const Tensor& out, int channels) {
    namespace rd = layout::D1_RD;
    run(Record(op::ACTIVATION_READ_ACCUMULATOR)
            .tensor(rd::dst, out, 1)
            .set(rd::dtype, out.type)
            .set(rd::dst_element_count, 1)
            .set(rd::num_active_channels, channels));
  }
};

TEST_F(Activate2, PairsOfOperations) {
  const std::pair<std::uint32_t, std::uint32_t> kPairs[] = {
      {alu::MULT, alu::ADD},   {alu::MULT, alu::SUBTRACT},   {alu::MULT, alu::BYPASS},
      {alu::ADD, alu::BYPASS}, {alu::SUBTRACT, alu::BYPASS}, {alu::BYPASS, alu::BYPASS}};
  for (const int type : {kF32, kBf16})
    for (const auto& [op0, op1] : kPairs)
      for (const int reverse : {0, 1, 2, 3}) {
        const Tensor in{0x1000, type, {2, 80}, {30, 20}}, out = row(0x8000, type, 600);
        fill(in, 4);
        run(activate(in, out, kRelu, op0, op1).set(f::reverse_operands, reverse));
        for (int p = 0; p < 4; ++p)
          for (int i = 0; i < 600; ++i) {
            double v = get(in, p, i);
            if (op0 != alu::BYPASS)
              v = f32((reverse & 1) != 0 ? apply(op0, 1.75, v) : apply(op0, v, 1.75));
            if (op1 != alu::BYPASS)
              v = f32((reverse & 2) != 0 ? apply(op1, -0.375, v) : apply(op1, v, -0.375));
            expect(out, p, i, std::max(v, 0.0));
          }
      }
}

TEST_F(Activate2, ScalarsAndSlopePerPartition) {
  const Tensor in = row(kPsum, kF32, 50), out = row(0x8000, kF32, 50);
  const Tensor s = row(0x40, kBf16, 1), b = row(0x44, kBf16, 1), slope = row(0x48, kBf16, 1);
  fill(in, 4);
  fill(s, 4);
  fill(b, 4);
  fill(slope, 4);
  run(activate(in, out, kParametric, alu::MULT, alu::ADD)
          .set(f::imm_dtype, kBf16)
          .set(f::imm0_src, 1)
          .set(f::imm0, 0x40)
          .set(f::imm1_src, 1)
          .set(f::imm1, 0x44)
          .set(f::relu_param_src, 1)
          .set(f::relu_param, 0x48));
  for (int p = 0; p < 4; ++p)
    for (int i = 0; i < 50; ++i) {
      const double v = f32(f32(get(in, p, i) * get(s, p, 0)) + get(b, p, 0));
      expect(out, p, i, v > 0 ? v : v * get(slope, p, 0));
    }
}

TEST_F(Activate2, Reduces) {
  const Tensor in = row(0x1000, kI16, 700), out = row(0x8000, kF32, 700),
               sum = row(0x10000, kF32, 1);
  for (int p = 0; p < 4; ++p)
    for (int i = 0; i < 700; ++i)
      put_raw(in, p, i, static_cast<std::uint16_t>((31 * i + 7 * p) % 401 - 150));
  for (const std::uint32_t code : {alu::ADD, alu::MAX, alu::MIN, alu::ABS_MAX, alu::ABS_MIN}) {
    Record r = activate(in, out, kIdentity, alu::BYPASS, alu::BYPASS);
    r.set(f::reduce_op, code).set(f::reduce_cmd, 3);
    run(r);                                        // reset, then reduce
    run(r.set(f::reduce_cmd, 2));                  // reduce on top
    run(r.set(f::reduce_cmd, 0).set(f::imm0, 0));  // leaves it alone
    read(sum, 4);
    for (int p = 0; p < 4; ++p) {
      double want = code == alu::ADD ? 0 : get(in, p, 0);
      for (int i = 0; i < 700; ++i) want = apply(code, want, get(in, p, i));
      if (code == alu::ADD) want *= 2;
      expect(sum, p, 0, want);
    }
    run(r.set(f::reduce_cmd, 1));
    read(sum, 4);
    const double reset = code == alu::MAX                           ? -INFINITY
                         : code == alu::MIN || code == alu::ABS_MIN ? INFINITY
                                                                    : 0;
    expect(sum, 0, 0, reset);
  }
}

TEST_F(Activate2, WrongFieldsAreRefused) {
  const Tensor in = row(0x1000, kF32, 8), out = row(0x8000, kF32, 8);
  refused(activate(in, out, kRelu, alu::ADD, alu::MULT), "operations ADD and MULT");
  refused(activate(in, out, kRelu, alu::BYPASS, alu::ADD), "operations BYPASS and ADD");
  refused(activate(in, out, kRelu, alu::MULT, alu::ADD).set(f::reverse_operands, 4),
          "reverse_operands");
  refused(activate(in, out, kRelu, alu::MULT, alu::ADD).set(f::reduce_cmd, 4), "reduce command 4");
  refused(activate(in, out, kRelu, alu::MULT, alu::ADD).set(f::reduce_cmd, 2),
          "does not reduce into the accumulator");
  refused(activate(in, out, kRelu, alu::MULT, alu::ADD).set(f::reduce_op, alu::MULT),
          "does not reduce into the accumulator");
  refused(activate(in, out, kRelu, alu::MULT, alu::ADD).set(f::imm1_src, 5),
          "scalar 1: source code 5");
  refused(activate(in, row(0x8000, kF32, 7), kRelu, alu::MULT, alu::ADD), "the destination 7");
  generation = isa::Generation::kCayman;
  refused(activate(in, out, kRelu, alu::MULT, alu::ADD), "does not exist on this silicon family");
}

}  // namespace
}  // namespace opennrt::emu::test
