// SPDX-License-Identifier: Apache-2.0
#include "bench.h"
#include "compute/alu.h"
#include "compute/exact_math.h"

namespace opennrt::emu::test {
namespace {

class Elementwise : public VectorTest {
 protected:
  static Record tt(std::uint8_t opcode, std::uint32_t operation, const Tensor& a, const Tensor& b,
                   const Tensor& out, int partitions) {
    namespace f = layout::S3S3D3_TT;
    return Record(opcode)
        .set(f::in0_in1_dtype, pair(a.type, b.type))
        .set(f::out_dtype, out.type)
        .set(f::op, operation)
        .set(f::num_active_channels, partitions)
        .tensor(f::src0, a, 3)
        .tensor(f::src1, b, 3)
        .tensor(f::dst, out, 3);
  }
  static Record ts(std::uint8_t opcode, const Tensor& in, const Tensor& out, std::uint32_t op0,
                   std::uint32_t imm0, std::uint32_t op1, std::uint32_t imm1, int partitions) {
    namespace f = layout::S3D3_TS;
    return Record(opcode)
        .set(f::in_dtype, in.type)
        .set(f::out_dtype, out.type)
        .set(f::num_active_channels, partitions)
        .set(f::op0, op0)
        .set(f::op1, op1)
        .set(f::imm0, imm0)
        .set(f::imm1, imm1)
        .tensor(f::src, in, 3)
        .tensor(f::dst, out, 3);
  }
  static Record stt(std::uint8_t opcode, const Tensor& a, const Tensor& b, const Tensor& out,
                    std::uint32_t op0, std::uint32_t imm, int imm_type, std::uint32_t op1,
                    int partitions) {
    namespace f = layout::S2S2D2_STT;
    return Record(opcode)
        .set(f::in0_in1_dtype, pair(a.type, b.type))
        .set(f::out_dtype, out.type)
        .set(f::num_active_channels, partitions)
        .set(f::op0, op0)
        .set(f::op1, op1)
        .set(f::imm0, imm)
        .set(f::imm0_dtype, imm_type)
        .tensor(f::src0, a, 2)
        .tensor(f::src1, b, 2)
        .tensor(f::dst, out, 2);
  }
};

TEST_F(Elementwise, EveryOperationOverWildFloats) {
  const Tensor a = row(0, kF32, 700), b = row(4096, kF32, 700), out = row(8192, kF32, 700);
  for (const std::uint32_t code : kExactOps) {
    fill(a, 3, true);
    fill(b, 3, true);
    const double special[] = {NAN, INFINITY, -INFINITY, 0.0, 1.0};
    for (int i = 0; i < 25; ++i) {
      put_raw(a, 0, i, bits_of(static_cast<float>(special[i / 5])));
      put_raw(b, 0, i, bits_of(static_cast<float>(special[i % 5])));
    }
    run(tt(op::TENSOR_TENSOR_ARITH_OP, code, a, b, out, 3));
    for (int p = 0; p < 3; ++p)
      for (int i = 0; i < 700; ++i) {
        SCOPED_TRACE(code);
        expect(out, p, i, apply(code, get(a, p, i), get(b, p, i)));
        if (HasFatalFailure()) return;
      }
  }
}

TEST_F(Elementwise, BothTargetsGiveTheSameBits) {
  std::vector<float> a(1000), b(1000), x(1000), y(1000);
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] = std::bit_cast<float>(static_cast<std::uint32_t>(random_()));
    b[i] = std::bit_cast<float>(static_cast<std::uint32_t>(random_()));
  }
  for (std::uint32_t code = 0; code < 0x24; ++code) {
    const ArithOp* base = arith_op_of_target(code, 0);
    const ArithOp* cpu = arith_op_of_target(code, 1);
    ASSERT_EQ(base == nullptr, cpu == nullptr);
    if (!base) continue;
    base->vectors(a.data(), b.data(), x.data(), a.size());
    cpu->vectors(a.data(), b.data(), y.data(), a.size());
    ASSERT_EQ(std::memcmp(x.data(), y.data(), 4 * x.size()), 0) << code;
    base->scalar(a.data(), 1.7f, x.data(), a.size());
    cpu->scalar(a.data(), 1.7f, y.data(), a.size());
    ASSERT_EQ(std::memcmp(x.data(), y.data(), 4 * x.size()), 0) << code;
    std::vector<float> small(777);
    for (float& v : small) v = static_cast<float>(random_() % 1000) / 999.0f;
    const float f0 = base->fold(small.data(), small.size(), 0.5f);
    const float f1 = cpu->fold(small.data(), small.size(), 0.5f);
    ASSERT_EQ(bits_of(f0), bits_of(f1)) << code;
  }
}

