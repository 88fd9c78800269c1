// SPDX-License-Identifier: Apache-2.0
//
// Record contents of the sunda steps, byte for byte, without the corpus.
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "opennrt/arch.h"

extern "C" const nrtp_arch_plugin* nrtp_arch_query(std::uint32_t, std::uint32_t);

namespace opennrt::arch_test {
namespace {

using Record = std::array<std::uint8_t, 64>;

std::vector<Record> run(std::uint32_t step, std::uint32_t core, std::uint32_t engine) {
  const nrtp_arch_plugin& arch = *nrtp_arch_query(1, 0);
  nrtp_ib_env env{};
  env.size = sizeof env;
  env.form = NRTP_FORM_2_25;
  env.product = arch.products;
  env.core = core;
  env.engine = engine;
  env.sem_first = 207;
  env.sem_last = 209;
  std::vector<Record> records(64);
  nrtp_ibuf out{records[0].data(), records.size() * 64, 0};
  EXPECT_EQ(arch.ib->step(step, &env, &out), NRTP_OK);
  records.resize(out.len / 64);
  return records;
}

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

TEST(SundaSteps, PoolSetsUpThreeRegistersInOrder) {
  const auto r = run(NRTP_STEP_NX_SETUP, 0, NRTP_ENGINE_POOL);
  ASSERT_EQ(r.size(), 3u);
  EXPECT_EQ(r[0], words({{0, 0x10a5}, {12, 4}, {16, 0xc2960800}, {20, 0xfff}}));
  EXPECT_EQ(r[1], words({{0, 0x10a5}, {12, 4}, {16, 0xc2960024}, {20, 0xfff}}));
  EXPECT_EQ(r[2], words({{0, 0x10a5}, {12, 4}, {16, 0xc2960020}, {20, 0xfff}}));
}

TEST(SundaSteps, OtherEnginesSetUpOneRegisterOfTheirOwn) {
  const std::uint32_t expected[] = {0xc2660020, 0xc2460020, 0, 0xc2b60020, 0xc2860020};
  for (std::uint32_t engine : {0u, 1u, 3u, 4u}) {
    const auto r = run(NRTP_STEP_NX_SETUP, 0, engine);
    ASSERT_EQ(r.size(), 1u);
    EXPECT_EQ(r[0], words({{0, 0x10a5}, {12, 4}, {16, expected[engine]}, {20, 0xfff}}));
  }
}

TEST(SundaSteps, CoreOneUsesItsOwnTileAndRegisters) {
  const auto nx = run(NRTP_STEP_NX_SETUP, 1, NRTP_ENGINE_PE);
  EXPECT_EQ(nx.at(0), words({{0, 0x10a5}, {12, 4}, {16, 0xc6660020}, {20, 0xfff}}));
  const auto mode = run(NRTP_STEP_ROUND_MODE, 1, NRTP_ENGINE_DVE);
  EXPECT_EQ(mode.at(0), words({{0, 0x10a5}, {12, 4}, {16, 0xf0c34310}, {20, 0xfff}}));
}

TEST(SundaSteps, PoolClearsBothRegistersInOneRecord) {
  const auto r = run(NRTP_STEP_NX_CLEAR, 0, NRTP_ENGINE_POOL);
  ASSERT_EQ(r.size(), 1u);
  EXPECT_EQ(r[0], words({{0, 0x10a5},
                         {12, 0x0404},
                         {16, 0xc2960800},
                         {20, 0xfff},
                         {24, 0xc2960024},
                         {28, 0xfff}}));
}

TEST(SundaSteps, BoundCheckSavesAndReportsAndClears) {
  const auto r = run(NRTP_STEP_BOUND_CHECK, 0, NRTP_ENGINE_POOL);
  ASSERT_EQ(r.size(), 6u);
  EXPECT_EQ(r[0], words({{0, 0x10ab}, {12, 0x01010009}, {16, 0xf0fa00c8}, {20, 0xfff}}));
  EXPECT_EQ(r[1], words({{0, 0x10aa}, {12, 0x01010009}, {16, 0xc2960848}, {20, 0xfff}}));
  EXPECT_EQ(r[2], words({{0, 0x020010a9}, {12, 0x00030903}, {48, 0xc0}}));
  EXPECT_EQ(r[3], words({{0, 0x000910a6}, {36, 0x02000006}, {44, 0x01000005}}));
  EXPECT_EQ(r[4], words({{0, 0x10aa}, {12, 0x01010009}, {16, 0xf0fa00c8}, {20, 0xfff}}));
  EXPECT_EQ(r[5], words({{0, 0x10a5}, {12, 4}, {16, 0xc2960848}, {20, 0xfff}}));
}

TEST(SundaSteps, CoresKeepTheirPoolRegisterApart) {
  const auto first = run(NRTP_STEP_BOUND_CHECK, 0, NRTP_ENGINE_POOL);
  const auto second = run(NRTP_STEP_BOUND_CHECK, 1, NRTP_ENGINE_POOL);
  EXPECT_NE(first.at(0), second.at(0));
}

TEST(SundaSteps, SemaphoreResetWritesZeroToEach) {
  const auto r = run(NRTP_STEP_SEM_RESET, 0, NRTP_ENGINE_SP);
  ASSERT_EQ(r.size(), 3u);
  for (std::uint32_t i = 0; i < 3; ++i) {
    EXPECT_EQ(r[i], words({{0, 0x10a0}, {32, (207 + i) << 24 | 0x190000}}));
  }
}

TEST(SundaSteps, StepsOfOtherFamiliesAreEmpty) {
  for (std::uint32_t engine = 0; engine < 5; ++engine) {
    EXPECT_TRUE(run(NRTP_STEP_LIBRARY_LOAD, 0, engine).empty());
    EXPECT_TRUE(run(NRTP_STEP_LIBRARY_CLEAR, 0, engine).empty());
    EXPECT_TRUE(run(NRTP_STEP_MODEL_CONFIG, 0, engine).empty());
  }
}

}  // namespace
}  // namespace opennrt::arch_test
