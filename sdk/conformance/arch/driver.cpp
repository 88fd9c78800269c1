// SPDX-License-Identifier: Apache-2.0
//
// What a table says of its kernel driver, and of the instructions it executes itself.
#include <algorithm>
#include <array>
#include <set>

#include "arch/arch_case.h"

namespace opennrt::conform {
namespace {

class ArchDriver : public ArchCase {
 protected:
  void SetUp() override {
    ArchCase::SetUp();
    if (HasFatalFailure() || IsSkipped()) return;
    if (!NRTP_HAS(nrtp_arch_plugin, &arch(), driver) || arch().driver == nullptr)
      GTEST_SKIP() << "not offered";
    ASSERT_GE(driver().size, sizeof driver());
  }
  const nrtp_arch_driver& driver() const { return *arch().driver; }
  std::set<std::uint32_t> neighbours(std::uint32_t devices, std::uint32_t device) const {
    if (driver().neighbours == nullptr) return {};
    std::array<std::uint32_t, 8> out{};
    std::uint32_t n = out.size();
    EXPECT_EQ(driver().neighbours(product(), devices, device, out.data(), &n), NRTP_OK);
    return {out.begin(), out.begin() + std::min<std::uint32_t>(n, out.size())};
  }
};

ARCH_CASE(ArchDriver, InterfaceVersionsAreARange) {
  EXPECT_NE(driver().compat_min, 0u);
  EXPECT_LE(driver().compat_min, driver().compat_max);
}

ARCH_CASE(ArchDriver, HostMemoryIsToldByItsMask) {
  EXPECT_EQ(geometry().host_window_base & driver().host_window_mask, geometry().host_window_base);
  for (std::uint32_t i = 0; i < geometry().n_hbm; ++i)
    EXPECT_NE(geometry().hbm[i].base & driver().host_window_mask, geometry().host_window_base);
}

ARCH_CASE(ArchDriver, MapsAndWindowsLieInTheirBar) {
  for (std::uint32_t i = 0; i < driver().n_maps; ++i) {
    const nrtp_driver_map& m = driver().maps[i];
    EXPECT_LE(m.block, NRTP_DRIVER_HBM + 0u) << i;
    EXPECT_LE(m.resource, NRTP_DRIVER_DMEM + 0u) << i;
    EXPECT_NE(m.bytes, 0u) << i;
    if (m.block == NRTP_DRIVER_TPB) {
      EXPECT_LT(m.id, geometry().tpbs) << i;
    }
    if (m.block == NRTP_DRIVER_TOPSP) {
      EXPECT_LT(m.id, geometry().topsps) << i;
    }
    if (m.block != NRTP_DRIVER_HBM) {
      EXPECT_LE(m.bar + m.bytes, driver().bar0_bytes) << i;
    }
    if (m.resource == NRTP_DRIVER_SBUF) {
      EXPECT_LE(m.bytes, geometry().sbuf_window_bytes) << i;
    }
  }
  for (std::uint32_t i = 0; i < driver().n_windows; ++i)
    EXPECT_NE(driver().windows[i].bytes, 0u) << i;
  std::uint32_t n = 0;
  const nrtp_csr_region* regions = address().csr_regions(product(), &n);
  for (std::uint32_t i = 0; i < n; ++i)
    EXPECT_LE(regions[i].bar0 + regions[i].bytes, driver().bar0_bytes) << regions[i].name;
}

ARCH_CASE(ArchDriver, EnginesThatClearMemoryExist) {
  for (std::uint32_t hbm = 0; hbm < geometry().n_hbm; ++hbm)
    for (std::uint32_t i = 0; i < driver().n_scrub_engines; ++i)
      EXPECT_LT(hbm * driver().scrub_stride + driver().scrub_engines[i], geometry().dma_total);
}

ARCH_CASE(ArchDriver, NeighboursAndRoutesFitTheBoard) {
  const std::uint32_t devices = product()->devices;
  std::set<std::uint32_t> routes;
  for (std::uint32_t d = 0; d < devices; ++d) {
    for (const std::uint32_t other : neighbours(devices, d)) {
      EXPECT_LT(other, devices);
      EXPECT_NE(other, d);
      EXPECT_TRUE(neighbours(devices, other).contains(d)) << d << " and " << other;
    }
    const std::uint32_t route =
        driver().routing_id != nullptr ? driver().routing_id(product(), devices, d) : d;
    EXPECT_LT(route, devices);
    EXPECT_TRUE(routes.insert(route).second) << "two devices of route " << route;
  }
  if (driver().neighbours == nullptr) return;
  std::uint32_t n = 0;
  EXPECT_NE(driver().neighbours(nullptr, devices, 0, nullptr, &n), NRTP_OK);
  EXPECT_NE(driver().neighbours(product(), devices, 0, nullptr, nullptr), NRTP_OK);
  n = 0;
  const int status = driver().neighbours(product(), devices, 0, nullptr, &n);
  EXPECT_EQ(status, n == 0 ? NRTP_OK : NRTP_RESOURCE);
}

class ArchInstructions : public ArchCase {};

ARCH_CASE(ArchInstructions, RecordLayoutsAreNamed) {
  if (!NRTP_HAS(nrtp_arch_ib, arch().ib, isa)) return;
  EXPECT_TRUE(arch().ib->isa == 0 ||
              (arch().ib->isa >= NRTP_ISA_SUNDA && arch().ib->isa <= NRTP_ISA_MARIANA))
      << arch().ib->isa;
}

// What is claimed is executed, and refused by name when it makes no sense.
ARCH_CASE(ArchInstructions, ClaimedOnesRefuseRecordsTheyCannotExecute) {
  const nrtp_arch_semantics* own = arch().semantics;
  if (own == nullptr) return;  // optional
  ASSERT_NE(own->claims, nullptr);
  ASSERT_NE(own->execute, nullptr);
  static std::string explained;
  static const auto refuse = [](void*, std::uint64_t, void*, std::uint64_t) {
    return int{NRTP_INVALID};
  };
  nrtp_engine_view view{};
  view.size = sizeof view;
  view.product = product();
  view.read_local = view.read_device = refuse;
  view.write_local = view.write_device = [](void*, std::uint64_t, const void*, std::uint64_t) {
    return int{NRTP_INVALID};
  };
  view.read_register = [](void*, std::uint32_t, std::uint32_t*) { return int{NRTP_INVALID}; };
  view.write_register = [](void*, std::uint32_t, std::uint32_t) { return int{NRTP_INVALID}; };
  view.explain = [](void*, const char* text) { explained = text; };
  std::uint32_t claimed = 0;
  for (std::uint32_t engine = 0; engine < geometry().engines; ++engine) {
    view.engine = engine;
    for (std::uint32_t opcode = 0; opcode < 256; ++opcode) {
      const auto code = static_cast<std::uint8_t>(opcode);
      if (own->claims(engine, code) == 0) continue;
      ++claimed;
      std::array<std::uint8_t, 64> record;
      record.fill(0xFF);
      record[0] = code;
      record[1] = 0x10;
      explained.clear();
      EXPECT_NE(own->execute(engine, record.data(), &view), NRTP_OK) << engine << " " << opcode;
      EXPECT_FALSE(explained.empty()) << engine << " " << opcode;
    }
    EXPECT_EQ(own->claims(geometry().engines, 0), 0u);
  }
  EXPECT_NE(claimed, 0u) << "a group that claims nothing";
}

}  // namespace
}  // namespace opennrt::conform
