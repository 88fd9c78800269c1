// SPDX-License-Identifier: Apache-2.0
//
// TENSOR_SCALAR_IMM_LD and TENSOR_SCALAR_PTR_MULTI.
#include "unit/emulator_vector/bench.h"

namespace opennrt::emu::test {
namespace {

namespace ld = layout::S2_BN;
namespace f = layout::S4D4_TSM;

class Multi : public VectorTest {
 protected:
  static Record load(std::uint8_t opcode, const Tensor& t, int channels) {
    return Record(opcode)
        .tensor(ld::src, t, 2)
        .set(ld::dtype, t.type)
        .set(ld::num_active_channels, channels);
  }
  static Record multi(std::uint8_t opcode, const Tensor& in, const Tensor& out, int channels,
                      std::uint32_t code, int reverse = 0) {
    return Record(opcode)
        .tensor(f::src, in, 4)
        .tensor(f::dst, out, 4)
        .set(f::in_dtype, in.type)
        .set(f::out_dtype, out.type)
        .set(f::num_active_channels, channels)
        .set(f::op, code)
        .set(f::op_dim, 4)
        .set(f::reverse_operands, reverse);
  }
};

TEST_F(Multi, EachSliceTakesItsScalar) {
  for (const int type : {kF32, kBf16, kI16}) {
    const Tensor scalars{0x40, type, {3}, {5}};  // not dense
    const Tensor in{0x1000, kF16, {1, 8, 0, 50}, {7, 3, 2, 5}};
    const Tensor out{0x8000, kF32, {1, 300}, {42, 5}};
    fill(scalars, 64);
    fill(in, 64);
    for (const int reverse : {0, 3})
      for (const std::uint32_t code : {alu::MULT, alu::SUBTRACT, alu::IS_GT}) {
        run(load(op::TENSOR_SCALAR_IMM_LD_ARITH, scalars, 64));
        run(multi(op::TENSOR_SCALAR_PTR_MULTI_ARITH, in, out, 64, code, reverse));
        for (int p = 0; p < 64; ++p)
          for (int i = 0; i < in.total(); ++i) {
            const double x = get(in, p, i), s = get(scalars, p, i / 42);
            expect(out, p, i, reverse ? apply(code, s, x) : apply(code, x, s));
          }
      }
  }
}

TEST_F(Multi, PairsMultiplyTheSecond) {
  generation = isa::Generation::kSunda;
  const Tensor scalars = row(0x40, kF32, 8), in{0x1000, kF32, {1, 700, 0, 800}, {700, 1, 1, 4}};
  const Tensor out{0x9000, kF32, {1}, {2800}};
  fill(scalars, 3);
  fill(in, 3);
  for (const int reverse : {0, 1, 2, 3}) {
    run(load(op::TENSOR_SCALAR_IMM_LD_ARITH, scalars, 3));
    run(multi(op::TENSOR_SCALAR_PTR_MULTI_DUAL_ARITH, in, out, 3, alu::SUBTRACT, reverse));
    for (int p = 0; p < 3; ++p)
      for (int i = 0; i < 2800; ++i) {
        const double x = get(in, p, i), s = get(scalars, p, i / 700 * 2);
        const double first = f32((reverse & 1) != 0 ? s - x : x - s);
        expect(out, p, i, first * get(scalars, p, i / 700 * 2 + 1));
      }
  }
}

TEST_F(Multi, Bits) {
  for (const int type : {kU8, kU16, kI32}) {
    const Tensor scalars = row(0x40, type, 8), in{0x1000, type, {1, 0, 0, 9}, {9, 1, 1, 8}};
    const Tensor out = row(0x8000, type, 72);
    fill(scalars, 32);
    fill(in, 32);
    run(load(op::TENSOR_SCALAR_IMM_LD_BITVEC, scalars, 32));
    run(multi(op::TENSOR_SCALAR_PTR_MULTI_BITVEC, in, out, 32, alu::BITWISE_XOR));
    for (int p = 0; p < 32; ++p)
      for (int i = 0; i < 72; ++i)
        ASSERT_EQ(raw(out, p, i), raw(in, p, i) ^ raw(scalars, p, i / 9));
    // Reversed: the scalar is shifted by the elements.
    for (int p = 0; p < 32; ++p)
      for (int i = 0; i < 72; ++i) put_raw(in, p, i, static_cast<std::uint64_t>(i % 8));
    run(multi(op::TENSOR_SCALAR_PTR_MULTI_BITVEC, in, out, 32, alu::LOGICAL_SHIFT_RIGHT, 3));
    for (int p = 0; p < 32; ++p)
      for (int i = 0; i < 72; ++i) ASSERT_EQ(raw(out, p, i), raw(scalars, p, i / 9) >> (i % 8));
  }
}

TEST_F(Multi, TheLoadedScalarsMustFit) {
  const Tensor in{0x1000, kF32, {1, 1, 1, 4}, {4, 1, 1, 2}}, out = row(0x8000, kF32, 8);
  const Record record = multi(op::TENSOR_SCALAR_PTR_MULTI_ARITH, in, out, 8, alu::ADD);
  fails(record, "has loaded 0");
  run(load(op::TENSOR_SCALAR_IMM_LD_ARITH, row(0x40, kF32, 3), 8));
  fails(record, "2 number scalars for each of 8 channels are needed");
  run(load(op::TENSOR_SCALAR_IMM_LD_ARITH, row(0x40, kF32, 2), 7));
  fails(record, "2 numbers for 7");
  run(load(op::TENSOR_SCALAR_IMM_LD_BITVEC, row(0x40, kU32, 2), 8));
  fails(record, "2 integers for 8");
  run(load(op::TENSOR_SCALAR_IMM_LD_ARITH, row(0x40, kF32, 2), 8));
  run(record);
  state.reset();
  fails(record, "has loaded 0");
}

TEST_F(Multi, WrongFieldsAreRefused) {
  refused(load(op::TENSOR_SCALAR_IMM_LD_ARITH, row(0x40, kF32, 9), 4), "number of scalars is 9");
  refused(load(op::TENSOR_SCALAR_IMM_LD_BITVEC, row(0x40, kF32, 4), 4), "scalars: data type 10");
  refused(load(op::TENSOR_SCALAR_IMM_LD_ARITH, row(0x40, kF32, 4), 4).set(ld::imm1, 1), "imm1");
  refused(load(op::TENSOR_SCALAR_IMM_LD_ARITH, row(0x40, kF32, 4), 4).set(ld::imm0_src, 1),
          "source of imm0");
  const Tensor in{0x1000, kF32, {1, 1, 1, 4}, {4, 1, 1, 2}}, out = row(0x8000, kF32, 8);
  constexpr std::uint8_t kMulti = op::TENSOR_SCALAR_PTR_MULTI_ARITH;
  refused(multi(kMulti, in, out, 8, alu::ADD, 1), "reversed operands code 1");
  refused(multi(kMulti, in, out, 8, alu::ADD).set(f::op_dim, 3), "dimensions of a slice code is 3");
  refused(multi(kMulti, in, row(0x8000, kF32, 7), 8, alu::ADD), "the destination 7");
  refused(multi(kMulti, in, out, 8, alu::BITWISE_AND), "is not FP32 arithmetic");
  Tensor many = in;
  many.count[3] = 9;
  refused(multi(kMulti, many, row(0x8000, kF32, 36), 8, alu::ADD), "number of slices is 9");
  many.count[3] = 5;
  generation = isa::Generation::kSunda;
  refused(multi(op::TENSOR_SCALAR_PTR_MULTI_DUAL_ARITH, many, row(0x8000, kF32, 20), 8, alu::ADD),
          "number of slices is 5");
  constexpr std::uint8_t kBits = op::TENSOR_SCALAR_PTR_MULTI_BITVEC;
  Tensor words = in;
  words.type = kU32;
  refused(multi(kBits, words, row(0x8000, kI32, 8), 8, alu::BITWISE_AND), "must be equal");
  refused(multi(kBits, words, row(0x8000, kU32, 8), 8, alu::ADD), "is not a bit operation");
  refused(multi(op::TENSOR_SCALAR_PTR_MULTI_DUAL_BITVEC, words, row(0x8000, kU32, 8), 8,
                alu::BITWISE_AND),
          "second operation");
}

}  // namespace
}  // namespace opennrt::emu::test
