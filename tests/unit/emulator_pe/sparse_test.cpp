// SPDX-License-Identifier: Apache-2.0
//
// Compressed stationary matrices against a double precision sum over the dense
// matrix that they stand for.
#include "array.h"

namespace opennrt::emu::test {
namespace {

namespace lt = isa::layout::S3_LT;
namespace sm = isa::layout::S4D3_MM;

class Sparse : public PeTest {
 protected:
  static constexpr std::uint32_t kW = 0x1000, kTags = 0x3000, kX = 0x4000;

  struct Case {
    std::uint32_t w_dtype = isa::kDtBfloat16, x_dtype = isa::kDtBfloat16;
    std::uint32_t rows = 128, columns = 128, row_group = 15, first_row = 0;
    std::uint32_t values = 4, n = 40;
    bool words_backwards = false;
  };
  std::uint32_t base(const Case& k, std::uint32_t offset) const {
    return k.first_row * kSbufStride + offset;
  }
  std::uint32_t high_bits(const Case& k) const { return k.first_row / 8; }

  Record tags(const Case& k) {
    Record r{};
    r[0] = isa::op::LDTAGS;
    r[1] = 0x10;
    const int words = static_cast<int>(k.columns / 4);
    put_pattern(lt::src(r.data()), k.words_backwards
                                       ? backwards(base(k, kTags), isa::kDtBfloat16, words)
                                       : dense(base(k, kTags), words));
    set(r, lt::dtype, isa::kDtUint16);
    set(r, lt::col_grp_code, high_bits(k));
    set(r, lt::num_active_rows, k.rows);
    set(r, lt::row_grp, k.row_group);
    set(r, lt::col_grp, 15);
    return r;
  }
  Record weights(const Case& k, std::uint32_t mode = 0) {
    return load_weights(backwards(base(k, kW), k.w_dtype, static_cast<int>(k.columns)),
                        {.dtype = k.w_dtype,
                         .rows = k.rows,
                         .columns = k.columns,
                         .row_group = k.row_group,
                         .fp32_mode = mode});
  }
  // Value w of column n at element n * values + w.
  Record product(const Case& k, std::uint32_t flags) {
    Record r{};
    r[0] = isa::op::MATMUL_SPARSE;
    r[1] = 0x10;
    std::uint8_t* p = sm::src(r.data());
    const std::uint32_t address = base(k, kX);
    const std::int16_t step[4] = {static_cast<std::int16_t>(k.values), 0, 0, 1};
    const std::uint16_t count[4] = {static_cast<std::uint16_t>(k.n), 1, 1,
                                    static_cast<std::uint16_t>(k.values)};
    std::memcpy(p, &address, 4);
    std::memcpy(p + 4, step, 8);
    std::memcpy(p + 12, count, 8);
    set(r, sm::in_dtype, k.x_dtype);
    set(r, sm::fp32_mode, k.x_dtype == isa::kDtFloat32 ? fp32::LOW_HIGH : 0u);
    set(r, sm::num_active_rows, k.rows);
    set(r, sm::num_active_cols, k.columns);
    set(r, sm::pass_flags, flags);
    set(r, sm::row_grp, k.row_group);
    set(r, sm::col_grp, 15);
    put_pattern(sm::dst(r.data()), dense(kPsum, static_cast<int>(k.n)));
    return r;
  }

  // Random values and tags; tag_[r][c] is what cell (r, c) takes of its group.
  void fill(const Case& k) {
    randomise(base(k, kW), k.rows, k.columns, k.w_dtype);
    randomise(base(k, kX), k.rows, k.n * k.values, k.x_dtype);
    for (std::uint32_t r = 0; r < k.rows; ++r) {
      for (std::uint32_t c = 0; c < k.columns; ++c)
        tag_[r][c] =
            static_cast<std::uint32_t>(random_() % (k.rows / 32) * 4 + random_() % k.values);
      // The first word holds the last four columns, the highest in its low bits.
      for (std::uint32_t i = 0; i < k.columns / 4; ++i) {
        std::uint32_t word = 0;
        for (std::uint32_t b = 0; b < 4; ++b) word |= tag_[r][k.columns - 1 - 4 * i - b] << 4 * b;
        const std::uint32_t at = k.words_backwards ? k.columns / 4 - 1 - i : i;
        std::memcpy(sbuf(base(k, kTags) + r * kSbufStride) + 2 * at, &word, 2);
      }
    }
  }
  // The sum over the dense matrix of rows x values lines.
  double want(const Case& k, std::uint32_t c, std::uint32_t n, double* magnitude) {
    double sum = 0;
    *magnitude = 0;
    for (std::uint32_t line = 0; line < k.rows * k.values; ++line) {
      const std::uint32_t partition = line / k.values, w = line % k.values;
      double weight = 0;  // of the line, from all cells that chose it
      for (std::uint32_t r = partition % 32; r < k.rows; r += 32)
        if (tag_[r][c] == partition / 32 * 4 + w)
          weight +=
              value_of(get(base(k, kW) + r * kSbufStride, c, type_bytes(k.w_dtype)), k.w_dtype);
      const double x = value_of(
          get(base(k, kX) + partition * kSbufStride, n * k.values + w, type_bytes(k.x_dtype)),
          k.x_dtype);
      sum += weight * x;
      *magnitude += std::fabs(weight * x);
    }
    return sum;
  }
  void expect_product(const Case& k, double added = 0) {
    for (std::uint32_t c = 0; c < k.columns; ++c)
      for (std::uint32_t n = 0; n < k.n; ++n) {
        double magnitude = 0;
        const double sum = want(k, c, n, &magnitude) + added;
        ASSERT_NEAR(psum_f32(c, n), sum, (magnitude + std::fabs(added)) * 0x1p-19 + 1e-30)
            << "column " << c << ", n " << n;
      }
  }
  void expect_refused(const Record& r, const std::string& text) {
    std::string error;
    EXPECT_EQ(plan(r, &error), nullptr) << text;
    EXPECT_NE(error.find(text), std::string::npos) << error;
  }

