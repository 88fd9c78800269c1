// SPDX-License-Identifier: Apache-2.0
//
// The plugin's data against the silicon fact sheet, where there is one.
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "opennrt/arch.h"

extern "C" const nrtp_arch_plugin* nrtp_arch_query(std::uint32_t, std::uint32_t);

namespace opennrt::arch_test {
namespace {

class SundaFacts : public testing::Test {
 protected:
  void SetUp() override {
    const char* configured = std::getenv("OPENNRT_SPEC");
    const std::filesystem::path spec =
        configured != nullptr ? configured : OPENNRT_SOURCE_DIR "/../shared/spec";
    const auto file = spec / "arch" / "sunda.yaml";
    if (!std::filesystem::exists(file)) GTEST_SKIP() << "no fact sheet; set OPENNRT_SPEC";
    facts_ = YAML::LoadFile(file.string());
  }
  static std::uint64_t number(const YAML::Node& node) {
    return std::stoull(node.as<std::string>(), nullptr, 0);
  }
  const nrtp_arch_plugin& arch_ = *nrtp_arch_query(1, 0);
  const nrtp_product* product_ = arch_.products;
  YAML::Node facts_;
};

TEST_F(SundaFacts, Geometry) {
  const nrtp_arch_geometry& g = *arch_.geometry;
  const YAML::Node geo = facts_["geometry"];
  EXPECT_EQ(arch_.arch_type, number(facts_["identity"]["arch_type"]));
  EXPECT_EQ(g.dies, number(geo["dies"]));
  EXPECT_EQ(g.sengs, number(geo["sequencer_engines"]));
  EXPECT_EQ(g.tpb_per_seng, number(geo["tpb_per_seng"]));
  EXPECT_EQ(g.tpbs, number(geo["neuroncores_physical"]));
  EXPECT_EQ(g.engines, number(geo["engines_per_core"]));
  EXPECT_EQ(g.topsps, number(geo["topsp_per_device"]));
  EXPECT_EQ(g.q7_per_core, number(geo["q7_per_core"]));
  EXPECT_EQ(g.tpb_per_hbm, number(geo["tpb_per_hbm"]));
  const YAML::Node dma = facts_["dma"];
  EXPECT_EQ(g.dma_per_core, number(dma["engines_per_core"]));
  EXPECT_EQ(g.dma_total, number(dma["engines_total"]));
  EXPECT_EQ(g.dma_queues_per_engine, number(dma["queues_per_engine"]));
  const YAML::Node memory = facts_["memory"];
  EXPECT_EQ(g.n_hbm, number(memory["hbm"]["channels"]));
  EXPECT_EQ(g.hbm_reserved_low, number(memory["hbm"]["reserved_at_channel_start"]));
  for (std::uint32_t i = 0; i < g.n_hbm; ++i) {
    EXPECT_EQ(g.hbm[i].base, number(memory["hbm"]["bases"][i]));
    EXPECT_EQ(g.hbm[i].bar4, number(memory["hbm"]["bar4_offsets"][i]));
    EXPECT_EQ(g.hbm[i].bytes, number(memory["hbm"]["size_per_channel"]));
  }
  EXPECT_EQ(g.sbuf_partition_stride, number(memory["sbuf"]["partition_stride"]));
  EXPECT_EQ(g.sbuf_partition_bytes, number(memory["sbuf"]["partition_usable"]));
  EXPECT_EQ(g.sbuf_window_bytes, number(memory["sbuf"]["window"]));
  EXPECT_EQ(g.psum_local_base, number(memory["psum"]["local_base"]));
  EXPECT_EQ(g.psum_partition_stride, number(memory["psum"]["partition_stride"]));
  EXPECT_EQ(g.psum_banks, number(memory["psum"]["banks"]));
  EXPECT_EQ(g.psum_bank_bytes, number(memory["psum"]["bank_bytes"]));
  EXPECT_EQ(g.host_window_base, number(memory["host_window_base"]));
  const YAML::Node notifications = facts_["notifications"];
  EXPECT_EQ(g.nq_hw_queues, number(notifications["hw_queues_per_core"]));
  EXPECT_EQ(g.error_queue, number(notifications["error_queue"]));
  EXPECT_EQ(g.status_queue_first, number(notifications["infer_status_queue_by_engine"]["pe"]));
}

TEST_F(SundaFacts, Addresses) {
  const nrtp_arch_address& a = *arch_.address;
  const YAML::Node map = facts_["address_map"];
  const YAML::Node tpb = map["tpb"];
  EXPECT_EQ(a.local_to_device(product_, 1, 0), number(tpb["device_base"]) + number(tpb["stride"]));
  EXPECT_EQ(a.local_to_bar0(product_, 1, 0), number(tpb["bar0_offset"]) + number(tpb["stride"]));
  const YAML::Node topsp = map["topsp"];
  EXPECT_EQ(a.topsp_device(product_, 2),
            number(topsp["device_base"]) + 2 * number(topsp["stride"]));
  EXPECT_EQ(a.topsp_bar0(product_, 2), number(topsp["bar0_offset"]) + 2 * number(topsp["stride"]));
  const std::uint64_t apb = number(map["apb"]["device_base"]);
  const YAML::Node rel = map["apb_relative"];
  const std::uint64_t stride = number(rel["seng_stride"]);
  EXPECT_EQ(a.tpb_csr_device(product_, 1), apb + number(rel["tpb_csr"]) + stride);
  EXPECT_EQ(a.misc_ram_device(product_, 0), number(map["misc_ram_device"]));
  EXPECT_EQ(a.notific_bar0(product_, 0),
            number(map["apb"]["bar0_offset"]) + number(rel["tpb_notific"]["offset"]));
  EXPECT_EQ(arch_.dma->bcast_device(product_, 0), apb + number(rel["broadcast"]["offset"]));
  EXPECT_EQ(arch_.dma->udma_device(product_, 17),
            number(map["udma_core_bases"][1]) + number(rel["udma"]["stride"]));
  EXPECT_EQ(arch_.dma->udma_device(product_, 32), apb + number(rel["d2h_udma"]));
  EXPECT_EQ(arch_.dma->udma_device(product_, 33), apb + number(rel["h2d_udma"]));
  const YAML::Node local = facts_["sync"]["local"];
  EXPECT_EQ(a.sem_addr(product_, 0, 5, NRTP_SEM_DEC),
            number(tpb["device_base"]) + number(local["sem_dec"]) + 20);
  EXPECT_EQ(a.event_addr(product_, 0, 5),
            number(tpb["device_base"]) + number(local["event_base"]) + 20);
  const YAML::Node sequencer = facts_["registers"]["sequencer"];
  const char* engines[] = {"pe", "act", "pool", "dve", "sp"};
  for (std::uint32_t e = 0; e < 5; ++e) {
    EXPECT_EQ(a.nx_bar0(product_, 0, e),
              number(sequencer[engines[e]]) + number(sequencer["nx_offset"]));
    std::uint32_t nx = 0;
    ASSERT_EQ(a.coretype(product_, e, &nx, nullptr, nullptr), NRTP_OK);
    EXPECT_EQ(nx, number(facts_["identity"]["nx_coretype_by_engine"][engines[e]]));
  }
}

TEST_F(SundaFacts, DmaRegistersAndRings) {
  const YAML::Node queue = facts_["registers"]["udma_queue"];
  const YAML::Node unit = facts_["registers"]["udma_unit"];
  const std::uint64_t q2 = number(unit["queue_base"]) + 2 * number(unit["queue_stride"]);
  const std::uint64_t s2m = number(unit["s2m"]);
  const auto reg = arch_.dma->queue_reg;
  EXPECT_EQ(reg(2, 0, NRTP_QREG_BASE_LO), q2 + number(queue["base_lo"]));
  EXPECT_EQ(reg(2, 1, NRTP_QREG_BASE_HI), s2m + q2 + number(queue["base_hi"]));
  EXPECT_EQ(reg(2, 0, NRTP_QREG_LENGTH), q2 + number(queue["length"]));
  EXPECT_EQ(reg(2, 0, NRTP_QREG_HEAD), q2 + number(queue["head"]));
  EXPECT_EQ(reg(2, 0, NRTP_QREG_TAIL), q2 + number(queue["tail"]));
  EXPECT_EQ(reg(2, 1, NRTP_QREG_TAIL_INC), s2m + q2 + number(queue["tail_inc"]));
  const YAML::Node sw = facts_["registers"]["udma_queue_sw_ctrl"];
  EXPECT_EQ(reg(2, 0, NRTP_QREG_SW_CTRL), q2 + number(sw["m2s"]));
  EXPECT_EQ(reg(2, 1, NRTP_QREG_SW_CTRL), s2m + q2 + number(sw["s2m"]));
  EXPECT_EQ(arch_.dma->sw_ctrl_reset, number(sw["reset"]));
  EXPECT_EQ(arch_.dma->ring_length_written, number(facts_["dma"]["ring_length_written"]));
  EXPECT_EQ(arch_.dma->event_const_addr[0], number(facts_["dma"]["event_accel_clear"]));
  EXPECT_EQ(arch_.dma->event_const_addr[1], number(facts_["dma"]["event_accel_set"]));
  const YAML::Node rings = facts_["dma"]["runtime_rings"];
  const std::pair<std::uint32_t, const char*> names[] = {{NRTP_RING_EXEC, "exec"},
                                                         {NRTP_RING_ACT_TABLES, "act_tables"},
                                                         {NRTP_RING_DVE_TABLES, "dve_tables"}};
  for (const auto& [which, name] : names) {
    nrtp_dma_slot slot{};
    ASSERT_EQ(arch_.dma->runtime_ring(product_, 0, which, &slot), NRTP_OK);
    EXPECT_EQ(slot.engine, number(rings[name]["engine_index"])) << name;
    EXPECT_EQ(slot.queue, number(rings[name]["queue"])) << name;
  }
}

TEST_F(SundaFacts, SyncIdsAndTables) {
  const YAML::Node values = facts_["sync"]["sync_event_values"];
  ASSERT_EQ(values.size(), static_cast<std::size_t>(NRTP_SYNC_ENTRIES));
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(arch_.sync->id[i], number(values[i])) << i;
  }
  const YAML::Node slots = facts_["tables"]["dve"]["slots"];
  ASSERT_EQ(slots.size(), arch_.tables->n_dve);
  for (std::uint32_t i = 0; i < arch_.tables->n_dve; ++i) {
    const nrtp_table_slot& slot = arch_.tables->dve[i];
    EXPECT_EQ(slot.name, slots[i]["name"].as<std::string>());
    EXPECT_EQ(slot.bytes, number(slots[i]["bytes"]));
    if (slot.bytes != 0) {
      EXPECT_EQ(slot.local, number(slots[i]["local"]));
    }
  }
  EXPECT_EQ(arch_.tables->dve_kick, number(facts_["tables"]["dve"]["kick"]));
  const YAML::Node params = facts_["tables"]["act"]["params"];
  ASSERT_EQ(params.size(), arch_.tables->n_act);
  for (std::uint32_t i = 0; i < arch_.tables->n_act; ++i) {
    EXPECT_EQ(arch_.tables->act[i].local, number(params[i]));
  }
}

TEST_F(SundaFacts, EveryInstanceIsAProduct) {
  std::size_t instances = 0;
  for (const auto& silicon : facts_["products"]) {
    for (const auto& instance : silicon["instances"]) {
      ++instances;
      const auto name = instance.first.as<std::string>();
      const nrtp_product* found = nullptr;
      for (std::uint32_t i = 0; i < arch_.n_products; ++i) {
        if (name == arch_.products[i].name) found = &arch_.products[i];
      }
      ASSERT_NE(found, nullptr) << name;
      EXPECT_EQ(found->devices, number(instance.second));
      EXPECT_EQ(found->pci_vendor, number(silicon["pci"]["vendor"]));
      EXPECT_EQ(found->pci_device, number(silicon["pci"]["device"]));
      EXPECT_EQ(found->silicon, silicon["name"].as<std::string>());
    }
  }
  EXPECT_EQ(instances, arch_.n_products);
  EXPECT_STREQ(arch_.products[0].name, "trn1.2xlarge");
}

}  // namespace
}  // namespace opennrt::arch_test