TEST_F(Elementwise, PowRsqrtAndMod) {
  const Tensor a = row(0, kF32, 600), b = row(4096, kF32, 600), out = row(8192, kF32, 600);
  fill(a, 1);
  fill(b, 1);
  for (int i = 0; i < 200; ++i) put_raw(b, 0, i, bits_of(static_cast<float>(i % 9 - 4)));
  run(tt(op::TENSOR_TENSOR_ARITH_OP, alu::POW, a, b, out, 1));
  for (int i = 0; i < 600; ++i) {
    const double want = std::pow(get(a, 0, i), get(b, 0, i)), got = get(out, 0, i);
    if (std::isnan(want))
      ASSERT_TRUE(std::isnan(got)) << i;
    else
      ASSERT_NEAR(got, want, std::fabs(want) * 1.2e-7) << get(a, 0, i) << " ^ " << get(b, 0, i);
  }
  run(tt(op::TENSOR_TENSOR_ARITH_OP, alu::RSQRT, a, b, out, 1));
  for (int i = 0; i < 600; ++i) {
    const double x = get(a, 0, i);
    if (x < 0)
      ASSERT_TRUE(std::isnan(get(out, 0, i)));
    else
      ASSERT_NEAR(get(out, 0, i), 1 / std::sqrt(x), 1.2e-7 / std::sqrt(x));
  }
  // The remainder has the sign of the divisor.
  const double cases[][3] = {{7, 3, 1}, {-7, 3, 2}, {7, -3, -2},   {-7, -3, -1},
                             {6, 3, 0}, {-6, 3, 0}, {5.5, 2, 1.5}, {-5.5, 2, 0.5}};
  for (int i = 0; i < 8; ++i) {
    put_raw(a, 0, i, bits_of(static_cast<float>(cases[i][0])));
    put_raw(b, 0, i, bits_of(static_cast<float>(cases[i][1])));
  }
  run(tt(op::TENSOR_TENSOR_ARITH_OP, alu::MOD, a, b, out, 1));
  for (int i = 0; i < 8; ++i) EXPECT_EQ(get(out, 0, i), cases[i][2]) << i;
}

TEST_F(Elementwise, PowSpecialValues) {
  const double values[] = {0.0, -0.0, 1,        -1,        2,   -2,   3,
                           0.5, -0.5, INFINITY, -INFINITY, NAN, 1e30, -1e30};
  for (const double x : values)
    for (const double y : values) {
      const double want = std::pow(x, y);
      const float got = exact_powf(static_cast<float>(x), static_cast<float>(y));
      if (std::isnan(want))
        EXPECT_TRUE(std::isnan(got)) << x << " ^ " << y;
      else
        EXPECT_EQ(got, static_cast<float>(std::pow(static_cast<double>(static_cast<float>(x)),
                                                   static_cast<double>(static_cast<float>(y)))))
            << x << " ^ " << y;
    }
}

TEST_F(Elementwise, EveryTypePairThroughStridedPatterns) {
  const int types[] = {kI8, kU8, kI16, kU16, kBf16, kF16, kI32, kU32, kF32, kE3, kE4, kE5};
  for (const int ta : types)
    for (const int to : types) {
      const Tensor a{64, ta, {-1, 16, 0}, {5, 3, 2}};
      const Tensor b{kPsum + 1024, kF32, {3, 0, 20}, {5, 3, 2}};
      const Tensor out{4096, to, {6, 1}, {6, 5}};
      fill(Tensor{0, ta, {1}, {64}}, 32);
      fill(b, 32);
      run(tt(op::TENSOR_TENSOR_ARITH_OP, alu::MULT, a, b, out, 32));
      for (const int p : {0, 31})
        for (int i = 0; i < 30; ++i) {
          expect(out, p, i, f32(get(a, p, i)) * get(b, p, i));
          if (HasFatalFailure()) return;
        }
    }
}

