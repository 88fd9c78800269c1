// SPDX-License-Identifier: Apache-2.0
#include "compute/operand.h"
#include "unit/emulator_vector/bench.h"

namespace opennrt::emu::test {
namespace {

namespace f = layout::S3D3_NONZERO_WC;

class Nonzero : public VectorTest {
 protected:
  Nonzero() { engine = state.engine = NRTP_ENGINE_POOL; }
  static Record nonzero(const Tensor& in, const Tensor& out, int channels, int offset,
                        int padding) {
    return Record(op::NONZERO_WITH_COUNT)
        .tensor(f::src, in, 3)
        .tensor(f::dst, out, 3)
        .set(f::in_dtype, in.type)
        .set(f::out_dtype, out.type)
        .set(f::num_active_channels, channels)
        .set(f::index_offset, offset)
        .set(f::padding_val, padding);
  }
  void check(const Tensor& in, const Tensor& out, int p, int offset, int padding) {
    std::vector<double> want;
    for (int i = 0; i < in.total(); ++i)
      if (get(in, p, i) != 0) want.push_back(i + offset);
    const double count = static_cast<double>(want.size());
    want.resize(static_cast<std::size_t>(in.total()), padding);
    want.push_back(count);
    for (int i = 0; i < out.total(); ++i)
      ASSERT_EQ(get(out, p, i), want[static_cast<std::size_t>(i)]) << p << " " << i;
  }
};

// The first partition of each 16; the others keep what they have.
TEST_F(Nonzero, PositionsPaddingAndCount) {
  for (const int type : {kF32, kI32}) {
    const Tensor in{0x1000, type, {2, 70}, {30, 40}}, out{0x8000, kI32, {1}, {1201}};
    for (int p = 0; p < 128; ++p)
      for (int i = 0; i < 1200; ++i)
        put_raw(in, p, i, random_() % 3 == 0 ? random_() % 0x7F800000 : 0);
    for (int p = 0; p < 128; ++p)
      for (int i = 0; i < 1201; ++i) put_raw(out, p, i, 0xABCD);
    run(nonzero(in, out, 128, 100, -1));
    for (int p = 0; p < 128; ++p)
      if (p % 16 == 0)
        check(in, out, p, 100, -1);
      else
        for (int i = 0; i < 1201; ++i) ASSERT_EQ(raw(out, p, i), 0xABCDu);
  }
}

TEST_F(Nonzero, SpecialValues) {
  const Tensor in = row(0x1000, kF32, 6), out = row(0x8000, kI32, 7);
  const std::uint32_t values[] = {0, 0x80000000, 1, 0x7FC00000, 0xFF800000, 0};  // -0 is zero
  for (int i = 0; i < 6; ++i) put_raw(in, 0, i, values[i]);
  run(nonzero(in, out, 1, 0, 9));
  const std::uint32_t want[] = {2, 3, 4, 9, 9, 9, 3};
  for (int i = 0; i < 7; ++i) EXPECT_EQ(raw(out, 0, i), want[i]);
  Tensor words = in;
  words.type = kI32;  // the sign bit alone is a number here
  run(nonzero(words, out, 1, 0, 9));
  EXPECT_EQ(raw(out, 0, 6), 4u);
}

TEST_F(Nonzero, AllAndNothing) {
  const Tensor in = row(0x1000, kI32, 5), out = row(0x8000, kI32, 6);
  for (int i = 0; i < 5; ++i) put_raw(in, 0, i, 1);
  run(nonzero(in, out, 1, -2, 7));
  check(in, out, 0, -2, 7);
  for (int i = 0; i < 5; ++i) put_raw(in, 0, i, 0);
  run(nonzero(in, out, 1, -2, 7));
  check(in, out, 0, -2, 7);
}

TEST_F(Nonzero, NumbersInMemory) {
  const Tensor in = row(0x1000, kI32, 5), out = row(0x8000, kI32, 6), s = row(0x40, kI32, 2);
  fill(in, 17, true);
  for (const int p : {0, 16}) {
    put_raw(s, p, 0, static_cast<std::uint64_t>(1000 + p));
    put_raw(s, p, 1, static_cast<std::uint64_t>(2000 + p));
  }
  run(nonzero(in, out, 17, 0x40, 0x44).set(f::index_offset_src, 1).set(f::padding_val_src, 1));
  for (const int p : {0, 16}) check(in, out, p, 1000 + p, 2000 + p);
}

TEST_F(Nonzero, NamesTheFirstLaneOfEachCore) {
  struct Seen final : OperandVisitor {
    void visit(const char*, const Operand& o, std::uint32_t partitions, Access a) override {
      EXPECT_EQ(partitions, 1u);
      (a == Access::kRead ? read : written).push_back(o.first_partition);
    }
    std::vector<std::uint32_t> read, written;
  } seen;
  std::string error;
  const auto made =
      plan(nonzero(row(0x1000 + 64 * kPartition, kI32, 5), row(0x8000, kI32, 6), 33, 0, 0), &error);
  ASSERT_TRUE(made) << error;
  made->visit_operands(state, seen);
  EXPECT_EQ(seen.read, (std::vector<std::uint32_t>{64, 80, 96}));
  EXPECT_EQ(seen.written, (std::vector<std::uint32_t>{0, 16, 32}));
}

TEST_F(Nonzero, WrongFieldsAreRefused) {
  const Tensor in = row(0x1000, kI32, 5), out = row(0x8000, kI32, 6);
  refused(nonzero(row(0x1000, kU32, 5), out, 1, 0, 0), "source data type is 9");
  refused(nonzero(in, row(0x8000, kF32, 6), 1, 0, 0), "destination data type is 10");
  refused(nonzero(in, row(0x8000, kI32, 5), 1, 0, 0), "number of destination elements is 5");
  refused(nonzero(in, out, 0, 0, 0), "0 partitions");
  refused(nonzero(in, out, 1, 0, 0).set(f::padding_val_src, 7), "source code 7");
  engine = NRTP_ENGINE_DVE;
  refused(nonzero(in, out, 1, 0, 0), "does not exist on this engine");
  engine = NRTP_ENGINE_POOL;
  generation = isa::Generation::kSunda;
  refused(nonzero(in, out, 1, 0, 0), "does not exist on this silicon family");
}

}  // namespace
}  // namespace opennrt::emu::test
