// SPDX-License-Identifier: Apache-2.0
//
// Data of the plugins against the silicon fact sheets, where there are any. The
// expected addresses are computed here from the sheets' formulas and bases.
#include <yaml-cpp/yaml.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "arch_modules.h"

namespace opennrt::arch_test {
namespace {

namespace fs = std::filesystem;

constexpr const char* kEngineNames[] = {"pe", "act", "pool", "dve", "sp"};

std::uint64_t number(const YAML::Node& node) {
  return std::stoull(node.as<std::string>(), nullptr, 0);
}

class Facts : public testing::TestWithParam<const nrtp_arch_plugin*> {
 protected:
  void SetUp() override {
    const char* configured = std::getenv("OPENNRT_SPEC");
    const fs::path folder =
        fs::path(configured != nullptr ? configured : OPENNRT_SOURCE_DIR "/../shared/spec") /
        "arch";
    const fs::path own = folder / (std::string(arch().name) + ".yaml");
    if (!fs::exists(own)) GTEST_SKIP() << "no fact sheet in " << folder << "; set OPENNRT_SPEC";
    sheets_.push_back(YAML::LoadFile(own.string()));
    // A key that the sheet of mariana lacks is that of cayman.
    if (std::string(arch().name) == "mariana") {
      sheets_.push_back(YAML::LoadFile((folder / "cayman.yaml").string()));
    }
  }
  static YAML::Node descend(const YAML::Node& at, const std::string& path) {
    const std::size_t end = std::min(path.find('.'), path.size());
    if (!at.IsMap()) return YAML::Node(YAML::NodeType::Undefined);
    const YAML::Node next = at[path.substr(0, end)];
    if (!next.IsDefined()) return YAML::Node(YAML::NodeType::Undefined);
    return end == path.size() ? next : descend(next, path.substr(end + 1));
  }
  // "memory.hbm.bases"
  YAML::Node fact(const std::string& path) const {
    for (const YAML::Node& sheet : sheets_) {
      const YAML::Node found = descend(sheet, path);
      if (found.IsDefined()) return found;
    }
    return YAML::Node(YAML::NodeType::Undefined);
  }
  std::uint64_t value(const std::string& path) const {
    const YAML::Node node = fact(path);
    if (!node.IsDefined() || !node.IsScalar()) {
      ADD_FAILURE() << path << " is not in the fact sheet";
      return 0;
    }
    return number(node);
  }
  bool split() const { return fact("address_map.apb_io").IsDefined(); }
  // Device address of a tile-local one.
  std::uint64_t tile(std::uint32_t core, std::uint64_t local) const {
    if (!split()) {
      return value("address_map.tpb.device_base") + core * value("address_map.tpb.stride") + local;
    }
    const std::uint64_t base = number(fact("address_map.tpb.device_bases")[core]);
    return base + local + (local < 0x2000000 ? 0 : value("address_map.tpb.host_visible_rebase"));
  }
  // Registers of a core: the start of its block.
  std::uint64_t core_registers(std::uint32_t core, bool bar0) const {
    if (!split()) {
      return value(bar0 ? "address_map.apb.bar0_offset" : "address_map.apb.device_base") +
             core * value("address_map.apb_relative.seng_stride");
    }
    const std::uint32_t die = core / 4;
    const std::string list =
        std::string("address_map.apb_io.") + (bar0 ? "bar0_offsets" : "device_bases");
    return number(fact(list)[die]) +
           number(fact("address_map.io_relative.seng_relbase")[core / 2 % 2]) +
           core % 2 * value("address_map.io_relative.tpb_stride");
  }
  const nrtp_arch_plugin& arch() const { return *GetParam(); }
  const nrtp_product* product() const { return arch().products; }
  std::vector<YAML::Node> sheets_;
};

std::vector<const nrtp_arch_plugin*> archs() {
  std::vector<const nrtp_arch_plugin*> result;
  for (const Module& module : modules()) result.push_back(module.plugin);
  return result;
}
INSTANTIATE_TEST_SUITE_P(All, Facts, testing::ValuesIn(archs()), [](const auto& param_info) {
  return std::string(param_info.param->name);
});

TEST_P(Facts, Identity) {
  EXPECT_EQ(arch().name, fact("identity.arch_name").as<std::string>());
  EXPECT_EQ(arch().arch_type, value("identity.arch_type"));
  EXPECT_EQ(arch().neff_targets[1], fact("identity.kernel_arch_name").as<std::string>());
  for (std::uint32_t e = 0; e < 5; ++e) {
    std::uint32_t nx = 0, q7 = 0, topsp = 0;
    ASSERT_EQ(arch().address->coretype(product(), e, &nx, &q7, &topsp), NRTP_OK);
    EXPECT_EQ(nx, value(std::string("identity.nx_coretype_by_engine.") + kEngineNames[e]));
    EXPECT_EQ(q7, value("identity.coretypes.q7_pool"));
    EXPECT_EQ(topsp, value("identity.coretypes.nx_topsp"));
  }
  EXPECT_EQ(arch().sync->dge_mailbox_coretype, value("identity.coretypes.nx_pool"));
  EXPECT_EQ(arch().geometry->emulator_revision, value("identity.platform_revision_ids.emu"));
  EXPECT_EQ(arch().geometry->hw_revision_max, value("identity.platform_revision_ids.hw_max"));
}

TEST_P(Facts, Geometry) {
  const nrtp_arch_geometry& g = *arch().geometry;
  EXPECT_EQ(g.dies, value("geometry.dies"));
  EXPECT_EQ(g.sengs, value("geometry.sequencer_engines"));
  EXPECT_EQ(g.tpb_per_seng, value("geometry.tpb_per_seng"));
  EXPECT_EQ(g.tpbs, value("geometry.neuroncores_physical"));
  EXPECT_EQ(g.engines, value("geometry.engines_per_core"));
  EXPECT_EQ(g.topsps, value("geometry.topsp_per_device"));
  EXPECT_EQ(g.q7_per_core, value("geometry.q7_per_core"));
  EXPECT_EQ(g.tpb_per_hbm, value("geometry.tpb_per_hbm"));
  std::uint32_t lnc_mask = 0;
  for (const auto& size : fact("geometry.lnc_supported")) lnc_mask |= 1u << (number(size) - 1);
  EXPECT_EQ(g.lnc_mask, lnc_mask);
  EXPECT_EQ(g.lnc_default, value("geometry.lnc_default"));
  EXPECT_EQ(g.dma_per_core, value("dma.engines_per_core"));
  EXPECT_EQ(g.dma_total, value("dma.engines_total"));
  EXPECT_EQ(g.dma_queues_per_engine, value("dma.queues_per_engine"));
  EXPECT_EQ(g.semaphores, value("sync.semaphores_per_core"));
  EXPECT_EQ(g.events, value("sync.events_per_core"));
  EXPECT_EQ(g.nq_hw_queues, value("notifications.hw_queues_per_core"));
  EXPECT_EQ(g.nq_entry_bytes, value("notifications.entry_bytes"));
  EXPECT_EQ(g.error_queue, value("notifications.error_queue"));
  for (std::uint32_t e = 0; e < 5; ++e) {
    EXPECT_EQ(g.status_queue_first + e,
              value(std::string("notifications.infer_status_queue_by_engine.") + kEngineNames[e]));
  }
}

TEST_P(Facts, Memory) {
  const nrtp_arch_geometry& g = *arch().geometry;
  ASSERT_EQ(g.n_hbm, value("memory.hbm.channels"));
  EXPECT_EQ(g.hbm_reserved_low, value("memory.hbm.reserved_at_channel_start"));
  for (std::uint32_t i = 0; i < g.n_hbm; ++i) {
    EXPECT_EQ(g.hbm[i].base, number(fact("memory.hbm.bases")[i]));
    EXPECT_EQ(g.hbm[i].bar4, number(fact("memory.hbm.bar4_offsets")[i]));
    EXPECT_EQ(g.hbm[i].bytes, value("memory.hbm.size_per_channel"));
  }
  EXPECT_EQ(g.sbuf_partitions, value("memory.sbuf.partitions"));
  EXPECT_EQ(g.sbuf_partition_stride, value("memory.sbuf.partition_stride"));
  EXPECT_EQ(g.sbuf_partition_bytes, value("memory.sbuf.partition_usable"));
  EXPECT_EQ(g.sbuf_window_bytes, value("memory.sbuf.window"));
  EXPECT_EQ(g.psum_partitions, value("memory.psum.partitions"));
  EXPECT_EQ(g.psum_local_base, value("memory.psum.local_base"));
  EXPECT_EQ(g.psum_partition_stride, value("memory.psum.partition_stride"));
  EXPECT_EQ(g.psum_partition_bytes, value("memory.psum.partition_usable"));
  EXPECT_EQ(g.psum_banks, value("memory.psum.banks"));
  EXPECT_EQ(g.psum_bank_bytes, value("memory.psum.bank_bytes"));
  EXPECT_EQ(g.host_window_base, value("memory.host_window_base"));
}

TEST_P(Facts, TilesOfEveryCore) {
  const nrtp_arch_address& a = *arch().address;
  for (std::uint32_t core = 0; core < product()->cores; ++core) {
    for (const auto& block : fact("address_map.local_map")) {
      const std::uint64_t local = number(block.second);
      EXPECT_EQ(a.local_to_device(product(), core, local), tile(core, local));
      EXPECT_EQ(
          a.local_to_bar0(product(), core, local),
          value("address_map.tpb.bar0_offset") + core * value("address_map.tpb.stride") + local);
    }
    EXPECT_EQ(a.event_addr(product(), core, 5), tile(core, value("sync.local.event_base") + 20));
    const char* windows[] = {"sem_read", "sem_set", "sem_inc", "sem_dec"};
    for (std::uint32_t op = 0; op < 4; ++op) {
      EXPECT_EQ(a.sem_addr(product(), core, 200, op),
                tile(core, value(std::string("sync.local.") + windows[op]) + 800));
    }
    for (std::uint32_t e = 0; e < 5; ++e) {
      const std::uint64_t local = value(std::string("registers.sequencer.") + kEngineNames[e]) +
                                  value("registers.sequencer.nx_offset");
      EXPECT_EQ(a.nx_device(product(), core, e), tile(core, local));
    }
    if (split()) {
      EXPECT_EQ(a.default_hbm(product(), core), core / 2);
    } else {
      EXPECT_EQ(a.default_hbm(product(), core), core);
    }
  }
  EXPECT_EQ(arch().ib->nx_start_ctrl, value("registers.nx_local.start_ctrl"));
  EXPECT_EQ(arch().ib->nx_start_addr_lo, value("registers.nx_local.start_addr_lo"));
  EXPECT_EQ(arch().ib->nx_start_addr_hi, value("registers.nx_local.start_addr_hi"));
}

TEST_P(Facts, RegistersOfEveryCore) {
  const nrtp_arch_address& a = *arch().address;
  const std::string relative = split() ? "address_map.io_relative." : "address_map.apb_relative.";
  const std::uint64_t csr = value(relative + "tpb_csr");
  const std::uint64_t notific = value(relative + (split() ? "tpb_notific" : "tpb_notific.offset"));
  for (std::uint32_t core = 0; core < product()->cores; ++core) {
    EXPECT_EQ(a.tpb_csr_device(product(), core), core_registers(core, false) + csr);
    EXPECT_EQ(a.notific_bar0(product(), core), core_registers(core, true) + notific);
    EXPECT_EQ(a.misc_ram_device(product(), core), value("address_map.misc_ram_device"));
    const std::uint64_t first = number(fact("address_map.udma_core_bases")[core]);
    const std::uint64_t broadcast =
        split() ? first + value("address_map.sdma.broadcast.offset")
                : core_registers(core, false) + value(relative + "broadcast.offset");
    EXPECT_EQ(arch().dma->bcast_device(product(), core), broadcast);
  }
  EXPECT_EQ(a.bar0_to_device(product(), value("address_map.misc_ram_bar0")),
            value("address_map.misc_ram_device"));
}

TEST_P(Facts, DmaEngines) {
  const nrtp_arch_dma& d = *arch().dma;
  const std::uint64_t stride =
      split() ? value("address_map.sdma.stride") : value("address_map.apb_relative.udma.stride");
  EXPECT_EQ(d.engine_stride, stride);
  for (std::uint32_t core = 0; core < product()->cores; ++core) {
    const std::uint64_t first = number(fact("address_map.udma_core_bases")[core]);
    for (std::uint32_t j = 0; j < 16; ++j) {
      EXPECT_EQ(d.udma_device(product(), d.core_engine(product(), core, j)), first + j * stride);
    }
    EXPECT_EQ(d.host_engine(product(), core), number(fact("dma.h2t_engine_by_core")[core]));
    EXPECT_EQ(d.host_queue(product(), core), number(fact("dma.h2t_queue_by_core")[core]));
  }
  if (split()) {
    for (const auto& host : fact("address_map.host_udma")) {
      const auto engine = static_cast<std::uint32_t>(number(host.first));
      EXPECT_EQ(d.udma_device(product(), engine), number(host.second));
      EXPECT_EQ(d.sdma_misc_bar0(product(), engine) - d.udma_bar0(product(), engine),
                value("address_map.sdma.misc_offset"));
    }
    // One engine of each cluster, through its window of BAR 0.
    for (std::uint32_t cluster = 0; cluster < 4; ++cluster) {
      EXPECT_EQ(d.udma_bar0(product(), 32 * cluster + 3),
                number(fact("address_map.apb_se.bar0_offsets")[cluster]) +
                    (cluster % 2 == 0 ? 0x2000000 : 0x4000000) + 3 * stride);
    }
  } else {
    const std::uint64_t apb = value("address_map.apb.device_base");
    EXPECT_EQ(d.udma_device(product(), 32), apb + value("address_map.apb_relative.d2h_udma"));
    EXPECT_EQ(d.udma_device(product(), 33), apb + value("address_map.apb_relative.h2d_udma"));
    EXPECT_EQ(d.sdma_misc_bar0(product(), 17), value("address_map.apb.bar0_offset") +
                                                   value("address_map.apb_relative.seng_stride") +
                                                   value("address_map.apb_relative.sdma.base") +
                                                   value("address_map.apb_relative.sdma.stride"));
  }
  EXPECT_EQ(d.max_tx_per_packet, value("dma.max_tx_descs_per_packet"));
  EXPECT_EQ(d.max_rx_per_packet, value("dma.max_rx_descs_per_packet"));
  const std::pair<std::uint32_t, const char*> flags[] = {
      {NRTP_DMA_STRONG_ORDER_WRITE, "strong_order_write"},
      {NRTP_DMA_NOTIFICATION_MASK, "notification_mask"},
      {NRTP_DMA_CCE_REPLICATION, "cce_replication"},
      {NRTP_DMA_TRANSPOSE_FLUSH, "transpose_flush"}};
  for (const auto& [flag, name] : flags) {
    EXPECT_EQ((d.flags & flag) != 0, fact(std::string("dma.") + name).as<bool>()) << name;
  }
}

TEST_P(Facts, DmaRegistersAndRings) {
  const std::uint64_t q2 =
      value("registers.udma_unit.queue_base") + 2 * value("registers.udma_unit.queue_stride");
  const std::uint64_t s2m = value("registers.udma_unit.s2m");
  const auto reg = arch().dma->queue_reg;
  const std::pair<std::uint32_t, const char*> registers[] = {
      {NRTP_QREG_BASE_LO, "base_lo"}, {NRTP_QREG_BASE_HI, "base_hi"},
      {NRTP_QREG_LENGTH, "length"},   {NRTP_QREG_HEAD, "head"},
      {NRTP_QREG_TAIL, "tail"},       {NRTP_QREG_TAIL_INC, "tail_inc"}};
  for (const auto& [which, name] : registers) {
    const std::uint64_t offset = q2 + value(std::string("registers.udma_queue.") + name);
    EXPECT_EQ(reg(2, 0, which), offset) << name;
    EXPECT_EQ(reg(2, 1, which), s2m + offset) << name;
  }
  EXPECT_EQ(reg(2, 0, NRTP_QREG_SW_CTRL), q2 + value("registers.udma_queue_sw_ctrl.m2s"));
  EXPECT_EQ(reg(2, 1, NRTP_QREG_SW_CTRL), s2m + q2 + value("registers.udma_queue_sw_ctrl.s2m"));
  EXPECT_EQ(arch().dma->sw_ctrl_reset, value("registers.udma_queue_sw_ctrl.reset"));
  EXPECT_EQ(arch().dma->ring_length_written, value("dma.ring_length_written"));
  EXPECT_EQ(arch().dma->event_const_addr[0], value("dma.event_accel_clear"));
  EXPECT_EQ(arch().dma->event_const_addr[1], value("dma.event_accel_set"));
  const std::pair<std::uint32_t, const char*> rings[] = {{NRTP_RING_EXEC, "exec"},
                                                         {NRTP_RING_ACT_TABLES, "act_tables"},
                                                         {NRTP_RING_DVE_TABLES, "dve_tables"}};
  for (std::uint32_t core = 0; core < product()->cores; ++core) {
    for (const auto& [which, name] : rings) {
      nrtp_dma_slot slot{};
      ASSERT_EQ(arch().dma->runtime_ring(product(), core, which, &slot), NRTP_OK);
      const std::string ring = std::string("dma.runtime_rings.") + name;
      EXPECT_EQ(slot.engine, 16 * core + value(ring + ".engine_index")) << name;
      EXPECT_EQ(slot.queue, value(ring + ".queue")) << name;
    }
  }
}

TEST_P(Facts, SyncIdsAndTables) {
  const YAML::Node values = fact("sync.sync_event_values");
  ASSERT_EQ(values.size(), static_cast<std::size_t>(NRTP_SYNC_ENTRIES));
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(arch().sync->id[i], number(values[i])) << i;
  }
  const YAML::Node slots = fact("tables.dve.slots");
  ASSERT_EQ(slots.size(), arch().tables->n_dve);
  for (std::uint32_t i = 0; i < arch().tables->n_dve; ++i) {
    const nrtp_table_slot& slot = arch().tables->dve[i];
    EXPECT_EQ(slot.name, slots[i]["name"].as<std::string>());
    EXPECT_EQ(slot.bytes, number(slots[i]["bytes"]));
    if (slot.bytes != 0) {
      EXPECT_EQ(slot.local, number(slots[i]["local"])) << slot.name;
    }
  }
  EXPECT_EQ(arch().tables->dve_kick, value("tables.dve.kick"));
  EXPECT_EQ(arch().tables->act_kick, value("tables.act.kick"));
  const YAML::Node params = fact("tables.act.params");
  ASSERT_EQ(params.size(), arch().tables->n_act);
  for (std::uint32_t i = 0; i < arch().tables->n_act; ++i) {
    EXPECT_EQ(arch().tables->act[i].local, number(params[i]));
  }
}

// What the sheet leaves open is off.
TEST_P(Facts, CapabilitiesAndForm) {
  const std::pair<std::uint32_t, const char*> names[] = {
      {NRTP_CAP_HW_DGE, "hw_dge"},
      {NRTP_CAP_SW_DGE_NOTIF, "sw_dge_notif"},
      {NRTP_CAP_XT_FEATURE_FLAGS, "xt_feature_flags"},
      {NRTP_CAP_EVT_ACCEL_CARVEOUT, "evt_accel_carveout"},
      {NRTP_CAP_LEGACY_RELAXED_ORDERING, "legacy_relaxed_ordering"},
      {NRTP_CAP_FP8_CONV_CONFIG, "fp8_conv_config"},
      {NRTP_CAP_BG_TRANSPOSE, "bg_transpose"},
      {NRTP_CAP_DMA_INDIRECT1D_BOUND_CHECK, "dma_indirect1d_bound_check"},
      {NRTP_CAP_POOL_ULIB_CONFIG, "pool_ulib_config"},
      {NRTP_CAP_ARGS_TABLE_SWAP_ALL_ENGINES, "args_table_swap_all_engines"}};
  for (const auto& [cap, name] : names) {
    const YAML::Node flag = sheets_[0]["caps"][name];
    ASSERT_TRUE(flag.IsDefined()) << name;
    EXPECT_EQ(arch().caps->flag[cap] != 0, !flag.IsNull() && flag.as<bool>()) << name;
  }
  const auto form = fact("caps.runtime_form").as<std::string>();
  EXPECT_EQ(arch().ib->form_default, std::stoul(form.substr(2)) + 100 * std::stoul(form));
}

TEST_P(Facts, FabricAndTopsps) {
  const YAML::Node queues = fact("dma.encoder_queue_ids");
  ASSERT_EQ(arch().fabric->n_queue_ids, queues.size());
  for (const auto& entry : queues) {
    EXPECT_EQ(arch().fabric->queue_id[number(entry.first)], number(entry.second));
  }
  const YAML::Node reduction = fact("dma.inter_rdh_dma_engines");
  ASSERT_EQ(arch().fabric->n_inter_rdh_dma, reduction.size());
  for (std::uint32_t i = 0; i < reduction.size(); ++i) {
    EXPECT_EQ(static_cast<std::uint64_t>(arch().fabric->inter_rdh_dma[i]), number(reduction[i]));
  }
  const YAML::Node devices = fact("fabric.max_devices");
  const YAML::Node folds = fact("fabric.mesh_max_folds");
  EXPECT_EQ(arch().fabric->max_devices(0), number(devices.IsScalar() ? devices : devices["other"]));
  EXPECT_EQ(arch().fabric->max_devices(NRTP_FABRIC_SWITCH_V1),
            number(devices.IsScalar() ? devices : devices["switch_v1"]));
  EXPECT_EQ(arch().fabric->mesh_max_folds(0), number(folds.IsScalar() ? folds : folds["other"]));
  EXPECT_EQ(arch().fabric->mesh_max_folds(NRTP_FABRIC_SWITCH_V1),
            number(folds.IsScalar() ? folds : folds["switch_v1"]));
  const nrtp_arch_address& a = *arch().address;
  if (split()) {
    EXPECT_EQ(a.topsp_device(product(), 7), 0x8280000000 + 7 * std::uint64_t{0x40000000});
    EXPECT_EQ(a.topsp_device(product(), 8), 0x808280000000u);
    EXPECT_EQ(a.topsp_bar0(product(), 7), 0xf1c00000u);
    EXPECT_EQ(a.topsp_bar0(product(), 9), 0xf2c00000u);
  } else {
    EXPECT_EQ(a.topsp_device(product(), 2),
              value("address_map.topsp.device_base") + 2 * value("address_map.topsp.stride"));
    EXPECT_EQ(a.topsp_bar0(product(), 2),
              value("address_map.topsp.bar0_offset") + 2 * value("address_map.topsp.stride"));
  }
}

void flatten(const YAML::Node& node, const std::string& path,
             std::vector<std::pair<std::string, double>>* out) {
  if (node.IsMap()) {
    for (const auto& entry : node) {
      const auto key = entry.first.as<std::string>();
      flatten(entry.second, path.empty() ? key : path + "." + key, out);
    }
  } else if (path != "src") {
    out->emplace_back(path, node.as<double>());
  }
}

TEST_P(Facts, EveryTimingFigure) {
  std::vector<std::pair<std::string, double>> figures;
  flatten(sheets_[0]["timing"], "", &figures);
  EXPECT_EQ(arch().timing->n, figures.size());
  for (const auto& [key, expected] : figures) {
    const nrtp_timing_kv* end = arch().timing->kv + arch().timing->n;
    const nrtp_timing_kv* found = std::find_if(
        arch().timing->kv, end, [&](const nrtp_timing_kv& kv) { return key == kv.key; });
    ASSERT_NE(found, end) << key;
    EXPECT_DOUBLE_EQ(found->value, expected) << key;
  }
}

TEST_P(Facts, EveryInstanceIsAProduct) {
  std::size_t instances = 0;
  for (const auto& silicon : fact("products")) {
    for (const auto& instance : silicon["instances"]) {
      ++instances;
      const auto name = instance.first.as<std::string>();
      const nrtp_product* found = nullptr;
      for (std::uint32_t i = 0; i < arch().n_products; ++i) {
        if (name == product_at(&arch(), i)->name) found = product_at(&arch(), i);
      }
      ASSERT_NE(found, nullptr) << name;
      EXPECT_EQ(found->devices, number(instance.second));
      EXPECT_EQ(found->pci_vendor, number(silicon["pci"]["vendor"]));
      EXPECT_EQ(found->pci_device, number(silicon["pci"]["device"]));
      EXPECT_EQ(found->silicon, silicon["name"].as<std::string>());
    }
  }
  EXPECT_EQ(instances, arch().n_products);
}

}  // namespace
}  // namespace opennrt::arch_test
