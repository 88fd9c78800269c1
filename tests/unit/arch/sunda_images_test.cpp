// SPDX-License-Identifier: Apache-2.0
//
// The steps against device images of real runs (runtime 2.25, core 0).
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "opennrt/arch.h"
#include "opennrt/isa/records.h"
#include "profile_images.h"

extern "C" const nrtp_arch_plugin* nrtp_arch_query(std::uint32_t, std::uint32_t);

namespace opennrt::arch_test {
namespace {

class SundaImages : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const auto corpus = corpus_folder();
    if (corpus.empty()) GTEST_SKIP() << "no corpus; set OPENNRT_CORPUS";
    images_ = read_profile_images(corpus / GetParam());
    ASSERT_EQ(images_.size(), 5u);
  }
  std::vector<std::uint8_t> step(std::uint32_t which, std::uint32_t engine) const {
    // Shares of the semaphore reset as the images show them.
    static constexpr std::array<std::array<std::uint32_t, 2>, 5> kShares = {
        {{3, 53}, {54, 104}, {105, 155}, {156, 206}, {207, 255}}};
    nrtp_ib_env env{};
    env.size = sizeof env;
    env.form = NRTP_FORM_2_25;
    env.product = arch_.products;
    env.engine = engine;
    env.lnc_size = 1;
    env.sem_first = kShares[engine][0];
    env.sem_last = kShares[engine][1];
    std::vector<std::uint8_t> bytes(0x4000);
    nrtp_ibuf out{bytes.data(), bytes.size(), 0};
    EXPECT_EQ(arch_.ib->step(which, &env, &out), NRTP_OK);
    bytes.resize(out.len);
    return bytes;
  }
  // Slots of the image at which `records` stand.
  std::vector<std::size_t> find(std::uint32_t engine,
                                const std::vector<std::uint8_t>& records) const {
    const auto& image = images_.at(engine).bytes;
    std::vector<std::size_t> result;
    for (std::size_t at = 0; at + records.size() <= image.size(); at += 64) {
      if (std::equal(records.begin(), records.end(), image.begin() + static_cast<long>(at))) {
        result.push_back(at / 64);
      }
    }
    return result;
  }
  std::uint8_t opcode_at(std::uint32_t engine, std::size_t slot) const {
    return images_.at(engine).bytes.at(slot * 64);
  }
  std::map<std::uint32_t, ProfileImage> images_;
  const nrtp_arch_plugin& arch_ = *nrtp_arch_query(1, 0);
};
INSTANTIATE_TEST_SUITE_P(Runtime225, SundaImages,
                         testing::Values("vecadd_2tiles_sunda_b.ntff", "vecadd_1tile_sunda.ntff"),
                         [](const auto& param_info) {
                           std::string name = param_info.param;
                           return name.substr(0, name.find('.'));
                         });

TEST_P(SundaImages, NxSetupStandsOnceInEveryEngineBeforeABarrier) {
  for (std::uint32_t engine = 0; engine < 5; ++engine) {
    const auto records = step(NRTP_STEP_NX_SETUP, engine);
    EXPECT_EQ(records.size(), engine == NRTP_ENGINE_POOL ? 192u : 64u);
    const auto places = find(engine, records);
    ASSERT_EQ(places.size(), 1u) << engine;
    EXPECT_EQ(opcode_at(engine, places[0] + records.size() / 64), isa::kOpDrain);
  }
}

TEST_P(SundaImages, RoundModeStandsOnceInPoolActAndDve) {
  for (std::uint32_t engine = 0; engine < 5; ++engine) {
    const auto records = step(NRTP_STEP_ROUND_MODE, engine);
    const bool has =
        engine == NRTP_ENGINE_POOL || engine == NRTP_ENGINE_ACT || engine == NRTP_ENGINE_DVE;
    EXPECT_EQ(records.size(), has ? 64u : 0u) << engine;
    if (has) {
      EXPECT_EQ(find(engine, records).size(), 1u) << engine;
    }
  }
}

TEST_P(SundaImages, NxClearStandsOnceInPool) {
  for (std::uint32_t engine = 0; engine < 5; ++engine) {
    const auto records = step(NRTP_STEP_NX_CLEAR, engine);
    if (engine != NRTP_ENGINE_POOL) {
      EXPECT_TRUE(records.empty());
      continue;
    }
    const auto places = find(engine, records);
    ASSERT_EQ(places.size(), 1u);
    EXPECT_EQ(opcode_at(engine, places[0] + 1), isa::kOpWrite);  // start_ctrl <- 1
    EXPECT_EQ(opcode_at(engine, places[0] + 2), isa::kOpHalt);
  }
}

