// SPDX-License-Identifier: Apache-2.0
#include "bench.h"
#include "compute/exact_math.h"

namespace opennrt::emu::test {
namespace {

class ReduceTest : public VectorTest {
 protected:
  static Record reduce(std::uint8_t opcode, const Tensor& in, const Tensor& out,
                       std::uint32_t operation, int dims, int partitions) {
    namespace f = layout::S4D4_TR;
    return Record(opcode)
        .set(f::in_dtype, in.type)
        .set(f::out_dtype, out.type)
        .set(f::num_active_channels, partitions)
        .set(f::op, operation)
        .set(f::op_dim, dims + 1)
        .tensor(f::src, in, 4)
        .tensor(f::dst, out, 4);
  }
  static Record ts(std::uint8_t opcode, const Tensor& in, const Tensor& out, std::uint32_t op0,
                   float s0, std::uint32_t op1, float s1, int command, int partitions) {
    namespace f = layout::S3D3_TS;
    return Record(opcode)
        .set(f::accumulator_cmd, command)
        .set(f::in_dtype, in.type)
        .set(f::out_dtype, out.type)
        .set(f::num_active_channels, partitions)
        .set(f::op0, op0)
        .set(f::op1, op1)
        .set(f::imm0, bits_of(s0))
        .set(f::imm1, bits_of(s1))
        .tensor(f::src, in, 3)
        .tensor(f::dst, out, 3);
  }
  static Record read(const Tensor& out, int partitions, bool negated = false) {
    namespace f = layout::D1_RD;
    return Record(op::DVE_READ_ACCUMULATOR)
        .set(f::dst_element_count, 1)
        .set(f::dtype, out.type)
        .set(f::negated, negated)
        .set(f::num_active_channels, partitions)
        .tensor(f::dst, out, 1);
  }
  // Near: sums may round in another order.
  void near(double got, double want, double magnitude) {
    ASSERT_NEAR(got, want, 3e-7 * magnitude + 1e-30);
  }
};

TEST_F(ReduceTest, ArithmeticOverEveryNumberOfDimensions) {
  const Tensor in{1 << 14, kF32, {3, -70, 700, 1400}, {20, 9, 2, 3}};
  fill(Tensor{(1 << 14) - 4096, kF32, {1}, {8000}}, 2);
  for (int dims = 1; dims <= 4; ++dims)
    for (const std::uint32_t code :
         {+alu::ADD, +alu::MAX, +alu::MIN, +alu::MULT, +alu::SUBTRACT, +alu::ABS_MAX}) {
      if (code == alu::MULT && dims > 1) continue;  // beyond FP32
      int window = 1;
      for (int d = 0; d < dims; ++d) window *= in.count[static_cast<std::size_t>(d)];
      const Tensor out = row(1 << 17, kF32, in.total() / window);
      for (const bool negated : {false, true}) {
        run(reduce(op::TENSOR_REDUCE_ARITH_OP, in, out, code, dims, 2)
                .set(layout::S4D4_TR::negated, negated));
        for (int o = 0; o < out.total(); ++o) {
          double want = get(in, 1, o * window), magnitude = std::fabs(want);
          for (int k = 1; k < window; ++k) {
            const double x = get(in, 1, o * window + k);
            magnitude += std::fabs(x);
            want = apply(code, want, x);
          }
          if (code == alu::MULT) magnitude = window * std::fabs(want);
          near(get(out, 1, o), negated ? -want : want, magnitude);
          if (HasFatalFailure()) return;
        }
      }
    }
}

TEST_F(ReduceTest, MaxPoolingOfTwoByTwo) {
  for (const int type : {kF16, kF32, kBf16}) {
    const Tensor in{0, type, {1, 222, 2}, {2, 2, 111}}, out = row(1 << 16, type, 111);
    fill(Tensor{0, type, {1}, {444}}, 128);
    run(reduce(op::TENSOR_REDUCE_ARITH_OP, in, out, alu::MAX, 2, 128));
    for (int p = 0; p < 128; ++p)
      for (int o = 0; o < 111; ++o) {
        double want = -INFINITY;
        for (int k = 0; k < 4; ++k) want = std::max(want, get(in, p, 4 * o + k));
        ASSERT_EQ(get(out, p, o), want);
      }
  }
}

TEST_F(ReduceTest, NanAndSaturation) {
  const Tensor in{0, kF32, {1, 40}, {40, 2}}, out = row(4096, kI8, 2);
  fill(in, 1);
  for (int i = 0; i < 40; ++i) put_raw(in, 0, i, bits_of(100.0f));
  put_raw(in, 0, 77, bits_of(NAN));
  run(reduce(op::TENSOR_REDUCE_ARITH_OP, in, out, alu::ADD, 1, 1));
  EXPECT_EQ(get(out, 0, 0), 127);
  EXPECT_EQ(get(out, 0, 1), 0);
  const Tensor wide = row(4096, kF32, 2);
  run(reduce(op::TENSOR_REDUCE_ARITH_OP, in, wide, alu::MAX, 1, 1));
  EXPECT_EQ(get(wide, 0, 0), 100);
  EXPECT_TRUE(std::isnan(get(wide, 0, 1)));
}

TEST_F(ReduceTest, BitsAndRefusals) {
  const Tensor in{0, kU16, {1, 30}, {30, 5}}, out = row(4096, kU16, 5);
  fill(in, 2);
  run(reduce(op::TENSOR_REDUCE_BITVEC_OP, in, out, alu::BITWISE_XOR, 1, 2));
  for (int o = 0; o < 5; ++o) {
    std::uint64_t want = 0;
    for (int k = 0; k < 30; ++k) want ^= raw(in, 1, 30 * o + k);
    EXPECT_EQ(raw(out, 1, o), want);
  }
  const auto arith = [&](std::uint32_t code) {
    return reduce(op::TENSOR_REDUCE_ARITH_OP, in, out, code, 1, 2);
  };
  refused(reduce(op::TENSOR_REDUCE_BITVEC_OP, in, out, alu::ADD, 1, 2), "does not reduce bits");
  refused(arith(alu::BITWISE_AND), "does not reduce");
  refused(arith(alu::BYPASS), "does not reduce");
  refused(reduce(op::TENSOR_REDUCE_ARITH_OP, in, out, alu::ADD, 0, 2), "dimensions code 1");
  refused(reduce(op::TENSOR_REDUCE_ARITH_OP, in, out, alu::ADD, 5, 2), "dimensions code 6");
  refused(reduce(op::TENSOR_REDUCE_ARITH_OP, in, out, alu::ADD, 2, 2), "after the reduction");
  refused(arith(alu::ADD).set(layout::S4D4_TR::negated, 2), "negated");
  refused(arith(alu::ADD).set(layout::S4D4_TR::mask_enable, 1), "mask_enable");
}

TEST_F(ReduceTest, Bf16FastForms) {
  generation = isa::Generation::kSunda;
  const Tensor in{0, kBf16, {1, 20}, {8, 3}}, out = row(4096, kBf16, 3);
  fill(in, 1);
  run(reduce(op::TENSOR_REDUCE_MAX_BF16, in, out, 0, 1, 1));
  for (int o = 0; o < 3; ++o) {
    double want = -INFINITY;
    for (int k = 0; k < 8; ++k) want = std::max(want, get(in, 0, 8 * o + k));
    EXPECT_EQ(get(out, 0, o), want);
  }
  run(reduce(op::TENSOR_REDUCE_ADD_BF16, in, out, alu::ADD, 1, 1));
  for (int o = 0; o < 3; ++o) {
    double want = get(in, 0, 8 * o);
    for (int k = 1; k < 8; ++k) want = f32(want + get(in, 0, 8 * o + k));
    expect(out, 0, o, want);
  }
}

TEST_F(ReduceTest, PoolMaxAndAverage) {
  namespace f = layout::S4D4_PL;
  const Tensor in{0, kBf16, {1, 30, 3, 90}, {3, 3, 10, 4}}, out{1 << 15, kF32, {1}, {40}};
  fill(in, 16);
  const auto pool = [&](int function, float scale) {
    return Record(op::POOL)
        .set(f::in_dtype, in.type)
        .set(f::out_dtype, out.type)
        .set(f::num_active_channels, 16)
        .set(f::pool_func, function)
        .set(f::pool_dim, 3)
        .set(f::pool_scale, scale)
        .tensor(f::src, in, 4)
        .tensor(f::dst, out, 4);
  };
  run(pool(1, 1.0f));
  for (int o = 0; o < 40; ++o) {
    double want = -INFINITY;
    for (int k = 0; k < 9; ++k) want = std::max(want, get(in, 9, 9 * o + k));
    ASSERT_EQ(get(out, 9, o), want);
  }
  run(pool(2, 1.0f / 9));
  for (int o = 0; o < 40; ++o) {
    double want = 0, magnitude = 0;
    for (int k = 0; k < 9; ++k) {
      want += get(in, 9, 9 * o + k) / 9;
      magnitude += std::fabs(get(in, 9, 9 * o + k));
    }
    near(get(out, 9, o), want, magnitude);
  }
  refused(pool(0, 1.0f), "pooling function 0");
  refused(pool(1, 0.5f), "scale of max pooling");
}

TEST_F(ReduceTest, AccumulatorCommands) {
  const Tensor in = row(32 * kPartition, kF32, 50), out = row(32 * kPartition + 4096, kF16, 50),
               acc = row(32 * kPartition + 8192, kF32, 1);
  const auto record = [&](std::uint32_t reduce, int command, float start = 0) {
    return ts(op::TENSOR_SCALAR_CACHE_REDUCE, in, out, alu::MULT, 0.5f, reduce, start, command, 32);
  };
  const auto total = [&](int p, std::uint32_t code, double start) {
    for (int i = 0; i < 50; ++i) start = apply(code, start, 0.5 * get(in, p, i));
    return start;
  };
  fill(in, 32);
  run(record(alu::ADD, 3));
  run(read(acc, 32));
  for (int p = 0; p < 32; ++p) {
    for (int i = 0; i < 50; ++i) expect(out, p, i, 0.5 * get(in, p, i));
    near(get(acc, p, 0), total(p, alu::ADD, 0), 50);
  }
  const double before = get(acc, 7, 0);
  run(record(alu::ADD, 2));  // goes on
  run(read(acc, 32));
  near(get(acc, 7, 0), total(7, alu::ADD, before), 100);
  run(record(alu::ADD, 4, 1000));
  run(read(acc, 32, true));
  near(get(acc, 7, 0), -total(7, alu::ADD, 1000), 1100);
  for (const std::uint32_t code : {+alu::MAX, +alu::MIN, +alu::SUBTRACT}) {
    run(record(code, 3));
    run(read(acc, 32));
    near(get(acc, 7, 0),
         total(7, code,
               code == alu::MAX   ? -INFINITY
               : code == alu::MIN ? INFINITY
                                  : 0),
         50);
  }
  run(record(alu::MULT, 1));  // reset alone
  run(read(acc, 32));
  EXPECT_EQ(get(acc, 7, 0), 1);
  run(record(alu::MULT, 0));  // nothing
  run(read(acc, 32));
  EXPECT_EQ(get(acc, 7, 0), 1);
  refused(record(alu::ADD, 5), "accumulator command 5");
  refused(record(alu::IS_EQ, 3), "does not reduce");
  refused(record(alu::ADD, 3).set(layout::S3D3_TS::reverse_operands, 2), "reverse_operands");
  refused(read(row(0, kF32, 2), 32), "the accumulator is one");
  refused(read(acc, 32).set(layout::D1_RD::negated, 2), "negated");
}

TEST_F(ReduceTest, Exponential) {
  const Tensor in = row(0, kF32, 300), out = row(4096, kF32, 300), acc = row(8192, kF32, 1),
               top = row(8196, kF32, 1);
  for (int i = 0; i < 300; ++i)
    for (int p = 0; p < 32; ++p) put_raw(in, p, i, bits_of(static_cast<float>(i - 150) * 0.37f));
  for (int p = 0; p < 32; ++p) put_raw(top, p, 0, bits_of(static_cast<float>(p)));
  Record r = ts(op::EXPONENTIAL, in, out, 0, 0, 0, 0, 3, 32);
  r.set(layout::S3D3_TS::imm0, 8196).set(layout::S3D3_TS::imm0_src, 1);
  run(r);
  run(read(acc, 32));
  for (const int p : {0, 31}) {
    double sum = 0;
    for (int i = 0; i < 300; ++i) {
      const double want = std::exp(f32(get(in, p, i) - p));
      ASSERT_NEAR(get(out, p, i), want, want * 1.3e-7 + 1e-45) << i;
      sum += want;
    }
    ASSERT_NEAR(get(acc, p, 0), sum, sum * 1e-6);
  }
  const double special[] = {INFINITY, -INFINITY, NAN, 0, 89, -104, -200, 200};
  for (int i = 0; i < 8; ++i) put_raw(in, 0, i, bits_of(static_cast<float>(special[i])));
  run(ts(op::EXPONENTIAL, in, out, 0, 0, 0, 0, 0, 1));
  for (int i = 0; i < 8; ++i) {
    const double want = f32(std::exp(special[i]));
    if (std::isnan(want))
      EXPECT_TRUE(std::isnan(get(out, 0, i)));
    else
      EXPECT_EQ(get(out, 0, i), want) << special[i];
  }
  refused(ts(op::EXPONENTIAL, in, out, alu::ADD, 0, 0, 0, 0, 1), "op0");
  generation = isa::Generation::kCayman;
  refused(ts(op::EXPONENTIAL, in, out, 0, 0, 0, 0, 0, 1), "no exponential");
}

TEST_F(ReduceTest, CumulativeRecords) {
  const Tensor in = row(0, kBf16, 600), out = row(4096, kF32, 600), acc = row(8192, kF32, 1);
  fill(in, 2);
  const auto record = [&](std::uint32_t op1, int command, float start = 0) {
    return ts(op::TENSOR_SCALAR_CACHE_CUMULATIVE, in, out, alu::ADD, 0.25f, op1, start, command, 2);
  };
  for (const std::uint32_t code : {+alu::ADD, +alu::MULT, +alu::MAX, +alu::MIN, +alu::SUBTRACT}) {
    run(record(code, 3));
    double r = code == alu::MULT  ? 1
               : code == alu::MAX ? -INFINITY
               : code == alu::MIN ? INFINITY
                                  : 0;
    for (int i = 0; i < 600; ++i) {
      r = f32(apply(code, f32(get(in, 1, i) + 0.25), r));
      expect(out, 1, i, r);
      if (HasFatalFailure()) return;
    }
    run(record(code, 2));
    r = f32(apply(code, f32(get(in, 1, 0) + 0.25), r));
    expect(out, 1, 0, r);
  }
  run(record(alu::ADD, 4, 50));
  expect(out, 1, 0, f32(get(in, 1, 0) + 0.25) + 50);
  run(read(acc, 2));
  EXPECT_EQ(get(acc, 1, 0), get(out, 1, 599));
  refused(record(alu::ADD, 0), "accumulator command 0");
  refused(record(alu::DIVIDE, 3), "does not cumulate");
}

TEST_F(ReduceTest, TensorCumulativeRestartsWithEachWindow) {
  const Tensor in{0, kF32, {1, 20, 100}, {20, 5, 7}}, out = row(1 << 16, kF32, 700);
  fill(in, 3);
  for (int dims = 1; dims <= 3; ++dims) {
    const int window = dims == 1 ? 20 : dims == 2 ? 100 : 700;
    run(reduce(op::TENSOR_CUMULATIVE_ARITH_OP, in, out, alu::ADD, dims, 3));
    double r = 0;
    for (int i = 0; i < 700; ++i) {
      r = i % window == 0 ? get(in, 2, i) : f32(r + get(in, 2, i));
      expect(out, 2, i, r);
      if (HasFatalFailure()) return;
    }
  }
  const Tensor bits{0, kU8, {1, 10}, {10, 60}}, to = row(1 << 16, kU8, 600);
  fill(bits, 1);
  run(reduce(op::TENSOR_CUMULATIVE_BITVEC_OP, bits, to, alu::BITWISE_XOR, 1, 1));
  std::uint64_t r = 0;
  for (int i = 0; i < 600; ++i) {
    r = i % 10 == 0 ? raw(bits, 0, i) : r ^ raw(bits, 0, i);
    ASSERT_EQ(raw(to, 0, i), r);
  }
  refused(reduce(op::TENSOR_CUMULATIVE_ARITH_OP, in, out, alu::DIVIDE, 1, 1), "does not cumulate");
  refused(reduce(op::TENSOR_CUMULATIVE_BITVEC_OP, bits, to, alu::ADD, 1, 1), "cumulate bits");
  refused(reduce(op::TENSOR_CUMULATIVE_ARITH_OP, in, out, alu::ADD, 0, 1), "dimensions code 1");
}

TEST_F(ReduceTest, TensorTensorScan) {
  namespace f = layout::S2S2D2_STT;
  const Tensor a{0, kF32, {1, 40}, {30, 20}},
      b = row(1 << 14, kBf16, 600), out = row(1 << 15, kF32, 600), start = row(1 << 16, kF32, 1);
  fill(a, 2);
  fill(b, 2);
  fill(start, 2);
  const auto record = [&](std::uint32_t op0, std::uint32_t op1) {
    return Record(op::TENSOR_TENSOR_SCAN_ARITH)
        .set(f::in0_in1_dtype, pair(a.type, b.type))
        .set(f::out_dtype, out.type)
        .set(f::num_active_channels, 2)
        .set(f::op0, op0)
        .set(f::op1, op1)
        .set(f::imm0_src, 1)
        .set(f::imm0, 1 << 16)
        .set(f::imm0_dtype, kF32)
        .tensor(f::src0, a, 2)
        .tensor(f::src1, b, 2)
        .tensor(f::dst, out, 2);
  };
  for (int reverse = 0; reverse < 4; ++reverse) {
    run(record(alu::SUBTRACT, alu::MAX).set(f::reverse_operands, reverse));
    double r = get(start, 1, 0);
    for (int i = 0; i < 600; ++i) {
      const double t = f32(reverse & 1 ? r - get(a, 1, i) : get(a, 1, i) - r);
      r = std::max(t, get(b, 1, i));
      expect(out, 1, i, r);
      if (HasFatalFailure()) return;
    }
  }
  run(record(alu::MULT, alu::ADD).set(f::imm0_src, 0).set(f::imm0, bits_of(2.0f)));
  expect(out, 0, 0, f32(get(a, 0, 0) * 2) + get(b, 0, 0));
  refused(record(alu::MULT, alu::ADD).set(f::accumulator_cmd, 3), "accumulator_cmd");
  refused(record(alu::MULT, alu::BITWISE_OR), "BITWISE_OR");
  refused(record(alu::MULT, alu::ADD).set(f::imm0_src, 0).set(f::imm0_dtype, kBf16), "immediate");
}

// One element from all of them, over more than one chunk of 512.
TEST_F(ReduceTest, AcrossPartitionsToOneElement) {
  namespace f = layout::S4D4_CR;
  engine = NRTP_ENGINE_POOL;
  const auto record = [&](std::uint8_t opcode, const Tensor& from, int reduce, const Tensor& out) {
    return Record(opcode)
        .set(f::in_dtype, from.type)
        .set(f::out_dtype, out.type)
        .set(f::num_active_channels, 32)
        .set(f::reduce_op, reduce)
        .tensor(f::src, from, 4)
        .tensor(f::dst, out, 4);
  };
  const Tensor in{0, kI16, {1, 50}, {40, 30}}, sum = row(1 << 16, kF32, 1),
                                               bits = row(1 << 16, kI16, 1);
  // Numbers below 128, so that every partial sum is exact in FP32, and one bit of
  // its own in the first chunk.
  for (int p = 0; p < 32; ++p)
    for (int i = 0; i < 1200; ++i) put_raw(in, p, i, random_() % 128);
  put_raw(in, 7, 3, 0x4000);
  double all = 0, most = 0;
  std::uint64_t combined[3] = {0, 0xFFFF, 0};  // or, and, exclusive or
  for (int p = 0; p < 32; ++p)
    for (int i = 0; i < 1200; ++i) {
      all += get(in, p, i);
      most = std::max(most, get(in, p, i));
      combined[0] |= raw(in, p, i);
      combined[1] &= raw(in, p, i);
      combined[2] ^= raw(in, p, i);
    }
  run(record(op::CROSS_LANE_REDUCE_ARITH, in, 0, sum));
  EXPECT_EQ(get(sum, 0, 0), all);
  run(record(op::CROSS_LANE_REDUCE_ARITH, in, 2, sum));
  EXPECT_EQ(get(sum, 0, 0), most);
  for (const int k : {0, 1, 2}) {
    run(record(op::CROSS_LANE_REDUCE_BITVEC, in, 3 + k, bits));
    EXPECT_EQ(raw(bits, 0, 0), combined[k]) << k;
  }
}

TEST_F(ReduceTest, AcrossPartitions) {
  namespace f = layout::S4D4_CR;
  engine = NRTP_ENGINE_POOL;
  const Tensor in{0, kBf16, {1, 50}, {40, 20}};
  fill(in, 64);
  const auto record = [&](std::uint8_t opcode, const Tensor& from, int reduce, int axis,
                          const Tensor& out, float scale = 0) {
    return Record(opcode)
        .set(f::in_dtype, from.type)
        .set(f::out_dtype, out.type)
        .set(f::num_active_channels, 64)
        .set(f::reduce_op, reduce)
        .set(f::reduce_axis, axis)
        .set(f::mean_scale, scale)
        .tensor(f::src, from, 4)
        .tensor(f::dst, out, 4);
  };
  const Tensor line = row(32 * kPartition + 4096, kF32, 800), one = row(8192, kF32, 1);
  run(record(op::CROSS_LANE_REDUCE_ARITH, in, 0, 1, line));
  for (int i = 0; i < 800; ++i) {
    double want = 0;
    for (int p = 0; p < 64; ++p) want = f32(want + get(in, p, i));
    expect(line, 0, i, want);
  }
  run(record(op::CROSS_LANE_REDUCE_ARITH, in, 1, 1, line, 1.0f / 64));
  double want = 0;
  for (int p = 0; p < 64; ++p) want += get(in, p, 799) / 64;
  near(get(line, 0, 799), want, 2);
  run(record(op::CROSS_LANE_REDUCE_ARITH, in, 2, 0, one));
  want = -INFINITY;
  for (int p = 0; p < 64; ++p)
    for (int i = 0; i < 800; ++i) want = std::max(want, get(in, p, i));
  EXPECT_EQ(get(one, 0, 0), want);
  const Tensor bits = row(0, kI16, 700), to = row(4096, kI16, 700);
  fill(bits, 64);
  run(record(op::CROSS_LANE_REDUCE_BITVEC, bits, 5, 1, to));
  for (int i = 0; i < 700; ++i) {
    std::uint64_t x = 0;
    for (int p = 0; p < 64; ++p) x ^= raw(bits, p, i);
    ASSERT_EQ(raw(to, 0, i), x);
  }
  refused(record(op::CROSS_LANE_REDUCE_ARITH, in, 3, 1, line), "not one of this record");
  refused(record(op::CROSS_LANE_REDUCE_BITVEC, bits, 0, 1, to), "not one of this record");
  refused(record(op::CROSS_LANE_REDUCE_ARITH, in, 0, 2, line), "axes code 2");
  refused(record(op::CROSS_LANE_REDUCE_ARITH, in, 0, 0, line), "the result 1");
  refused(record(op::CROSS_LANE_REDUCE_ARITH, in, 0, 1, line, 0.5f), "only an average scales");
}

}  // namespace
}  // namespace opennrt::emu::test
