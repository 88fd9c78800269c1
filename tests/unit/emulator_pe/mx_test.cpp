// SPDX-License-Identifier: Apache-2.0
#include "array.h"

namespace opennrt::emu::test {
namespace {

namespace lx = isa::layout::SMX1_LW;
namespace mx = isa::layout::SMX1D3_MM;
constexpr std::uint32_t kFp4 = 16;

class Microscaled : public PeTest {
 protected:
  static constexpr std::uint32_t kW = 0x1000, kWScale = 0x2000, kX = 0x4000, kXScale = 0x6000;

  Microscaled() { generation_ = Generation::kMariana; }

  struct Case {
    std::uint32_t w_dtype, x_dtype, rows, columns, n, row_group = 15, first_row = 0;
  };

  static void put_source(std::uint8_t* to, std::uint32_t data, std::uint32_t scales,
                         std::uint32_t count) {
    const auto n = static_cast<std::uint16_t>(count);
    std::memcpy(to, &data, 4);
    std::memcpy(to + 4, &scales, 4);
    std::memcpy(to + 8, &n, 2);
  }
  static std::uint32_t base(const Case& k) { return k.first_row * kSbufStride; }
  Record load(const Case& k) {
    Record r{};
    r[0] = isa::op::LDWEIGHTS_MX;
    r[1] = 0x10;
    put_source(lx::src(r.data()), base(k) + kW, base(k) + kWScale, k.columns);
    set(r, lx::in_dtype, k.w_dtype);
    set(r, lx::num_active_rows, k.rows);
    set(r, lx::num_active_cols, k.columns);
    set(r, lx::row_grp, k.row_group);
    set(r, lx::col_grp, 15);
    return r;
  }
  Record product(const Case& k, std::uint32_t flags, std::uint32_t out = isa::kDtFloat32) {
    Record r{};
    r[0] = isa::op::MATMUL_MX;
    r[1] = 0x10;
    put_source(mx::src(r.data()), base(k) + kX, base(k) + kXScale, k.n);
    put_pattern(mx::dst(r.data()), dense(kPsum, static_cast<int>(k.n)));
    set(r, mx::in_dtype, k.x_dtype);
    set(r, mx::num_active_rows, k.rows);
    set(r, mx::num_active_cols, k.columns);
    set(r, mx::row_grp, k.row_group);
    set(r, mx::col_grp, 15);
    set(r, mx::out_dtype, out);
    set(r, mx::psum_accumulate_flags, flags);
    return r;
  }