TEST_F(Elementwise, BitOperationsOfEveryWidth) {
  for (const int type : {kI8, kU8, kI16, kU16, kI32, kU32}) {
    const int w = 8 * bytes_of(type);
    const std::uint64_t mask = (1ull << w) - 1;
    const Tensor a = row(0, type, 600), b = row(4096, type, 600),
                 out = Tensor{8192, type, {2}, {600}};
    fill(a, 2);
    fill(b, 2);
    for (int i = 0; i < 300; ++i) put_raw(b, 0, i, random_() % 40);
    const auto check = [&](std::uint32_t code, auto formula) {
      run(tt(op::TENSOR_TENSOR_BITVEC_OP, code, a, b, out, 2));
      for (int p = 0; p < 2; ++p)
        for (int i = 0; i < 600; ++i)
          ASSERT_EQ(raw(out, p, i), formula(raw(a, p, i), raw(b, p, i)) & mask)
              << code << " width " << w << " " << raw(a, p, i) << " " << raw(b, p, i);
    };
    const auto u = [](auto v) { return static_cast<std::uint64_t>(v); };
    check(alu::BYPASS, [](auto x, auto) { return x; });
    check(alu::BITWISE_NOT, [](auto x, auto) { return ~x; });
    check(alu::BITWISE_AND, [](auto x, auto y) { return x & y; });
    check(alu::BITWISE_OR, [](auto x, auto y) { return x | y; });
    check(alu::BITWISE_XOR, [](auto x, auto y) { return x ^ y; });
    const auto left = [&](auto x, auto y) { return y >= u(w) ? u(0) : x << y; };
    check(alu::LOGICAL_SHIFT_LEFT, left);
    check(alu::ARITH_SHIFT_LEFT, left);
    check(alu::LOGICAL_SHIFT_RIGHT, [&](auto x, auto y) { return y >= u(w) ? u(0) : x >> y; });
    check(alu::ARITH_SHIFT_RIGHT, [&](auto x, auto y) {
      const auto s = static_cast<std::int64_t>(x << (64 - w)) >> (64 - w);
      return u(s >> std::min<std::uint64_t>(y, 63));
    });
    if (HasFatalFailure()) return;
  }
}