TEST_P(SundaImages, BoundCheckStandsOnceInPoolBeforeThePostambleBarrier) {
  for (std::uint32_t engine = 0; engine < 5; ++engine) {
    const auto records = step(NRTP_STEP_BOUND_CHECK, engine);
    if (engine != NRTP_ENGINE_POOL) {
      EXPECT_TRUE(records.empty());
      continue;
    }
    ASSERT_EQ(records.size(), 6u * 64);
    const auto places = find(engine, records);
    ASSERT_EQ(places.size(), 1u);
    const auto drain = isa::load_record<isa::ControlRecord>(images_.at(engine).bytes.data() +
                                                            (places[0] + 6) * 64);
    EXPECT_EQ(drain.h.opcode, isa::kOpDrain);
    EXPECT_EQ(drain.drain_count, 1u);
  }
}

TEST_P(SundaImages, SemaphoreResetStandsOnceInEveryEngine) {
  for (std::uint32_t engine = 0; engine < 5; ++engine) {
    const auto records = step(NRTP_STEP_SEM_RESET, engine);
    const auto places = find(engine, records);
    ASSERT_EQ(places.size(), 1u) << engine;
    EXPECT_EQ(opcode_at(engine, places[0] - 1), isa::kOpDrain);
    EXPECT_EQ(opcode_at(engine, places[0] + records.size() / 64), isa::kOpDrain);
  }
}

TEST_P(SundaImages, EveryImagePassesTheValidator) {
  for (const auto& [engine, image] : images_) {
    nrtp_diag diag{};
    diag.size = sizeof diag;
    EXPECT_EQ(arch_.ib->validate_image(engine, image.bytes.data(), image.bytes.size(), &diag),
              NRTP_OK)
        << diag.msg;
  }
}

TEST_P(SundaImages, EveryAddressOfARuntimeRecordDecodes) {
  std::size_t addresses = 0;
  const auto check = [&](std::uint64_t address, std::uint32_t engine, std::size_t slot) {
    nrtp_addr_class c{};
    c.size = sizeof c;
    EXPECT_EQ(arch_.address->classify(arch_.products, address, &c), NRTP_OK)
        << "engine " << engine << " slot " << slot << std::hex << " 0x" << address;
    EXPECT_EQ(c.core, 0u);
    ++addresses;
  };
  for (const auto& [engine, image] : images_) {
    for (std::size_t slot = 0; slot * 64 < image.bytes.size(); ++slot) {
      const std::uint8_t* r = image.bytes.data() + slot * 64;
      if (r[0] == isa::kOpWrite) {
        const auto write = isa::load_record<isa::WriteRecord>(r);
        check(write.address0, engine, slot);
        if (write.size1 != 0) check(write.address1, engine, slot);
      } else if (r[0] == isa::kOpTensorLoad || r[0] == isa::kOpTensorStore) {
        check(isa::load_record<isa::MemRecord>(r).address, engine, slot);
      }
    }
  }
  EXPECT_GT(addresses, 50u);
}

// Doorbells in the images name the rings that runtime_ring() hands out.
TEST_P(SundaImages, RuntimeRingsAreTheOnesInTheImages) {
  const auto rings_kicked_by = [&](std::uint32_t engine) {
    std::vector<std::array<std::uint32_t, 2>> result;
    const auto& bytes = images_.at(engine).bytes;
    for (std::size_t at = 0; at < bytes.size(); at += 64) {
      if (bytes[at] != isa::kOpWrite) continue;
      nrtp_addr_class c{};
      const auto write = isa::load_record<isa::WriteRecord>(bytes.data() + at);
      if (arch_.address->classify(arch_.products, write.address0, &c) != NRTP_OK) continue;
      if (c.kind == NRTP_ADDR_UDMA && c.reg == 0x38) result.push_back({c.unit, c.queue});
    }
    return result;
  };
  nrtp_dma_slot slot{};
  ASSERT_EQ(arch_.dma->runtime_ring(arch_.products, 0, NRTP_RING_EXEC, &slot), NRTP_OK);
  for (const auto& ring : rings_kicked_by(NRTP_ENGINE_PE)) {
    EXPECT_EQ(ring[0], slot.engine);
    EXPECT_EQ(ring[1], slot.queue);
  }
  EXPECT_EQ(rings_kicked_by(NRTP_ENGINE_PE).size(), 2u);
  ASSERT_EQ(arch_.dma->runtime_ring(arch_.products, 0, NRTP_RING_DVE_TABLES, &slot), NRTP_OK);
  ASSERT_EQ(rings_kicked_by(NRTP_ENGINE_DVE).size(), 1u);
  EXPECT_EQ(rings_kicked_by(NRTP_ENGINE_DVE)[0][0], slot.engine);
  EXPECT_EQ(rings_kicked_by(NRTP_ENGINE_DVE)[0][1], slot.queue);
}

}  // namespace
}  // namespace opennrt::arch_test
