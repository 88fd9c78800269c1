// SPDX-License-Identifier: Apache-2.0
//
// DMA_INDIRECT: gather, scatter and scatter-add by vectors of indices.
#include <random>

#include "bench.h"
#include "formats.h"
#include "raw_record.h"

namespace opennrt::emu::test {
namespace {

namespace op = isa::op;
namespace dt = isa::code::dtype;
namespace DI = isa::layout::DMA_INDIRECT1D;

constexpr std::uint8_t kSemaphore = 30;
constexpr std::uint32_t kGather = 0, kScatter = 1, kBoth = 2, kError = 4;

class IndirectDma : public Bench {
 protected:
  static constexpr std::uint64_t kTable = kData;  // rows that indices select
  static constexpr std::uint64_t kOut = kData + 0x400000;
  static constexpr std::uint32_t kIndices = 0x2000, kOther = 0x2400;  // in SBUF partition 0

  // n rows of `run` bytes, `step` apart on both sides.
  static RawRecord record(std::uint32_t flags, std::uint32_t n, std::uint32_t run,
                          std::int32_t step, std::uint32_t channels = 128) {
    RawRecord r(op::DMA_INDIRECT);
    r.set(DI::semaphore, kSemaphore)
        .set(DI::sem_increment, 16)
        .set(DI::idx_num_active_channels, channels)
        .set(DI::flags, flags)
        .set(DI::src_addr, kTable)
        .set(DI::src_step, step)
        .set(DI::src_num, n)
        .set(DI::src_elem_size, run)
        .set(DI::dst_addr, kOut)
        .set(DI::dst_step, step)
        .set(DI::dst_num, n)
        .set(DI::dst_elem_size, run)
        .set(DI::in_dtype, dt::UINT8)
        .set(DI::out_dtype, dt::UINT8);
    const std::uint32_t mode = flags & 3;
    if (mode != kScatter) address(r, DI::src_idx_addr, kIndices);
    if (mode != kGather) address(r, DI::dst_idx_addr, mode == kBoth ? kOther : kIndices);
    return r;
  }
  template <typename Field>
  static void address(RawRecord& r, const Field& field, std::uint32_t value) {
    for (std::size_t i = 0; i < 4; ++i)
      r.byte(field.kOffset + i, static_cast<std::uint8_t>(value >> 8 * i));
  }
  void put_indices(const std::vector<std::uint32_t>& v, std::uint32_t at = kIndices,
                   std::uint32_t channels = 128) {
    for (std::uint32_t i = 0; i < v.size(); ++i)
      put<std::uint32_t>(sbuf(i % channels, at + 4 * (i / channels)), v[i]);
  }
  std::vector<std::uint32_t> random_indices(std::size_t n, std::uint32_t below, int seed) {
    std::mt19937 random(static_cast<unsigned>(seed));
    std::vector<std::uint32_t> v(n);
    for (auto& x : v) x = static_cast<std::uint32_t>(random() % below);
    return v;
  }
  void fill(std::uint64_t pa, std::size_t n, int seed) {
    std::mt19937 random(static_cast<unsigned>(seed));
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
    execute(Program{}.add(r).add(mark(70)).add(halt()));
    expect_logged({"core 0 SP at 0x1100000", text});
    EXPECT_EQ(dev().semaphore_read(0, 70), 0u) << text;
    EXPECT_EQ(dev().semaphore_read(0, kSemaphore), 0u) << text;
  }
};

TEST_F(IndirectDma, GathersRows) {
  fill(kTable, 1000 * 48, 1);
  for (const std::uint32_t n : {1u, 128u, 300u, 4096u}) {
    const auto index = random_indices(n, 1000, 2);
    put_indices(index);
    dev().semaphore_set(0, kSemaphore, 0);
    std::memset(dev().memory_at(kOut, 4096 * 48 + 8), 0, 4096 * 48 + 8);
    execute(Program{}.add(record(kGather, n, 48, 48)).add(mark(70)).add(halt()), NRTP_ENGINE_POOL);
    EXPECT_EQ(dev().semaphore_read(0, kSemaphore), 16u);
    for (std::uint32_t i = 0; i < n; ++i)
      ASSERT_EQ(std::memcmp(dev().memory_at(kOut + 48 * i, 48),
                            dev().memory_at(kTable + 48 * index[i], 48), 48),
                0)
          << i << " of " << n;
    EXPECT_EQ(get<std::uint64_t>(kOut + 48ull * n), 0u);
  }
}

// One index per partition, the row to that partition; a vector on one partition.
TEST_F(IndirectDma, GathersToPartitions) {
  fill(kTable, 64 * 100, 3);
  const auto index = random_indices(96, 64, 4);
  put_indices(index, kIndices, 1);
  auto r = record(kGather, 96, 100, 100, 1);
  r.set(DI::dst_addr, sbuf(0, 0x500)).set(DI::dst_step, 0x40000);
  execute(Program{}.add(r).add(halt()));
  for (std::uint32_t p = 0; p < 96; ++p)
    ASSERT_EQ(std::memcmp(dev().memory_at(sbuf(p, 0x500), 100),
                          dev().memory_at(kTable + 100 * index[p], 100), 100),
              0)
        << p;
}

TEST_F(IndirectDma, ScattersRowsInOrder) {
  fill(kTable, 200 * 16, 5);
  const auto index = random_indices(200, 50, 6);  // many twice: the last one stays
  put_indices(index);
  execute(Program{}.add(record(kScatter, 200, 16, 16)).add(halt()));
  std::vector<std::uint8_t> want(50 * 16);
  for (std::uint32_t i = 0; i < 200; ++i)
    std::memcpy(want.data() + 16 * index[i], dev().memory_at(kTable + 16 * i, 16), 16);
  EXPECT_EQ(std::memcmp(dev().memory_at(kOut, want.size()), want.data(), want.size()), 0);
}

TEST_F(IndirectDma, BothSidesIndexed) {
  fill(kTable, 64 * 8, 7);
  const auto from = random_indices(40, 64, 8);
  auto to = random_indices(40, 40, 9);
  for (std::uint32_t i = 0; i < 40; ++i) to[i] = 39 - i;
  put_indices(from);
  put_indices(to, kOther);
  execute(Program{}.add(record(kBoth, 40, 8, 8)).add(halt()));
  for (std::uint32_t i = 0; i < 40; ++i)
    ASSERT_EQ(get<std::uint64_t>(kOut + 8 * to[i]), get<std::uint64_t>(kTable + 8 * from[i])) << i;
}

// Gradient rows into a table: FP32 sums, each index any number of times.
TEST_F(IndirectDma, AddsMaximaAndMinima) {
  constexpr std::uint32_t kRows = 30, kWidth = 12, kUpdates = 150;
  std::mt19937 random(10);
  std::vector<float> update(kUpdates * kWidth), table(kRows * kWidth);
  for (float& x : update) x = static_cast<float>(random() % 2001) / 16 - 60;
  for (float& x : table) x = static_cast<float>(random() % 2001) / 16 - 60;
  const auto index = random_indices(kUpdates, kRows, 11);
  put_indices(index);
  for (const std::uint32_t operation : {1u, 3u, 4u}) {
    ASSERT_EQ(dev().write(kTable, update.data(), 4 * update.size()), 0);
    ASSERT_EQ(dev().write(kOut, table.data(), 4 * table.size()), 0);
    auto r = record(kScatter | 8, kUpdates, 4 * kWidth, 4 * kWidth);
    r.set(DI::compute_op, operation).set(DI::in_dtype, dt::FP32).set(DI::out_dtype, dt::FP32);
    execute(Program{}.add(r).add(halt()));
    std::vector<double> want(table.begin(), table.end());
    for (std::uint32_t i = 0; i < kUpdates; ++i)
      for (std::uint32_t k = 0; k < kWidth; ++k) {
        double& w = want[index[i] * kWidth + k];
        const double x = update[i * kWidth + k];
        w = operation == 1 ? w + x : operation == 3 ? std::max(w, x) : std::min(w, x);
      }
    // Sixteenths up to 2^14: sums are exact.
    for (std::uint32_t i = 0; i < want.size(); ++i)
      ASSERT_EQ(get<float>(kOut + 4 * i), static_cast<float>(want[i])) << operation << " " << i;
  }
}

TEST_F(IndirectDma, Converts) {
  const float v[4] = {1.5f, -2.25f, 3.0f, 1.0009765625f};
  ASSERT_EQ(dev().write(kTable, v, sizeof v), 0);
  put_indices({3, 1});
  auto r = record(kGather, 2, 4, 4);
  r.set(DI::in_dtype, dt::FP32)
      .set(DI::out_dtype, dt::BFLOAT16)
      .set(DI::dst_elem_size, 2)
      .set(DI::dst_step, 2);
  execute(Program{}.add(r).add(halt()));
  EXPECT_EQ(get<std::uint16_t>(kOut), to_bf16(v[3]));
  EXPECT_EQ(get<std::uint16_t>(kOut + 2), to_bf16(v[1]));
}

TEST_F(IndirectDma, IndicesOutOfBounds) {
  fill(kTable, 64 * 8, 12);
  put_indices({3, 10, 9, 0xFFFFFFFF});
  nq_init(4 + NRTP_ENGINE_POOL, 0, 4096);
  for (const std::uint32_t flags : {kGather, kGather | kError}) {
    for (std::uint32_t i = 0; i < 4; ++i) put<std::uint64_t>(kOut + 8 * i, 0x77);
    dev().semaphore_set(0, kSemaphore, 0);
    dev().semaphore_set(0, 70, 0);
    put<std::uint32_t>(kHbm + 0x700000, 10);
    auto r = record(flags, 4, 8, 8);
    r.set(DI::src_idx_bound, 0x80 | 61);
    execute(Program{}.add(load_regs(kHbm + 0x700000, {61})).add(r).add(mark(70)).add(halt()),
            NRTP_ENGINE_POOL);
    // The program goes on and its consumers are released either way.
    EXPECT_EQ(dev().semaphore_read(0, 70), 1u);
    EXPECT_EQ(dev().semaphore_read(0, kSemaphore), 16u);
    const bool skips = flags == kGather;
    EXPECT_EQ(get<std::uint64_t>(kOut), skips ? get<std::uint64_t>(kTable + 24) : 0x77u);
    EXPECT_EQ(get<std::uint64_t>(kOut + 8), 0x77u);
    EXPECT_EQ(get<std::uint64_t>(kOut + 16), skips ? get<std::uint64_t>(kTable + 72) : 0x77u);
    EXPECT_EQ(get<std::uint64_t>(kOut + 24), 0x77u);
    std::uint8_t note[16];
    std::memcpy(note, memory_->host().data(), 16);
    EXPECT_EQ(note[4] | note[5] << 8, skips ? 0 : 5);  // out of bounds through a vector
    EXPECT_EQ(note[6] | note[7] << 8, skips ? 0 : 6);  // custom
  }
}

TEST_F(IndirectDma, IndexVectorInARegister) {
  fill(kTable, 64 * 8, 13);
  put_indices({5, 6}, 0x3100);
  put<std::uint32_t>(kHbm + 0x700000, 0x3100);
  auto r = record(kGather, 2, 8, 8);
  address(r, DI::src_idx_addr, 0x80000000 | 9);
  execute(Program{}.add(load_regs(kHbm + 0x700000, {9})).add(r).add(halt()));
  EXPECT_EQ(get<std::uint64_t>(kOut), get<std::uint64_t>(kTable + 40));
  EXPECT_EQ(get<std::uint64_t>(kOut + 8), get<std::uint64_t>(kTable + 48));
}

TEST_F(IndirectDma, WrongFields) {
  const auto small = [](std::uint32_t flags = kGather) { return record(flags, 4, 8, 8); };
  put_indices({0, 1, 2, 3});
  refused(small(3), "indirection mode 3");
  refused(small(kGather | 0x10), "flags 0x10: an index dimension other than X");
  refused(small().set(DI::idx_num_active_channels, 0), "0 index channels");
  refused(small().set(DI::idx_num_active_channels, 129), "129 index channels");
  refused(small().set(DI::dma_configs, 5), "DMA configuration 0x5");
  refused(small().set(DI::compute_op, 2), "compute operation 2 is not one of");
  refused(small().set(DI::src_num, 0), "source: 0 runs, a record has 1 to 4096");
  refused(small().set(DI::dst_num, 4097), "destination: 4097 runs");
  refused(small().set(DI::dst_num, 3), "source of 4 runs, destination of 3");
  refused(small().set(DI::dst_elem_size, 4), "source runs of 8 elements, destination runs of 4");
  refused(small().set(DI::in_dtype, dt::FP32).set(DI::out_dtype, dt::UINT64),
          "data type FP32 (10) into UINT64 (1)");
  refused(small().set(DI::dst_idx_bound, 0x81), "destination: has an index bound");
  refused(small().set(DI::src_idx_bound, 1), "source: index bound register 0x1 must be 0 or");
  refused(small().set(DI::src_idx_bound, 0xC1), "source: index bound register 0xc1");
  auto r = small();
  address(r, DI::dst_idx_addr, kOther);
  refused(r, "destination: has an index vector, the mode gives it no indices");
  r = small();
  address(r, DI::src_idx_addr, 0x2001);
  refused(r, "source: index vector at 0x2001, its words are aligned");
  address(r, DI::src_idx_addr, 0x80000040);
  refused(r, "no register form");
  address(r, DI::src_idx_addr, 0x40000);
  refused(r, "index vector at 0x40000 with 1 words does not lie in SBUF partition 0");
  refused(small().set(DI::src_addr, std::uint64_t{0x60} << 56), "source: address marker 0x60");
  refused(small().byte(62, 1), "byte 62 is 0x1, no field is known there");
  put_indices({0, 0x7FFFFFFF, 2, 3});
  refused(small(), "source: run 1 with index 2147483647, 8 bytes at");
}

}  // namespace
}  // namespace opennrt::emu::test