TEST_F(Elementwise, ExactIntegersOnPool) {
  engine = NRTP_ENGINE_POOL;
  const Tensor a = row(0, kI32, 512), b = row(4096, kU8, 512), out = row(8192, kI32, 512);
  fill(a, 2);
  fill(b, 2);
  const auto check = [&](std::uint32_t code, auto formula) {
    run(tt(op::TENSOR_TENSOR_ARITH_OP, code, a, b, out, 2));
    for (int p = 0; p < 2; ++p)
      for (int i = 0; i < 512; ++i) {
        const auto x = static_cast<std::int64_t>(get(a, p, i));
        const auto y = static_cast<std::int64_t>(get(b, p, i));
        ASSERT_EQ(raw(out, p, i), static_cast<std::uint64_t>(formula(x, y)) & 0xFFFFFFFF)
            << code << " " << x << " " << y;
      }
  };
  using I = std::int64_t;
  check(alu::ADD_INT, [](I x, I y) { return x + y; });
  check(alu::SUBTRACT_INT, [](I x, I y) { return x - y; });
  check(alu::MULT_INT, [](I x, I y) { return x * y; });
  check(alu::MAX_INT, [](I x, I y) { return std::max(x, y); });
  check(alu::MIN_INT, [](I x, I y) { return std::min(x, y); });
  check(alu::ABS_DIFF_INT, [](I x, I y) { return std::abs(x - y); });
  check(alu::ABS_VALUE_INT, [](I x, I) { return std::abs(x); });
  check(alu::ABS_MAX_INT, [](I x, I y) { return std::max(std::abs(x), std::abs(y)); });
  check(alu::ABS_MIN_INT, [](I x, I y) { return std::min(std::abs(x), std::abs(y)); });
  check(alu::IS_EQ_INT, [](I x, I y) { return I{x == y}; });
  check(alu::IS_NE_INT, [](I x, I y) { return I{x != y}; });
  check(alu::IS_GT_INT, [](I x, I y) { return I{x > y}; });
  check(alu::IS_GE_INT, [](I x, I y) { return I{x >= y}; });
  check(alu::IS_LE_INT, [](I x, I y) { return I{x <= y}; });
  check(alu::IS_LT_INT, [](I x, I y) { return I{x < y}; });
  const auto u = [](I v) { return v & 0xFFFFFFFF; };
  check(alu::MAX_UINT, [&](I x, I y) { return std::max(u(x), u(y)); });
  check(alu::MIN_UINT, [&](I x, I y) { return std::min(u(x), u(y)); });
  check(alu::IS_GT_UINT, [&](I x, I y) { return I{u(x) > u(y)}; });
  check(alu::IS_GE_UINT, [&](I x, I y) { return I{u(x) >= u(y)}; });
  check(alu::IS_LE_UINT, [&](I x, I y) { return I{u(x) <= u(y)}; });
  check(alu::IS_LT_UINT, [&](I x, I y) { return I{u(x) < u(y)}; });
  check(alu::MULT_UINT, [&](I x, I y) { return u(x) * u(y); });
  for (int i = 0; i < 512; ++i)
    for (int p = 0; p < 2; ++p) put_raw(b, p, i, 1 + random_() % 255);
  check(alu::DIVIDE_UINT, [&](I x, I y) { return u(x) / u(y); });
  check(alu::MOD_UINT, [&](I x, I y) { return u(x) % u(y); });
  put_raw(b, 1, 500, 0);
  fails(tt(op::TENSOR_TENSOR_ARITH_OP, alu::MOD_UINT, a, b, out, 2),
        "division by 0 in partition 1");
  refused(tt(op::TENSOR_TENSOR_ARITH_OP, alu::DIVIDE_INT, a, b, out, 2), "DIVIDE_INT");
  refused(tt(op::TENSOR_TENSOR_ARITH_OP, alu::AMAX_INT, a, b, out, 2), "AMAX_INT");
  refused(tt(op::TENSOR_TENSOR_ARITH_OP, alu::ADD_INT, a, b, row(8192, kI16, 512), 2),
          "INT32 and UINT32 only");
  engine = NRTP_ENGINE_DVE;
  refused(tt(op::TENSOR_TENSOR_ARITH_OP, alu::ADD_INT, a, b, out, 2), "pool engine only");
}

TEST_F(Elementwise, Bf16FastFormsOfTheFirstGeneration) {
  generation = isa::Generation::kSunda;
  const Tensor a = row(0, kBf16, 100), b = row(1024, kBf16, 100), out = row(2048, kBf16, 100);
  fill(a, 4);
  fill(b, 4);
  const std::pair<std::uint8_t, std::uint32_t> forms[] = {
      {op::TENSOR_TENSOR_ADD_BF16, alu::ADD},
      {op::TENSOR_TENSOR_MULT_BF16, alu::MULT},
      {op::TENSOR_TENSOR_SUB_BF16, alu::SUBTRACT}};
  for (const auto& [opcode, code] : forms) {
    run(tt(opcode, 0, a, b, out, 4));
    for (int i = 0; i < 100; ++i) expect(out, 3, i, apply(code, get(a, 3, i), get(b, 3, i)));
  }
  refused(tt(op::TENSOR_TENSOR_ADD_BF16, alu::MAX, a, b, out, 4), "contradicts");
  refused(tt(op::TENSOR_TENSOR_ADD_BF16, 0, a, b, row(2048, kF32, 100), 4), "BFLOAT16");
}

