// SPDX-License-Identifier: Apache-2.0
//
// Start flags and zero regions: which products replace what PSUM holds.
#include "array.h"

namespace opennrt::emu::test {
namespace {

class PsumGroups : public PeTest {
 protected:
  static constexpr float kHeld = 1000;
  static constexpr int kN = 16;
  static constexpr std::uint32_t kBank = 2048;

  PsumGroups() {
    randomise(0x100, 128, 128, isa::kDtFloat16);
    randomise(0x4000, 128, kN, isa::kDtFloat16);
    for (std::uint32_t c = 0; c < 128; ++c)
      for (std::uint32_t i = 0; i < 4096; ++i) put_psum(c, i, kHeld);
  }
  static View at(std::uint32_t byte) { return dense(kPsum + byte, kN); }
  Record load() { return load_weights(backwards(0x100, isa::kDtFloat16, 128), shape_); }
  Record product(std::uint32_t byte, std::uint32_t flags) {
    return matmul(dense(0x4000, kN), at(byte), flags, shape_);
  }
  // Columns `first` on hold `times` the product and `already`.
  void expect(std::uint32_t byte, double times, double already, std::uint32_t first = 0,
              std::uint32_t columns = 128) {
    for (std::uint32_t c = 0; c < columns; c += 5)
      for (std::uint32_t n = 0; n < kN; ++n) {
        const Dot d =
            dot(backwards(0x100, isa::kDtFloat16, static_cast<int>(shape_.columns)),
                isa::kDtFloat16, dense(0x4000, kN), isa::kDtFloat16, 128, shape_.columns, c, n);
        ASSERT_NEAR(psum_f32(first + c, byte / 4 + n), times * d.sum + already, 0.05)
            << "byte " << byte << " column " << c << " element " << n;
      }
  }

