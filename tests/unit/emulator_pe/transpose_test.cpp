// SPDX-License-Identifier: Apache-2.0
#include <numeric>

#include "array.h"

namespace opennrt::emu::test {
namespace {

class Transpose : public PeTest {
 protected:
  static constexpr std::uint32_t kData = 0x1000, kSelect = 0x8000;

  static std::uint32_t one(std::uint32_t dtype) {
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits)
      if (type_bytes(dtype) < 4 && value_of(bits, dtype) == 1) return bits;
    return std::bit_cast<std::uint32_t>(1.0f);
  }
  // moving[from[n]][n] = 1
  void permutation(std::uint32_t dtype, std::uint32_t rows,
                   const std::vector<std::uint32_t>& from) {
    const std::uint32_t bytes = type_bytes(dtype), bits = one(dtype);
    for (std::uint32_t r = 0; r < rows; ++r) {
      std::memset(sbuf(kSelect + r * kSbufStride), 0, from.size() * bytes);
      for (std::uint32_t n = 0; n < from.size(); ++n)
        if (from[n] == r) std::memcpy(sbuf(kSelect + r * kSbufStride) + n * bytes, &bits, bytes);
    }
  }
  // Every bit pattern may occur, NaN payloads included.
  void random_bits(std::uint32_t rows, std::uint32_t bytes) {
    for (std::uint32_t r = 0; r < rows; ++r)
      for (std::uint32_t i = 0; i < bytes; ++i)
        sbuf(kData + r * kSbufStride)[i] = static_cast<std::uint8_t>(random_());
  }
  static std::uint32_t mode(std::uint32_t dtype, std::uint32_t m) {
    return dtype == isa::kDtFloat32 ? m : 0;
  }
};

TEST_F(Transpose, BitsPassUnchanged) {
  for (const Generation g : {Generation::kCayman, Generation::kMariana})
    for (const std::uint32_t dtype :
         {isa::kDtFloat32, isa::kDtFloat32r, isa::kDtBfloat16, isa::kDtFloat16, isa::kDtFloat8e3,
          isa::kDtFloat8e4, isa::kDtFloat8e5})
      for (const std::uint32_t rows : {128u, 70u}) {
        SCOPED_TRACE(testing::Message() << "type " << dtype << " rows " << rows);
        generation_ = g;
        const std::uint32_t bytes = type_bytes(dtype), out_bytes = bytes == 4 ? 4 : 2;
        std::vector<std::uint32_t> from(rows);
        std::iota(from.begin(), from.end(), 0);
        std::shuffle(from.begin(), from.end(), random_);
        random_bits(rows, 128 * bytes);
        permutation(dtype, rows, from);
        for (std::uint32_t c = 0; c < 128; ++c) std::memset(psum(c), 0xEE, 0x800);
        Shape s{.dtype = dtype, .rows = rows, .columns = 120, .transpose = 1};
        s.fp32_mode = mode(dtype, fp32::LOW);
        const Record load = load_weights(backwards(kData, dtype, 120), s);
        s.fp32_mode = mode(dtype, fp32::LOW_HIGH);
        const int n = static_cast<int>(rows);
        ASSERT_EQ(run({load, matmul(dense(kSelect, n), dense(kPsum + 8, n), acc::SINGLE, s)}), "");
        for (std::uint32_t c = 0; c < 120; ++c) {
          for (std::uint32_t i = 0; i < rows; ++i) {
            const std::uint32_t want = get(kData + from[i] * kSbufStride, c, bytes);
            std::uint32_t got = 0;
            std::memcpy(&got, psum(c, 8 + i * out_bytes), out_bytes);
            ASSERT_EQ(got, want) << c << " " << i;
          }
          ASSERT_EQ(*psum(c, 7), 0xEE);
          ASSERT_EQ(*psum(c, 8 + rows * out_bytes), 0xEE);
        }
        ASSERT_EQ(*psum(120, 8), 0xEE);
      }
}

// Zeros of either sign select nothing.
TEST_F(Transpose, NegativeZerosArePartOfAPermutation) {
  std::vector<std::uint32_t> from(128);
  std::iota(from.begin(), from.end(), 0);
  random_bits(128, 256);
  permutation(isa::kDtBfloat16, 128, from);
  const std::uint16_t negative_zero = 0x8000;
  for (std::uint32_t r = 0; r < 128; ++r)
    std::memcpy(sbuf(kSelect + r * kSbufStride) + 2 * ((r + 5) % 128), &negative_zero, 2);
  const Shape s{.dtype = isa::kDtBfloat16, .transpose = 1};
  ASSERT_EQ(run({load_weights(backwards(kData, s.dtype, 128), s),
                 matmul(dense(kSelect, 128), dense(kPsum, 128), acc::SINGLE, s)}),
            "");
  for (std::uint32_t c = 0; c < 128; ++c)
    for (std::uint32_t n = 0; n < 128; ++n) {
      std::uint16_t got;
      std::memcpy(&got, psum(c, 2 * n), 2);
      ASSERT_EQ(got, get(kData + n * kSbufStride, c, 2)) << c << " " << n;
    }
}

TEST_F(Transpose, TileAndStridedDestination) {
  std::vector<std::uint32_t> from(32);
  std::iota(from.begin(), from.end(), 0);
  const std::uint32_t base = 64 * kSbufStride;
  for (std::uint32_t r = 0; r < 32; ++r)
    for (std::uint32_t i = 0; i < 32; ++i) {
      const auto v = static_cast<std::uint16_t>(random_()), o = std::uint16_t{0x3F80};
      std::memcpy(sbuf(base + kData + r * kSbufStride) + 2 * i, &v, 2);
      std::memset(sbuf(base + kSelect + r * kSbufStride) + 2 * i, 0, 2);
      if (i == r) std::memcpy(sbuf(base + kSelect + r * kSbufStride) + 2 * i, &o, 2);
    }
  const Shape s{.dtype = isa::kDtBfloat16,
                .rows = 32,
                .columns = 32,
                .row_group = 4,
                .column_group = 8,
                .transpose = 1};
  const View out{kPsum + 96 * kPsumStride, {8, 2}, {4, 8}};
  ASSERT_EQ(run({load_weights(backwards(base + kData, s.dtype, 32), s),
                 matmul(dense(base + kSelect, 32), {out.address, {8, 2}, {4, 4}}, acc::SINGLE, s)})
                .find("moving matrix has 32 columns, the destination 16"),
            0u);
  ASSERT_EQ(
      run({load_weights(backwards(base + kData, s.dtype, 32), s),
           matmul(dense(base + kSelect, 32), {out.address, {8, 32}, {4, 8}}, acc::SINGLE, s)}),
      "");
  for (std::uint32_t c = 0; c < 32; ++c)
    for (std::uint32_t n = 0; n < 32; ++n) {
      std::uint16_t got;
      std::memcpy(&got, psum(96 + c, 2 * (n % 4 * 8 + n / 4 * 32)), 2);
      ASSERT_EQ(got, get(base + kData + n * kSbufStride, c, 2));
    }
}

TEST_F(Transpose, MovingMatrixMustSelect) {
  const Shape s{.dtype = isa::kDtBfloat16, .transpose = 1};
  std::vector<std::uint32_t> from(128);
  std::iota(from.begin(), from.end(), 0);
  permutation(s.dtype, 128, from);
  random_bits(128, 256);
  const std::vector<Record> program = {
      load_weights(backwards(kData, s.dtype, 128), s),
      matmul(dense(kSelect, 128), dense(kPsum, 128), acc::SINGLE, s)};
  std::memset(psum(0), 0xEE, 256);
  const std::uint16_t two = 0x4000, one_bits = 0x3F80, minus = 0xBF80;
  std::memcpy(sbuf(kSelect + 4 * kSbufStride) + 2 * 4, &two, 2);
  EXPECT_NE(run(program).find("element 4 of row 4 of the moving matrix is neither 0 nor 1"),
            std::string::npos);
  std::memcpy(sbuf(kSelect + 4 * kSbufStride) + 2 * 4, &minus, 2);
  EXPECT_NE(run(program).find("neither 0 nor 1"), std::string::npos);
  std::memcpy(sbuf(kSelect + 4 * kSbufStride) + 2 * 4, &one_bits, 2);
  std::memcpy(sbuf(kSelect + 9 * kSbufStride) + 2 * 4, &one_bits, 2);
  EXPECT_NE(run(program).find("second 1 of its column"), std::string::npos);
  EXPECT_EQ(*psum(0), 0xEE) << "nothing is written by a refused product";
}

TEST_F(Transpose, BothRecordsMustAgree) {
  const Shape plain{.dtype = isa::kDtBfloat16}, passing{.dtype = isa::kDtBfloat16, .transpose = 1},
      half{.dtype = isa::kDtFloat16, .transpose = 1};
  const View w = backwards(kData, isa::kDtBfloat16, 128), x = dense(kSelect, 128),
             out = dense(kPsum, 128);
  EXPECT_NE(run({load_weights(w, plain), matmul(x, out, acc::SINGLE, passing)})
                .find("transpose mode of the product is 1, of the stationary matrix 0"),
            std::string::npos);
  EXPECT_NE(run({load_weights(w, passing), matmul(x, out, acc::SINGLE, plain)})
                .find("transpose mode of the product is 0, of the stationary matrix 1"),
            std::string::npos);
  EXPECT_NE(run({load_weights(w, passing), matmul(x, out, acc::SINGLE, half)})
                .find("must be equal in transpose mode"),
            std::string::npos);
  EXPECT_NE(run({load_weights(w, passing), matmul(x, out, acc::MID, passing)})
                .find("they cannot be added"),
            std::string::npos);
}

// Before cayman a transpose is a product with the identity, exact in FP32.
TEST_F(Transpose, IdentityProductOfSunda) {
  generation_ = Generation::kSunda;
  std::vector<std::uint32_t> from(128);
  std::iota(from.begin(), from.end(), 0);
  permutation(isa::kDtFloat32, 128, from);
  randomise(kData, 128, 128, isa::kDtFloat32);
  Shape low{.dtype = isa::kDtFloat32, .fp32_mode = fp32::LOW}, high = low;
  high.fp32_mode = fp32::HIGH;
  const View w = backwards(kData, isa::kDtFloat32, 128), x = dense(kSelect, 128),
             out = dense(kPsum, 128);
  for (const bool merged : {true, false}) {
    std::vector<Record> p = {load_weights(w, low), matmul(x, out, acc::START, high),
                             load_weights(w, high), matmul(x, out, acc::END, high)};
    if (!merged) p[1][6] = isa::kUpdateSemInc;
    ASSERT_EQ(run(p), "");
    for (std::uint32_t c = 0; c < 128; ++c)
      for (std::uint32_t n = 0; n < 128; ++n)
        ASSERT_EQ(psum_f32(c, n), std::bit_cast<float>(get(kData + n * kSbufStride, c, 4)));
  }
}

}  // namespace
}  // namespace opennrt::emu::test