TEST_F(Elementwise, TensorScalarTwoOperationsAndReversal) {
  const Tensor in{0, kF16, {2, 40}, {20, 30}};
  const Tensor out{kPsum, kF32, {1}, {600}};
  const float s0 = 1.25f, s1 = -3.5f;
  for (const std::uint32_t op0 : kExactOps)
    for (const std::uint32_t op1 : {+alu::BYPASS, +alu::ADD, +alu::MAX, +alu::SUBTRACT})
      for (int reverse = 0; reverse < 4; ++reverse) {
        if (op0 == alu::BYPASS && op1 != alu::BYPASS) continue;
        fill(in, 2);
        run(ts(op::TENSOR_SCALAR_ARITH_OP, in, out, op0, bits_of(s0), op1, bits_of(s1), 2)
                .set(layout::S3D3_TS::reverse_operands, reverse));
        for (const int i : {0, 1, 299, 599}) {
          const double x = get(in, 1, i), a = static_cast<double>(s0), b = static_cast<double>(s1);
          const double t = f32(reverse & 1 ? apply(op0, a, x) : apply(op0, x, a));
          expect(out, 1, i, reverse & 2 ? apply(op1, b, t) : apply(op1, t, b));
          if (HasFatalFailure()) return;
        }
      }
}

TEST_F(Elementwise, TensorScalarFromMemoryAndRegisters) {
  namespace f = layout::S3D3_TS;
  const Tensor in = row(0, kBf16, 64), out = row(4096, kBf16, 64);
  const Tensor s0 = row(8192, kF32, 1), s1 = row(8196, kF32, 1);
  fill(in, 128);
  fill(s0, 128);
  fill(s1, 128);
  const auto check = [&] {
    for (int p = 0; p < 128; ++p)
      for (int i = 0; i < 64; ++i) {
        expect(out, p, i, f32(get(in, p, i) * get(s0, p, 0)) + get(s1, p, 0));
        if (HasFatalFailure()) return;
      }
  };
  run(ts(op::TENSOR_SCALAR_ARITH_OP, in, out, alu::MULT, 8192, alu::ADD, 8196, 128)
          .set(f::imm0_src, 1)
          .set(f::imm1_src, 1));
  check();
  fill(in, 128);
  run(ts(op::TENSOR_SCALAR_PTR_ARITH_OP, in, out, alu::MULT, 8192, alu::ADD, 8196, 128)
          .set(f::imm0_src, 1)
          .set(f::imm1_src, 1));
  check();
  fill(in, 128);
  state.registers[7] = 8192;
  state.registers[63] = 8196;
  const Record r = ts(op::TENSOR_SCALAR_ARITH_OP, in, out, alu::MULT, 7, alu::ADD, 63, 128)
                       .set(f::imm0_src, 2)
                       .set(f::imm1_src, 2);
  run(r);
  check();
  state.registers[63] = 0x30000;
  fails(r, "scalar 1");
  refused(ts(op::TENSOR_SCALAR_ARITH_OP, in, out, alu::MULT, 64, 0, 0, 128).set(f::imm0_src, 2),
          "the last is 63");
  refused(ts(op::TENSOR_SCALAR_ARITH_OP, in, out, alu::MULT, 0, 0, 0, 128).set(f::imm0_src, 3),
          "source code 3");
  refused(ts(op::TENSOR_SCALAR_PTR_ARITH_OP, in, out, alu::MULT, 0, 0, 0, 128), "not marked");
  refused(ts(op::TENSOR_SCALAR_ARITH_OP, in, out, alu::BYPASS, 0, alu::ADD, 0, 128), "BYPASS");
  refused(ts(op::TENSOR_SCALAR_ARITH_OP, in, out, alu::BITWISE_AND, 0, 0, 0, 128), "BITWISE_AND");
  refused(
      ts(op::TENSOR_SCALAR_ARITH_OP, in, out, alu::ADD, 0, 0, 0, 128).set(f::accumulator_cmd, 2),
      "accumulator_cmd");
  refused(
      ts(op::TENSOR_SCALAR_ARITH_OP, in, out, alu::ADD, 0, 0, 0, 128).set(f::reverse_operands, 4),
      "reverse_operands");
}

