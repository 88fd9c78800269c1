// SPDX-License-Identifier: Apache-2.0
//
// The plugin table itself: query, mandatory members, ids, products, attach.
#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <string>

#include "arch/arch_case.h"

namespace opennrt::conform {
namespace {

class ArchTable : public ArchCase {};

// What can be said before the groups are used.
class ArchGroups : public testing::Test {
 protected:
  void SetUp() override {
    if (subject().problem().empty() && subject().kind() != NRTP_KIND_ARCH)
      GTEST_SKIP() << "no arch plugin";
    ASSERT_NE(subject().arch(), nullptr) << subject().problem();
  }
  const nrtp_arch_plugin& arch() const { return *subject().arch(); }
};

TEST_F(ArchGroups, MandatoryOnesAreThere) {
  const nrtp_arch_plugin& p = arch();
  EXPECT_NE(p.geometry, nullptr);
  EXPECT_NE(p.address, nullptr);
  EXPECT_NE(p.dma, nullptr);
  EXPECT_NE(p.sync, nullptr);
  EXPECT_NE(p.caps, nullptr);
  EXPECT_NE(p.ib, nullptr);
  EXPECT_NE(p.tables, nullptr);
  EXPECT_NE(p.neff_targets, nullptr);
  EXPECT_NE(p.products, nullptr);
  EXPECT_NE(p.attach, nullptr);
  EXPECT_NE(p.detach, nullptr);
}

TEST_F(ArchGroups, SizesAreThoseOfTheirVersion) {
  const nrtp_arch_plugin& p = arch();
  const auto group = [](const auto* table, std::size_t first, std::size_t newest) {
    if (table == nullptr) return;
    EXPECT_GE(table->size, first);
    if (subject().head()->abi_minor <= NRTP_ARCH_ABI_MINOR) {
      EXPECT_LE(table->size, newest);
    }
  };
  group(p.geometry, sizeof *p.geometry, sizeof *p.geometry);
  group(p.address, sizeof *p.address, sizeof *p.address);
  group(p.dma, sizeof *p.dma, sizeof *p.dma);
  group(p.sync, sizeof *p.sync, sizeof *p.sync);
  group(p.caps, sizeof *p.caps, sizeof *p.caps);
  group(p.ib, offsetof(nrtp_arch_ib, isa), sizeof *p.ib);
  group(p.tables, sizeof *p.tables, sizeof *p.tables);
  group(p.hal, sizeof *p.hal, sizeof *p.hal);
  group(p.fabric, sizeof *p.fabric, sizeof *p.fabric);
  group(p.timing, sizeof *p.timing, sizeof *p.timing);
  group(p.semantics, sizeof *p.semantics, sizeof *p.semantics);
  if (NRTP_HAS(nrtp_arch_plugin, &p, driver)) group(p.driver, sizeof *p.driver, sizeof *p.driver);
}

TEST_F(ArchGroups, EveryFunctionIsThere) {
  const nrtp_arch_plugin& p = arch();
  ASSERT_NE(p.address, nullptr);
  ASSERT_NE(p.dma, nullptr);
  ASSERT_NE(p.ib, nullptr);
  EXPECT_EQ(missing_functions(p), "");
}

TEST_F(ArchGroups, ProductsHaveNamesOfTheirOwn) {
  const nrtp_arch_plugin& p = arch();
  ASSERT_NE(p.products, nullptr);
  ASSERT_GT(p.n_products, 0u);
  ASSERT_GE(p.product_stride, sizeof(nrtp_product));
  EXPECT_EQ(p.product_stride % alignof(nrtp_product), 0u);
  std::set<std::string> names;
  for (std::uint32_t i = 0; i < p.n_products; ++i) {
    const auto* product = reinterpret_cast<const nrtp_product*>(
        reinterpret_cast<const char*>(p.products) + std::size_t{i} * p.product_stride);
    ASSERT_NE(product->name, nullptr) << i;
    ASSERT_NE(product->silicon, nullptr) << product->name;
    EXPECT_STRNE(product->name, "");
    EXPECT_STRNE(product->silicon, "");
    EXPECT_TRUE(names.insert(product->name).second) << product->name;
  }
}

TEST_F(ArchGroups, NamesTypeAndTargets) {
  const nrtp_arch_plugin& p = arch();
  const bool published = p.arch_type >= NRTP_ISA_SUNDA && p.arch_type <= NRTP_ISA_MARIANA;
  EXPECT_TRUE(published || p.arch_type >= 0x100) << p.arch_type;
  ASSERT_NE(p.neff_targets, nullptr);
  std::set<std::string> targets;
  for (const char* const* t = p.neff_targets; *t != nullptr; ++t) {
    EXPECT_STRNE(*t, "");
    EXPECT_TRUE(targets.insert(*t).second) << *t;
    ASSERT_LT(targets.size(), 64u) << "the list does not end with NULL";
  }
  EXPECT_FALSE(targets.empty());
}

ARCH_CASE(ArchTable, CountsFitTheirFields) {
  const nrtp_arch_geometry& g = geometry();
  EXPECT_TRUE(g.semaphores >= 4 && g.semaphores <= 256) << g.semaphores;
  EXPECT_TRUE(g.events >= 4 && g.events <= 256) << g.events;
  EXPECT_GE(g.engines, 1u);
  EXPECT_LE(g.engines, NRTP_MAX_ENGINES + 0u);
  EXPECT_GT(g.tpbs, 0u);
  EXPECT_GT(g.n_hbm, 0u);
  ASSERT_NE(g.hbm, nullptr);
  EXPECT_GT(g.dma_per_core, 0u);
  EXPECT_LE(g.tpbs * g.dma_per_core, g.dma_total);
  EXPECT_TRUE(g.dma_queues_per_engine > 0 && g.dma_queues_per_engine <= 32);
  EXPECT_LT(g.error_queue, g.nq_hw_queues);
  EXPECT_LE(g.status_queue_first + std::min(g.engines, 5u), g.nq_hw_queues);
  EXPECT_TRUE(g.error_queue < g.status_queue_first ||
              g.error_queue >= g.status_queue_first + g.engines)
      << "errors and status records share a queue";
}

ARCH_CASE(ArchTable, SyncIdsAreUniquePerSpaceAndBelowTheCounts) {
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

ARCH_CASE(ArchTable, ProductFitsTheGeometry) {
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

ARCH_CASE(ArchTable, AttachAndDetachTwiceLeavesNothingBehind) {
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

ARCH_CASE(ArchTable, AttachRefusesBadArgumentsAndMissingMemory) {
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
}  // namespace opennrt::conform
