// SPDX-License-Identifier: Apache-2.0
//
// DMAMEMCPY: the descriptor generator of an engine.
#include <random>

#include "bench.h"
#include "formats.h"
#include "raw_record.h"

namespace opennrt::emu::test {
namespace {

namespace op = isa::op;
namespace dt = isa::code::dtype;
namespace D2 = isa::layout::DMA_DIRECT2D;

constexpr std::uint8_t kSemaphore = 30;

class DmaRecords : public Bench {
 protected:
  static constexpr std::uint64_t kTable = kHbm + 0x600000;
  static constexpr std::uint64_t kOut = kData + 0x400000;

  struct Shape {
    std::uint32_t run;
    std::int32_t step_0, step_1;
    std::uint32_t num_0, num_1;
    std::uint64_t bytes() const { return std::uint64_t{run} * num_0 * num_1; }
  };
  static RawRecord copy(std::uint64_t from, const Shape& f, std::uint64_t to, const Shape& t,
                        std::uint32_t in = dt::UINT8, std::uint32_t out = dt::UINT8) {
    return RawRecord(op::DMAMEMCPY)
        .set(D2::semaphore, kSemaphore)
        .set(D2::sem_increment, 16)
        .set(D2::src_addr, from)
        .set(D2::src_step_0, f.step_0)
        .set(D2::src_step_1, f.step_1)
        .set(D2::src_num_0, f.num_0)
        .set(D2::src_num_1, f.num_1)
        .set(D2::src_elem_size, f.run)
        .set(D2::dst_addr, to)
        .set(D2::dst_step_0, t.step_0)
        .set(D2::dst_step_1, t.step_1)
        .set(D2::dst_num_0, t.num_0)
        .set(D2::dst_num_1, t.num_1)
        .set(D2::dst_elem_size, t.run)
        .set(D2::in_dtype, in)
        .set(D2::out_dtype, out);
  }
  static RawRecord small() { return copy(kData, {16, 16, 0, 1, 1}, kOut, {16, 16, 0, 1, 1}); }
  static std::uint64_t entry(std::uint32_t k, std::uint32_t low, std::uint8_t form = 0x20) {
    return std::uint64_t{form} << 56 | std::uint64_t{k} << 32 | low;
  }
  // Loads registers with these words first.
  Program with_registers(const std::vector<std::pair<std::uint8_t, std::uint32_t>>& regs) {
    Program p;
    std::uint32_t at = 0;
    for (const auto& [number, value] : regs) {
      put<std::uint32_t>(kHbm + 0x700000 + 4 * at, value);
      p.add(load_regs(kHbm + 0x700000 + 4 * at, {number}));
      ++at;
    }
    return p;
  }
  std::vector<std::pair<std::uint8_t, std::uint32_t>> table_registers() {
    return {{0x82, static_cast<std::uint32_t>(kTable)},
            {0x83, static_cast<std::uint32_t>(kTable >> 32)}};
  }
  void random_bytes(std::uint64_t pa, std::size_t n, std::uint32_t seed) {
    std::mt19937 random(seed);
    std::uint8_t* p = dev().memory_at(pa, n);
    ASSERT_NE(p, nullptr);
    for (std::size_t i = 0; i < n; ++i) p[i] = static_cast<std::uint8_t>(random());
  }
  void refused(const RawRecord& r, const std::string& text) {
    dev().reset_cores(1);
    {
      std::lock_guard lock(log_mutex_);
      log_.clear();
    }
    put<std::uint64_t>(kOut, 0x77);
    execute(Program{}.add(r).add(mark(70)).add(halt()));
    expect_logged({"core 0 SP at 0x1100000", text});
    EXPECT_EQ(dev().semaphore_read(0, 70), 0u) << text;
    EXPECT_EQ(dev().semaphore_read(0, kSemaphore), 0u) << text;
    EXPECT_EQ(get<std::uint64_t>(kOut), 0x77u) << text;
  }
};

TEST_F(DmaRecords, MemoryToPartitionsAndBack) {
  random_bytes(kData, 128 * 1000, 1);
  // 128 rows of 1000 bytes to 128 partitions, then every second row back to front.
  execute(Program{}
              .add(copy(kData, {1000, 1000, 0, 128, 1}, sbuf(0, 0x40), {1000, 0x40000, 1, 128, 1}))
              .add(copy(sbuf(126, 0x40), {1000, -0x80000, 1, 64, 1}, kOut, {1000, 1000, 0, 64, 1}))
              .add(mark(70))
              .add(halt()),
          NRTP_ENGINE_ACT);
  EXPECT_EQ(dev().semaphore_read(0, 70), 1u);
  EXPECT_EQ(dev().semaphore_read(0, kSemaphore), 32u);
  for (std::uint32_t p = 0; p < 128; ++p)
    ASSERT_EQ(std::memcmp(dev().memory_at(sbuf(p, 0x40), 1000),
                          dev().memory_at(kData + 1000 * p, 1000), 1000),
              0)
        << p;
  for (std::uint32_t k = 0; k < 64; ++k)
    ASSERT_EQ(std::memcmp(dev().memory_at(kOut + 1000 * k, 1000),
                          dev().memory_at(kData + 1000 * (126 - 2 * k), 1000), 1000),
              0)
        << k;
  EXPECT_EQ(log_lines(), 0u);
}

TEST_F(DmaRecords, RunOfZeroIs65536) {
  random_bytes(kData, 65536, 2);
  execute(Program{}.add(copy(kData, {0, 1, 1, 1, 1}, kOut, {4096, 4096, 0, 16, 1})).add(halt()));
  EXPECT_EQ(std::memcmp(dev().memory_at(kOut, 65536), dev().memory_at(kData, 65536), 65536), 0);
  EXPECT_EQ(get<std::uint8_t>(kOut + 65536), 0);
}

// Element k of the source goes to element k of the destination, dimension by
// dimension, whatever the shapes.
TEST_F(DmaRecords, RandomShapes) {
  std::mt19937 random(4);
  random_bytes(kData, 1 << 20, 3);
  for (int round = 0; round < 60; ++round) {
    // 2^k factors split differently over the three dimensions of each side.
    const std::uint32_t k = 4 + random() % 9;
    const auto shape = [&] {
      const std::uint32_t a = random() % (k + 1), b = random() % (k - a + 1);
      Shape s{1u << a, 0, 0, 1u << b, 1u << (k - a - b)};
      s.step_0 = static_cast<std::int32_t>(s.run + random() % 20);
      s.step_1 = static_cast<std::int32_t>(s.step_0 * s.num_0 + random() % 20);
      return s;
    };
    const Shape f = shape(), t = shape();
    std::memset(dev().memory_at(kOut, 1 << 20), 0, 1 << 20);
    dev().reset_cores(1);
    execute(Program{}.add(copy(kData, f, kOut, t)).add(halt()));
    ASSERT_EQ(dev().semaphore_read(0, kSemaphore), 16u);
    const auto at = [](const Shape& s, std::uint64_t e) {
      return e % s.run + e / s.run % s.num_0 * s.step_0 + e / s.run / s.num_0 * s.step_1;
    };
    const std::uint8_t* in = dev().memory_at(kData, 1 << 20);
    const std::uint8_t* out = dev().memory_at(kOut, 1 << 20);
    std::vector<std::uint8_t> want(1 << 20);
    for (std::uint64_t e = 0; e < f.bytes(); ++e) want[at(t, e)] = in[at(f, e)];
    ASSERT_EQ(std::memcmp(out, want.data(), want.size()), 0) << "round " << round;
  }
}

TEST_F(DmaRecords, RepeatedSourceBroadcasts) {
  put<std::uint32_t>(kData, 0xCAFE1234);
  execute(Program{}.add(copy(kData, {4, 0, 0, 50, 2}, kOut, {4, 4, 200, 50, 2})).add(halt()));
  for (std::uint32_t i = 0; i < 100; ++i) ASSERT_EQ(get<std::uint32_t>(kOut + 4 * i), 0xCAFE1234u);
}

TEST_F(DmaRecords, CastsBetweenShapes) {
  std::mt19937 random(5);
  std::vector<float> v(128 * 24);
  for (float& x : v) x = std::uniform_real_distribution<float>(-9, 9)(random);
  ASSERT_EQ(dev().write(kData, v.data(), 4 * v.size()), 0);
  // FP32 rows of 24 to BF16 in partitions, from there FP32 again.
  execute(Program{}
              .add(copy(kData, {96, 96, 0, 128, 1}, sbuf(0, 2), {48, 0x40000, 0, 128, 1}, dt::FP32,
                        dt::BFLOAT16))
              .add(copy(sbuf(0, 2), {48, 0x40000, 0, 128, 1}, kOut,
                        {128 * 96 / 4, 128 * 96 / 4, 0, 4, 1}, dt::BFLOAT16, dt::FP32))
              .add(halt()),
          NRTP_ENGINE_POOL);
  for (std::uint32_t p = 0; p < 128; ++p)
    for (std::uint32_t i = 0; i < 24; ++i) {
      const std::uint16_t h = to_bf16(v[24 * p + i]);
      ASSERT_EQ(get<std::uint16_t>(sbuf(p, 2 + 2 * i)), h);
      ASSERT_EQ(get<std::uint32_t>(kOut + 4 * (24 * p + i)), std::uint32_t{h} << 16);
    }
  EXPECT_EQ(dev().semaphore_read(0, kSemaphore), 32u);
}

TEST_F(DmaRecords, ArgumentTableEntries) {
  put<std::uint64_t>(kTable + 8 * 3, kData);
  put<std::uint64_t>(kTable + 8 * 70000, kOut);
  random_bytes(kData, 512, 6);
  auto p = with_registers(table_registers());
  p.add(copy(entry(3, 0x80), {64, 64, 0, 1, 1}, entry(70000, 0x10), {64, 64, 0, 1, 1}));
  execute(p.add(halt()));
  EXPECT_EQ(std::memcmp(dev().memory_at(kOut + 0x10, 64), dev().memory_at(kData + 0x80, 64), 64),
            0);
  EXPECT_EQ(get<std::uint8_t>(kOut + 0x50), 0);
}

TEST_F(DmaRecords, OffsetFromRegistersAndBounds) {
  put<std::uint64_t>(kTable + 8 * 3, kData);
  random_bytes(kData, 4096, 7);
  struct Case {
    std::uint32_t offset, limit;
    bool inside;
  };
  // 4 rows of 256 bytes at distance 256.
  const Case cases[] = {
      {0, 4096, true},           {3072, 4096, true}, {3073, 4096, false}, {4096, 4096, false},
      {0xFFFFFF00, 4096, false}, {0, 1024, true},    {0, 1023, false},    {0, 0, false}};
  nq_init(4 + NRTP_ENGINE_POOL, 0, 4096);
  std::uint32_t notified = 0;
  for (const Case& c : cases) {
    for (const std::uint8_t form : {0x28, 0x2C}) {
      for (std::uint32_t i = 0; i < 1024; i += 8) put<std::uint64_t>(kOut + i, 0x1111111111111111);
      dev().semaphore_set(0, kSemaphore, 0);
      dev().semaphore_set(0, 70, 0);
      auto regs = table_registers();
      regs.insert(regs.end(), {{60, c.offset}, {59, 0}, {61, c.limit}});
      auto p = with_registers(regs);
      auto r = copy(entry(3, form == 0x28 ? 60 : 60 | 59 << 8, form), {256, 256, 1, 4, 1}, kOut,
                    {1024, 1024, 1, 1, 1});
      r.set(D2::src_bound, 0x80 | 61);
      execute(p.add(r).add(mark(70)).add(halt()), NRTP_ENGINE_POOL);
      // The program goes on and its consumers are released either way.
      EXPECT_EQ(dev().semaphore_read(0, 70), 1u);
      EXPECT_EQ(dev().semaphore_read(0, kSemaphore), 16u);
      if (c.inside) {
        EXPECT_EQ(
            std::memcmp(dev().memory_at(kOut, 1024), dev().memory_at(kData + c.offset, 1024), 1024),
            0)
            << c.offset;
        continue;
      }
      for (std::uint32_t i = 0; i < 1024; i += 8)
        ASSERT_EQ(get<std::uint64_t>(kOut + i), 0x1111111111111111u);
      std::uint8_t record[16];
      std::memcpy(record, memory_->host().data() + 16 * notified++, 16);
      EXPECT_EQ(record[4] | record[5] << 8, 4);  // out of bounds through a scalar offset
      EXPECT_EQ(record[6] | record[7] << 8, 6);  // custom
      EXPECT_EQ(record[3] & 0x1F, 4 * (NRTP_ENGINE_POOL + 1) + 2);
    }
  }
  EXPECT_EQ(notified, 10u);
  EXPECT_EQ(log_lines(), 0u);
}

TEST_F(DmaRecords, BoundOfTheDestinationCountsBackwardSteps) {
  put<std::uint64_t>(kTable, kOut);
  random_bytes(kData, 64, 8);
  nq_init(4 + NRTP_ENGINE_SP, 0, 4096);
  for (const std::uint32_t offset : {48u, 47u}) {
    put<std::uint64_t>(kOut, 0);
    auto regs = table_registers();
    regs.insert(regs.end(), {{60, offset}, {61, 64}});
    auto p = with_registers(regs);
    auto r = copy(kData, {16, 16, 0, 4, 1}, entry(0, 60, 0x28), {16, -16, 0, 4, 1});
    r.set(D2::dst_bound, 0x80 | 61);
    execute(p.add(r).add(halt()));
    EXPECT_EQ(get<std::uint64_t>(kOut) != 0, offset == 48);
  }
  EXPECT_EQ(memory_->host().data()[4], 4);
}

TEST_F(DmaRecords, RegisterPairIsAnAbsoluteAddress) {
  random_bytes(kData, 64, 9);
  const std::uint64_t far = 0x1000000000 + kHbm;  // second channel
  auto p = with_registers(
      {{7, static_cast<std::uint32_t>(far)}, {8, static_cast<std::uint32_t>(far >> 32)}});
  p.add(copy(kData, {64, 64, 0, 1, 1}, std::uint64_t{0x80} << 56 | 8 << 8 | 7, {64, 64, 0, 1, 1}));
  execute(p.add(halt()));
  EXPECT_EQ(std::memcmp(dev().memory_at(far, 64), dev().memory_at(kData, 64), 64), 0);
}

// Each transfer reads what the one before it wrote; a consumer on another engine
// waits for the last only.
TEST_F(DmaRecords, TransfersOfAnEngineAreInOrder) {
  put<std::uint64_t>(kData, 0x123456789ABCDEF0);
  Program p;
  for (std::uint64_t i = 0; i < 20; ++i)
    p.add(copy(kData + 8 * i, {8, 8, 0, 1, 1}, kData + 8 * i + 8, {8, 8, 0, 1, 1}));
  load(p.add(halt()));
  auto waiter = nop();
  waiter.h.wait_mode = isa::kWaitSemGe;
  waiter.h.wait_index = kSemaphore;
  waiter.h.value = 320;
  auto take = load_regs(kData + 160, {1, 2});
  auto store = take;
  store.h.opcode = isa::kOpTensorStore;
  store.address = kOut;
  load(Program{}.add(waiter).add(take).add(store).add(halt()), kProgram + 0x8000);
  start(NRTP_ENGINE_PE, kProgram + 0x8000);
  run();
  EXPECT_EQ(get<std::uint64_t>(kOut), 0u);
  start(NRTP_ENGINE_SP);
  run();
  EXPECT_EQ(get<std::uint64_t>(kOut), 0x123456789ABCDEF0u);
}

TEST_F(DmaRecords, WrongFields) {
  refused(small().set(D2::dma_configs, 5), "DMA configuration 0x5");
  refused(small().set(D2::compute_op, 1), "compute operation 1");
  refused(small().set(D2::src_num_0, 0), "source: count 0");
  refused(small().set(D2::dst_num_1, 0), "destination: count 0");
  refused(small().set(D2::dst_elem_size, 12), "source of 16 elements, destination of 12");
  refused(small().set(D2::in_dtype, dt::FP32).set(D2::out_dtype, dt::FP16),
          "source of 4 elements, destination of 8");
  refused(small().set(D2::in_dtype, dt::FP32).set(D2::out_dtype, dt::UINT64),
          "cast from data type FP32 (10) to UINT64 (1)");
  refused(
      small().set(D2::in_dtype, dt::FP32).set(D2::out_dtype, dt::FP16).set(D2::src_elem_size, 15),
      "not a number of elements");
  refused(small().set(D2::src_bound, 5), "source: bound register 0x5 without the enable bit");
  refused(small().set(D2::src_bound, 0x85), "a bound needs an address with an offset");
  refused(small().set(D2::src_addr, entry(0, 64, 0x28)),
          "source: address register 64 does not exist");
  refused(small().set(D2::src_addr, entry(0, 0x100, 0x28)), "byte 1 of address form 0x28");
  refused(small().set(D2::src_addr, entry(0, 0, 0x20)).set(D2::src_bound, 0xC1),
          "bound register 65 does not exist");
  refused(small().set(D2::src_addr, entry(0, 0, 0x10)), "names a variable");
  refused(small().set(D2::dst_addr, entry(0, 0, 0x60)), "destination: address marker 0x60");
  refused(small().set(D2::dst_addr, 0x000F000000000000),
          "destination: 16 bytes at 0xf000000000000 do not lie in one memory");
  refused(small().set(D2::src_addr, sem(0, 3, NRTP_SEM_READ)), "do not lie in one memory");
  refused(small().set(D2::src_num_0, 65535).set(D2::src_num_1, 65535).set(D2::src_elem_size, 0),
          "the limit is 4294967296");
  refused(small().set(D2::src_num_0, 65535).set(D2::src_num_1, 257).set(D2::src_elem_size, 1),
          "source: 16842495 runs, the limit is 16777216");
}

TEST_F(DmaRecords, TableOutsideMemory) {
  auto p = with_registers({{0x82, 0}, {0x83, 0x000F0000}});
  p.add(small().set(D2::src_addr, entry(2, 0)));
  execute(p.add(mark(70)).add(halt()));
  expect_logged({"entry 2 of the argument table at 0xf000000000000", "not in memory"});
  EXPECT_EQ(dev().semaphore_read(0, 70), 0u);
}

}  // namespace
}  // namespace opennrt::emu::test