TEST_F(Elementwise, TensorScalarBits) {
  namespace f = layout::S3D3_TS;
  const Tensor in = row(0, kU16, 600), out = row(4096, kI16, 600), s = row(8192, kU16, 1);
  fill(in, 2);
  run(ts(op::TENSOR_SCALAR_BITVEC_OP, in, out, alu::BITWISE_AND, 0xFF0, alu::LOGICAL_SHIFT_RIGHT, 4,
         2));
  for (int i = 0; i < 600; ++i) ASSERT_EQ(raw(out, 1, i), (raw(in, 1, i) & 0xFF0) >> 4);
  run(ts(op::TENSOR_SCALAR_BITVEC_OP, in, out, alu::BITWISE_XOR, 0xABCD, alu::BYPASS, 0, 2));
  for (int i = 0; i < 600; ++i) ASSERT_EQ(raw(out, 1, i), raw(in, 1, i) ^ 0xABCD);
  // Reversed: 1 shifted by the elements.
  for (int i = 0; i < 600; ++i) put_raw(in, 0, i, static_cast<std::uint64_t>(i % 20));
  run(ts(op::TENSOR_SCALAR_BITVEC_OP, in, out, alu::LOGICAL_SHIFT_LEFT, 1, alu::BYPASS, 0, 1)
          .set(f::reverse_operands, 1));
  for (int i = 0; i < 600; ++i) ASSERT_EQ(raw(out, 0, i), (1u << (i % 20)) & 0xFFFF);
  fill(s, 2);
  run(ts(op::TENSOR_SCALAR_BITVEC_OP, in, out, alu::BITWISE_OR, 8192, alu::BYPASS, 0, 2)
          .set(f::imm0_src, 1));
  for (int i = 0; i < 600; ++i) ASSERT_EQ(raw(out, 1, i), raw(in, 1, i) | raw(s, 1, 0));
  refused(ts(op::TENSOR_SCALAR_BITVEC_OP, in, row(4096, kI32, 600), alu::BITWISE_OR, 1, 0, 0, 2),
          "widths");
  refused(ts(op::TENSOR_SCALAR_BITVEC_OP, row(0, kF32, 600), row(4096, kF32, 600), alu::BITWISE_OR,
             1, 0, 0, 2),
          "bit operations");
  refused(ts(op::TENSOR_SCALAR_BITVEC_OP, in, out, alu::CRC32, 1, 0, 0, 2), "CRC32");
  refused(ts(op::TENSOR_SCALAR_BITVEC_OP, in, out, alu::ADD, 1, 0, 0, 2), "ADD");
}

TEST_F(Elementwise, ScalarTensorTensor) {
  namespace f = layout::S2S2D2_STT;
  const Tensor a{0, kF32, {1, 100}, {90, 7}}, b{kPsum, kF16, {2}, {630}},
      out{65536, kBf16, {1}, {630}};
  fill(a, 64);
  fill(b, 64);
  for (const std::uint32_t op0 : kExactOps)
    for (int reverse = 0; reverse < 4; ++reverse) {
      run(stt(op::SCALAR_TENSOR_TENSOR_ARITH, a, b, out, op0, bits_of(0.75f), kF32, alu::SUBTRACT,
              64)
              .set(f::reverse_operands, reverse));
      for (const int i : {0, 89, 90, 512, 629}) {
        const double x = get(a, 63, i), y = get(b, 63, i);
        const double t = f32(reverse & 1 ? apply(op0, 0.75, x) : apply(op0, x, 0.75));
        expect(out, 63, i, reverse & 2 ? y - t : t - y);
        if (HasFatalFailure()) return;
      }
    }
  const Tensor s = row(70000, kBf16, 1);
  fill(s, 64);
  run(stt(op::SCALAR_TENSOR_TENSOR_ARITH, a, b, out, alu::MULT, 70000, kBf16, alu::ADD, 64)
          .set(f::imm0_src, 1));
  for (int i = 0; i < 630; ++i) expect(out, 5, i, f32(get(a, 5, i) * get(s, 5, 0)) + get(b, 5, i));
  const Tensor x = row(0, kI32, 50), y = row(1024, kI32, 50), z = row(2048, kI32, 50);
  fill(x, 1);
  fill(y, 1);
  run(stt(op::SCALAR_TENSOR_TENSOR_BITVEC, x, y, z, alu::LOGICAL_SHIFT_RIGHT, 3, kI32,
          alu::BITWISE_XOR, 1));
  for (int i = 0; i < 50; ++i) EXPECT_EQ(raw(z, 0, i), raw(x, 0, i) >> 3 ^ raw(y, 0, i));
  refused(stt(op::SCALAR_TENSOR_TENSOR_ARITH, a, b, out, alu::MULT, 0, kBf16, alu::ADD, 64),
          "immediate of data type 6");
  refused(stt(op::SCALAR_TENSOR_TENSOR_ARITH, a, b, out, alu::MULT, 0, kF32, alu::ADD, 64)
              .set(f::accumulator_cmd, 1),
          "accumulator_cmd");
  refused(
      stt(op::SCALAR_TENSOR_TENSOR_BITVEC, x, y, z, alu::BITWISE_OR, 3, kI16, alu::BITWISE_XOR, 1),
      "widths");
}