  std::uint32_t tag_[128][128];
};

TEST_F(Sparse, EveryRatioAndTile) {
  const Case cases[] = {
      {},
      {.values = 3},
      {.values = 2, .n = 512},
      {.w_dtype = isa::kDtFloat8e4, .x_dtype = isa::kDtFloat16, .columns = 64},
      {.rows = 64, .columns = 100, .row_group = 3},
      {.rows = 64, .row_group = 12, .first_row = 64, .values = 2},
      {.rows = 32, .row_group = 1},
      {.rows = 32, .row_group = 2, .first_row = 32},
      {.rows = 32, .row_group = 4, .first_row = 64, .words_backwards = true},
      {.rows = 32, .columns = 4, .row_group = 8, .first_row = 96, .n = 1},
  };
  for (const Case& k : cases) {
    SCOPED_TRACE(std::to_string(k.rows) + " rows from " + std::to_string(k.first_row) + ", " +
                 std::to_string(k.values) + " values");
    fill(k);
    // Tags of a part may leave out the bits that its record adds.
    std::memset(psum(0), 0xFF, 128 * kPsumStride);
    ASSERT_EQ(run({tags(k), weights(k), product(k, acc::SINGLE)}), "");
    expect_product(k);
    // Nothing beyond the columns and partitions of the product.
    std::uint32_t beyond = 0;
    std::memcpy(&beyond, psum(0, 4 * k.n), 4);
    EXPECT_EQ(beyond, 0xFFFFFFFFu);
    if (k.columns < 128) {
      std::memcpy(&beyond, psum(k.columns), 4);
      EXPECT_EQ(beyond, 0xFFFFFFFFu);
    }
  }
}

TEST_F(Sparse, AGroupAccumulates) {
  const Case k{.n = 8};
  fill(k);
  for (std::uint32_t c = 0; c < 128; ++c)
    for (std::uint32_t n = 0; n < 8; ++n) put_psum(c, n, 1000.0f);
  ASSERT_EQ(run({tags(k), weights(k), product(k, acc::MID)}), "");
  expect_product(k, 1000.0);
}

// The LOW pass begins, the HIGH pass ends; the moving side is whole in both.
TEST_F(Sparse, Fp32InTwoPasses) {
  const Case k{.w_dtype = isa::kDtFloat32, .x_dtype = isa::kDtFloat32, .columns = 32, .n = 16};
  fill(k);
  std::memset(psum(0), 0xFF, 128 * kPsumStride);
  ASSERT_EQ(run({tags(k), weights(k, fp32::LOW), product(k, acc::START), weights(k, fp32::HIGH),
                 product(k, acc::END)}),
            "");
  expect_product(k);
}

TEST_F(Sparse, TagsStayUntilTheNextOnes) {
  Case k{.n = 4};
  fill(k);
  ASSERT_EQ(run({tags(k), weights(k), product(k, acc::SINGLE)}), "");
  randomise(base(k, kW), k.rows, k.columns, k.w_dtype);
  ASSERT_EQ(run({weights(k), product(k, acc::SINGLE)}), "");
  expect_product(k);
}

TEST_F(Sparse, ValuesThatAreNotSentAreRefused) {
  Case k{.values = 2, .n = 4};
  fill(k);
  tag_[5][7] = 14;  // partition 101, value 2 of 0 and 1
  std::uint16_t word = 0;
  std::uint8_t* at = sbuf(base(k, kTags) + 5 * kSbufStride) + 2 * ((127 - 7) / 4);
  std::memcpy(&word, at, 2);
  const int shift = 4 * ((127 - 7) % 4);
  word = static_cast<std::uint16_t>((word & ~(0xF << shift)) | 14 << shift);
  std::memcpy(at, &word, 2);
  EXPECT_NE(run({tags(k), weights(k), product(k, acc::SINGLE)})
                .find("tag 14 of row 5, column 7 names a value that is not sent"),
            std::string::npos);
  // A part of the rows cannot reach partitions of another part.
  Case part{.rows = 32, .row_group = 1, .n = 4};
  fill(part);
  word = 0x4444;
  std::memcpy(sbuf(kTags), &word, 2);
  EXPECT_NE(run({tags(part), weights(part), product(part, acc::SINGLE)})
                .find("tag 4 of row 0, column 124 names a value that is not sent"),
            std::string::npos);
}

TEST_F(Sparse, ProductsWithoutTheirParts) {
  const Case k{.n = 4};
  fill(k);
  EXPECT_NE(run({weights(k), product(k, acc::SINGLE)})
                .find("row 0 has tags for 0 columns, the product uses 128"),
            std::string::npos);
  EXPECT_NE(run({tags(k), product(Case{.columns = 64, .n = 4}, acc::SINGLE)})
                .find("the product uses 128 rows from 0, 64 columns"),
            std::string::npos);
  EXPECT_NE(
      run({tags(k), weights(k), product(Case{.x_dtype = isa::kDtFloat32, .n = 4}, acc::SINGLE)})
          .find("FP32 and FP32R do not mix"),
      std::string::npos);
}

TEST_F(Sparse, WrongFields) {
  const Case k;
  const auto bad_tags = [&](auto field, std::uint32_t value, const std::string& text) {
    Record r = tags(k);
    set(r, field, value);
    expect_refused(r, text);
  };
  bad_tags(lt::dtype, isa::kDtUint32, "tags have data type 9, not INT16 (4) or UINT16 (5)");
  bad_tags(lt::col_grp, 1, "column group code 1, sparse matrices use all columns");
  bad_tags(lt::col_grp_code, 4, "high tag bits 4, rows from 0 have 0");
  bad_tags(lt::num_active_rows, 0, "0 active rows");
  bad_tags(lt::row_grp, 5, "row group code 5");
  bad_tags(lt::row_grp, 2, "group code 2 has room for 1 to 32");
  Record r = tags(k);
  r[46] = 1;
  expect_refused(r, "reserved byte 46 is 1");
  r = tags(k);
  put_pattern(lt::src(r.data()), dense(kPsum, 32));
  expect_refused(r, "in PSUM");
  put_pattern(lt::src(r.data()), dense(kTags, 33));
  expect_refused(r, "33 words of tags per row, the limit is 32");

  const auto bad = [&](auto field, std::uint32_t value, const std::string& text) {
    Record p = product(k, acc::SINGLE);
    set(p, field, value);
    expect_refused(p, text);
  };
  bad(sm::pass_flags, 4, "pass flags 4 are not one of 0 to 3");
  bad(sm::col_grp, 3, "column group code 3");
  bad(sm::in_dtype, isa::kDtInt32, "data type 8 is no input of the PE array");
  bad(sm::fp32_mode, 1, "only FP32 (10) has passes");
  bad(sm::num_active_cols, 0, "0 active columns");
  Record p = product(Case{.values = 4, .n = 513}, acc::SINGLE);
  expect_refused(p, "a product stays in one bank");
  p = product(k, acc::SINGLE);
  const std::uint16_t count = 5, one = 1;
  std::memcpy(sm::src(p.data()) + 18, &count, 2);
  expect_refused(p, "sends 5 values per column");
  std::memcpy(sm::src(p.data()) + 18, &one, 2);
  expect_refused(p, "sends 1 values per column");
  p = product(k, acc::SINGLE);
  put_pattern(sm::dst(p.data()), dense(kPsum, 41));
  expect_refused(p, "moving matrix has 40 columns, the destination 41");
  put_pattern(sm::dst(p.data()), dense(0x100, 40));
  expect_refused(p, "is in SBUF, the PE array writes PSUM");
  p = product(k, acc::SINGLE);
  p[34] = 1;
  expect_refused(p, "reserved byte 34 is 1");
}

// --- seeds

namespace sd = isa::layout::S2S1D2_PE_SEED;

class Seeds : public PeTest {
 protected:
  static constexpr std::uint32_t kIdentity = 0x800, kSource = 0x1000;

