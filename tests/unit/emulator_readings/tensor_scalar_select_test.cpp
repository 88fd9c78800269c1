// SPDX-License-Identifier: Apache-2.0
#include "compute/operand.h"
#include "unit/emulator_vector/bench.h"

namespace opennrt::emu::test {
namespace {

namespace f = layout::S3D3_TS_SELECT;

class Select : public VectorTest {
 protected:
  static Record select(const Tensor& in, const Tensor& out, int pred_type, int channels = 4) {
    return Record(op::TENSOR_SCALAR_SELECT)
        .tensor(f::src0, in, 3)
        .tensor(f::dst, out, 3)
        .set(f::dtype, in.type)
        .set(f::pred_dtype, pred_type)
        .set(f::num_active_channels, channels);
  }
};

TEST_F(Select, OnePredicateOfTheInstruction) {
  // All bits move, also those of NaNs.
  const Tensor in{0x1000, kF32, {2, 50}, {5, 3}}, out{0x8000, kF32, {4}, {15}};
  fill(in, 4, true);
  for (const int pred : {0, 1})
    for (const int reversed : {0, 1}) {
      run(select(in, out, kU32)
              .set(f::pred, pred)
              .set(f::reversed_pred, reversed)
              .set(f::src1, 0x7FA12345));
      for (int p = 0; p < 4; ++p)
        for (int i = 0; i < 15; ++i)
          ASSERT_EQ(raw(out, p, i), pred != reversed ? raw(in, p, i) : 0x7FA12345u);
    }
}

TEST_F(Select, PredicateAndScalarPerPartition) {
  const struct {
    int type, pred;
  } kTypes[] = {{kU8, kI8}, {kF16, kU16}, {kBf16, kI16}, {kI32, kI32}, {kF32, kU32}};
  for (const auto& [type, pred_type] : kTypes) {
    const Tensor in = row(0x1000, type, 1500), out = row(0x8000, type, 1500);
    const Tensor scalar = row(0x40, type, 1), pred = row(0x48, pred_type, 1);
    fill(in, 4, true);
    fill(scalar, 4, true);
    const std::uint64_t preds[] = {0, 1, 2, 0x80};  // not only 1 is true
    for (int p = 0; p < 4; ++p) put_raw(pred, p, 0, preds[p]);
    run(select(in, out, pred_type)
            .set(f::src1_src, 1)
            .set(f::src1, scalar.address)
            .set(f::pred_src, 1)
            .set(f::pred, pred.address));
    for (int p = 0; p < 4; ++p)
      for (int i = 0; i < 1500; ++i)
        ASSERT_EQ(raw(out, p, i), p != 0 ? raw(in, p, i) : raw(scalar, p, 0)) << type;
  }
}

// What the predicate does not choose is not read.
TEST_F(Select, NamesTheSourceWhenItIsRead) {
  struct Seen final : OperandVisitor {
    void visit(const char* name, const Operand&, std::uint32_t, Access) override {
      list.emplace_back(name);
    }
    std::vector<std::string> list;
  } seen;
  const Tensor in = row(0x1000, kF32, 8), out = row(0x8000, kF32, 8);
  std::string error;
  plan(select(in, out, kU32), &error)->visit_operands(state, seen);
  EXPECT_EQ(seen.list, (std::vector<std::string>{"destination"}));
  seen.list.clear();
  plan(select(in, out, kU32).set(f::pred, 1), &error)->visit_operands(state, seen);
  EXPECT_EQ(seen.list, (std::vector<std::string>{"source", "destination"}));
}

TEST_F(Select, WrongFieldsAreRefused) {
  const Tensor in = row(0x1000, kF32, 8), out = row(0x8000, kF32, 8);
  refused(select(in, out, kU16), "predicate of 16 bits for values of 32");
  refused(select(in, out, kF32), "predicate: data type 10");
  refused(select(in, out, kU32).set(f::pred, 2), "predicate is 0x2");
  refused(select(in, out, kU32).set(f::reversed_pred, 2), "reversed_pred");
  refused(select(in, row(0x8000, kF32, 7), kU32), "the destination 7");
  refused(select(row(0x1000, kI64, 8), row(0x8000, kI64, 8), kU32), "64 bits");
  refused(select(row(0x1000, kU8, 8), row(0x8000, kU8, 8), kU8).set(f::src1, 0x100),
          "wider than the element");
  refused(select(in, out, kU32).set(f::src1_src, 3), "source code 3");
}

}  // namespace
}  // namespace opennrt::emu::test