TEST_F(Elementwise, OperandsAreChecked) {
  const Tensor a = row(0, kF32, 8), out = row(4096, kF32, 8);
  const auto with = [&](const Tensor& x, int partitions = 4) {
    return tt(op::TENSOR_TENSOR_ARITH_OP, alu::ADD, x, a, out, partitions);
  };
  refused(with(a, 0), "0 partitions");
  refused(with(a, 129), "the memory has 128");
  refused(with(row(3, kF32, 8)), "multiple of the element size");
  refused(with(row(0x2FFF0, kF32, 8)), "a partition has 196608");
  refused(with(row(0, 0, 8)), "data type 0");
  refused(with(row(0, kI64, 8)), "no arithmetic");
  refused(with(row(0x40000000, kF32, 8)), "shape register");
  refused(with(row(0xC0000001, kF32, 8)), "shape register");
  refused(with(row(0x20000000, kF32, 8)), "indirect address");
  refused(with(row(0xA0000001, kF32, 8)), "indirect address");
  refused(with(row(0x80000040, kF32, 8)), "register 64");
  refused(with(row(0, kF32, 7)), "7 elements per partition");
  refused(with(Tensor{0, kF32, {1, 1}, {8, 0}}), "element count 0");
  refused(tt(op::TENSOR_TENSOR_ARITH_OP, alu::ADD, a, a, row(4096, kF32r, 8), 4), "FP32R");
  refused(tt(op::TENSOR_TENSOR_ARITH_OP, 0x1E, a, a, out, 4), "0x1e");
  generation = isa::Generation::kCayman;
  refused(tt(op::TENSOR_TENSOR_ARITH_OP, alu::SQUARE, a, a, out, 4), "SQUARE");
  // Quadrants: 32 anywhere, 64 at 0 and 64, more at 0.
  refused(with(row(16 * kPartition, kF32, 8)), "multiple of 32");
  refused(with(row(32 * kPartition, kF32, 8), 33), "multiple of 64");
  refused(with(row(32 * kPartition, kF32, 8), 65), "multiple of 128");
  run(with(row(96 * kPartition, kF32, 8), 32));
  run(with(row(64 * kPartition, kF32, 8), 64));
  run(with(row(0, kF32r, 8), 128));
}

TEST_F(Elementwise, OperandsInRegisters) {
  const Tensor a = row(32 * kPartition, kF16, 100), b = row(1024, kF16, 100),
               out = row(kPsum + 64 * kPsumPartition, kF32, 100);
  fill(a, 32);
  fill(b, 32);
  state.registers[0] = a.address;
  state.registers[5] = b.address;
  state.registers[63] = out.address;
  const Record r = tt(op::TENSOR_TENSOR_ARITH_OP, alu::SUBTRACT, row(0x80000000, kF16, 100),
                      row(0x80000005, kF16, 100), row(0x8000003F, kF32, 100), 32);
  run(r);
  for (int p = 0; p < 32; ++p)
    for (int i = 0; i < 100; ++i) expect(out, p, i, get(a, p, i) - get(b, p, i));
  state.registers[5] = 0x2FFFE;
  fails(r, "address in register 5");
  state.registers[5] = 0x80000001;
  fails(r, "register 5 holds");
  state.registers[5] = 0xFFFFFFFF;
  fails(r, "register 5 holds");
  state.registers[5] = 0x3FFFFFE;
  fails(r, "the memory has 128");
}

}  // namespace
}  // namespace opennrt::emu::test
