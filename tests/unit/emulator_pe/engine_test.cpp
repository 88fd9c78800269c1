// SPDX-License-Identifier: Apache-2.0
//
// PE records in the program of an engine: waits, updates and the FP32 pair as
// the sequencer sees them.
#include "../emulator_device/bench.h"
#include "opennrt/isa/layouts.h"

namespace opennrt::emu::test {
namespace {

namespace mm = isa::layout::S3D3_MM::sunda;

class PeEngine : public Bench {
 protected:
  using Raw = std::array<std::uint8_t, 64>;
  static constexpr std::uint32_t kRows = 4, kColumns = 3, kN = 5;

  static Raw record(std::uint8_t op, std::uint32_t src, std::int16_t step, std::uint16_t count,
                    std::uint8_t mode) {
    Raw r{};
    r[0] = op;
    r[1] = 0x10;
    put_pattern(mm::src(r.data()), src, step, count);
    mm::in_dtype.set(r.data(), isa::kDtFloat32);
    mm::fp32_mode.set(r.data(), mode);
    mm::num_active_rows.set(r.data(), kRows);
    mm::num_active_cols.set(r.data(), kColumns);
    mm::row_grp.set(r.data(), 1);
    mm::col_grp.set(r.data(), 1);
    return r;
  }
  static void put_pattern(std::uint8_t* to, std::uint32_t address, std::int16_t step,
                          std::uint16_t count) {
    const std::uint16_t one = 1;
    std::memcpy(to, &address, 4);
    std::memcpy(to + 4, &step, 2);
    std::memcpy(to + 10, &count, 2);
    std::memcpy(to + 12, &one, 2);
    std::memcpy(to + 14, &one, 2);
  }
  static Raw load_weights(std::uint8_t mode) {
    return record(isa::op::LDWEIGHTS, 4 * (kColumns - 1), -1, kColumns, mode);
  }
  static Raw matmul(std::uint8_t flags) {
    Raw r = record(isa::op::MATMUL, 0x1000, 1, kN, isa::code::fp32_mode::LOW_HIGH);
    put_pattern(mm::dst(r.data()), 0x2000000, 1, kN);
    mm::psum_accumulate_flags.set(r.data(), flags);
    return r;
  }
  static Raw posting(Raw r, std::uint8_t semaphore) {
    r[6] = isa::kUpdateSemInc;
    r[7] = semaphore;
    return r;
  }

  PeEngine() {
    for (std::uint32_t r = 0; r < kRows; ++r) {
      for (std::uint32_t c = 0; c < kColumns; ++c) put(sbuf(r, 4 * c), w(r, c));
      for (std::uint32_t n = 0; n < kN; ++n) put(sbuf(r, 0x1000 + 4 * n), x(r, n));
    }
  }
  static float w(std::uint32_t r, std::uint32_t c) {
    return 0.1f * static_cast<float>(1 + r * 7 + c);
  }
  static float x(std::uint32_t r, std::uint32_t n) {
    return 0.3f * static_cast<float>(2 + r + n * 5);
  }
  void expect_products() {
    for (std::uint32_t c = 0; c < kColumns; ++c)
      for (std::uint32_t n = 0; n < kN; ++n) {
        double sum = 0;
        for (std::uint32_t r = 0; r < kRows; ++r)
          sum += static_cast<double>(w(r, c)) * static_cast<double>(x(r, n));
        EXPECT_NEAR(get<float>(psum(c, 4 * n)), sum, 1e-6 * sum) << c << " " << n;
      }
  }
};

TEST_F(PeEngine, PairPostsItsUpdateOnceAndSums) {
  Program p;
  p.add(load_weights(1)).add(matmul(1)).add(load_weights(2)).add(posting(matmul(2), 5));
  p.add(halt());
  execute(p, NRTP_ENGINE_PE);
  expect_products();
  EXPECT_EQ(get<std::uint32_t>(sem(0, 5, NRTP_SEM_READ)), 1u);
}

TEST_F(PeEngine, PairWaitsInTheMiddle) {
  Program p;
  Raw high = load_weights(2);
  high[4] = isa::kWaitSemGe;
  high[5] = 9;
  high[8] = 1;
  p.add(load_weights(1)).add(matmul(1)).add(high).add(posting(matmul(2), 5));
  p.add(halt());
  execute(p, NRTP_ENGINE_PE);
  EXPECT_EQ(get<float>(psum(0, 0)), 0) << "the HIGH load waits";
  Program other;
  other.add(mark(9)).add(halt());
  load(other, kProgram + 0x1000);
  start(NRTP_ENGINE_SP, kProgram + 0x1000);
  run();
  expect_products();
}

// Whoever waits for the first product of a pair finds it in PSUM.
TEST_F(PeEngine, PostedLowProductIsThereBeforeTheHighOne) {
  Program p;
  Raw high = load_weights(2);
  high[4] = isa::kWaitSemGe;
  high[5] = 9;
  high[8] = 1;
  p.add(load_weights(1)).add(posting(matmul(1), 5)).add(high).add(matmul(2)).add(halt());
  execute(p, NRTP_ENGINE_PE);
  EXPECT_EQ(get<std::uint32_t>(sem(0, 5, NRTP_SEM_READ)), 1u);
  for (std::uint32_t c = 0; c < kColumns; ++c)
    for (std::uint32_t n = 0; n < kN; ++n) {
      double sum = 0, whole = 0;
      for (std::uint32_t r = 0; r < kRows; ++r) {
        const float top = std::bit_cast<float>(std::bit_cast<std::uint32_t>(w(r, c)) & ~0xFFFu);
        sum += static_cast<double>(w(r, c) - top) * static_cast<double>(x(r, n));
        whole += static_cast<double>(w(r, c)) * static_cast<double>(x(r, n));
      }
      EXPECT_NE(get<float>(psum(c, 4 * n)), 0) << c << " " << n;
      EXPECT_NEAR(get<float>(psum(c, 4 * n)), sum, 1e-9 * whole) << c << " " << n;
    }
}

TEST_F(PeEngine, ControlRecordBetweenThePassesSplitsThem) {
  Program p;
  p.add(load_weights(1)).add(matmul(1)).add(mark(5)).add(load_weights(2)).add(matmul(2));
  p.add(halt());
  execute(p, NRTP_ENGINE_PE);
  expect_products();
}

TEST_F(PeEngine, PairAcrossPagesOfTheProgram) {
  Program p;
  for (int i = 0; i < 62; ++i) p.add(nop());
  p.add(load_weights(1)).add(matmul(1)).add(load_weights(2)).add(matmul(2)).add(halt());
  execute(p, NRTP_ENGINE_PE);
  expect_products();
}

TEST_F(PeEngine, RefusalsNameTheRecord) {
  Program p;
  p.add(matmul(1)).add(halt());
  execute(p, NRTP_ENGINE_PE);
  expect_logged({"opcode 0x2", "no stationary matrix is loaded at 4 rows from 0, 3 columns"});
}

}  // namespace
}  // namespace opennrt::emu::test
