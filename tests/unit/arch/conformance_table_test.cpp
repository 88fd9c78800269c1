// SPDX-License-Identifier: Apache-2.0
//
// The plugin table itself: query, mandatory members, ids, products, attach.
#include <cstring>
#include <map>
#include <set>
#include <string>

#include "arch_modules.h"

namespace opennrt::arch_test {
namespace {

TEST(ArchModules, AtLeastOneIsBuilt) {
  ASSERT_FALSE(modules().empty());
  for (const Module& module : modules()) {
    ASSERT_NE(module.query, nullptr) << module.path;
    ASSERT_NE(module.plugin, nullptr) << module.path;
  }
}

TEST(ArchModules, QueryAnswersTheKnownMajorOnly) {
  for (const Module& module : modules()) {
    EXPECT_EQ(module.query(1, 0), module.plugin);
    EXPECT_EQ(module.query(1, 99), module.plugin);
    EXPECT_EQ(module.query(2, 0), nullptr);
    EXPECT_EQ(module.query(0, 0), nullptr);
    EXPECT_EQ(module.query(UINT32_MAX, 0), nullptr);
  }
}

class Table : public ArchTest {};
ONRT_ARCH_SUITE(Table);

TEST_P(Table, HeadAndMandatoryMembers) {
  const nrtp_arch_plugin& p = arch();
  EXPECT_EQ(p.head.size, sizeof(nrtp_arch_plugin));
  EXPECT_EQ(p.head.magic, 0x5054524eu);
  EXPECT_EQ(p.head.kind, static_cast<std::uint32_t>(NRTP_KIND_ARCH));
  EXPECT_EQ(p.head.abi_major, 1u);
  EXPECT_EQ(std::string(p.head.build).rfind("san=" OPENNRT_BUILD_SAN ";version=", 0), 0u);
  ASSERT_NE(p.geometry, nullptr);
  ASSERT_NE(p.address, nullptr);
  ASSERT_NE(p.dma, nullptr);
  ASSERT_NE(p.sync, nullptr);
  ASSERT_NE(p.caps, nullptr);
  ASSERT_NE(p.ib, nullptr);
  ASSERT_NE(p.tables, nullptr);
  ASSERT_NE(p.neff_targets, nullptr);
  ASSERT_NE(p.attach, nullptr);
  ASSERT_NE(p.detach, nullptr);
  EXPECT_STREQ(p.neff_targets[0], p.name);
  EXPECT_EQ(p.geometry->size, sizeof(nrtp_arch_geometry));
  EXPECT_EQ(p.address->size, sizeof(nrtp_arch_address));
  EXPECT_EQ(p.dma->size, sizeof(nrtp_arch_dma));
  EXPECT_EQ(p.ib->size, sizeof(nrtp_arch_ib));
  EXPECT_EQ(p.tables->size, sizeof(nrtp_arch_tables));
}

TEST_P(Table, SyncIdsAreUniquePerSpaceAndBelowTheCounts) {
  const nrtp_arch_sync& sync = *arch().sync;
  const std::uint32_t reserved = sync.id[NRTP_SYNC_RESERVED_SEMAPHORES];
  std::set<std::uint8_t> semaphores;
  for (int i = NRTP_SYNC_INFERENCE_START; i <= NRTP_SYNC_SYNC_BARRIER; ++i) {
    EXPECT_LT(sync.id[i], reserved);
    EXPECT_TRUE(semaphores.insert(sync.id[i]).second);
  }
  std::set<std::uint8_t> events;
  for (int i = NRTP_SYNC_PINNED_QUEUES_START; i < NRTP_SYNC_RESERVED_SEMAPHORES; ++i) {
    if (sync.id[i] == 0xFF) continue;
    EXPECT_LT(sync.id[i], geometry().events);
    EXPECT_TRUE(events.insert(sync.id[i]).second) << i;
  }
  const int first = sync.id[NRTP_SYNC_INF_INIT_START];
  const int last = sync.id[NRTP_SYNC_INF_INIT_LAST];
  EXPECT_EQ(last - first + 1, static_cast<int>(geometry().engines) - 1);
  for (int id = first + 1; id < last; ++id) {
    EXPECT_TRUE(events.insert(static_cast<std::uint8_t>(id)).second) << id;
  }
}

TEST_P(Table, ProductFitsTheGeometry) {
  EXPECT_GT(product()->devices, 0u);
  EXPECT_GT(product()->cores, 0u);
  EXPECT_LE(product()->cores, geometry().tpbs);
  EXPECT_GT(product()->hbm_channel_bytes, geometry().hbm_reserved_low);
  EXPECT_GE(arch().product_stride, sizeof(nrtp_product));
  EXPECT_LE(geometry().engines, static_cast<std::uint32_t>(NRTP_MAX_ENGINES));
  EXPECT_NE(geometry().lnc_mask & (1u << (geometry().lnc_default - 1)), 0u);
  EXPECT_GT(geometry().emulator_revision, geometry().hw_revision_max);
  EXPECT_LE(geometry().emulator_revision, geometry().emulator_revision_max);
}

// Host services that count what is given out.
struct CountingHost {
  std::map<void*, std::size_t> live;
  std::uint32_t total = 0;
  bool fail = false;
  nrtp_host table{};
  nrtp_host_dev dev{};