  // Random finite numbers, scales around 1; bytes where no scale belongs are
  // NaN scales.
  void fill(const Case& k) {
    const auto bytes = [&](std::uint32_t address, std::uint32_t row, std::uint32_t count,
                           std::uint32_t dtype) {
      std::uint8_t* p = sbuf((k.first_row + row) * kSbufStride + address);
      for (std::uint32_t i = 0; i < count * (dtype == kFp4 ? 2 : 4); ++i) {
        do p[i] = static_cast<std::uint8_t>(random_());
        while (dtype != kFp4 && !std::isfinite(number(p[i], dtype)));
      }
    };
    for (std::uint32_t r = 0; r < k.rows; ++r) {
      bytes(kW, r, k.columns, k.w_dtype);
      bytes(kX, r, k.n, k.x_dtype);
      for (const auto& [address, count] : {std::pair{kWScale, k.columns}, {kXScale, k.n}})
        for (std::uint32_t i = 0; i < count; ++i)
          sbuf((k.first_row + r) * kSbufStride + address)[i] =
              static_cast<std::uint8_t>(r % 32 < 4 ? 117 + random_() % 21 : 0xFF);
    }
  }
  static double number(std::uint32_t code, std::uint32_t dtype) {
    if (dtype == kFp4) {
      const double v[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
      return code & 8 ? -v[code & 7] : v[code & 7];
    }
    if (dtype == isa::kDtFloat8e5) return field_value(code, 5, 2);
    // e4m3fn: the largest exponent holds numbers, all ones is NaN.
    if ((code & 0x7F) == 0x7F) return NAN;
    const int e = static_cast<int>(code >> 3 & 15);
    const double f = code & 7;
    const double v = e == 0 ? std::ldexp(f, -9) : std::ldexp(8 + f, e - 10);
    return code & 0x80 ? -v : v;
  }
  double element(const Case& k, std::uint32_t data, std::uint32_t scales, std::uint32_t dtype,
                 std::uint32_t row, std::uint32_t i, std::uint32_t j) {
    const std::uint8_t* p = sbuf((k.first_row + row) * kSbufStride + data);
    const std::uint32_t code =
        dtype == kFp4 ? (p[2 * i + j / 2] >> 4 * (j % 2)) & 15u : std::uint32_t{p[4 * i + j]};
    const std::uint32_t group = k.first_row + row / 32 * 32 + row % 32 / 8;
    return std::ldexp(number(code, dtype), sbuf(group * kSbufStride + scales)[i] - 127);
  }
  Dot expected(const Case& k, std::uint32_t c, std::uint32_t n) {
    Dot d{0, 0};
    for (std::uint32_t r = 0; r < k.rows; ++r)
      for (std::uint32_t j = 0; j < 4; ++j) {
        const double p = element(k, kW, kWScale, k.w_dtype, r, k.columns - 1 - c, j) *
                         element(k, kX, kXScale, k.x_dtype, r, n, j);
        d.sum += p;
        d.magnitude += std::fabs(p);
      }
    return d;
  }
};

TEST_F(Microscaled, ProductsOfEveryPairOfTypes) {
  for (const Case& k : {Case{isa::kDtFloat8e4, isa::kDtFloat8e4, 128, 128, 100},
                        Case{isa::kDtFloat8e5, isa::kDtFloat8e4, 96, 66, 49},
                        Case{kFp4, kFp4, 32, 20, 17}, Case{kFp4, isa::kDtFloat8e5, 64, 8, 512}}) {
    SCOPED_TRACE(testing::Message() << k.w_dtype << " " << k.x_dtype << " " << k.rows);
    fill(k);
    ASSERT_EQ(run({load(k), product(k, acc::SINGLE)}), "");
    for (std::uint32_t c = 0; c < k.columns; c += 3)
      for (std::uint32_t n = c % 5; n < k.n; n += 5) {
        const Dot want = expected(k, c, n);
        ASSERT_NEAR(psum_f32(c, n), want.sum, want.magnitude * 4 * k.rows * 0x1p-24)
            << c << " " << n;
      }
  }
}

TEST_F(Microscaled, RowTilesAddAndBfloat16Rounds) {
  const Case low{isa::kDtFloat8e4, isa::kDtFloat8e4, 64, 32, 33, 3, 0};
  const Case high{isa::kDtFloat8e4, isa::kDtFloat8e4, 64, 32, 33, 12, 64};
  fill(low);
  fill(high);
  ASSERT_EQ(run({load(low), load(high), product(low, acc::START), product(high, acc::END)}), "");
  for (std::uint32_t c = 0; c < 32; ++c)
    for (std::uint32_t n = 0; n < 33; ++n) {
      const Dot a = expected(low, c, n), b = expected(high, c, n);
      ASSERT_NEAR(psum_f32(c, n), a.sum + b.sum, (a.magnitude + b.magnitude) * 512 * 0x1p-24);
    }
  ASSERT_EQ(run({product(low, acc::START, isa::kDtBfloat16)}), "");
  for (std::uint32_t c = 0; c < 32; ++c)
    for (std::uint32_t n = 0; n < 33; ++n) {
      std::uint16_t got;
      std::memcpy(&got, psum(c, 2 * n), 2);
      const Dot want = expected(low, c, n);
      ASSERT_NEAR(value_of(got, isa::kDtBfloat16), want.sum,
                  std::fabs(want.sum) * 0x1p-8 + want.magnitude * 256 * 0x1p-24);
    }
}

TEST_F(Microscaled, NanAndSmallestScale) {
  const Case k{isa::kDtFloat8e4, isa::kDtFloat8e4, 32, 2, 2};
  for (std::uint32_t r = 0; r < 32; ++r) {
    std::memset(sbuf(r * kSbufStride + kW), 0, 8);
    std::memset(sbuf(r * kSbufStride + kX), 0, 8);
    std::memset(sbuf(r * kSbufStride + kWScale), 127, 2);
    std::memset(sbuf(r * kSbufStride + kXScale), 127, 2);
  }
  sbuf(kW)[4] = 0x38;  // 1.0 in stream element 1: column 0
  sbuf(kX)[0] = 0x38;
  sbuf(kWScale)[1] = 0;    // 2^-127
  sbuf(kXScale)[1] = 255;  // NaN for moving column 1
  ASSERT_EQ(run({load(k), product(k, acc::SINGLE)}), "");
  EXPECT_EQ(psum_f32(0, 0), std::ldexp(1.0, -127));
  EXPECT_EQ(psum_f32(1, 0), 0);
  EXPECT_TRUE(std::isnan(psum_f32(0, 1)));
}

TEST_F(Microscaled, Refusals) {
  const Case k{isa::kDtFloat8e4, isa::kDtFloat8e4, 64, 64, 32};
  fill(k);
  const auto expect_refused = [&](const Record& r, const std::string& text) {
    std::string error;
    EXPECT_EQ(plan(r, &error), nullptr) << text;
    EXPECT_NE(error.find(text), std::string::npos) << error << "\n  wanted: " << text;
  };
  Record r = load(k);
  r[lx::src.kOffset + 10] = 1;
  expect_refused(r, "step sign is 1");
  r = product(k, 3);
  r[mx::src.kOffset + 11] = 4;
  expect_refused(r, "scale partition is 4");
  r = load(k);
  r[lx::src.kOffset + 13] = 1;
  expect_refused(r, "reserved byte 29 is 1");
  r = load(k);
  r[33] = 1;
  expect_refused(r, "reserved byte 33 is 1");
  r = product(k, 5);
  expect_refused(r, "accumulate flags 5");
  r = product(k, 3, 0);
  expect_refused(r, "output data type 0 is not FP32 (10) or BF16 (6)");
  expect_refused(load({isa::kDtFloat8e3, 14, 64, 64, 32}), "data type 13 is not microscaled");
  expect_refused(load({14, 14, 40, 64, 32}), "40 active rows");
  expect_refused(load({14, 14, 64, 63, 32}), "63 active columns");
  r = load(k);
  set(r, lx::col_grp, 3);
  expect_refused(r, "column group code 3");
  expect_refused(load({14, 14, 32, 64, 32, 2, 0}), "starts at partition 0, its row group at 32");
  expect_refused(product({14, 14, 64, 64, 513}, 3), "moving matrix has 513 columns");
  r = product(k, 3);
  put_pattern(mx::dst(r.data()), dense(0x100, 32));
  expect_refused(r, "is in SBUF");
  generation_ = Generation::kCayman;
  expect_refused(load(k), "need mariana");
  generation_ = Generation::kMariana;
  // Ordinary and microscaled records do not mix.
  const Shape s{.rows = 64, .columns = 64};
  EXPECT_NE(run({load_weights(backwards(0, s.dtype, 64), s), product(k, 3)})
                .find("the product is microscaled, the stationary matrix is not"),
            std::string::npos);
  EXPECT_NE(run({load(k), matmul(dense(0, 4), dense(kPsum, 4), 3, s)})
                .find("the stationary matrix is microscaled, the product is not"),
            std::string::npos);
}

}  // namespace
}  // namespace opennrt::emu::test
