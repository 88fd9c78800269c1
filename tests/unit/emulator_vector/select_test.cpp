// SPDX-License-Identifier: Apache-2.0
#include <set>

#include "bench.h"
#include "compute/operand.h"

namespace opennrt::emu::test {
namespace {

class SelectTest : public VectorTest {
 protected:
  static Record read(const Tensor& out, int partitions) {
    namespace f = layout::D1_RD;
    return Record(op::DVE_READ_ACCUMULATOR)
        .set(f::dst_element_count, 1)
        .set(f::dtype, out.type)
        .set(f::num_active_channels, partitions)
        .tensor(f::dst, out, 1);
  }
  void predicate(const Tensor& t, int partitions) {
    for (int p = 0; p < partitions; ++p)
      for (int i = 0; i < t.total(); ++i) put_raw(t, p, i, random_() % 3 == 0 ? 0 : random_() | 1);
  }
};

TEST_F(SelectTest, PredicatedCopies) {
  namespace f = layout::S3S3D3_TT;
  const Tensor pred{0, kU8, {1, 60}, {50, 12}}, in{1 << 13, kI32, {2}, {600}},
      out{1 << 14, kI32, {-1}, {600}};
  const auto record = [&](std::uint8_t opcode, const Tensor& from, const Tensor& to) {
    return Record(opcode)
        .set(f::in0_in1_dtype, pair(pred.type, from.type))
        .set(f::out_dtype, to.type)
        .set(f::num_active_channels, 3)
        .tensor(f::src0, pred, 3)
        .tensor(f::src1, from, 3)
        .tensor(f::dst, to, 3);
  };
  const auto check = [&](std::uint8_t opcode, const Tensor& from, const Tensor& to) {
    predicate(pred, 3);
    fill(from, 3, true);
    fill(to, 3, true);
    std::vector<std::uint64_t> old;
    for (int i = 0; i < 600; ++i) old.push_back(raw(to, 2, i));
    run(record(opcode, from, to));
    for (int i = 0; i < 600; ++i) {
      if (raw(pred, 2, i) == 0)
        ASSERT_EQ(raw(to, 2, i), old[static_cast<std::size_t>(i)]);
      else if (from.type == to.type)
        ASSERT_EQ(raw(to, 2, i), raw(from, 2, i));
      else
        expect(to, 2, i, get(from, 2, i));
    }
  };
  check(op::COPY_PREDICATED, in, out);
  Tensor cast = out;
  cast.type = kF16;
  check(op::CAST_PREDICATED, in, cast);
  check(op::CAST_PREDICATED, in, out);
  refused(record(op::COPY_PREDICATED, in, cast), "keeps the type");
  refused(record(op::COPY_PREDICATED, in, out).set(f::op, 4), "op is");
  refused(record(op::COPY_PREDICATED, in, out).set(f::in0_in1_dtype, pair(kF32, kI32)),
          "predicate");
}

TEST_F(SelectTest, ScalarWherePredicate) {
  namespace f = layout::S3D3_CP_PRED_SCALAR;
  const Tensor pred{0, kU8, {1}, {600}}, out{1 << 14, kBf16, {1}, {600}}, s = row(8192, kBf16, 1);
  const auto record = [&](std::uint32_t scalar, int reversed) {
    return Record(op::COPY_PREDICATED_SCALAR)
        .set(f::pred_dtype, pred.type)
        .set(f::reversed_pred, reversed)
        .set(f::num_active_channels, 4)
        .set(f::in_dtype, out.type)
        .set(f::out_dtype, out.type)
        .set(f::src0, scalar)
        .tensor(f::pred, pred, 3)
        .tensor(f::dst, out, 3);
  };
  for (const int reversed : {0, 1})
    for (const bool pointer : {false, true}) {
      predicate(pred, 4);
      fill(out, 4);
      fill(s, 4);
      std::vector<std::uint64_t> old;
      for (int i = 0; i < 600; ++i) old.push_back(raw(out, 3, i));
      run(record(pointer ? 8192 : 0x4049, reversed).set(f::src0_src, pointer));
      for (int i = 0; i < 600; ++i)
        ASSERT_EQ(raw(out, 3, i), (raw(pred, 3, i) == 0) == (reversed == 1)
                                      ? (pointer ? raw(s, 3, 0) : 0x4049)
                                      : old[static_cast<std::size_t>(i)]);
    }
  refused(record(0x3F800000, 0), "wider than the element");
  refused(record(0, 2), "reversed_pred");
  refused(record(0, 0).set(f::in_dtype, kF32), "keeps the type");
}

TEST_F(SelectTest, SelectReduce) {
  namespace f = layout::S2S2D2_STT;
  const Tensor pred = row(0, kU16, 600), in = row(8192, kF32, 600), out = row(16384, kBf16, 600),
               acc = row(32768, kF32, 1);
  predicate(pred, 2);
  fill(in, 2);
  const auto record = [&](int command) {
    return Record(op::SELECT_REDUCE)
        .set(f::in0_in1_dtype, pair(pred.type, in.type))
        .set(f::out_dtype, out.type)
        .set(f::num_active_channels, 2)
        .set(f::op1, alu::MAX)
        .set(f::imm0, bits_of(-99.0f))
        .set(f::imm0_dtype, kF32)
        .set(f::accumulator_cmd, command)
        .tensor(f::src0, pred, 2)
        .tensor(f::src1, in, 2)
        .tensor(f::dst, out, 2);
  };
  run(record(3));
  run(read(acc, 2));
  double most = -INFINITY;
  for (int i = 0; i < 600; ++i) {
    const double want = raw(pred, 1, i) != 0 ? get(in, 1, i) : -99;
    most = std::max(most, want);
    expect(out, 1, i, want);
  }
  EXPECT_EQ(get(acc, 1, 0), most);
  refused(record(4), "accumulator command 4");
  refused(record(3).set(f::op1, alu::ADD), "does not reduce a selection");
  refused(record(3).set(f::reverse_operands, 1), "reverse_operands");
}

TEST_F(SelectTest, Iota) {
  namespace f = layout::D4_IOTA;
  engine = NRTP_ENGINE_POOL;
  for (const int type : {kI32, kU32, kF32, kBf16, kI8, kU16}) {
    Tensor ramp{0, kI32, {1, -7, 1000}, {10, 6, 11}};
    const Tensor out{4096, type, {2}, {660}};
    for (const std::uint32_t base : {5u, 0u - 70000u, 0x7FFFFF00u}) {
      ramp.address = base;
      const Record r = Record(op::IOTA)
                           .tensor(f::pattern, ramp, 4)
                           .set(f::out_dtype, type)
                           .set(f::num_active_channels, 32)
                           .set(f::channel_multiplier, -3)
                           .tensor(f::dst, out, 4);
      run(r);
      for (const int p : {0, 31})
        for (int i = 0; i < 660; ++i) {
          const auto v = static_cast<std::int32_t>(base - 3u * static_cast<std::uint32_t>(p) +
                                                   static_cast<std::uint32_t>(ramp.offset(i)));
          if (type == kI32 || type == kU32)
            ASSERT_EQ(raw(out, p, i), static_cast<std::uint32_t>(v));
          else
            expect(out, p, i, v);
          if (HasFatalFailure()) return;
        }
    }
    ramp.count[0] = 9;
    refused(Record(op::IOTA)
                .tensor(f::pattern, ramp, 4)
                .set(f::out_dtype, type)
                .set(f::num_active_channels, 32)
                .tensor(f::dst, out, 4),
            "ramp has 594");
  }
}

TEST_F(SelectTest, AffineSelect) {
  namespace f = layout::S2D2_TS_AS;
  engine = NRTP_ENGINE_POOL;
  const Tensor in = row(0, kBf16, 600), out = row(8192, kF32, 600);
  const Tensor ramp{static_cast<std::uint32_t>(-20), kI32, {-1, 3}, {30, 20}};
  fill(in, 32);
  state.registers[9] = bits_of(-1e30f);
  const auto record = [&](int compare, int reg = 9) {
    return Record(op::TENSOR_SCALAR_AFFINE_SELECT)
        .set(f::num_active_channels, 32)
        .set(f::in_out_dtype, pair(in.type, out.type))
        .set(f::fill_mode, compare)
        .set(f::fill_reg, reg)
        .tensor(f::mask_pattern, ramp, 4)
        .tensor(f::src, in, 2)
        .tensor(f::dst, out, 2)
        .set(f::channel_multiplier, 2);
  };
  for (int compare = 0; compare < 4; ++compare) {
    run(record(compare));
    for (const int p : {0, 13, 31})
      for (int i = 0; i < 600; ++i) {
        const int v = -20 + 2 * p + ramp.offset(i);
        const bool keep = compare == 0   ? v > 0
                          : compare == 1 ? v >= 0
                          : compare == 2 ? v == 0
                                         : v != 0;
        expect(out, p, i, keep ? get(in, p, i) : static_cast<double>(-1e30f));
        if (HasFatalFailure()) return;
      }
  }
  refused(record(4), "comparison 4");
  refused(record(0, 64), "the last is 63");
}

TEST_F(SelectTest, RangeSelect) {
  namespace f = layout::S2D2_RS;
  const Tensor in{0, kF32, {1, 300}, {280, 2}},
      out = row(8192, kF32, 560), low = row(16384, kF32, 1), acc = row(16392, kF32, 1);
  fill(in, 32);
  for (int p = 0; p < 32; ++p) put_raw(low, p, 0, bits_of(static_cast<float>(100 + p)));
  const auto record = [&](std::uint32_t op0, std::uint32_t op1, int command) {
    return Record(op::RANGE_SELECT)
        .set(f::num_active_channels, 32)
        .set(f::in_out_dtype, pair(in.type, out.type))
        .set(f::reduce_cmd, command)
        .set(f::reduce_op, command ? alu::MAX : alu::BYPASS)
        .set(f::base, 64.0f)
        .set(f::fill_val, -3.4028235e38f)
        .set(f::comp_op0, op0)
        .set(f::comp_op1, op1)
        .set(f::bound0_src, 1)
        .set(f::bound0, 16384)
        .set(f::bound1, bits_of(400.0f))
        .tensor(f::src, in, 2)
        .tensor(f::dst, out, 2);
  };
  for (const std::uint32_t op0 : {+alu::IS_GE, +alu::IS_GT, +alu::IS_EQ})
    for (const std::uint32_t op1 : {+alu::IS_LT, +alu::IS_LE}) {
      run(record(op0, op1, 3));
      run(read(acc, 32));
      for (const int p : {0, 31}) {
        double most = -INFINITY;
        for (int i = 0; i < 560; ++i) {
          const bool keep = apply(op0, 64 + i, 100 + p) != 0 && apply(op1, 64 + i, 400) != 0;
          const double want = keep ? get(in, p, i) : static_cast<double>(-3.4028235e38f);
          most = std::max(most, want);
          expect(out, p, i, want);
          if (HasFatalFailure()) return;
        }
        ASSERT_EQ(get(acc, p, 0), most);
      }
    }
  run(record(alu::IS_GE, alu::IS_LT, 0));
  refused(record(alu::ADD, alu::IS_LT, 0), "not a comparison");
  refused(record(alu::IS_NE, alu::IS_LT, 0), "not a comparison");
  refused(record(alu::IS_GE, alu::IS_LT, 4), "accumulator command 4");
  refused(record(alu::IS_GE, alu::IS_LT, 3).set(f::reduce_op, alu::ADD), "does not reduce");
  refused(record(alu::IS_GE, alu::IS_LT, 0).set(f::base, 3e7f), "2^24");
  generation = isa::Generation::kSunda;
  refused(record(alu::IS_GE, alu::IS_LT, 0), "no range select");
}

// --- across lanes

class Lanes : public VectorTest {
 protected:
  static Record tr(std::uint8_t opcode, const Tensor& in, const Tensor& out, int partitions,
                   int masked = 0) {
    namespace f = layout::S4D4_TR;
    return Record(opcode)
        .set(f::in_dtype, in.type)
        .set(f::out_dtype, out.type)
        .set(f::num_active_channels, partitions)
        .set(f::mask_enable, masked)
        .tensor(f::src, in, 4)
        .tensor(f::dst, out, 4);
  }
  void load_mask(const std::vector<int>& mask) {
    Record r(op::LOAD_MASK_SELECT);
    for (std::size_t i = 0; i < 32; ++i)
      layout::LOAD_MASK::mask.set(r.bytes, static_cast<std::uint8_t>(mask[i]), i);
    run(r);
  }
};

TEST_F(Lanes, TransposeOfBlocks) {
  for (const int type : {kU8, kBf16, kF32, kI64}) {
    const Tensor in{0, type, {1, 50}, {32, 4}}, out{1 << 16, type, {3}, {128}};
    fill(in, 64, true);
    run(tr(op::STREAM_TRANSPOSE, in, out, 64));
    for (int q = 0; q < 2; ++q)
      for (int block = 0; block < 4; ++block)
        for (int l = 0; l < 32; ++l)
          for (int i = 0; i < 32; ++i)
            ASSERT_EQ(raw(out, 32 * q + l, 32 * block + i), raw(in, 32 * q + i, 32 * block + l));
  }
}

// As compiled programs do: one repeated element, a short destination, one lane.
TEST_F(Lanes, MaskedTransposeIntoAShortDestination) {
  const Tensor in{0, kBf16, {0}, {32}}, out = row(4096, kBf16, 8);
  fill(in, 32);
  fill(out, 32);
  std::vector<std::uint64_t> old;
  for (int l = 0; l < 32; ++l) old.push_back(raw(out, l, 3));
  fails(tr(op::STREAM_TRANSPOSE, in, out, 32, 1), "no LOAD_MASK_SELECT");
  std::vector<int> mask(32, 32);
  mask[0] = 0;
  load_mask(mask);
  run(tr(op::STREAM_TRANSPOSE, in, out, 32, 1));
  for (int i = 0; i < 8; ++i) EXPECT_EQ(raw(out, 0, i), raw(in, i, 0));
  for (int l = 1; l < 32; ++l) EXPECT_EQ(raw(out, l, 3), old[static_cast<std::size_t>(l)]);
}

TEST_F(Lanes, ShuffleWithinQuadrantsAndToAnother) {
  std::vector<int> mask(32);
  for (int i = 0; i < 32; ++i)
    mask[static_cast<std::size_t>(i)] = i % 5 == 0 ? 0x20 + i % 2 : (i * 7 + 3) % 32;
  mask[10] = 255;
  load_mask(mask);
  const Tensor in{0, kF32, {2}, {300}}, out{64 * kPartition + 8192, kF32, {1, 40}, {30, 10}};
  fill(in, 64, true);
  fill(out, 64, true);
  std::vector<std::uint64_t> old;
  for (int l = 0; l < 64; ++l) old.push_back(raw(out, l, 299));
  run(tr(op::STREAM_SHUFFLE, in, out, 64));
  for (int l = 0; l < 64; ++l) {
    const int from = mask[static_cast<std::size_t>(l % 32)];
    if ((from & 0x20) != 0)
      ASSERT_EQ(raw(out, l, 299), old[static_cast<std::size_t>(l)]);
    else
      for (int i = 0; i < 300; ++i) ASSERT_EQ(raw(out, l, i), raw(in, l / 32 * 32 + from, i)) << l;
  }
  // In place: all lanes are read first.
  std::vector<std::uint64_t> before;
  for (int l = 0; l < 32; ++l) before.push_back(raw(in, l, 7));
  run(tr(op::STREAM_SHUFFLE, in, in, 32));
  for (int l = 0; l < 32; ++l) {
    const int from = mask[static_cast<std::size_t>(l)];
    ASSERT_EQ(raw(in, l, 7), before[static_cast<std::size_t>((from & 0x20) != 0 ? l : from)]);
  }
}

TEST_F(Lanes, Refusals) {
  const Tensor in = row(0, kF32, 64), out = row(4096, kF32, 64);
  fails(tr(op::STREAM_SHUFFLE, in, out, 32), "no LOAD_MASK_SELECT");
  std::vector<int> mask(32, 0x40);
  load_mask(mask);
  fails(tr(op::STREAM_SHUFFLE, in, out, 32), "mask entry 64");
  refused(tr(op::STREAM_TRANSPOSE, in, out, 16), "a multiple of 32");
  refused(tr(op::STREAM_TRANSPOSE, in, row(4096, kI32, 64), 32), "keeps the type");
  refused(tr(op::STREAM_TRANSPOSE, row(0, kF32, 33), out, 32), "blocks of 32");
  refused(tr(op::STREAM_TRANSPOSE, in, row(4096, kF32, 40), 32), "for 32 only");
  refused(tr(op::STREAM_SHUFFLE, in, row(4096, kF32, 63), 32), "elements per partition");
  refused(tr(op::STREAM_SHUFFLE, in, out, 32, 1), "mask_enable");
}

// What a race detector or a tracer sees of a record, registers included.
TEST_F(SelectTest, PlansNameTheirOperands) {
  struct Seen final : OperandVisitor {
    std::vector<std::string> list;
    void visit(const char* name, const Operand& o, std::uint32_t partitions,
               Access access) override {
      list.push_back(std::string(name) + " " + std::to_string(o.first_partition) + "+" +
                     std::to_string(partitions) + " x" + std::to_string(o.pattern.total) +
                     (access == Access::kRead    ? " read"
                      : access == Access::kWrite ? " write"
                                                 : " both"));
    }
  } seen;
  namespace f = layout::S3D3_CP_PRED_SCALAR;
  const Record r = Record(op::COPY_PREDICATED_SCALAR)
                       .set(f::pred_dtype, kU8)
                       .set(f::num_active_channels, 16)
                       .set(f::in_dtype, kF32)
                       .set(f::out_dtype, kF32)
                       .set(f::src0_src, 2)
                       .set(f::src0, 3)
                       .tensor(f::pred, row(0, kU8, 5), 3)
                       .tensor(f::dst, row(0x80000001, kF32, 5), 3);
  state.registers[3] = 4096;
  state.registers[1] = 64 * kPartition;
  std::string error;
  const auto made = plan(r, &error);
  ASSERT_TRUE(made) << error;
  for (int channel = 0; channel < 16; ++channel)
    for (int i = 0; i < 5; ++i) put_raw(row(0, kU8, 5), channel, i, channel == 2 && i != 3);
  made->visit_operands(state, seen);
  EXPECT_EQ(seen.list,
            (std::vector<std::string>{"predicate 0+16 x5 read", "scalar 0+16 x1 read",
                                      "destination 66+1 x3 write", "destination 66+1 x1 write"}));
  // An operand that has no place is left out.
  state.registers[1] = 0xFFFFFFFF;
  seen.list.clear();
  made->visit_operands(state, seen);
  EXPECT_EQ(seen.list.size(), 2u);
}

// Lanes that the mask does not choose are neither read nor written.
TEST_F(Lanes, ShuffleNamesTheLanesItUses) {
  struct Seen final : OperandVisitor {
    void visit(const char* name, const Operand& o, std::uint32_t partitions, Access a) override {
      for (std::uint32_t p = 0; p < partitions; ++p)
        (a == Access::kRead ? read : written).insert(o.first_partition + p);
      if (a == Access::kReadWrite) both.insert(name);
    }
    std::set<std::uint32_t> read, written;
    std::set<std::string> both;
  } seen;
  std::vector<int> mask(32, 255);
  mask[4] = 9;
  mask[7] = 9;
  load_mask(mask);
  std::string error;
  const auto made =
      plan(tr(op::STREAM_SHUFFLE, row(0, kF32, 5), row(32 * kPartition + 64, kF32, 5), 32), &error);
  ASSERT_TRUE(made) << error;
  made->visit_operands(state, seen);
  EXPECT_EQ(seen.read, (std::set<std::uint32_t>{9}));
  EXPECT_EQ(seen.written, (std::set<std::uint32_t>{36, 39}));
  EXPECT_TRUE(seen.both.empty());
}

TEST_F(SelectTest, WhatIsOnlyDecodedSaysWhy) {
  for (const std::uint8_t opcode :
       {op::TENSOR_SCALAR_PTR_MULTI_ARITH, op::TENSOR_SCALAR_PTR_MULTI_BITVEC,
        op::TENSOR_SCALAR_PTR_MULTI_DUAL_ARITH, op::TENSOR_SCALAR_PTR_MULTI_DUAL_BITVEC,
        op::TENSOR_SCALAR_IMM_LD_ARITH, op::TENSOR_SCALAR_IMM_LD_BITVEC, op::TENSOR_SCALAR_SELECT,
        op::TRANSPOSE_TENSOR_REDUCE_ARITH_OP, op::TRANSPOSE_TENSOR_REDUCE_BITVEC_OP,
        op::TRANSPOSE_TENSOR_SCALAR_ARITH_OP})
    refused(Record(opcode), "not published");
}

}  // namespace
}  // namespace opennrt::emu::test
