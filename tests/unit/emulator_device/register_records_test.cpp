// SPDX-License-Identifier: Apache-2.0
//
// MOVE, ALU_OP and COMPARE_BRANCH: values, loops, calls, refusals.
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include "bench.h"
#include "raw_record.h"

namespace opennrt::emu::test {
namespace {

namespace op = isa::op;
namespace alu = isa::code::alu_op;
namespace dt = isa::code::dtype;
namespace MV = isa::layout::CTRL_MV;
namespace AL = isa::layout::CTRL_AL;

RawRecord move_immediate(std::uint8_t to, std::uint32_t value) {
  return RawRecord(op::MOVE)
      .set(MV::num_valid, 1)
      .set(MV::dtype, dt::UINT32)
      .set(MV::src_mode, 1)
      .set(MV::dst_regs, to)
      .set(MV::immediate, value & 0xFF, 0)
      .set(MV::immediate, value >> 8 & 0xFF, 1)
      .set(MV::immediate, value >> 16 & 0xFF, 2)
      .set(MV::immediate, value >> 24, 3);
}
RawRecord move_pair(std::uint8_t lo, std::uint8_t hi, std::uint64_t value,
                    std::uint32_t dtype = dt::UINT64) {
  RawRecord r(op::MOVE);
  r.set(MV::num_valid, 2).set(MV::dtype, dtype).set(MV::src_mode, 1);
  r.set(MV::dst_regs, lo, 0).set(MV::dst_regs, hi, 1);
  for (std::size_t i = 0; i < 8; ++i) r.set(MV::immediate, value >> 8 * i & 0xFF, i);
  return r;
}
RawRecord alu_op(std::uint32_t code, std::uint32_t dtype, std::uint8_t a, std::uint8_t b,
                 std::uint8_t to) {
  return RawRecord(op::ALU_OP)
      .set(AL::op, code)
      .set(AL::dtype, dtype)
      .set(AL::src0_lo, a)
      .set(AL::src1_lo, b)
      .set(AL::dst_lo, to);
}
RawRecord alu_immediate(std::uint32_t code, std::uint32_t dtype, std::uint8_t a, std::uint64_t b,
                        std::uint8_t to) {
  return alu_op(code, dtype, a, 0, to).set(AL::src1_mode, 1).set(AL::immediate, b);
}

class RegisterRecords : public Bench {
 protected:
  static isa::MemRecord store_regs(std::uint64_t address, std::vector<std::uint8_t> regs) {
    auto r = load_regs(address, std::move(regs));
    r.h.opcode = isa::kOpTensorStore;
    return r;
  }
  // Runs the program; false when an engine failed.
  bool good(const Program& p, std::uint32_t engine = NRTP_ENGINE_SP) {
    dev().reset_cores(1);
    execute(p, engine);
    return dev().describe(0) == "core 0: all engines stopped";
  }
  void refused(const RawRecord& r, const std::string& text) {
    {
      std::lock_guard lock(log_mutex_);
      log_.clear();
    }
    EXPECT_FALSE(good(Program{}.add(r).add(mark(70)).add(halt()))) << text;
    expect_logged({"core 0 SP at 0x1100000", text});
    EXPECT_EQ(dev().semaphore_read(0, 70), 0u);
  }
};

TEST_F(RegisterRecords, MoveImmediatesPairsAndRegisters) {
  RawRecord many(op::MOVE);
  many.set(MV::num_valid, 8).set(MV::dtype, dt::INT32).set(MV::src_mode, 1);
  for (std::uint8_t i = 0; i < 8; ++i)
    many.set(MV::dst_regs, 40 + i, i)
        .set(MV::immediate, 100 + i, 4 * i)
        .set(MV::immediate, i, 4 * i + 3);
  RawRecord copy(op::MOVE);
  copy.set(MV::num_valid, 3).set(MV::dtype, dt::FP32);
  for (std::uint8_t i = 0; i < 3; ++i) copy.set(MV::src_regs, 47 - i, i).set(MV::dst_regs, i, i);
  ASSERT_TRUE(good(Program{}
                       .add(many)
                       .add(copy)
                       .add(move_immediate(63, 0xDEADBEEF))
                       .add(move_pair(10, 20, 0x1122334455667788))
                       .add(move_pair(0x82, 0x83, 0x99AABBCCDDEEFF00, dt::FP8_EXP5))
                       .add(store_regs(kData, {40, 47, 0, 1, 2, 63, 10, 20, 0x82, 0x83}))
                       .add(halt())));
  const std::uint32_t want[] = {
      100,        107 | 7u << 24, 107 | 7u << 24, 106 | 6u << 24, 105 | 5u << 24,
      0xDEADBEEF, 0x55667788,     0x11223344,     0xDDEEFF00,     0x99AABBCC};
  for (std::uint32_t i = 0; i < 10; ++i) EXPECT_EQ(get<std::uint32_t>(kData + 4 * i), want[i]) << i;
}

// Result of an operation on two 32-bit integers, from 64-bit arithmetic.
using Reference = std::function<std::int64_t(std::int64_t, std::int64_t)>;
struct IntegerCase {
  std::uint32_t code;
  Reference want;
};
const IntegerCase kIntegerCases[] = {
    {alu::BYPASS, [](auto a, auto) { return a; }},
    {alu::ADD, [](auto a, auto b) { return a + b; }},
    {alu::SUBTRACT, [](auto a, auto b) { return a - b; }},
    // Exact modulo 2^32 for any pair: only the low halves matter.
    {alu::MULT,
     [](auto a, auto b) { return (a & 0xFFFF) * b + ((a >> 16) * (b & 0xFFFF)) * 65536; }},
    {alu::MAX, [](auto a, auto b) { return std::max(a, b); }},
    {alu::MIN, [](auto a, auto b) { return std::min(a, b); }},
    {alu::BITWISE_AND, [](auto a, auto b) { return a & b; }},
    {alu::BITWISE_OR, [](auto a, auto b) { return a | b; }},
    {alu::BITWISE_XOR, [](auto a, auto b) { return a ^ b; }},
    {alu::BITWISE_NOT, [](auto a, auto) { return ~a; }},
    {alu::LOGICAL_AND, [](auto a, auto b) { return std::int64_t{a != 0 && b != 0}; }},
    {alu::LOGICAL_OR, [](auto a, auto b) { return std::int64_t{a != 0 || b != 0}; }},
    {alu::LOGICAL_XOR, [](auto a, auto b) { return std::int64_t{(a == 0) != (b == 0)}; }},
    {alu::IS_EQ, [](auto a, auto b) { return std::int64_t{a == b}; }},
    {alu::IS_NE, [](auto a, auto b) { return std::int64_t{a != b}; }},
    {alu::IS_GT, [](auto a, auto b) { return std::int64_t{a > b}; }},
    {alu::IS_GE, [](auto a, auto b) { return std::int64_t{a >= b}; }},
    {alu::IS_LE, [](auto a, auto b) { return std::int64_t{a <= b}; }},
    {alu::IS_LT, [](auto a, auto b) { return std::int64_t{a < b}; }},
    {alu::ABSOLUTE_DIFF, [](auto a, auto b) { return a > b ? a - b : b - a; }},
    {alu::ABSOLUTE_VALUE, [](auto a, auto) { return a < 0 ? -a : a; }},
};

TEST_F(RegisterRecords, IntegerOperationsWrapAt32Bits) {
  std::mt19937 random(3);
  std::vector<std::uint32_t> values = {0, 1, 2, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 100000};
  for (int i = 0; i < 6; ++i) values.push_back(static_cast<std::uint32_t>(random()));
  for (const std::uint32_t dtype : {dt::INT32, dt::UINT32}) {
    for (const IntegerCase& c : kIntegerCases) {
      // All pairs in one program: operands in registers, or an immediate.
      Program p;
      std::vector<std::uint32_t> want;
      for (const std::uint32_t a : values)
        for (const std::uint32_t b : values) {
          const bool immediate = (a ^ b) % 2 != 0;
          p.add(move_immediate(5, a)).add(move_immediate(6, immediate ? 0xBAD : b));
          std::uint64_t extended = b;
          if (dtype == dt::INT32 && b >> 31) extended |= 0xFFFFFFFF00000000;
          p.add(immediate ? alu_immediate(c.code, dtype, 5, extended, 7)
                          : alu_op(c.code, dtype, 5, 6, 7));
          p.add(store_regs(kData + 4 * want.size(), {7}));
          const auto wide = [&](std::uint32_t v) {
            return dtype == dt::INT32 ? std::int64_t{static_cast<std::int32_t>(v)}
                                      : std::int64_t{v};
          };
          want.push_back(static_cast<std::uint32_t>(c.want(wide(a), wide(b))));
        }
      ASSERT_TRUE(good(p.add(halt()))) << c.code;
      for (std::size_t i = 0; i < want.size(); ++i)
        ASSERT_EQ(get<std::uint32_t>(kData + 4 * i), want[i])
            << "operation " << c.code << " dtype " << dtype << " " << values[i / values.size()]
            << ", " << values[i % values.size()];
    }
  }
  // Published: 100000 x 100000 and the largest plus one at 32 bits.
  ASSERT_TRUE(good(Program{}
                       .add(move_immediate(1, 100000))
                       .add(alu_op(alu::MULT, dt::INT32, 1, 1, 2))
                       .add(move_immediate(3, 0x7FFFFFFF))
                       .add(alu_immediate(alu::ADD, dt::INT32, 3, 1, 3))
                       .add(store_regs(kData, {2, 3}))
                       .add(halt())));
  EXPECT_EQ(get<std::int32_t>(kData), 1410065408);
  EXPECT_EQ(get<std::int32_t>(kData + 4), std::numeric_limits<std::int32_t>::min());
}

TEST_F(RegisterRecords, ShiftsAndDivisions) {
  struct Case {
    std::uint32_t code, dtype, a, b, want;
  };
  const Case cases[] = {{alu::LOGICAL_SHIFT_LEFT, dt::UINT32, 0x80000003, 1, 6},
                        {alu::ARITH_SHIFT_LEFT, dt::INT32, 3, 31, 0x80000000},
                        {alu::LOGICAL_SHIFT_RIGHT, dt::INT32, 0x80000000, 31, 1},
                        {alu::ARITH_SHIFT_RIGHT, dt::INT32, 0x80000000, 4, 0xF8000000},
                        {alu::ARITH_SHIFT_RIGHT, dt::INT32, 0x40000000, 4, 0x04000000},
                        {alu::DIVIDE, dt::UINT32, 0xFFFFFFFF, 16, 0x0FFFFFFF},
                        {alu::DIVIDE, dt::INT32, 17, 5, 3},
                        {alu::MOD, dt::INT32, 17, 5, 2},
                        {alu::MOD, dt::UINT32, 0xFFFFFFFF, 10, 5}};
  for (const Case& c : cases) {
    ASSERT_TRUE(good(Program{}
                         .add(move_immediate(5, c.a))
                         .add(alu_immediate(c.code, c.dtype, 5, c.b, 7))
                         .add(store_regs(kData, {7}))
                         .add(halt())));
    EXPECT_EQ(get<std::uint32_t>(kData), c.want) << c.code << " " << c.a << " " << c.b;
  }
  // Values the operation is not defined for stop the engine.
  const Case wrong[] = {{alu::DIVIDE, dt::UINT32, 1, 0, 0},
                        {alu::MOD, dt::INT32, 1, 0, 0},
                        {alu::DIVIDE, dt::INT32, static_cast<std::uint32_t>(-7), 2, 0},
                        {alu::MOD, dt::INT32, 7, static_cast<std::uint32_t>(-2), 0},
                        {alu::LOGICAL_SHIFT_LEFT, dt::UINT32, 1, 32, 0}};
  for (const Case& c : wrong)
    EXPECT_FALSE(good(Program{}
                          .add(move_immediate(5, c.a))
                          .add(move_immediate(6, c.b))
                          .add(alu_op(c.code, c.dtype, 5, 6, 7))
                          .add(halt())));
  expect_logged({"DIVIDE: division by zero"});
  expect_logged({"MOD: division of negative integers"});
  expect_logged({"LOGICAL_SHIFT_LEFT: shift of a 32-bit register by 32"});
}

TEST_F(RegisterRecords, FloatOperations) {
  const float inf = INFINITY;
  struct Case {
    std::uint32_t code;
    float a, b, want;
  };
  const Case cases[] = {
      {alu::ADD, 1.5f, 0x1p-24f, 1.5f},
      {alu::SUBTRACT, 1.0f, 3.0f, -2.0f},
      {alu::MULT, 1.1f, 1.1f, static_cast<float>(1.1f * static_cast<double>(1.1f))},
      {alu::DIVIDE, 1.0f, 3.0f, static_cast<float>(1.0 / 3.0)},
      {alu::DIVIDE, -1.0f, 0.0f, -inf},
      {alu::MAX, -1.0f, 2.0f, 2.0f},
      {alu::MIN, -1.0f, 2.0f, -1.0f},
      {alu::ABSOLUTE_DIFF, 1.0f, 4.5f, 3.5f},
      {alu::ABSOLUTE_VALUE, -4.5f, 0, 4.5f},
      {alu::IS_GT, 2.0f, 1.0f, 1.0f},
      {alu::IS_LT, 2.0f, 1.0f, 0.0f},
      {alu::LOGICAL_AND, 0.5f, -0.0f, 0.0f},
      {alu::LOGICAL_OR, 0.5f, 0.0f, 1.0f},
      {alu::BYPASS, -0.0f, 3.0f, -0.0f}};
  for (const Case& c : cases) {
    ASSERT_TRUE(
        good(Program{}
                 .add(move_immediate(5, std::bit_cast<std::uint32_t>(c.a)))
                 .add(alu_immediate(c.code, dt::FP32, 5, std::bit_cast<std::uint32_t>(c.b), 7))
                 .add(store_regs(kData, {7}))
                 .add(halt())));
    EXPECT_EQ(get<std::uint32_t>(kData), std::bit_cast<std::uint32_t>(c.want)) << c.code;
  }
  ASSERT_TRUE(good(Program{}
                       .add(move_immediate(5, 0x7FC00000))
                       .add(alu_immediate(alu::MAX, dt::FP32, 5, 0x3F800000, 7))
                       .add(store_regs(kData, {7}))
                       .add(halt())));
  EXPECT_TRUE(std::isnan(get<float>(kData)));
}

TEST_F(RegisterRecords, SixtyFourBitPairs) {
  struct Case {
    std::uint32_t code;
    std::uint64_t a, b, want;
  };
  const Case cases[] = {{alu::ADD, 0xFFFFFFFF, 1, 0x100000000},
                        {alu::SUBTRACT, 0x100000000, 1, 0xFFFFFFFF},
                        {alu::MULT, 0x180000, 1ull << 30, 0x180000ull << 30},
                        {alu::SUBTRACT, 0, 1, ~0ull}};
  for (const Case& c : cases)
    for (const bool immediate : {false, true}) {
      auto r = alu_op(c.code, dt::INT64, 10, immediate ? 0 : 12, 14)
                   .set(AL::src0_hi, 11)
                   .set(AL::dst_hi, 15);
      if (immediate)
        r.set(AL::src1_mode, 1).set(AL::immediate, c.b);
      else
        r.set(AL::src1_hi, 13);
      ASSERT_TRUE(good(Program{}
                           .add(move_pair(10, 11, c.a))
                           .add(move_pair(12, 13, c.b))
                           .add(r)
                           .add(store_regs(kData, {14, 15}))
                           .add(halt())));
      EXPECT_EQ(get<std::uint64_t>(kData), c.want) << c.code << " " << immediate;
    }
}

// for (i = 0; i < n; ++i) for (j = 0; j < 3; ++j) mark, on every engine.
TEST_F(RegisterRecords, CountedLoops) {
  for (std::uint32_t engine = 0; engine < 5; ++engine) {
    for (const std::uint32_t n : {1u, 7u, 1000u}) {
      auto outer = branch(isa::kBranchLtImm, 1, 0xBAD, -5);
      outer.op = isa::kBranchLtImm + 8;
      outer.rhs = 3;
      ASSERT_TRUE(good(Program{}
                           .add(move_immediate(1, 0))
                           .add(move_immediate(3, n))
                           .add(move_immediate(2, 0))  // outer body
                           .add(mark(70))              // inner body
                           .add(alu_immediate(alu::ADD, dt::INT32, 2, 1, 2))
                           .add(branch(isa::kBranchLtImm, 2, 3, -2))
                           .add(alu_immediate(alu::ADD, dt::INT32, 1, 1, 1))
                           .add(outer)
                           .add(store_regs(kData, {1, 2}))
                           .add(halt()),
                       engine));
      EXPECT_EQ(dev().semaphore_read(0, 70), 3 * n) << engine;
      EXPECT_EQ(get<std::uint32_t>(kData), n);
    }
  }
}

// A function called from two places returns through the pair r50, r51.
TEST_F(RegisterRecords, CallAndReturnThroughARegisterPair) {
  const std::uint64_t function = kProgram + 0x10000;
  auto back = branch(isa::kBranchAlways, 0, 0, 0);
  back.target_mode = isa::kTargetRegister;
  back.target_lo = 50;
  back.target_hi = 51;
  load(Program{}.add(mark(71)).add(back), function);
  const auto call = [&](std::uint64_t slot) {
    auto b = branch(isa::kBranchAlways, 0, 0, 0);
    b.offset = static_cast<std::int32_t>(function - (kProgram + 64 * slot));
    return b;
  };
  ASSERT_TRUE(good(Program{}
                       .add(move_pair(50, 51, kProgram + 2 * 64))
                       .add(call(1))
                       .add(mark(70))
                       .add(move_pair(50, 51, kProgram + 5 * 64))
                       .add(call(4))
                       .add(mark(70))
                       .add(halt())));
  EXPECT_EQ(dev().semaphore_read(0, 71), 2u);
  EXPECT_EQ(dev().semaphore_read(0, 70), 2u);
}

// The chain of compiled programs that turns an index into a byte offset.
TEST_F(RegisterRecords, IndexTimesRowTimesElement) {
  put<std::int32_t>(sbuf(4, 0x2FC00), 42);
  auto in = load_regs(sbuf(4, 0x2FC00), {60});
  in.dtype = dt::INT32;
  ASSERT_TRUE(good(Program{}
                       .add(in)
                       .add(alu_immediate(alu::MULT, dt::INT32, 60, 786432, 61))
                       .add(alu_immediate(alu::MULT, dt::INT32, 61, 2, 60))
                       .add(store_regs(kData, {60}))
                       .add(halt()),
                   NRTP_ENGINE_POOL));
  EXPECT_EQ(get<std::uint32_t>(kData), 42u * 786432u * 2u);
}

TEST_F(RegisterRecords, RegistersOfEnginesArePrivate) {
  for (std::uint32_t e = 0; e < 5; ++e)
    load(Program{}
             .add(move_immediate(9, 1000 + e))
             .add(RawRecord(op::ENGINE_NOP))
             .add(store_regs(kData + 4 * e, {9}))
             .add(halt()),
         kProgram + 0x8000 * e);
  for (std::uint32_t e = 0; e < 5; ++e) start(e, kProgram + 0x8000 * e);
  run();
  for (std::uint32_t e = 0; e < 5; ++e) EXPECT_EQ(get<std::uint32_t>(kData + 4 * e), 1000 + e);
}

TEST_F(RegisterRecords, WrongMoves) {
  refused(move_immediate(64, 1), "destination register 64 does not exist");
  refused(move_immediate(1, 1).set(MV::num_valid, 0), "moves 0 registers");
  refused(move_immediate(1, 1).set(MV::num_valid, 9), "moves 9 registers");
  refused(move_immediate(1, 1).set(MV::src_mode, 2), "source mode 2");
  refused(move_immediate(1, 1).set(MV::dtype, dt::FP16), "moves data type FP16 (7)");
  refused(move_immediate(1, 1).set(MV::src_regs, 3), "source register of an immediate");
  refused(move_immediate(1, 1).set(MV::dst_regs, 3, 4), "beyond its count");
  refused(move_immediate(1, 1).byte(15, 1), "byte 15 is 0x1, no field is known there");
  refused(move_pair(1, 2, 3).set(MV::src_mode, 0), "64-bit move");
  refused(move_pair(1, 2, 3).set(MV::num_valid, 1), "64-bit move");
  auto swap = RawRecord(op::MOVE).set(MV::num_valid, 2).set(MV::dtype, dt::UINT32);
  swap.set(MV::src_regs, 1, 0)
      .set(MV::dst_regs, 2, 0)
      .set(MV::src_regs, 2, 1)
      .set(MV::dst_regs, 1, 1);
  refused(swap, "register 2 is written and read later");
  refused(RawRecord(op::MOVE).set(MV::num_valid, 1).set(MV::dtype, dt::INT32).set(MV::src_regs, 77),
          "source register 77");
}

TEST_F(RegisterRecords, WrongAluRecords) {
  const auto add = [](std::uint32_t code = alu::ADD, std::uint32_t dtype = dt::INT32) {
    return alu_immediate(code, dtype, 1, 1, 2);
  };
  refused(add(alu::POW), "POW on data type INT32 (8): the sequencers do not have this operation");
  refused(add(alu::ADD_INT), "ADD_INT on data type");
  refused(add(0x77), "operation 119 on data type");
  refused(add(alu::RELU), "exists on mariana only");
  refused(add(alu::MOD, dt::FP32), "an integer operation");
  refused(add(alu::BITWISE_AND, dt::FP32), "an integer operation");
  refused(add(alu::MAX, dt::INT64), "at 64 bits there are");
  refused(add(alu::ADD, dt::INT16), "registers hold INT32");
  refused(add().set(AL::dst_dtype, dt::FP32), "result of data type FP32 (10) from INT32 (8)");
  refused(add().set(AL::src1_mode, 2), "source mode 2");
  refused(add().set(AL::src0_lo, 64), "source 0 register 64");
  refused(add().set(AL::dst_hi, 3), "register pair in a 32-bit operation");
  refused(add().set(AL::immediate, 0x100000000), "64-bit immediate 0x100000000");
  refused(add().byte(40, 1), "byte 40 is 0x1");
  EXPECT_TRUE(good(Program{}.add(add().set(AL::dst_dtype, dt::INT32)).add(halt())));
}

}  // namespace
}  // namespace opennrt::emu::test