  Seeds() { generation_ = Generation::kMariana; }

  Record manage(std::uint32_t mode) {
    Record r{};
    r[0] = isa::op::PE_MANAGE_SEED;
    r[1] = 0x10;
    put_2d(sd::src_seed(r.data()), kSource, 1, 128);
    const std::uint32_t identity = kIdentity;
    const std::uint16_t step = 1, count = 16;
    std::memcpy(sd::identity(r.data()), &identity, 4);
    std::memcpy(sd::identity(r.data()) + 4, &step, 2);
    std::memcpy(sd::identity(r.data()) + 6, &count, 2);
    set(r, sd::identity_dtype, isa::kDtBfloat16);
    set(r, sd::mode, mode);
    set(r, sd::num_active_rows, 16);
    set(r, sd::num_active_cols, 128);
    put_2d(sd::dst_seed(r.data()), kPsum, 2, 16);
    return r;
  }
  // `count` elements, `step` apart.
  static void put_2d(std::uint8_t* to, std::uint32_t address, int step, int count) {
    const std::int16_t steps[2] = {static_cast<std::int16_t>(step), 0};
    const std::uint16_t counts[2] = {static_cast<std::uint16_t>(count), 1};
    std::memcpy(to, &address, 4);
    std::memcpy(to + 4, steps, 4);
    std::memcpy(to + 8, counts, 4);
  }
  void expect_refused(const Record& r, const std::string& text) {
    std::string error;
    EXPECT_EQ(plan(r, &error), nullptr) << text;
    EXPECT_NE(error.find(text), std::string::npos) << error;
  }
};

TEST_F(Seeds, SavedSeedsAreTheLoadedOnesTransposed) {
  const auto seed = [](std::uint32_t set, std::uint32_t partition) {
    return 0x9E3779B9u * (set * 128 + partition + 1);
  };
  for (std::uint32_t i = 0; i < 16; ++i)
    for (std::uint32_t p = 0; p < 128; ++p) {
      const std::uint32_t v = seed(i, p);
      std::memcpy(sbuf(kSource + i * kSbufStride) + 4 * p, &v, 4);
    }
  std::memset(psum(0), 0xEE, 128 * kPsumStride);
  ASSERT_EQ(run({manage(1)}), "");
  std::uint32_t v = 0;
  std::memcpy(&v, psum(0), 4);
  EXPECT_EQ(v, 0xEEEEEEEEu);  // a load writes nothing
  std::memset(sbuf(kSource), 0, 512);
  ASSERT_EQ(run({manage(0), manage(2)}), "");
  for (std::uint32_t p = 0; p < 128; ++p)
    for (std::uint32_t i = 0; i < 16; ++i) {
      std::memcpy(&v, psum(p, 8 * i), 4);
      ASSERT_EQ(v, seed(i, p)) << "partition " << p << ", set " << i;
      std::memcpy(&v, psum(p, 8 * i + 4), 4);
      ASSERT_EQ(v, 0xEEEEEEEEu);
    }
}

TEST_F(Seeds, ZeroUntilLoaded) {
  std::memset(psum(0), 0xEE, 128 * kPsumStride);
  ASSERT_EQ(run({manage(2)}), "");
  std::uint32_t v = 1;
  std::memcpy(&v, psum(127, 8 * 15), 4);
  EXPECT_EQ(v, 0u);
}

TEST_F(Seeds, WrongFields) {
  const auto bad = [&](std::uint32_t mode, auto field, std::uint32_t value,
                       const std::string& text) {
    Record r = manage(mode);
    set(r, field, value);
    expect_refused(r, text);
  };
  bad(1, sd::mode, 3, "seed mode 3 is not one of 0, 1 (load), 2 (save)");
  bad(1, sd::num_active_rows, 15, "15 rows and 128 columns, seeds have 16 and 128");
  bad(2, sd::num_active_cols, 64, "16 rows and 64 columns");
  bad(1, sd::identity_dtype, isa::kDtFloat32, "identity matrix: data type 10");
  Record r = manage(1);
  r[63] = 1;
  expect_refused(r, "reserved byte 63 is 1");
  r = manage(1);
  put_2d(sd::src_seed(r.data()), kSource, 1, 127);
  expect_refused(r, "seeds has 127 elements per partition, not 128");
  put_2d(sd::src_seed(r.data()), kPsum, 1, 128);
  expect_refused(r, "seeds at 0x2000000 is in PSUM, it belongs in SBUF");
  put_2d(sd::src_seed(r.data()), kSource + 32 * kSbufStride, 1, 128);
  expect_refused(r, "starts at partition 32");
  r = manage(2);
  put_2d(sd::dst_seed(r.data()), 0x100, 1, 16);
  expect_refused(r, "is in SBUF, it belongs in PSUM");
}

}  // namespace
}  // namespace opennrt::emu::test
