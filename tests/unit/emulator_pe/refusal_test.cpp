// SPDX-License-Identifier: Apache-2.0
//
// Records that are not executed, and what is said about them.
#include "array.h"

namespace opennrt::emu::test {
namespace {

class Refusal : public PeTest {
 protected:
  Record load() { return load_weights(backwards(0x1000, isa::kDtFloat16, 128), {}); }
  Record product() { return matmul(dense(0x4000, 64), dense(kPsum, 64), acc::SINGLE, {}); }

  void expect_refused(const Record& r, const std::string& text) {
    std::string error;
    EXPECT_EQ(plan(r, &error), nullptr) << text;
    EXPECT_NE(error.find(text), std::string::npos) << error << "\n  wanted: " << text;
  }
  void expect_accepted(const Record& r) {
    std::string error;
    EXPECT_NE(plan(r, &error), nullptr) << error;
  }
};

TEST_F(Refusal, TheRecordsAreFineOtherwise) {
  for (const Generation g : {Generation::kSunda, Generation::kCayman, Generation::kMariana}) {
    generation_ = g;
    expect_accepted(load());
    expect_accepted(product());
  }
}

TEST_F(Refusal, ReservedBytes) {
  const auto each = [&](Generation g, bool product_record, std::vector<int> bytes) {
    generation_ = g;
    for (const int i : bytes) {
      Record r = product_record ? product() : load();
      r[static_cast<std::size_t>(i)] = 9;
      expect_refused(r, "reserved byte " + std::to_string(i) + " is 9");
    }
  };
  each(Generation::kSunda, false, {12, 15, 34, 40, 43, 47, 63});
  each(Generation::kCayman, false, {12, 15, 36, 37, 40, 43, 46, 63});
  each(Generation::kMariana, false, {13, 15, 36, 40, 46, 48, 63});
  each(Generation::kSunda, true, {12, 15, 34, 40, 42});
  each(Generation::kCayman, true, {12, 15, 36, 37, 41, 42, 46});
  each(Generation::kMariana, true, {12, 36, 41, 46});
}

TEST_F(Refusal, FieldsWithoutKnownMeaning) {
  Record r = load();
  set(r, lw::cayman::perf_opt, 1);
  expect_refused(r, "performance option is 1");
  r = product();
  set(r, mm::cayman::perf_opt, 2);
  expect_refused(r, "performance option is 2");
  r = product();
  set(r, mm::cayman::psum_zero_region, 4);
  expect_refused(r, "PSUM zero region 4 is not one of 0 to 3");
  generation_ = Generation::kSunda;
  r = load();
  set(r, lw::sunda::quant_offset, 300);
  expect_refused(r, "quantisation offset is 300");
  r = product();
  set(r, mm::sunda::quant_offset, 1);
  expect_refused(r, "quantisation offset is 1");
  generation_ = Generation::kMariana;
  r = load();
  set(r, lw::mariana::bg_xpose_mode, 1);
  expect_refused(r, "background transpose mode is 1");
  r = load();
  set(r, lw::mariana::flags, 4);
  expect_refused(r, "flags is 4");
  r = product();
  set(r, mm::mariana::flags, 1);
  expect_refused(r, "flags is 1");
}

TEST_F(Refusal, SundaSelectsItsBusFreely) {
  generation_ = Generation::kSunda;
  Record r = load();
  set(r, lw::sunda::xbus_sel, 15);
  expect_accepted(r);
  r = product();
  set(r, mm::sunda::xbus_sel, 16);
  expect_accepted(r);
}

TEST_F(Refusal, RowsColumnsAndGroups) {
  Record r = load();
  set(r, lw::cayman::num_active_rows, 0);
  expect_refused(r, "0 active rows, group code 15 has room for 1 to 128");
  r = load();
  set(r, lw::cayman::num_active_rows, 129);
  expect_refused(r, "129 active rows");
  r = load();
  set(r, lw::cayman::row_grp, 3);
  expect_refused(r, "128 active rows, group code 3 has room for 1 to 64");
  r = product();
  set(r, mm::cayman::col_grp, 2);
  expect_refused(r, "128 active columns, group code 2 has room for 1 to 32");
  for (const std::uint32_t code : {0u, 5u, 6u, 7u, 16u, 255u}) {
    r = load();
    set(r, lw::cayman::row_grp, code);
    expect_refused(r, "row group code " + std::to_string(code) + " is not one of");
  }
}

TEST_F(Refusal, PartitionsMustBeThoseOfTheGroups) {
  const Shape s{.rows = 32, .columns = 32, .row_group = 2, .column_group = 4};
  expect_refused(load_weights(backwards(0, s.dtype, 32), s),
                 "stationary matrix starts at partition 0, its row group at 32");
  expect_refused(matmul(dense(kSbufStride * 64, 4), dense(kPsum, 4), acc::SINGLE, s),
                 "moving matrix starts at partition 64, its row group at 32");
  expect_refused(
      matmul(dense(kSbufStride * 32, 4), dense(kPsum + 32 * kPsumStride, 4), acc::SINGLE, s),
      "destination starts at partition 32, its column group at 64");
}

TEST_F(Refusal, Memories) {
  Record r = load();
  put_pattern(lw::sunda::src(r.data()), dense(kPsum, 128));
  expect_refused(r, "stationary matrix at 0x2000000 is in PSUM");
  r = product();
  put_pattern(mm::sunda::src(r.data()), dense(kPsum, 64));
  expect_refused(r, "moving matrix at 0x2000000 is in PSUM");
  r = product();
  put_pattern(mm::sunda::dst(r.data()), dense(0x100, 64));
  expect_refused(r, "destination 0x100 is in SBUF");
  r = product();
  put_pattern(mm::sunda::dst(r.data()), dense(0x80000005, 64));
  expect_refused(r, "an address in a register is not implemented");
}

TEST_F(Refusal, ElementCounts) {
  Record r = load();
  put_pattern(lw::sunda::src(r.data()), dense(0, 127));
  expect_refused(r, "127 elements per row for 128 columns");
  r = product();
  put_pattern(mm::sunda::src(r.data()), dense(0, 63));
  expect_refused(r, "moving matrix has 63 columns, the destination 64");
  r = product();
  put_pattern(mm::sunda::src(r.data()), {0, {1}, {0}});
  expect_refused(r, "element count 0");
  expect_refused(matmul({0, {0}, {513}}, {kPsum, {0}, {513}}, acc::SINGLE, {}),
                 "moving matrix has 513 columns, the limit is 512");
}

TEST_F(Refusal, OneBankBeforeMariana) {
  const Record r = matmul(dense(0, 64), dense(kPsum + 0x800 - 4, 64), acc::SINGLE, {});
  expect_refused(r, "destination reaches from PSUM bank 0 to 1");
  expect_refused(matmul(dense(0, 64), {kPsum + 0x804, {-1}, {64}}, acc::SINGLE, {}),
                 "destination reaches from PSUM bank 0 to 1");
  generation_ = Generation::kMariana;
  expect_accepted(r);
}

TEST_F(Refusal, DataTypes) {
  for (const std::uint32_t dtype : {0u, 1u, 2u, 3u, 4u, 5u, 8u, 9u, 12u, 16u, 200u}) {
    Record r = load();
    set(r, lw::cayman::in_dtype, dtype);
    expect_refused(r, "data type " + std::to_string(dtype) + " is no input of the PE array");
  }
  Record r = product();
  set(r, mm::cayman::out_dtype, isa::kDtBfloat16);
  expect_refused(r, "output data type 6 is not implemented");
  set(r, mm::cayman::out_dtype, isa::kDtFloat32);
  expect_accepted(r);
  generation_ = Generation::kMariana;
  set(r, mm::cayman::out_dtype, isa::kDtFloat16);
  expect_refused(r, "output data type 7 is not implemented");
}

TEST_F(Refusal, Fp32Modes) {
  Record r = load_weights(backwards(0, isa::kDtFloat32, 128), {.dtype = isa::kDtFloat32});
  expect_refused(r, "FP32 operand without FP32 mode");
  set(r, lw::cayman::fp32_mode, 4);
  expect_refused(r, "FP32 mode 4 is not one of 0 to 3");
  r = load();
  set(r, lw::cayman::fp32_mode, 1);
  expect_refused(r, "FP32 mode 1 with data type 7");
}

TEST_F(Refusal, AccumulateFlags) {
  for (const std::uint32_t flags : {4u, 5u, 6u, 7u, 8u}) {
    Record r = product();
    set(r, mm::cayman::psum_accumulate_flags, flags);
    expect_refused(r, "accumulate flags " + std::to_string(flags));
  }
  generation_ = Generation::kMariana;
  for (const std::uint32_t flags : {5u, 7u, 255u}) {
    Record r = product();
    set(r, mm::cayman::psum_accumulate_flags, flags);
    expect_refused(r, "are not one of 0 to 3, 4, 6");
  }
}

TEST_F(Refusal, TransposeModes) {
  generation_ = Generation::kSunda;
  Record r = load();
  set(r, lw::cayman::transpose_mode, 1);
  expect_refused(r, "reserved byte 34 is 1");
  generation_ = Generation::kCayman;
  set(r, lw::cayman::transpose_mode, 2);
  expect_refused(r, "transpose mode 2");
}

TEST_F(Refusal, RecordsThatAreOnlyDecoded) {
  const std::pair<std::uint8_t, const char*> cases[] = {
      {isa::op::PE_REG_WRITE, "PE_REG_WRITE: the meaning of its registers is not known"},
      {isa::op::WEIGHT_MASK, "WEIGHT_MASK: the layout of the record is not known"},
      {isa::op::WEIGHT_SHIFT, "WEIGHT_SHIFT: the layout of the record is not known"},
  };
  for (const auto& [opcode, text] : cases) {
    Record r{};
    r[0] = opcode;
    r[1] = 0x10;
    expect_refused(r, text);
  }
}

TEST_F(Refusal, ProductsWithoutTheirMatrix) {
  EXPECT_NE(run({product()}).find("no stationary matrix is loaded at 128 rows from 0"),
            std::string::npos);
  Record r = product();
  set(r, mm::cayman::num_active_rows, 127);
  EXPECT_NE(run({load(), r})
                .find("the product uses 127 rows from 0, 128 columns from 0, the "
                      "stationary matrix loaded there has 128 rows"),
            std::string::npos);
}

TEST_F(Refusal, Fp32DoesNotMix) {
  Record r = matmul(dense(0x4000, 64), dense(kPsum, 64), acc::SINGLE,
                    {.dtype = isa::kDtFloat32, .fp32_mode = fp32::LOW_HIGH});
  EXPECT_NE(run({load(), r}).find("stationary data type 7, moving 10: FP32 and FP32R do not mix"),
            std::string::npos);
  r = matmul(dense(0x4000, 64), dense(kPsum, 64), acc::SINGLE, {.dtype = isa::kDtFloat32r});
  EXPECT_NE(run({load(), r}).find("do not mix"), std::string::npos);
}

// Fields beyond their limits in any combination: refused or executed inside the
// memories, which a sanitizer build checks.
TEST_F(Refusal, DamagedRecordsStayInside) {
  const std::uint8_t values[] = {0, 1, 2, 3, 4, 7, 8, 12, 15, 31, 32, 64, 96, 127, 128, 129, 255};
  std::size_t executed = 0;
  for (const Generation g : {Generation::kSunda, Generation::kCayman, Generation::kMariana}) {
    generation_ = g;
    for (int i = 0; i < 4000; ++i) {
      Record r = i % 2 ? load() : product();
      if (i % 8 > 5) r[0] = i % 2 ? isa::op::LDWEIGHTS_MX : isa::op::MATMUL_MX;
      if (i % 8 > 5) set(r, lw::cayman::in_dtype, isa::kDtFloat8e5);
      for (std::uint32_t k = 1 + random_() % 3; k != 0; --k)
        r[12 + random_() % 52] = random_() % 4 ? values[random_() % std::size(values)]
                                               : static_cast<std::uint8_t>(random_());
      std::string error;
      const auto p = plan(r, &error);
      ASSERT_NE(p == nullptr, error.empty()) << error;
      if (p && p->execute(state_, &error)) ++executed;
    }
  }
  EXPECT_GT(executed, 100u);
}

}  // namespace
}  // namespace opennrt::emu::test
