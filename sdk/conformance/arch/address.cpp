// SPDX-License-Identifier: Apache-2.0
//
// classify is the exact inverse of every address function; register windows
// are disjoint and cover every BAR 0 address the plugin hands out.
#include <set>

#include "arch/arch_case.h"

namespace opennrt::conform {
namespace {

class ArchAddress : public ArchCase {};

ARCH_CASE(ArchAddress, TileWindowsDecodeAtBothEdges) {
  struct Window {
    std::uint64_t local, bytes;
    std::uint32_t kind;
  };
  const Window windows[] = {
      {0, geometry().sbuf_window_bytes, NRTP_ADDR_SBUF},
      {geometry().psum_local_base, geometry().psum_window_bytes, NRTP_ADDR_PSUM},
  };
  for (std::uint32_t core = 0; core < product()->cores; ++core) {
    for (const Window& w : windows) {
      for (std::uint64_t at : {std::uint64_t{0}, std::uint64_t{4}, w.bytes / 2, w.bytes - 1}) {
        const auto c = decode(address().local_to_device(product(), core, w.local + at));
        EXPECT_EQ(c.kind, w.kind);
        EXPECT_EQ(c.core, core);
        EXPECT_EQ(c.local, at);
        EXPECT_EQ(c.bytes_left, w.bytes - at);
      }
    }
  }
}

ARCH_CASE(ArchAddress, PartitionsFitTheirWindows) {
  EXPECT_LE(geometry().sbuf_partitions * geometry().sbuf_partition_stride,
            geometry().sbuf_window_bytes);
  EXPECT_LE(geometry().sbuf_partition_bytes, geometry().sbuf_partition_stride);
  EXPECT_LE(geometry().psum_partitions * geometry().psum_partition_stride,
            geometry().psum_window_bytes);
  EXPECT_LE(geometry().psum_partition_bytes, geometry().psum_partition_stride);
  EXPECT_EQ(geometry().psum_banks * geometry().psum_bank_bytes, geometry().psum_partition_bytes);
}

ARCH_CASE(ArchAddress, SemaphoresAndEventsDecodeToDistinctWords) {
  std::set<std::uint64_t> seen;
  for (std::uint32_t core = 0; core < product()->cores; ++core) {
    for (std::uint32_t i = 0; i < geometry().semaphores; ++i) {
      for (std::uint32_t op = NRTP_SEM_READ; op <= NRTP_SEM_DEC; ++op) {
        const std::uint64_t at = address().sem_addr(product(), core, i, op);
        EXPECT_TRUE(seen.insert(at).second);
        const auto c = decode(at);
        EXPECT_EQ(c.kind, NRTP_ADDR_SYNC);
        EXPECT_EQ(c.core, core);
        const auto first = decode(address().sem_addr(product(), core, 0, op));
        EXPECT_EQ(c.local, first.local + i * 4u);
        EXPECT_LE(c.local + 4, 0x2000u);
        EXPECT_EQ(c.bytes_left, 0x2000u - c.local);
      }
    }
    for (std::uint32_t i = 0; i < geometry().events; ++i) {
      const std::uint64_t at = address().event_addr(product(), core, i);
      EXPECT_TRUE(seen.insert(at).second);
      const auto c = decode(at);
      EXPECT_EQ(c.kind, NRTP_ADDR_SYNC);
      EXPECT_EQ(c.core, core);
      EXPECT_EQ(c.local, decode(address().event_addr(product(), core, 0)).local + i * 4u);
      EXPECT_LE(c.local + 4, 0x2000u);
    }
  }
}

ARCH_CASE(ArchAddress, NxBlocksDecodeToTheirEngine) {
  for (std::uint32_t core = 0; core < product()->cores; ++core) {
    for (std::uint32_t engine = 0; engine < geometry().engines; ++engine) {
      const std::uint64_t device = address().nx_device(product(), core, engine);
      const std::uint64_t bar0 = address().nx_bar0(product(), core, engine);
      for (std::uint64_t reg :
           {arch().ib->nx_start_ctrl, arch().ib->nx_start_addr_lo, arch().ib->nx_start_addr_hi}) {
        const auto c = decode(device + reg);
        EXPECT_EQ(c.kind, NRTP_ADDR_ENGINE);
        EXPECT_EQ(c.core, core);
        EXPECT_EQ(c.unit, engine);
        EXPECT_EQ(c.local, decode(device).local + reg);
        EXPECT_GE(c.bytes_left, 4u);
        EXPECT_TRUE(in_region(bar0 + reg, 4));
        EXPECT_EQ(address().bar0_to_device(product(), bar0 + reg), device + reg);
      }
    }
  }
}

ARCH_CASE(ArchAddress, RegisterBlocksDecode) {
  for (std::uint32_t core = 0; core < product()->cores; ++core) {
    const auto csr = decode(address().tpb_csr_device(product(), core) + 4);
    EXPECT_EQ(csr.kind, NRTP_ADDR_TPB_CSR);
    EXPECT_EQ(csr.core, core);
    EXPECT_EQ(csr.local, 4u);
    const auto ram = decode(address().misc_ram_device(product(), core) + 4);
    EXPECT_EQ(ram.kind, NRTP_ADDR_MISC_RAM);
    EXPECT_EQ(ram.local, 4u);
    const std::uint64_t bar0 = address().notific_bar0(product(), core);
    EXPECT_TRUE(in_region(bar0, 0x100 + geometry().nq_hw_queues * 0x28));
    const auto block = decode(address().bar0_to_device(product(), bar0 + 0x104));
    EXPECT_EQ(block.kind, NRTP_ADDR_NOTIFIC);
    EXPECT_EQ(block.core, core);
    EXPECT_EQ(block.local, 0x104u);
  }
}

ARCH_CASE(ArchAddress, TableMemoriesDecodeToTheirTileLocalPlace) {
  const nrtp_arch_tables& tables = *arch().tables;
  const auto check = [&](const nrtp_table_slot* slots, std::uint32_t n, std::uint32_t engine) {
    for (std::uint32_t i = 0; i < n; ++i) {
      if (slots[i].bytes == 0) continue;
      for (std::uint64_t at : {std::uint64_t{0}, slots[i].bytes - 4}) {
        const auto c = decode(address().local_to_device(product(), 0, slots[i].local + at));
        EXPECT_EQ(c.kind, NRTP_ADDR_TABLE) << slots[i].name;
        EXPECT_EQ(c.unit, engine) << slots[i].name;
        EXPECT_EQ(c.local, slots[i].local + at) << slots[i].name;
      }
    }
  };
  check(tables.dve, tables.n_dve, NRTP_ENGINE_DVE);
  check(tables.act, tables.n_act, NRTP_ENGINE_ACT);
}

ARCH_CASE(ArchAddress, HbmDecodesAtBothEdgesAndMapsIntoBar4) {
  for (std::uint32_t i = 0; i < geometry().n_hbm; ++i) {
    const nrtp_hbm_channel& channel = geometry().hbm[i];
    const std::uint64_t bytes = product()->hbm_channel_bytes;
    ASSERT_LE(bytes, channel.bytes);
    for (std::uint64_t at : {std::uint64_t{0}, bytes - 1}) {
      const auto c = decode(channel.base + at);
      EXPECT_EQ(c.kind, NRTP_ADDR_HBM);
      EXPECT_EQ(c.unit, i);
      EXPECT_EQ(c.local, at);
      EXPECT_EQ(c.bytes_left, bytes - at);
      EXPECT_EQ(address().hbm_to_bar4(product(), channel.base + at, 1), channel.bar4 + at);
    }
    nrtp_addr_class c{};
    EXPECT_EQ(address().classify(product(), channel.base + bytes, &c), NRTP_INVALID);
    EXPECT_EQ(address().hbm_to_bar4(product(), channel.base + bytes, 1), UINT64_MAX);
    EXPECT_EQ(address().hbm_to_bar4(product(), channel.base, bytes + 1), UINT64_MAX);
    EXPECT_EQ(address().hbm_to_bar4(product(), channel.base + 16, UINT64_MAX - 8), UINT64_MAX);
    EXPECT_EQ(address().hbm_to_bar4(product(), channel.base, bytes), channel.bar4);
  }
}

ARCH_CASE(ArchAddress, EveryCoreHasOneHbmAndEveryHbmNamesItsCores) {
  std::set<std::uint32_t> listed;
  for (std::uint32_t hbm = 0; hbm < geometry().n_hbm; ++hbm) {
    std::uint32_t cores[16] = {};
    std::uint32_t n = 16;
    ASSERT_EQ(address().cores_of_hbm(product(), hbm, cores, &n), NRTP_OK);
    for (std::uint32_t i = 0; i < n; ++i) {
      EXPECT_TRUE(listed.insert(cores[i]).second);
      EXPECT_EQ(address().default_hbm(product(), cores[i]), hbm);
    }
    if (n > 0) {
      std::uint32_t short_n = 0;
      EXPECT_EQ(address().cores_of_hbm(product(), hbm, cores, &short_n), NRTP_RESOURCE);
      EXPECT_EQ(short_n, n);
    }
  }
  EXPECT_EQ(listed.size(), product()->cores);
}

ARCH_CASE(ArchAddress, TopspAndHostAndConstantsDecode) {
  for (std::uint32_t id = 0; id < geometry().topsps; ++id) {
    const auto c = decode(address().topsp_device(product(), id) + 0x1800);
    EXPECT_EQ(c.kind, NRTP_ADDR_TOPSP);
    EXPECT_EQ(c.unit, id);
    EXPECT_EQ(c.local, 0x1800u);
    EXPECT_TRUE(in_region(address().topsp_bar0(product(), id), 0x2000));
  }
  // The last page that the window's bits leave for host addresses of 44 bits.
  const std::uint64_t base = geometry().host_window_base;
  const std::uint64_t last = ((base & (~base + 1)) - 1) & 0xFFFFFFFF000;
  const auto host = decode(base | last);
  EXPECT_EQ(host.kind, NRTP_ADDR_HOST);
  EXPECT_EQ(host.local, last);
  const auto low = decode(base | 0x7000);
  EXPECT_EQ(low.kind, NRTP_ADDR_HOST);
  EXPECT_EQ(low.local, 0x7000u);
  for (std::uint32_t value = 0; value < 2; ++value) {
    const auto c = decode(dma().event_const_addr[value]);
    EXPECT_EQ(c.kind, NRTP_ADDR_CONST);
    EXPECT_EQ(c.local, value);
  }
}

ARCH_CASE(ArchAddress, RegionsAreSortedDisjointAndInvertible) {
  std::uint32_t n = 0;
  const nrtp_csr_region* regions = address().csr_regions(product(), &n);
  ASSERT_GT(n, 0u);
  for (std::uint32_t i = 0; i < n; ++i) {
    const nrtp_csr_region& r = regions[i];
    ASSERT_GT(r.bytes, 0u) << r.name;
    EXPECT_STRNE(r.name, "");
    if (i > 0) {
      EXPECT_GE(r.bar0, regions[i - 1].bar0 + regions[i - 1].bytes) << r.name;
    }
    EXPECT_EQ(address().bar0_to_device(product(), r.bar0), r.device) << r.name;
    EXPECT_EQ(address().bar0_to_device(product(), r.bar0 + r.bytes - 1), r.device + r.bytes - 1);
    if (i + 1 == n || regions[i + 1].bar0 != r.bar0 + r.bytes) {
      EXPECT_EQ(address().bar0_to_device(product(), r.bar0 + r.bytes), UINT64_MAX) << r.name;
    }
  }
}

ARCH_CASE(ArchAddress, OutOfRangeArgumentsGiveNoAddress) {
  const auto& a = address();
  const std::uint32_t cores = product()->cores;
  for (std::uint32_t core : {cores, cores + 1000, UINT32_MAX}) {
    EXPECT_EQ(a.local_to_device(product(), core, 0), UINT64_MAX);
    EXPECT_EQ(a.local_to_bar0(product(), core, 0), UINT64_MAX);
    EXPECT_EQ(a.event_addr(product(), core, 0), UINT64_MAX);
    EXPECT_EQ(a.sem_addr(product(), core, 0, NRTP_SEM_INC), UINT64_MAX);
    EXPECT_EQ(a.nx_device(product(), core, 0), UINT64_MAX);
    EXPECT_EQ(a.nx_bar0(product(), core, 0), UINT64_MAX);
    EXPECT_EQ(a.tpb_csr_device(product(), core), UINT64_MAX);
    EXPECT_EQ(a.misc_ram_device(product(), core), UINT64_MAX);
    EXPECT_EQ(a.notific_bar0(product(), core), UINT64_MAX);
    EXPECT_EQ(a.default_hbm(product(), core), UINT32_MAX);
  }
  EXPECT_EQ(a.local_to_device(product(), 0, UINT64_MAX - 1), UINT64_MAX);
  EXPECT_EQ(a.local_to_bar0(product(), 0, UINT64_MAX - 1), UINT64_MAX);
  EXPECT_EQ(a.event_addr(product(), 0, geometry().events), UINT64_MAX);
  EXPECT_EQ(a.sem_addr(product(), 0, geometry().semaphores, NRTP_SEM_READ), UINT64_MAX);
  EXPECT_EQ(a.sem_addr(product(), 0, 0, NRTP_SEM_DEC + 1), UINT64_MAX);
  EXPECT_EQ(a.topsp_device(product(), geometry().topsps), UINT64_MAX);
  EXPECT_EQ(a.topsp_bar0(product(), geometry().topsps), UINT64_MAX);
  EXPECT_EQ(a.nx_device(product(), 0, geometry().engines), UINT64_MAX);
  EXPECT_EQ(a.nx_bar0(product(), 0, geometry().engines), UINT64_MAX);
  EXPECT_EQ(a.coretype(product(), geometry().engines, nullptr, nullptr, nullptr), NRTP_INVALID);
  std::uint32_t n = 4;
  std::uint32_t out[4] = {};
  EXPECT_EQ(a.cores_of_hbm(product(), geometry().n_hbm, out, &n), NRTP_INVALID);
  EXPECT_EQ(a.cores_of_hbm(product(), 0, out, nullptr), NRTP_INVALID);
  EXPECT_EQ(a.bar0_to_device(product(), UINT64_MAX), UINT64_MAX);
}

ARCH_CASE(ArchAddress, MissingProductIsRefused) {
  const auto& a = address();
  EXPECT_EQ(a.local_to_device(nullptr, 0, 0), UINT64_MAX);
  EXPECT_EQ(a.local_to_bar0(nullptr, 0, 0), UINT64_MAX);
  EXPECT_EQ(a.topsp_device(nullptr, 0), UINT64_MAX);
  EXPECT_EQ(a.hbm_to_bar4(nullptr, 0, 1), UINT64_MAX);
  EXPECT_EQ(a.bar0_to_device(nullptr, 0), UINT64_MAX);
  nrtp_addr_class c{};
  EXPECT_EQ(a.classify(nullptr, 0, &c), NRTP_INVALID);
  std::uint32_t n = 7;
  EXPECT_EQ(a.csr_regions(nullptr, &n), nullptr);
  EXPECT_EQ(n, 0u);
}

ARCH_CASE(ArchAddress, HolesDecodeToNothingAndLeaveTheResultAlone) {
  nrtp_addr_class c{};
  c.kind = 77;
  for (std::uint64_t hole : {dma().event_const_addr[1] + 4, UINT64_MAX,
                             address().sem_addr(product(), 0, 0, NRTP_SEM_READ) + 0x1000}) {
    EXPECT_EQ(address().classify(product(), hole, &c), NRTP_INVALID) << std::hex << hole;
    EXPECT_EQ(c.kind, 77u);
  }
  EXPECT_EQ(address().classify(product(), geometry().hbm[0].base, nullptr), NRTP_INVALID);
}

}  // namespace
}  // namespace opennrt::conform
