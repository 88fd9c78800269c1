// SPDX-License-Identifier: Apache-2.0
//
// DMA windows, runtime rings and the queues a model may get.
#include <set>
#include <tuple>
#include <vector>

#include "arch/arch_case.h"

namespace opennrt::conform {
namespace {

class ArchDma : public ArchCase {
 protected:
  // Engines of the cores that the product has, and their host engines.
  std::set<std::uint32_t> engines() const {
    std::set<std::uint32_t> out;
    for (std::uint32_t core = 0; core < product()->cores; ++core) {
      for (std::uint32_t i = 0; i < geometry().dma_per_core; ++i)
        out.insert(dma().core_engine(product(), core, i));
      out.insert(dma().host_engine(product(), core));
    }
    return out;
  }
  std::set<std::uint32_t> runtime_queues(std::uint32_t core) const {
    std::set<std::uint32_t> out;
    for (std::uint32_t which = 0; which < NRTP_RING_FETCH + geometry().engines; ++which) {
      nrtp_dma_slot slot{};
      EXPECT_EQ(dma().runtime_ring(product(), core, which, &slot), NRTP_OK) << which;
      out.insert(slot.queue);
    }
    return out;
  }
};

constexpr std::uint32_t kRingClasses = 18;

ARCH_CASE(ArchDma, EveryQueueRegisterOfEveryEngineDecodes) {
  std::set<std::uint64_t> seen;
  if (product()->cores == geometry().tpbs) {
    EXPECT_EQ(engines().size(), geometry().dma_total);
  }
  for (const std::uint32_t engine : engines()) {
    const std::uint64_t window = dma().udma_device(product(), engine);
    ASSERT_NE(window, UINT64_MAX) << engine;
    for (std::uint32_t queue = 0; queue < geometry().dma_queues_per_engine; ++queue) {
      for (std::uint32_t dir = 0; dir < 2; ++dir) {
        for (std::uint32_t reg = NRTP_QREG_BASE_LO; reg <= NRTP_QREG_SW_CTRL; ++reg) {
          const std::uint64_t offset = dma().queue_reg(queue, dir, reg);
          if (offset == UINT64_MAX) continue;
          EXPECT_TRUE(seen.insert(window + offset).second);
          const auto c = decode(window + offset);
          EXPECT_EQ(c.kind, NRTP_ADDR_UDMA);
          EXPECT_EQ(c.unit, engine);
          EXPECT_EQ(c.queue, queue);
          EXPECT_EQ(c.dir, dir);
          EXPECT_EQ(c.reg, dma().queue_reg(0, dir, reg) % dma().queue_page_bytes);
          EXPECT_EQ(c.local, offset);
        }
      }
    }
  }
}

ARCH_CASE(ArchDma, MandatoryQueueRegistersExist) {
  for (std::uint32_t dir = 0; dir < 2; ++dir) {
    std::set<std::uint64_t> offsets;
    for (std::uint32_t reg :
         {NRTP_QREG_BASE_LO, NRTP_QREG_BASE_HI, NRTP_QREG_LENGTH, NRTP_QREG_HEAD, NRTP_QREG_TAIL,
          NRTP_QREG_TAIL_INC, NRTP_QREG_SW_CTRL}) {
      const std::uint64_t offset = dma().queue_reg(3, dir, reg);
      ASSERT_NE(offset, UINT64_MAX) << reg;
      offsets.insert(offset);
    }
    EXPECT_EQ(offsets.size(), 7u);
  }
  EXPECT_EQ(dma().queue_reg(1, 0, NRTP_QREG_TAIL_INC) + dma().dir_stride,
            dma().queue_reg(1, 1, NRTP_QREG_TAIL_INC));
  EXPECT_EQ(dma().queue_reg(1, 0, NRTP_QREG_TAIL_INC) + dma().queue_page_bytes,
            dma().queue_reg(2, 0, NRTP_QREG_TAIL_INC));
}

ARCH_CASE(ArchDma, UnitRegistersDecodeWithoutAQueue) {
  const std::uint64_t window = dma().udma_device(product(), 0);
  const auto m2s = decode(window + 0x204);
  EXPECT_EQ(m2s.queue, 0xFFu);
  EXPECT_EQ(m2s.dir, 0u);
  EXPECT_EQ(m2s.reg, 0x204u);
  const auto s2m = decode(window + dma().dir_stride + 0x300);
  EXPECT_EQ(s2m.queue, 0xFFu);
  EXPECT_EQ(s2m.dir, 1u);
  EXPECT_EQ(s2m.reg, 0x300u);
}

ARCH_CASE(ArchDma, BroadcastWindowsDecodeAtBothEdges) {
  for (std::uint32_t core = 0; core < product()->cores; ++core) {
    const std::uint64_t window = dma().bcast_device(product(), core);
    for (std::uint32_t queue : {0u, geometry().dma_queues_per_engine - 1}) {
      for (std::uint32_t dir = 0; dir < 2; ++dir) {
        const auto c = decode(window + dma().queue_reg(queue, dir, NRTP_QREG_TAIL_INC));
        EXPECT_EQ(c.kind, NRTP_ADDR_UDMA_BCAST);
        EXPECT_EQ(c.core, core);
        EXPECT_EQ(c.unit, 0xFFu);
        EXPECT_EQ(c.queue, queue);
        EXPECT_EQ(c.dir, dir);
      }
    }
    const auto first = decode(window);
    EXPECT_EQ(first.kind, NRTP_ADDR_UDMA_BCAST);
    EXPECT_EQ(first.local, 0u);
    const auto last = decode(window + first.bytes_left - 4);
    EXPECT_EQ(last.kind, NRTP_ADDR_UDMA_BCAST);
    EXPECT_EQ(last.core, core);
    EXPECT_EQ(last.bytes_left, 4u);
  }
}

ARCH_CASE(ArchDma, CoreEnginesAreEvenlySpacedAndBelongToTheirCore) {
  std::set<std::uint32_t> seen;
  std::set<std::tuple<std::uint32_t, std::uint32_t>> host_queues;
  for (std::uint32_t core = 0; core < product()->cores; ++core) {
    const std::uint64_t first = dma().udma_device(product(), dma().core_engine(product(), core, 0));
    for (std::uint32_t j = 0; j < geometry().dma_per_core; ++j) {
      const std::uint32_t engine = dma().core_engine(product(), core, j);
      EXPECT_LT(engine, geometry().dma_total);
      EXPECT_TRUE(seen.insert(engine).second);
      EXPECT_EQ(dma().is_host_engine(product(), engine), 0u);
      EXPECT_EQ(dma().udma_device(product(), engine), first + j * dma().engine_stride);
      EXPECT_EQ(decode(dma().udma_device(product(), engine)).core, core);
    }
    const std::uint32_t host = dma().host_engine(product(), core);
    const std::uint32_t host_queue = dma().host_queue(product(), core);
    EXPECT_FALSE(seen.contains(host));
    EXPECT_TRUE(host_queues.insert({host, host_queue}).second);
    EXPECT_EQ(dma().is_host_engine(product(), host), 1u);
    EXPECT_LT(host_queue, geometry().dma_queues_per_engine);
    EXPECT_EQ(dma().core_engine(product(), core, geometry().dma_per_core), UINT32_MAX);
  }
}

ARCH_CASE(ArchDma, EveryBar0WindowLiesInARegionAndAgreesWithTheDeviceAddress) {
  for (const std::uint32_t engine : engines()) {
    const std::uint64_t udma = dma().udma_bar0(product(), engine);
    const std::uint64_t last =
        dma().queue_reg(geometry().dma_queues_per_engine - 1, 1, NRTP_QREG_SW_CTRL) + 4;
    EXPECT_TRUE(in_region(udma, last)) << engine;
    EXPECT_EQ(address().bar0_to_device(product(), udma), dma().udma_device(product(), engine));
    const std::uint64_t misc = dma().sdma_misc_bar0(product(), engine);
    EXPECT_TRUE(in_region(misc, 0x108)) << engine;
    const std::uint64_t notific = dma().notific_bar0(product(), engine);
    EXPECT_TRUE(in_region(notific, 0x114)) << engine;
    const auto c = decode(address().bar0_to_device(product(), notific));
    EXPECT_EQ(c.kind, NRTP_ADDR_SDMA_MISC);
    EXPECT_EQ(c.unit, engine);
    EXPECT_EQ(c.local, notific - misc);
  }
}

ARCH_CASE(ArchDma, RuntimeRingsOfACoreAreDistinctAndReserved) {
  std::set<std::tuple<std::uint32_t, std::uint32_t>> seen;
  for (std::uint32_t core = 0; core < product()->cores; ++core) {
    for (std::uint32_t which = 0; which < NRTP_RING_FETCH + geometry().engines; ++which) {
      nrtp_dma_slot slot{};
      ASSERT_EQ(dma().runtime_ring(product(), core, which, &slot), NRTP_OK) << which;
      EXPECT_TRUE(seen.insert({slot.engine, slot.queue}).second) << which;
      EXPECT_LT(slot.queue, geometry().dma_queues_per_engine);
      EXPECT_EQ(decode(dma().udma_device(product(), slot.engine)).core, core);
    }
    nrtp_dma_slot slot{};
    EXPECT_EQ(dma().runtime_ring(product(), core, NRTP_RING_FETCH + geometry().engines, &slot),
              NRTP_INVALID);
  }
}

ARCH_CASE(ArchDma, NoModelClassGetsAReservedQueue) {
  for (std::uint32_t core = 0; core < product()->cores; ++core) {
    std::set<std::uint32_t> reserved = runtime_queues(core);
    // Collectives share the queues of programs but for the last one.
    if (arch().fabric != nullptr)
      for (std::uint32_t i = 0; i < arch().fabric->n_queue_ids; ++i)
        if (arch().fabric->queue_id[i] > *reserved.begin())
          reserved.insert(arch().fabric->queue_id[i]);
    for (std::uint32_t ring_class = 0; ring_class < kRingClasses; ++ring_class) {
      std::uint32_t n = 0;
      ASSERT_EQ(dma().alloc_class(product(), ring_class, core, nullptr, &n), NRTP_RESOURCE);
      ASSERT_GT(n, 0u);
      std::vector<nrtp_dma_slot> slots(n);
      ASSERT_EQ(dma().alloc_class(product(), ring_class, core, slots.data(), &n), NRTP_OK);
      ASSERT_EQ(n, slots.size());
      std::set<std::tuple<std::uint32_t, std::uint32_t>> seen;
      for (const nrtp_dma_slot& slot : slots) {
        EXPECT_LT(slot.queue, geometry().dma_queues_per_engine);
        EXPECT_FALSE(reserved.contains(slot.queue)) << slot.queue;
        EXPECT_EQ(decode(dma().udma_device(product(), slot.engine)).core, core);
        EXPECT_TRUE(seen.insert({slot.engine, slot.queue}).second);
      }
    }
  }
}

ARCH_CASE(ArchDma, OutOfRangeArgumentsAreRefused) {
  const std::uint32_t engines = geometry().dma_total;
  for (std::uint32_t engine : {engines, UINT32_MAX}) {
    EXPECT_EQ(dma().udma_bar0(product(), engine), UINT64_MAX);
    EXPECT_EQ(dma().udma_device(product(), engine), UINT64_MAX);
    EXPECT_EQ(dma().sdma_misc_bar0(product(), engine), UINT64_MAX);
    EXPECT_EQ(dma().notific_bar0(product(), engine), UINT64_MAX);
    EXPECT_EQ(dma().is_host_engine(product(), engine), 0u);
  }
  const std::uint32_t cores = product()->cores;
  EXPECT_EQ(dma().bcast_device(product(), cores), UINT64_MAX);
  EXPECT_EQ(dma().core_engine(product(), cores, 0), UINT32_MAX);
  EXPECT_EQ(dma().host_engine(product(), cores), UINT32_MAX);
  EXPECT_EQ(dma().host_queue(product(), cores), UINT32_MAX);
  EXPECT_EQ(dma().queue_reg(geometry().dma_queues_per_engine, 0, NRTP_QREG_TAIL), UINT64_MAX);
  EXPECT_EQ(dma().queue_reg(0, 2, NRTP_QREG_TAIL), UINT64_MAX);
  EXPECT_EQ(dma().queue_reg(0, 0, NRTP_QREG_SW_CTRL + 1), UINT64_MAX);
  nrtp_dma_slot slot{};
  EXPECT_EQ(dma().runtime_ring(product(), cores, NRTP_RING_EXEC, &slot), NRTP_INVALID);
  EXPECT_EQ(dma().runtime_ring(product(), 0, NRTP_RING_EXEC, nullptr), NRTP_INVALID);
  std::uint32_t n = 1;
  EXPECT_EQ(dma().alloc_class(product(), kRingClasses, 0, &slot, &n), NRTP_INVALID);
  EXPECT_EQ(dma().alloc_class(product(), 0, cores, &slot, &n), NRTP_INVALID);
  EXPECT_EQ(dma().alloc_class(product(), 0, 0, &slot, nullptr), NRTP_INVALID);
}

ARCH_CASE(ArchDma, MissingProductIsRefused) {
  EXPECT_EQ(dma().udma_bar0(nullptr, 0), UINT64_MAX);
  EXPECT_EQ(dma().bcast_device(nullptr, 0), UINT64_MAX);
  EXPECT_EQ(dma().core_engine(nullptr, 0, 0), UINT32_MAX);
  nrtp_dma_slot slot{};
  EXPECT_EQ(dma().runtime_ring(nullptr, 0, NRTP_RING_EXEC, &slot), NRTP_INVALID);
}

}  // namespace
}  // namespace opennrt::conform