  Shape shape_;
};

TEST_F(PsumGroups, OneStartServesAllGroupsOfItsBank) {
  ASSERT_EQ(run({load(), product(0, acc::START), product(256, acc::MID), product(256, acc::END),
                 product(0, acc::MID), product(kBank, acc::MID)}),
            "");
  expect(0, 2, 0);
  expect(256, 2, 0);
  expect(kBank, 1, kHeld);
}

TEST_F(PsumGroups, StartLeavesTheRestOfTheBankInMemory) {
  ASSERT_EQ(run({load(), product(0, acc::SINGLE), product(256, acc::SINGLE)}), "");
  expect(0, 1, 0);
  expect(256, 1, 0);
  for (std::uint32_t c = 0; c < 128; ++c)
    for (const std::uint32_t i : {16u, 63u, 80u, 511u}) ASSERT_EQ(psum_f32(c, i), kHeld);
}

TEST_F(PsumGroups, SomeElementsStartFromZeroAndOthersAdd) {
  const View half = dense(kPsum, kN / 2), x = dense(0x4000, kN / 2);
  ASSERT_EQ(run({load(), product(512, acc::START), matmul(x, half, acc::MID, shape_),
                 product(0, acc::MID)}),
            "");
  for (std::uint32_t c = 0; c < 128; ++c)
    for (std::uint32_t n = 0; n < kN; ++n) {
      const Dot d = dot(backwards(0x100, isa::kDtFloat16, 128), isa::kDtFloat16, dense(0x4000, kN),
                        isa::kDtFloat16, 128, 128, c, n);
      ASSERT_NEAR(psum_f32(c, n), n < kN / 2 ? 2 * d.sum : d.sum, 0.05);
    }
  // And a strided destination, one half of which was written.
  const View strided{kPsum + 4 * 200, {3}, {kN}}, first{kPsum + 4 * 200, {3}, {kN / 2}};
  ASSERT_EQ(run({matmul(x, first, acc::MID, shape_),
                 matmul(dense(0x4000, kN), strided, acc::MID, shape_)}),
            "");
  for (std::uint32_t c = 0; c < 128; c += 3)
    for (std::uint32_t n = 0; n < kN; ++n) {
      const Dot d = dot(backwards(0x100, isa::kDtFloat16, 128), isa::kDtFloat16, dense(0x4000, kN),
                        isa::kDtFloat16, 128, 128, c, n);
      ASSERT_NEAR(psum_f32(c, 200 + 3 * n), n < kN / 2 ? 2 * d.sum : d.sum, 0.05);
      ASSERT_EQ(psum_f32(c, 201 + 3 * n), kHeld);
    }
}

TEST_F(PsumGroups, LargerZeroRegions) {
  for (std::uint32_t code = 0; code < 4; ++code) {
    SCOPED_TRACE(code);
    for (std::uint32_t c = 0; c < 128; ++c)
      for (std::uint32_t i = 0; i < 4096; ++i) put_psum(c, i, kHeld);
    // Bank 5 starts; what an earlier round left pending is taken first.
    std::vector<Record> records{load()};
    for (std::uint32_t bank = 0; bank < 8; ++bank)
      records.push_back(product(bank * kBank, acc::SINGLE));
    Record start = product(5 * kBank, acc::START);
    set(start, mm::cayman::psum_zero_region, code);
    records.push_back(start);
    for (std::uint32_t bank = 0; bank < 8; ++bank)
      if (bank != 5) records.push_back(product(bank * kBank, acc::MID));
    ASSERT_EQ(run(records), "");
    const std::uint32_t banks = 1u << code, region = 5 / banks * banks;
    for (std::uint32_t bank = 0; bank < 8; ++bank)
      expect(bank * kBank, bank >= region && bank < region + banks ? 1 : 2, 0);
  }
}

TEST_F(PsumGroups, AccumulateFlagBeginsOnWhatIsHeld) {
  generation_ = Generation::kMariana;
  ASSERT_EQ(run({load(), product(0, acc::START), product(256, acc::ACCUMULATE),
                 product(512, acc::MID), product(0, acc::MID)}),
            "");
  expect(0, 2, 0);
  expect(256, 1, kHeld);
  expect(512, 1, kHeld);
}

TEST_F(PsumGroups, OtherColumnsOfTheArrayAreOtherGroups) {
  shape_.columns = 32;
  shape_.column_group = 1;
  const View w = backwards(0x100, isa::kDtFloat16, 32);
  ASSERT_EQ(run({load_weights(w, shape_), product(0, acc::START)}), "");
  expect(0, 1, 0, 0, 32);
  shape_.column_group = 4;
  const View there = dense(kPsum + 64 * kPsumStride + 256, kN);
  ASSERT_EQ(run({load_weights(w, shape_), matmul(dense(0x4000, kN), there, acc::MID, shape_)}), "");
  expect(256, 1, kHeld, 64, 32);
}

TEST_F(PsumGroups, Fp32PairStartsFromZeroToo) {
  randomise(0x1000, 128, 128, isa::kDtFloat32);
  randomise(0x8000, 128, kN, isa::kDtFloat32);
  Shape low{.dtype = isa::kDtFloat32, .fp32_mode = fp32::LOW}, high = low, both = low;
  high.fp32_mode = fp32::HIGH;
  both.fp32_mode = fp32::LOW_HIGH;
  const View w = backwards(0x1000, isa::kDtFloat32, 128), x = dense(0x8000, kN);
  const auto pair = [&](std::uint32_t byte, std::uint32_t flags) {
    return std::vector<Record>{load_weights(w, low), matmul(x, at(byte), flags, both),
                               load_weights(w, high), matmul(x, at(byte), acc::MID, both)};
  };
  std::vector<Record> records = pair(0, acc::START);
  for (const Record& r : pair(256, acc::MID)) records.push_back(r);
  for (const Record& r : pair(256, acc::MID)) records.push_back(r);
  ASSERT_EQ(run(records), "");
  for (std::uint32_t c = 0; c < 128; c += 3)
    for (std::uint32_t n = 0; n < kN; ++n) {
      const Dot d = dot(w, isa::kDtFloat32, x, isa::kDtFloat32, 128, 128, c, n);
      ASSERT_NEAR(psum_f32(c, n), d.sum, 1e-3);
      ASSERT_NEAR(psum_f32(c, 64 + n), 2 * d.sum, 2e-3);
    }
}

TEST_F(PsumGroups, TransposesBeginRegionsAsWell) {
  randomise(0x9000, 128, 16, isa::kDtFloat16);
  for (std::uint32_t r = 0; r < 128; ++r)
    for (std::uint32_t i = 0; i < 16; ++i) {
      const std::uint16_t bits = r == i ? 0x3C00 : 0;
      std::memcpy(sbuf(0xA000 + r * kSbufStride) + 2 * i, &bits, 2);
    }
  ASSERT_EQ(
      run({load_weights(backwards(0x9000, isa::kDtFloat16, 16), {.columns = 16, .transpose = 1}),
           matmul(dense(0xA000, 16), dense(kPsum, 16), acc::SINGLE,
                  {.columns = 16, .transpose = 1}),
           load(), product(256, acc::MID)}),
      "");
  expect(256, 1, 0, 0, 16);
}

}  // namespace
}  // namespace opennrt::emu::test