  explicit CountingHost(const nrtp_product* product) {
    table.size = sizeof table;
    table.abi_major = NRTP_ABI_MAJOR;
    table.self = this;
    table.log = [](void*, std::uint32_t, const char*, const char*) {};
    table.log_enabled = [](void*, std::uint32_t, const char*) { return std::uint32_t{0}; };
    table.alloc = [](void* self, std::size_t bytes, std::size_t align) -> void* {
      auto* host = static_cast<CountingHost*>(self);
      if (host->fail) return nullptr;
      void* p = ::operator new(bytes, std::align_val_t(align));
      host->live[p] = align;
      ++host->total;
      return p;
    };
    table.release = [](void* self, void* p) {
      auto* host = static_cast<CountingHost*>(self);
      const auto it = host->live.find(p);
      ASSERT_NE(it, host->live.end());
      ::operator delete(p, std::align_val_t(it->second));
      host->live.erase(it);
    };
    dev.size = sizeof dev;
    dev.platform = NRTP_PLATFORM_EMULATOR;
    dev.product = product;
    dev.dev = this;
    dev.reg_read32 = [](void*, std::uint64_t, std::uint32_t*, std::uint32_t) { return 0; };
    dev.reg_write32 = [](void*, std::uint64_t, const std::uint32_t*, std::uint32_t) { return 0; };
  }
};

TEST_P(Table, AttachAndDetachTwiceLeavesNothingBehind) {
  CountingHost host(product());
  for (int round = 0; round < 2; ++round) {
    void* first = nullptr;
    void* second = nullptr;
    ASSERT_EQ(arch().attach(&host.table, &host.dev, &first), NRTP_OK);
    ASSERT_EQ(arch().attach(&host.table, &host.dev, &second), NRTP_OK);
    EXPECT_NE(first, second);
    arch().detach(first);
    arch().detach(second);
    EXPECT_TRUE(host.live.empty());
  }
  arch().detach(nullptr);
}

TEST_P(Table, AttachRefusesBadArgumentsAndMissingMemory) {
  CountingHost host(product());
  void* ctx = nullptr;
  EXPECT_EQ(arch().attach(nullptr, &host.dev, &ctx), NRTP_INVALID);
  EXPECT_EQ(arch().attach(&host.table, nullptr, &ctx), NRTP_INVALID);
  EXPECT_EQ(arch().attach(&host.table, &host.dev, nullptr), NRTP_INVALID);
  nrtp_host_dev no_product = host.dev;
  no_product.product = nullptr;
  EXPECT_EQ(arch().attach(&host.table, &no_product, &ctx), NRTP_INVALID);
  host.fail = true;
  EXPECT_EQ(arch().attach(&host.table, &host.dev, &ctx), NRTP_RESOURCE);
  EXPECT_EQ(ctx, nullptr);
  EXPECT_TRUE(host.live.empty());
}

}  // namespace
}  // namespace opennrt::arch_test
