// SPDX-License-Identifier: Apache-2.0
//
// TRANSPOSE_*: element e of channel p comes from channel e % 32 of the same
// quadrant, element p % 32 of the same block; then the plain instruction.
#include "unit/emulator_vector/bench.h"

namespace opennrt::emu::test {
namespace {

class Transposed : public VectorTest {
 protected:
  // Value at place e of channel p after the transposition.
  double turned(const Tensor& t, int p, int e) {
    return get(t, p / 32 * 32 + e % 32, e / 32 * 32 + p % 32);
  }
  std::uint64_t turned_raw(const Tensor& t, int p, int e) {
    return raw(t, p / 32 * 32 + e % 32, e / 32 * 32 + p % 32);
  }
  static Record reduce(std::uint8_t opcode, const Tensor& in, const Tensor& out, int channels,
                       std::uint32_t alu_op, int op_dim) {
    namespace f = layout::S4D4_TR;
    return Record(opcode)
        .tensor(f::src, in, 4)
        .tensor(f::dst, out, 4)
        .set(f::in_dtype, in.type)
        .set(f::out_dtype, out.type)
        .set(f::num_active_channels, channels)
        .set(f::op, alu_op)
        .set(f::op_dim, op_dim);
  }
  static Record scalar(const Tensor& in, const Tensor& out, int channels) {
    namespace f = layout::S3D3_TS;
    return Record(op::TRANSPOSE_TENSOR_SCALAR_ARITH_OP)
        .tensor(f::src, in, 3)
        .tensor(f::dst, out, 3)
        .set(f::in_dtype, in.type)
        .set(f::out_dtype, out.type)
        .set(f::num_active_channels, channels);
  }
};

TEST_F(Transposed, ReducesTheTransposedStream) {
  for (const int type : {kF32, kBf16, kF16, kI8, kE4}) {
    // Not dense, two blocks; windows of 16 elements.
    const Tensor in{0x1000, type, {3, 100}, {32, 2}},
        source{0x1000, type, {3, 48, 100}, {16, 2, 2}};
    const Tensor out = row(0x8000, kF32, 4);
    fill(in, 64);
    for (const std::uint32_t code : {alu::MAX, alu::MIN}) {
      run(reduce(op::TRANSPOSE_TENSOR_REDUCE_ARITH_OP, source, out, 64, code, 2));
      for (int p = 0; p < 64; ++p)
        for (int w = 0; w < 4; ++w) {
          double want = turned(in, p, 16 * w);
          for (int i = 1; i < 16; ++i) want = apply(code, want, turned(in, p, 16 * w + i));
          expect(out, p, w, want);
        }
    }
  }
}

TEST_F(Transposed, SumsAndNegates) {
  const Tensor in = row(0x1000, kI16, 96), out = row(0x8000, kF32, 1);
  for (int p = 0; p < 32; ++p)
    for (int i = 0; i < 96; ++i)
      put_raw(in, p, i, static_cast<std::uint64_t>((37 * p + 11 * i) % 2000));
  Record r = reduce(op::TRANSPOSE_TENSOR_REDUCE_ARITH_OP, in, out, 32, alu::ADD, 2);
  r.set(layout::S4D4_TR::negated, 1);
  run(r);
  for (int p = 0; p < 32; ++p) {
    double want = 0;
    for (int i = 0; i < 96; ++i) want += turned(in, p, i);
    expect(out, p, 0, -want);
  }
}

TEST_F(Transposed, ReducesBits) {
  for (const int type : {kU8, kI16, kU32})
    for (const std::uint32_t code : {alu::BITWISE_OR, alu::BITWISE_AND, alu::BITWISE_XOR}) {
      const Tensor in = row(0x1000, type, 64), out = row(0x8000, type, 2);
      const Tensor source{0x1000, type, {1, 32}, {32, 2}};
      fill(in, 128, true);
      run(reduce(op::TRANSPOSE_TENSOR_REDUCE_BITVEC_OP, source, out, 128, code, 2));
      for (int p = 0; p < 128; ++p)
        for (int w = 0; w < 2; ++w) {
          std::uint64_t want = turned_raw(in, p, 32 * w);
          for (int i = 1; i < 32; ++i) {
            const std::uint64_t v = turned_raw(in, p, 32 * w + i);
            want = code == alu::BITWISE_OR    ? want | v
                   : code == alu::BITWISE_AND ? want & v
                                              : want ^ v;
          }
          ASSERT_EQ(raw(out, p, w), want) << type << " " << code << " " << p;
        }
    }
}

TEST_F(Transposed, TensorScalarTakesScalarsOfTheDestinationChannel) {
  namespace f = layout::S3D3_TS;
  const Tensor in = row(kPsum, kF32, 32), out{0x4000, kBf16, {2}, {32}}, s = row(0x40, kF32, 1);
  fill(in, 32);
  fill(s, 32);
  run(scalar(in, out, 32)
          .set(f::op0, alu::MULT)
          .set(f::imm0_src, 1)
          .set(f::imm0, s.address)
          .set(f::op1, alu::SUBTRACT)
          .set(f::imm1, bits_of(0.5f)));
  for (int p = 0; p < 32; ++p)
    for (int i = 0; i < 32; ++i) expect(out, p, i, f32(turned(in, p, i) * get(s, p, 0)) - 0.5);
}

TEST_F(Transposed, InPlace) {
  namespace f = layout::S3D3_TS;
  const Tensor t = row(0x1000, kF32, 64);
  fill(t, 32);
  std::vector<std::vector<double>> want(32, std::vector<double>(64));
  for (int p = 0; p < 32; ++p)
    for (int i = 0; i < 64; ++i) want[p][i] = turned(t, p, i);
  run(scalar(t, t, 32).set(f::op0, alu::ADD).set(f::imm0, bits_of(0.0f)));
  for (int p = 0; p < 32; ++p)
    for (int i = 0; i < 64; ++i) expect(t, p, i, want[p][i]);
}

TEST_F(Transposed, Statistics) {
  namespace f = layout::S4D2_BN;
  const Tensor in = row(0x1000, kF32, 64), out = row(0x8000, kF32, 6);
  fill(in, 64);
  run(Record(op::TRANSPOSE_BATCH_NORM_STATS2)
          .tensor(f::src, in, 4)
          .tensor(f::dst, out, 2)
          .set(f::in_dtype, in.type)
          .set(f::out_dtype, out.type)
          .set(f::num_active_channels, 64)
          .set(f::even_count, 32.0f)
          .set(f::odd_count, 32.0f));
  for (int p = 0; p < 64; ++p)
    for (int odd = 0; odd < 2; ++odd) {
      double mean = 0, squares = 0;
      for (int i = odd; i < 64; i += 2) mean += turned(in, p, i) / 32;
      for (int i = odd; i < 64; i += 2)
        squares += (turned(in, p, i) - mean) * (turned(in, p, i) - mean);
      EXPECT_EQ(get(out, p, 3 * odd), 32);
      EXPECT_NEAR(get(out, p, 3 * odd + 1), mean, 1e-6);
      EXPECT_NEAR(get(out, p, 3 * odd + 2), squares, 1e-4);
    }
}

TEST_F(Transposed, SourceAddressInARegister) {
  const Tensor in = row(0x2000, kF32, 32), out = row(0x8000, kF32, 1);
  fill(in, 32);
  Tensor source = in;
  source.address = 0x80000005;
  state.registers[5] = 0x2000;
  run(reduce(op::TRANSPOSE_TENSOR_REDUCE_ARITH_OP, source, out, 32, alu::MAX, 2));
  double want = turned(in, 7, 0);
  for (int i = 1; i < 32; ++i) want = std::max(want, turned(in, 7, i));
  expect(out, 7, 0, want);
}

TEST_F(Transposed, WrongFieldsAreRefused) {
  constexpr std::uint8_t kReduce = op::TRANSPOSE_TENSOR_REDUCE_ARITH_OP;
  const Tensor in = row(0x1000, kF32, 32), out = row(0x8000, kF32, 1);
  refused(reduce(kReduce, in, out, 16, alu::ADD, 2), "number of channels is 16");
  refused(reduce(kReduce, row(0x1000, kF32, 48), out, 32, alu::ADD, 2),
          "number of source elements is 48");
  refused(reduce(kReduce, in, out, 32, alu::POW + 0x40, 2), "does not reduce");
  refused(reduce(kReduce, in, row(0x8000, kF32, 2), 32, alu::ADD, 2), "the destination 2");
  refused(reduce(kReduce, in, out, 32, alu::ADD, 7), "reduced dimensions code 7");
  // The source and the destination have places of their own.
  Tensor strange = in;
  strange.address = 0xFF000000;
  refused(reduce(kReduce, strange, out, 32, alu::ADD, 2), "address form 0xff000000");
  strange = out;
  strange.address = 0xFF000000;
  refused(reduce(kReduce, in, strange, 32, alu::ADD, 2), "address form 0xff000000");
  refused(reduce(op::TENSOR_REDUCE_ARITH_OP, in, strange, 32, alu::ADD, 2),
          "address form 0xff000000");
  const Tensor wide{0x1000, kF32, {1, 0}, {0x8000, 2}};
  refused(reduce(kReduce, wide, row(0x8000, kF32, 1), 32, alu::ADD, 3), "elements");
  engine = NRTP_ENGINE_POOL;
  refused(reduce(kReduce, in, out, 32, alu::ADD, 2), "does not exist on this engine");
}

}  // namespace
}  // namespace opennrt::emu::test
