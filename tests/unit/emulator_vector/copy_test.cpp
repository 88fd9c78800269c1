// SPDX-License-Identifier: Apache-2.0
#include "bench.h"

namespace opennrt::emu::test {
namespace {

namespace f = layout::S4D4_TR;

class CopyTest : public VectorTest {
 protected:
  static Record tr(std::uint8_t opcode, const Tensor& in, const Tensor& out, int partitions) {
    return Record(opcode)
        .set(f::in_dtype, in.type)
        .set(f::out_dtype, out.type)
        .set(f::num_active_channels, partitions)
        .tensor(f::src, in, 4)
        .tensor(f::dst, out, 4);
  }
  static Record memset(const Tensor& out, int partitions, std::uint32_t value) {
    namespace m = layout::D4_MR;
    return Record(op::MEMSET)
        .set(m::dst_element_count, out.total())
        .set(m::dtype, out.type)
        .set(m::num_active_channels, partitions)
        .set(m::set_value, value)
        .tensor(m::dst, out, 4);
  }
};

TEST_F(CopyTest, BitsOfEveryTypeInEveryShape) {
  const Tensor shapes[] = {{1 << 16, 0, {1}, {384}},
                           {1 << 16, 0, {9, 1}, {128, 3}},
                           {1 << 16, 0, {-1, 20}, {16, 24}},
                           {1 << 16, 0, {1, 222, 2}, {2, 2, 96}},
                           {1 << 16, 0, {0, 3}, {3, 128}},
                           {1 << 16, 0, {1, 40, 0}, {32, 6, 2}},
                           {1 << 16, 0, {-3, 7, -50, 400}, {2, 3, 4, 16}}};
  for (int type = 1; type < 16; ++type)
    for (const Tensor& from : shapes)
      for (const Tensor& to : shapes) {
        Tensor in = from, out = to;
        in.type = out.type = type;
        out.address = 1 << 17;
        fill(Tensor{in.address - 2048, type, {1}, {10000}}, 1, true);
        std::vector<std::uint64_t> want;
        for (int i = 0; i < in.total(); ++i) want.push_back(raw(in, 0, i));
        run(tr(op::COPY, in, out, 1));
        for (int i = 0; i < out.total(); ++i) {
          // An element written twice keeps the last one.
          bool last = true;
          for (int k = i + 1; k < out.total() && to.step[0] == 0; ++k)
            last = last && out.offset(k) != out.offset(i);
          for (int k = i + 1; k < out.total() && to.step.size() > 2; ++k)
            last = last && out.offset(k) != out.offset(i);
          if (last) {
            ASSERT_EQ(raw(out, 0, i), want[static_cast<std::size_t>(i)]) << type << " " << i;
          }
        }
      }
}

TEST_F(CopyTest, CastBetweenAllTypes) {
  const int types[] = {kI8, kU8, kI16, kU16, kBf16, kF16, kI32, kU32, kF32, kE3, kE4, kE5};
  for (const int a : types)
    for (const int b : types) {
      const Tensor in = row(0, a, 700), out = Tensor{8192, b, {2, 700}, {350, 2}};
      fill(in, 2, true);
      run(tr(op::CAST, in, out, 2));
      for (int i = 0; i < 700; ++i) {
        if (a == b)
          ASSERT_EQ(raw(out, 1, i), raw(in, 1, i));
        else
          expect(out, 1, i, get(in, 1, i));
        if (HasFatalFailure()) return;
      }
    }
}

TEST_F(CopyTest, E4m3fnWhereTheProgramSelectsIt) {
  numeric = {.e4m3fn = true, .fp8_saturate = true};
  const Tensor in = row(0, kF32, 3), out = row(64, kE4, 3);
  const float v[] = {448.0f, 1000.0f, -3.25f};
  for (int i = 0; i < 3; ++i) put_raw(in, 0, i, bits_of(v[i]));
  run(tr(op::CAST, in, out, 1));
  EXPECT_EQ(raw(out, 0, 0), 0x7Eu);
  EXPECT_EQ(raw(out, 0, 1), 0x7Eu);
  EXPECT_EQ(raw(out, 0, 2), 0xC5u);  // 1.625 * 2
}

TEST_F(CopyTest, Reciprocal) {
  const Tensor in = row(0, kF32, 1000), out{kPsum, kBf16, {3}, {1000}};
  fill(in, 128, true);
  run(tr(op::RECIPROCAL, in, out, 128));
  for (int p = 0; p < 128; p += 13)
    for (int i = 0; i < 1000; ++i) expect(out, p, i, 1.0 / get(in, p, i));
}

TEST_F(CopyTest, RegistersAndRefusals) {
  const Tensor in = row(0, kI64, 20), out = row(4096, kI64, 20);
  fill(in, 32);
  state.registers[1] = 0;
  state.registers[2] = 4096;
  run(tr(op::COPY, row(0x80000001, kI64, 20), row(0x80000002, kI64, 20), 32));
  for (int i = 0; i < 20; ++i) ASSERT_EQ(raw(out, 31, i), raw(in, 31, i));
  refused(tr(op::COPY, in, row(4096, kU32, 20), 1), "keeps the type");
  refused(tr(op::CAST, in, row(4096, kF32, 20), 1), "no arithmetic");
  refused(tr(op::COPY, in, out, 1).set(f::negated, 1), "negated");
  refused(tr(op::COPY, in, out, 1).set(f::op, 4), "op is");
  refused(tr(op::COPY, in, out, 1).set(f::op_dim, 2), "op_dim");
  refused(tr(op::COPY, in, out, 1).set(f::mask_enable, 1), "mask_enable");
  Record r = tr(op::COPY, in, out, 1);
  r.bytes[40] = 1;
  refused(r, "byte 40");
}

TEST_F(CopyTest, MemsetOfAnyValue) {
  const std::pair<int, std::uint32_t> cases[] = {
      {kF32, 0},   {kF32, bits_of(-2.5f)}, {kBf16, 0x3F80},    {kBf16, 0x3F803F80},
      {kU8, 0xA5}, {kU8, 0xA5A5A5A5},      {kI32, 0xFFFFFFFF}, {kF16, 0x7E01},
      {kI64, 0}};
  for (const auto& [type, value] : cases)
    for (const Tensor& shape :
         {Tensor{1 << 14, type, {1}, {1500}}, Tensor{1 << 14, type, {2, -1}, {30, 2}},
          Tensor{1 << 14, type, {1, 50}, {40, 9}}}) {
      const Tensor around{(1 << 14) - 64, type, {1}, {2000}};
      fill(around, 2, true);
      std::vector<std::uint64_t> before;
      for (int i = 0; i < 2000; ++i) before.push_back(raw(around, 1, i));
      run(memset(shape, 2, value));
      const std::uint64_t mask = bytes_of(type) == 8 ? ~0ull : (1ull << (8 * bytes_of(type))) - 1;
      std::vector<bool> hit(2000);
      for (int i = 0; i < shape.total(); ++i) {
        ASSERT_EQ(raw(shape, 1, i), value & mask) << type << " " << i;
        hit[static_cast<std::size_t>(shape.offset(i) + 64 / bytes_of(type))] = true;
      }
      for (std::size_t i = 0; i < 2000; ++i)
        if (!hit[i]) {
          ASSERT_EQ(raw(around, 1, static_cast<int>(i)), before[i]) << i;
        }
    }
  const Tensor out = row(0, kBf16, 10);
  refused(memset(out, 1, 0x12345678), "wider than the element");
  refused(memset(row(0, kI64, 10), 1, 5), "wider than the element");
  refused(memset(out, 1, 0).set(layout::D4_MR::dst_element_count, 9), "element count 9");
  refused(memset(out, 1, 0).set(layout::D4_MR::serialization_mode, 1), "serialization_mode");
}

}  // namespace
}  // namespace opennrt::emu::test
