// SPDX-License-Identifier: Apache-2.0
//
// Record contents of the steps of the two-die families, byte for byte. The
// values of cores 4 and 5 stand in device images of real runs.
#include <array>
#include <string>
#include <vector>

#include "arch_modules.h"

namespace opennrt::arch_test {
namespace {

using Record = std::array<std::uint8_t, 64>;

class SplitSteps : public testing::TestWithParam<const nrtp_arch_plugin*> {
 protected:
  void SetUp() override {
    env_.size = sizeof env_;
    env_.form = NRTP_FORM_2_30;
    env_.product = arch().products;
    env_.core = 4;
    env_.lnc_size = 2;
    env_.sem_first = 105;
    env_.sem_last = 155;
  }
  const nrtp_arch_plugin& arch() const { return *GetParam(); }
  std::vector<Record> run(std::uint32_t step, std::uint32_t engine) {
    env_.engine = engine;
    std::vector<Record> records(64);
    nrtp_ibuf out{records[0].data(), records.size() * 64, 0};
    EXPECT_EQ(arch().ib->step(step, &env_, &out), NRTP_OK);
    records.resize(out.len / 64);
    return records;
  }
  nrtp_ib_env env_{};
};

std::vector<const nrtp_arch_plugin*> two_die_archs() {
  std::vector<const nrtp_arch_plugin*> result;
  for (const Module& module : modules()) {
    if (module.plugin != nullptr && module.plugin->geometry->dies == 2) {
      result.push_back(module.plugin);
    }
  }
  return result;
}
INSTANTIATE_TEST_SUITE_P(All, SplitSteps, testing::ValuesIn(two_die_archs()),
                         [](const auto& param_info) {
                           return std::string(param_info.param->name);
                         });

TEST(SplitFamilies, BothAreBuilt) { EXPECT_EQ(two_die_archs().size(), 2u); }

// A record with some words set, the rest zero.
Record words(std::initializer_list<std::pair<int, std::uint32_t>> values) {
  Record r{};
  for (const auto& [offset, value] : values) {
    for (int i = 0; i < 4; ++i) {
      r[static_cast<std::size_t>(offset + i)] = static_cast<std::uint8_t>(value >> (8 * i));
    }
  }
  return r;
}
// One 4-byte write to the second die's tile space.
Record write(std::uint32_t low, std::uint32_t high, std::uint32_t value) {
  return words({{0, 0x10a5}, {12, 4}, {16, low}, {20, high}, {32, value}});
}

TEST_P(SplitSteps, SetUpWithoutGeneratorsWritesZerosAndTheMode) {
  const auto pool = run(NRTP_STEP_NX_SETUP, NRTP_ENGINE_POOL);
  ASSERT_EQ(pool.size(), 6u);
  EXPECT_EQ(pool[0], write(0x03061500, 0x8028, 0));
  EXPECT_EQ(pool[1], write(0x030614e0, 0x8028, 0));
  EXPECT_EQ(pool[2], write(0x030613a0, 0x8028, 0));
  EXPECT_EQ(pool[3], write(0x030613c0, 0x8028, 0));
  EXPECT_EQ(pool[4], write(0x030613e0, 0x8028, 0));
  EXPECT_EQ(pool[5], write(0x030614c0, 0x8028, 4));
  const auto dve = run(NRTP_STEP_NX_SETUP, NRTP_ENGINE_DVE);
  ASSERT_EQ(dve.size(), 4u);
  EXPECT_EQ(dve[3], write(0x02b614c0, 0x8028, 5));
}

TEST_P(SplitSteps, GeneratorsNameTheirQueues) {
  env_.hw_dge_queues[NRTP_ENGINE_ACT] = 1;
  env_.hw_dge_queues[NRTP_ENGINE_SP] = 4;
  env_.sw_dge_queues = 2;
  env_.dge_scratch_bytes = 16384;
  const auto pool = run(NRTP_STEP_NX_SETUP, NRTP_ENGINE_POOL);
  ASSERT_EQ(pool.size(), 6u);
  EXPECT_EQ(pool[0], write(0x03061500, 0x8028, 0x2ffff));
  EXPECT_EQ(pool[1], write(0x030614e0, 0x8028, 0x04000000));
  EXPECT_EQ(pool[2], write(0x030613a0, 0x8028, 0));
  EXPECT_EQ(pool[4], write(0x030613e0, 0x8028, 5));
  const auto sp = run(NRTP_STEP_NX_SETUP, NRTP_ENGINE_SP);
  ASSERT_EQ(sp.size(), 4u);
  EXPECT_EQ(sp[0], write(0x028613a0, 0x8028, 0xffff));
  EXPECT_EQ(sp[1], write(0x028613c0, 0x8028, 4));
  EXPECT_EQ(sp[2], write(0x028613e0, 0x8028, 5));
}

TEST_P(SplitSteps, CarveOutMustBeAlignedAndInsideThePartition) {
  env_.engine = NRTP_ENGINE_POOL;
  env_.sw_dge_queues = 1;
  std::vector<Record> records(8);
  const auto status = [&](std::uint32_t offset, std::uint64_t bytes) {
    env_.dge_scratch_offset = offset;
    env_.dge_scratch_bytes = static_cast<std::uint32_t>(bytes);
    nrtp_ibuf out{records[0].data(), records.size() * 64, 0};
    const int result = arch().ib->step(NRTP_STEP_NX_SETUP, &env_, &out);
    EXPECT_EQ(out.len, result == NRTP_OK ? 6u * 64 : 0u);
    return result;
  };
  const std::uint64_t usable = arch().geometry->sbuf_partition_bytes;
  EXPECT_EQ(status(16, usable - 16), NRTP_OK);
  EXPECT_EQ(status(16, usable), NRTP_INVALID);
  EXPECT_EQ(status(8, 16), NRTP_INVALID);
  EXPECT_EQ(status(16, 8), NRTP_INVALID);
}

TEST_P(SplitSteps, ClearWritesPairsAndASingle) {
  const auto pool = run(NRTP_STEP_NX_CLEAR, NRTP_ENGINE_POOL);
  ASSERT_EQ(pool.size(), 3u);
  EXPECT_EQ(pool[0], words({{0, 0x10a5},
                            {12, 0x0404},
                            {16, 0x03061500},
                            {20, 0x8028},
                            {24, 0x030614e0},
                            {28, 0x8028}}));
  EXPECT_EQ(pool[1], words({{0, 0x10a5},
                            {12, 0x0404},
                            {16, 0x030613a0},
                            {20, 0x8028},
                            {24, 0x030613c0},
                            {28, 0x8028}}));
  EXPECT_EQ(pool[2], write(0x030613e0, 0x8028, 0));
  EXPECT_EQ(run(NRTP_STEP_NX_CLEAR, NRTP_ENGINE_PE).size(), 2u);
}

TEST_P(SplitSteps, RoundModeRegistersOfTheSecondDie) {
  EXPECT_EQ(run(NRTP_STEP_ROUND_MODE, NRTP_ENGINE_POOL).at(0), write(0x06000110, 0x8080, 0));
  EXPECT_EQ(run(NRTP_STEP_ROUND_MODE, NRTP_ENGINE_ACT).at(0), write(0x06000210, 0x8080, 0));
  env_.core = 5;
  EXPECT_EQ(run(NRTP_STEP_ROUND_MODE, NRTP_ENGINE_DVE).at(0), write(0x06180310, 0x8080, 0));
  EXPECT_TRUE(run(NRTP_STEP_ROUND_MODE, NRTP_ENGINE_PE).empty());
  EXPECT_TRUE(run(NRTP_STEP_ROUND_MODE, NRTP_ENGINE_SP).empty());
}

TEST_P(SplitSteps, OneRecordResetsARangeOfSemaphores) {
  const auto r = run(NRTP_STEP_SEM_RESET, NRTP_ENGINE_POOL);
  ASSERT_EQ(r.size(), 1u);
  EXPECT_EQ(r[0], words({{0, 0x10b0}, {12, 155u << 16 | 105u << 8 | 1}}));
}

TEST_P(SplitSteps, LibraryIsLoadedByPoolInForm230IfThereIsOne) {
  EXPECT_TRUE(run(NRTP_STEP_LIBRARY_LOAD, NRTP_ENGINE_POOL).empty());
  EXPECT_TRUE(run(NRTP_STEP_LIBRARY_CLEAR, NRTP_ENGINE_POOL).empty());
  env_.ulib_pa = 0x8005c0123000;
  env_.ulib_bytes = 0x48e0;
  const auto load = run(NRTP_STEP_LIBRARY_LOAD, NRTP_ENGINE_POOL);
  ASSERT_EQ(load.size(), 1u);
  EXPECT_EQ(load[0],
            words({{0, 0x1095}, {12, 0xff01}, {16, 0xc0123000}, {20, 0x8005}, {28, 0x48e0}}));
  const auto clear = run(NRTP_STEP_LIBRARY_CLEAR, NRTP_ENGINE_POOL);
  ASSERT_EQ(clear.size(), 1u);
  EXPECT_EQ(clear[0], words({{0, 0x1095}, {12, 0xff02}}));
  EXPECT_TRUE(run(NRTP_STEP_LIBRARY_LOAD, NRTP_ENGINE_DVE).empty());
  env_.form = NRTP_FORM_2_27;
  EXPECT_TRUE(run(NRTP_STEP_LIBRARY_LOAD, NRTP_ENGINE_POOL).empty());
}

TEST_P(SplitSteps, BoundCheckBelongsToTheOneDieFamily) {
  for (std::uint32_t engine = 0; engine < 5; ++engine) {
    EXPECT_TRUE(run(NRTP_STEP_BOUND_CHECK, engine).empty());
    EXPECT_TRUE(run(NRTP_STEP_MODEL_CONFIG, engine).empty());
  }
}

}  // namespace
}  // namespace opennrt::arch_test
