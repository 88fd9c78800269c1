// SPDX-License-Identifier: Apache-2.0
#include "unit/emulator_vector/bench.h"

namespace opennrt::emu::test {
namespace {

namespace f = layout::S4D4_PL;

class MaxPoolSelect : public VectorTest {
 protected:
  MaxPoolSelect() { engine = state.engine = NRTP_ENGINE_POOL; }
  static Record select(const Tensor& in, const Tensor& out, int dims, int channels = 8) {
    return Record(op::MAX_POOL_SELECT)
        .tensor(f::src, in, 4)
        .tensor(f::dst, out, 4)
        .set(f::in_dtype, in.type)
        .set(f::out_dtype, out.type)
        .set(f::num_active_channels, channels)
        .set(f::pool_dim, dims)
        .set(f::pool_scale, 1.0f);
  }
};

TEST_F(MaxPoolSelect, PlaceInTheWindow) {
  for (const int type : {kF32, kBf16, kI8})
    for (const int result : {kU8, kU16, kU32}) {
      // Windows of 3 x 3 with stride 2 over rows of 9, which overlap.
      const Tensor in{0x1000, type, {1, 9, 2, 18}, {3, 3, 4, 4}}, out = row(0x8000, result, 16);
      const Tensor image = row(0x1000, type, 81);
      fill(image, 8);
      run(select(in, out, 3));
      for (int p = 0; p < 8; ++p)
        for (int w = 0; w < 16; ++w) {
          int best = 0;
          for (int k = 1; k < 9; ++k)
            if (get(in, p, 9 * w + k) > get(in, p, 9 * w + best)) best = k;
          ASSERT_EQ(get(out, p, w), best) << type << " " << p << " " << w;
        }
    }
}

TEST_F(MaxPoolSelect, TiesAndNan) {
  const Tensor in{0x1000, kF32, {1, 4}, {4, 3}}, out = row(0x8000, kU8, 3);
  const float nan = NAN, inf = INFINITY;
  const float values[] = {1, 5, 5, 2, -inf, -inf, -inf, -inf, inf, nan, inf, nan};
  for (int i = 0; i < 12; ++i) put_raw(in, 0, i, bits_of(values[i]));
  run(select(in, out, 2, 1));
  EXPECT_EQ(raw(out, 0, 0), 1u);
  EXPECT_EQ(raw(out, 0, 1), 0u);
  EXPECT_EQ(raw(out, 0, 2), 1u);
}

TEST_F(MaxPoolSelect, LongWindows) {
  const Tensor in = row(0x1000, kF32, 2000), out = row(0x8000, kU16, 1);
  for (int i = 0; i < 2000; ++i) put_raw(in, 0, i, bits_of(static_cast<float>(i % 1777)));
  run(select(in, out, 2, 1));
  EXPECT_EQ(raw(out, 0, 0), 1776u);
}

TEST_F(MaxPoolSelect, WrongFieldsAreRefused) {
  const Tensor in{0x1000, kF32, {1, 4}, {4, 3}}, out = row(0x8000, kU8, 3);
  refused(select(in, out, 2).set(f::pool_func, 1), "pooling function 1");
  refused(select(in, out, 2).set(f::pool_scale, 0.5f), "scale 0.5");
  refused(select(in, row(0x8000, kF32, 3), 2), "destination: data type 10");
  refused(select(in, row(0x8000, kU8, 4), 2), "the destination 4");
  refused(select(in, out, 1), "reduced dimensions code 1");
  refused(select(row(0x1000, kF32, 257), row(0x8000, kU8, 1), 2), "window of 257 elements");
}

}  // namespace
}  // namespace opennrt::emu::test
