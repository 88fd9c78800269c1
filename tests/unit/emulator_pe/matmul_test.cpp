// SPDX-License-Identifier: Apache-2.0
#include "array.h"
#include "compute/pe_product.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace opennrt::emu::test {
namespace {

// Error bound of an FP32 sum of `rows` products.
double bound(double magnitude, std::uint32_t rows) { return magnitude * rows * 0x1p-24 + 1e-38; }

class MatmulShapes : public PeTest {
 protected:
  void expect_product(const View& w, std::uint32_t w_dtype, const View& x, std::uint32_t x_dtype,
                      const View& out, std::uint32_t rows, std::uint32_t columns,
                      double already = 0) {
    for (std::uint32_t c = 0; c < columns; ++c)
      for (std::uint32_t n = x.total() > 64 ? c % 7 : 0; n < x.total();
           n += x.total() > 64 && n + 8 < x.total() ? 7 : 1) {
        const Dot want = dot(w, w_dtype, x, x_dtype, rows, columns, c, n);
        const float got =
            psum_f32(c, (out.address - kPsum) / 4 + static_cast<std::uint32_t>(out.at(n)));
        ASSERT_NEAR(got, want.sum + already, bound(want.magnitude + std::fabs(already), rows))
            << "column " << c << " element " << n;
      }
  }
};

TEST_F(MatmulShapes, InputTypesAndShapes) {
  struct Case {
    std::uint32_t dtype, rows, columns;
    int n;
  };
  for (const Generation g : {Generation::kSunda, Generation::kCayman, Generation::kMariana}) {
    generation_ = g;
    for (const auto& [dtype, rows, columns, n] :
         {Case{isa::kDtFloat16, 128, 128, 444}, Case{isa::kDtBfloat16, 128, 96, 512},
          Case{isa::kDtBfloat16, 96, 128, 1}, Case{isa::kDtFloat16, 1, 128, 1},
          Case{isa::kDtFloat16, 77, 13, 131}, Case{isa::kDtFloat8e3, 128, 128, 49},
          Case{isa::kDtFloat8e4, 128, 128, 48}, Case{isa::kDtFloat8e5, 50, 127, 17},
          Case{isa::kDtFloat32r, 128, 128, 33}}) {
      SCOPED_TRACE(testing::Message() << "type " << dtype << " " << rows << "x" << columns << "x"
                                      << n << " generation " << static_cast<int>(g));
      randomise(0x100, rows, columns, dtype);
      randomise(0x4000, rows, static_cast<std::uint32_t>(n), dtype);
      const View w = backwards(0x100, dtype, static_cast<int>(columns)), x = dense(0x4000, n),
                 out = dense(kPsum + 0x800, n);
      const Shape s{.dtype = dtype, .rows = rows, .columns = columns};
      ASSERT_EQ(run({load_weights(w, s), matmul(x, out, acc::SINGLE, s)}), "");
      expect_product(w, dtype, x, dtype, out, rows, columns);
    }
  }
}

TEST_F(MatmulShapes, FirstStreamedElementIsHighestColumn) {
  randomise(0x100, 128, 64, isa::kDtFloat16);
  randomise(0x4000, 128, 40, isa::kDtFloat16);
  const Shape s{.columns = 64};
  // Forwards in memory: column 63 is element 0.
  ASSERT_EQ(run({load_weights(dense(0x100, 64), s),
                 matmul(dense(0x4000, 40), dense(kPsum, 40), acc::SINGLE, s)}),
            "");
  for (std::uint32_t c : {0u, 1u, 31u, 63u}) {
    double want = 0;
    for (std::uint32_t r = 0; r < 128; ++r)
      want += value_of(get(0x100 + r * kSbufStride, 63 - c, 2), isa::kDtFloat16) *
              value_of(get(0x4000 + r * kSbufStride, 7, 2), isa::kDtFloat16);
    EXPECT_NEAR(psum_f32(c, 7), want, 1e-3) << c;
  }
}

TEST_F(MatmulShapes, StridedStationaryAndWindowsOfMoving) {
  randomise(0x0, 128, 9 * 128 + 9, isa::kDtFloat16);
  randomise(0x4000, 128, 1000, isa::kDtFloat16);
  const Shape s;
  const View w{9 * 127 * 2 + 4, {-9, 0, -288}, {32, 1, 4}};
  const View x{0x4002, {1, 24}, {22, 20}}, out = dense(kPsum + 64, 440);
  ASSERT_EQ(run({load_weights(w, s), matmul(x, out, acc::START, s)}), "");
  expect_product(w, s.dtype, x, s.dtype, out, 128, 128);
  // Broadcast, backwards and a strided destination.
  const View x2{0x4200, {-3, 0, 7}, {9, 3, 5}}, out2{kPsum + 0x1000, {2, 20, 71}, {9, 3, 5}};
  ASSERT_EQ(run({matmul(x2, out2, acc::START, s)}), "");
  expect_product(w, s.dtype, x2, s.dtype, out2, 128, 128);
}

TEST_F(MatmulShapes, MixedInputs) {
  randomise(0x100, 128, 128, isa::kDtBfloat16);
  randomise(0x4000, 128, 100, isa::kDtFloat8e4);
  const View w = backwards(0x100, isa::kDtBfloat16, 128), x = dense(0x4000, 100),
             out = dense(kPsum, 100);
  ASSERT_EQ(run({load_weights(w, {.dtype = isa::kDtBfloat16}),
                 matmul(x, out, acc::SINGLE, {.dtype = isa::kDtFloat8e4})}),
            "");
  expect_product(w, isa::kDtBfloat16, x, isa::kDtFloat8e4, out, 128, 128);
}

TEST_F(MatmulShapes, EveryFlagAddsOrOverwrites) {
  generation_ = Generation::kMariana;
  randomise(0x100, 128, 128, isa::kDtFloat16);
  randomise(0x4000, 128, 9, isa::kDtFloat16);
  const Shape s;
  const View w = backwards(0x100, s.dtype, 128), x = dense(0x4000, 9), out = dense(kPsum, 9);
  for (const std::uint32_t flags : {0u, 1u, 2u, 3u, 4u, 6u}) {
    SCOPED_TRACE(flags);
    for (std::uint32_t c = 0; c < 128; ++c)
      for (std::uint32_t i = 0; i < 9; ++i) put_psum(c, i, 50);
    ASSERT_EQ(run({load_weights(w, s), matmul(x, out, flags, s)}), "");
    expect_product(w, s.dtype, x, s.dtype, out, 128, 128, flags & 1 ? 0 : 50);
  }
}

TEST_F(MatmulShapes, NoPartitionBeyondTheColumnsIsTouched) {
  randomise(0x100, 128, 128, isa::kDtFloat16);
  for (std::uint32_t c = 0; c < 128; ++c)
    for (std::uint32_t i = 0; i < 512; ++i) put_psum(c, i, -7);
  const Shape s{.rows = 5, .columns = 43};
  ASSERT_EQ(run({load_weights(backwards(0x100, s.dtype, 43), s),
                 matmul(dense(0x100, 49), dense(kPsum, 49), acc::SINGLE, s)}),
            "");
  for (std::uint32_t c = 43; c < 128; ++c)
    for (std::uint32_t i = 0; i < 512; ++i) ASSERT_EQ(psum_f32(c, i), -7);
  for (std::uint32_t c = 0; c < 43; ++c)
    for (std::uint32_t i = 49; i < 512; ++i) ASSERT_EQ(psum_f32(c, i), -7);
}

TEST_F(MatmulShapes, TilesSideBySide) {
  struct Place {
    std::uint32_t row, column, row_group, column_group;
  };
  const Place places[] = {{0, 0, 1, 1}, {32, 64, 2, 4}, {96, 96, 8, 8}, {64, 32, 4, 2}};
  std::vector<Record> loads, products;
  for (const Place& p : places) {
    randomise(p.row * kSbufStride + 0x100, 32, 32, isa::kDtBfloat16);
    randomise(p.row * kSbufStride + 0x4000, 32, 100, isa::kDtBfloat16);
    const Shape s{.dtype = isa::kDtBfloat16,
                  .rows = 30,
                  .columns = 29,
                  .row_group = p.row_group,
                  .column_group = p.column_group};
    loads.push_back(load_weights(backwards(p.row * kSbufStride + 0x100, isa::kDtBfloat16, 29), s));
    products.push_back(matmul(dense(p.row * kSbufStride + 0x4000, 100),
                              dense(kPsum + p.column * kPsumStride, 100), acc::SINGLE, s));
  }
  loads.insert(loads.end(), products.begin(), products.end());
  ASSERT_EQ(run(loads), "");
  for (const Place& p : places)
    for (std::uint32_t c = 0; c < 29; ++c)
      for (std::uint32_t n : {0u, 1u, 50u, 99u}) {
        const Dot want =
            dot(backwards(p.row * kSbufStride + 0x100, isa::kDtBfloat16, 29), isa::kDtBfloat16,
                dense(p.row * kSbufStride + 0x4000, 100), isa::kDtBfloat16, 30, 29, c, n);
        ASSERT_NEAR(psum_f32(p.column + c, n), want.sum, bound(want.magnitude, 30))
            << p.row << " " << c << " " << n;
      }
  // Two 64-row tiles of all columns add into the same elements.
  std::vector<Record> halves;
  for (std::uint32_t h = 0; h < 2; ++h) {
    const Shape s{.rows = 64, .row_group = h == 0 ? 3u : 12u};
    const std::uint32_t base = 64 * h * kSbufStride;
    randomise(base + 0x100, 64, 128, s.dtype);
    randomise(base + 0x4000, 64, 10, s.dtype);
    halves.push_back(load_weights(backwards(base + 0x100, s.dtype, 128), s));
    halves.push_back(
        matmul(dense(base + 0x4000, 10), dense(kPsum, 10), h == 0 ? acc::START : acc::END, s));
  }
  ASSERT_EQ(run(halves), "");
  expect_product(backwards(0x100, isa::kDtFloat16, 128), isa::kDtFloat16, dense(0x4000, 10),
                 isa::kDtFloat16, dense(kPsum, 10), 128, 128);
}

TEST_F(MatmulShapes, LaterLoadReplacesTheTilesItCovers) {
  const Shape small{.rows = 32, .columns = 32, .row_group = 2, .column_group = 1};
  const std::uint32_t base = 32 * kSbufStride;
  ASSERT_EQ(run({load_weights(backwards(base, small.dtype, 32), small),
                 load_weights(backwards(0, small.dtype, 128), {})}),
            "");
  EXPECT_NE(run({matmul(dense(base, 4), dense(kPsum, 4), acc::SINGLE, small)})
                .find("no stationary matrix is loaded at 32 rows from 32"),
            std::string::npos);
}

TEST_F(MatmulShapes, Bfloat16InPsumRoundsOncePerProduct) {
  generation_ = Generation::kMariana;
  randomise(0x100, 128, 128, isa::kDtBfloat16);
  randomise(0x4000, 128, 700, isa::kDtBfloat16);
  const Shape s{.dtype = isa::kDtBfloat16};
  const View w = backwards(0x100, s.dtype, 128), x = dense(0x4000, 700);
  for (const bool first : {true, false}) {
    std::vector<std::uint16_t> before(128 * 700);
    for (std::uint32_t c = 0; c < 128; ++c) std::memcpy(&before[c * 700], psum(c, 0x200), 1400);
    Record r = matmul(x, dense(kPsum + 0x200, 700), first ? acc::START : acc::MID, s);
    set(r, mm::mariana::out_dtype, isa::kDtBfloat16);
    ASSERT_EQ(run({load_weights(w, s), r}), "");
    for (std::uint32_t c = 0; c < 128; c += 3)
      for (std::uint32_t n = 0; n < 700; ++n) {
        const Dot want = dot(w, s.dtype, x, s.dtype, 128, 128, c, n);
        const double old = first ? 0 : value_of(before[c * 700 + n], isa::kDtBfloat16);
        std::uint16_t got;
        std::memcpy(&got, psum(c, 0x200 + 2 * n), 2);
        // Half a unit of an 8-bit significand, and the error of the FP32 sum.
        const double value = want.sum + old;
        ASSERT_NEAR(value_of(got, isa::kDtBfloat16), value,
                    std::fabs(value) * 0x1p-8 + bound(want.magnitude, 128))
            << c << " " << n;
      }
  }
}

TEST_F(MatmulShapes, LongMovingMatrixOfMariana) {
  generation_ = Generation::kMariana;
  randomise(0x100, 128, 128, isa::kDtFloat16);
  randomise(0x4000, 128, 4096, isa::kDtFloat16);
  const Shape s;
  const View w = backwards(0x100, s.dtype, 128);
  ASSERT_EQ(
      run({load_weights(w, s), matmul(dense(0x4000, 4096), dense(kPsum, 4096), acc::SINGLE, s)}),
      "");
  for (std::uint32_t n = 0; n < 4096; n += 37) {
    const Dot want = dot(w, s.dtype, dense(0x4000, 4096), s.dtype, 128, 128, n % 128, n);
    ASSERT_NEAR(psum_f32(n % 128, n), want.sum, bound(want.magnitude, 128)) << n;
  }
}

TEST_F(MatmulShapes, SpecialValuesFollowFp32Arithmetic) {
  // Rows 0 and 1 of one column each; everything else is zero.
  struct Case {
    std::uint16_t w0, x0, w1, x1;  // bf16
    double want;
  };
  constexpr std::uint16_t kInf = 0x7F80, kNan = 0x7FC1, kOne = 0x3F80, kMinus = 0xBF80,
                          kTiny = 0x0001, kHuge = 0x7F7F, kTwo = 0x4000;
  const Case cases[] = {
      {kInf, kOne, kOne, kOne, INFINITY},
      {kInf, kMinus, kOne, kOne, -INFINITY},
      {kInf, 0, kOne, kOne, NAN},
      {kInf, kOne, kInf, kMinus, NAN},
      {kNan, kOne, kOne, kOne, NAN},
      {0, kNan, kOne, kOne, NAN},
      {kHuge, kTwo, kOne, kOne, INFINITY},
      {kTiny, kOne, 0, 0, std::ldexp(1.0, -133)},
      {kTiny, kTwo, kTiny, kMinus, std::ldexp(1.0, -133)},
  };
  const Shape s{.dtype = isa::kDtBfloat16, .rows = 2, .columns = 1};
  for (const Case& k : cases) {
    SCOPED_TRACE(testing::Message() << k.w0 << " " << k.x0 << " " << k.w1 << " " << k.x1);
    std::memcpy(sbuf(0x100), &k.w0, 2);
    std::memcpy(sbuf(0x100 + kSbufStride), &k.w1, 2);
    std::memcpy(sbuf(0x4000), &k.x0, 2);
    std::memcpy(sbuf(0x4000 + kSbufStride), &k.x1, 2);
    ASSERT_EQ(run({load_weights(dense(0x100, 1), s),
                   matmul(dense(0x4000, 1), dense(kPsum, 1), acc::SINGLE, s)}),
              "");
    if (std::isnan(k.want))
      EXPECT_TRUE(std::isnan(psum_f32(0, 0)));
    else
      EXPECT_EQ(psum_f32(0, 0), k.want);
  }
}

#if defined(__x86_64__)
TEST_F(MatmulShapes, FloatingPointSettingsOfTheCallerDoNotMatterAndStay) {
  randomise(0x100, 128, 128, isa::kDtBfloat16);
  for (std::uint32_t r = 0; r < 128; ++r) {  // products below the normal range
    const std::uint16_t tiny = static_cast<std::uint16_t>(1 + r);
    std::memcpy(sbuf(0x4000 + r * kSbufStride), &tiny, 2);
  }
  const Shape s{.dtype = isa::kDtBfloat16};
  const std::vector<Record> program = {load_weights(backwards(0x100, s.dtype, 128), s),
                                       matmul(dense(0x4000, 1), dense(kPsum, 1), acc::SINGLE, s)};
  ASSERT_EQ(run(program), "");
  std::vector<float> want;
  for (std::uint32_t c = 0; c < 128; ++c) want.push_back(psum_f32(c, 0));
  EXPECT_NE(want[5], 0);
  const unsigned saved = _mm_getcsr();
  // Flush to zero, denormals are zero, round towards zero.
  const unsigned odd = 0x1F80 | 0x8000 | 0x0040 | 0x6000;
  _mm_setcsr(odd);
  const std::string error = run(program);
  const unsigned after = _mm_getcsr();
  _mm_setcsr(saved);
  EXPECT_EQ(error, "");
  EXPECT_EQ(after, odd);
  for (std::uint32_t c = 0; c < 128; ++c) ASSERT_EQ(psum_f32(c, 0), want[c]) << c;
}
#endif

// What several threads may do with one product.
TEST_F(MatmulShapes, ProductsDividedByColumnsHaveTheSameBits) {
  randomise(0x100, 128, 128, isa::kDtFloat16);
  randomise(0x4000, 128, 444, isa::kDtFloat16);
  const Shape s;
  ASSERT_EQ(run({load_weights(backwards(0x100, s.dtype, 128), s)}), "");
  const PeTile tile{.rows = 128, .columns = 128, .row_cells = 4, .column_cells = 4};
  const std::uint16_t count[] = {444};
  for (const bool strided : {false, true}) {
    const std::int16_t dense_step[] = {1}, step[] = {2};
    const Operand moving{.base = sbuf(0x4000),
                         .partition_stride = kSbufStride,
                         .dtype = isa::kDtFloat16,
                         .element_bytes = 2,
                         .pattern = Pattern::make(dense_step, count, 1)};
    const Operand out{.base = psum(0),
                      .partition_stride = kPsumStride,
                      .dtype = isa::kDtFloat32,
                      .element_bytes = 4,
                      .pattern = Pattern::make(strided ? step : dense_step, count, 1)};
    const Product product(tile, moving, Fp32Part::kAll, out);
    PeArray& array = state_.family<PeArray>(Family::kPe);
    const auto other = std::make_unique<PeScratch>();
    product.multiply(array, array.scratch, {0, 128, 0, 444}, true);
    product.multiply(array, array.scratch, {0, 128, 0, 444}, false);
    std::vector<std::uint8_t> whole(psum(0), psum(0) + 128 * kPsumStride);
    for (const std::uint32_t cut : {1u, 17u, 222u, 240u, 443u}) {
      for (const bool overwrite : {true, false}) {
        product.multiply(array, *other, {0, 128, cut, 444 - cut}, overwrite);
        product.multiply(array, array.scratch, {0, 128, 0, cut}, overwrite);
      }
      ASSERT_EQ(std::memcmp(whole.data(), psum(0), whole.size()), 0) << cut;
    }
    for (std::uint32_t cut = 0; cut <= product.steps(); ++cut) {
      std::memset(psum(0), 0xEE, whole.size());
      for (const bool overwrite : {true, false}) {
        product.multiply_steps(array, *other, cut, product.steps(), overwrite);
        product.multiply_steps(array, array.scratch, 0, cut, overwrite);
      }
      if (strided)  // what lies between was never touched
        for (std::uint32_t c = 0; c < 128; ++c)
          for (std::uint32_t j = 0; j < 444; ++j)
            ASSERT_EQ(
                std::memcmp(&whole[c * kPsumStride + 8 * j], psum(0) + c * kPsumStride + 8 * j, 4),
                0)
                << cut << ' ' << c << ' ' << j;
      else
        for (std::uint32_t c = 0; c < 128; ++c)
          ASSERT_EQ(std::memcmp(&whole[c * kPsumStride], psum(0) + c * kPsumStride, 4 * 444), 0)
              << cut << ' ' << c;
    }
  }
}

TEST_F(MatmulShapes, OperandsAreNamed) {
  struct Seen final : OperandVisitor {
    std::vector<std::string> names;
    void visit(const char* name, const Operand&, std::uint32_t partitions, Access access) override {
      names.push_back(std::string(name) + " " + std::to_string(partitions) + " " +
                      std::to_string(static_cast<int>(access)));
    }
  } seen;
  std::string error;
  const Shape s{.rows = 100, .columns = 90};
  plan(load_weights(backwards(0x100, s.dtype, 90), s), &error)->visit_operands(state_, seen);
  plan(matmul(dense(0, 4), dense(kPsum, 4), acc::START, s), &error)->visit_operands(state_, seen);
  plan(matmul(dense(0, 4), dense(kPsum, 4), acc::MID, s), &error)->visit_operands(state_, seen);
  EXPECT_EQ(seen.names, (std::vector<std::string>{"stationary matrix 100 0", "moving matrix 100 0",
                                                  "destination 90 1", "moving matrix 100 0",
                                                  "destination 90 2"}));
}

}  // namespace
}  // namespace opennrt::emu::test
