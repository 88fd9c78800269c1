// SPDX-License-Identifier: Apache-2.0
//
// The address map as a whole: regions are contiguous, and any address gets an answer
// that fits those around it.
#include <random>
#include <vector>

#include "arch/arch_case.h"

namespace opennrt::conform {
namespace {

class ArchSweep : public ArchCase {
 protected:
  // One address of everything that has one.
  std::vector<std::uint64_t> places() const {
    std::vector<std::uint64_t> out = {geometry().host_window_base | 0x1000,
                                      dma().event_const_addr[0], dma().event_const_addr[1]};
    const auto add = [&out](std::uint64_t at) {
      if (at != UINT64_MAX) out.push_back(at);
    };
    for (std::uint32_t i = 0; i < geometry().n_hbm; ++i) add(geometry().hbm[i].base);
    for (std::uint32_t i = 0; i < geometry().topsps; ++i) add(address().topsp_device(product(), i));
    for (std::uint32_t core = 0; core < product()->cores; ++core) {
      add(address().local_to_device(product(), core, 0));
      add(address().local_to_device(product(), core, geometry().psum_local_base));
      add(address().event_addr(product(), core, 0));
      add(address().tpb_csr_device(product(), core));
      add(address().misc_ram_device(product(), core));
      add(address().bar0_to_device(product(), address().notific_bar0(product(), core)));
      add(dma().bcast_device(product(), core));
      for (std::uint32_t e = 0; e < geometry().engines; ++e)
        add(address().nx_device(product(), core, e));
      for (std::uint32_t i = 0; i < geometry().dma_per_core; ++i)
        add(dma().udma_device(product(), dma().core_engine(product(), core, i)));
    }
    return out;
  }
  bool classify(std::uint64_t at, nrtp_addr_class* out) const {
    *out = {};
    out->size = sizeof *out;
    const int status = address().classify(product(), at, out);
    EXPECT_TRUE(status == NRTP_OK || status == NRTP_INVALID) << status;
    return status == NRTP_OK;
  }
  // `at` decodes to c; so does what lies `offset` bytes behind it, that much later.
  void expect_same(std::uint64_t at, const nrtp_addr_class& c, std::uint64_t offset) const {
    nrtp_addr_class other;
    ASSERT_TRUE(classify(at + offset, &other)) << std::hex << at << " + " << offset;
    EXPECT_EQ(other.kind, c.kind) << std::hex << at << " + " << offset;
    EXPECT_EQ(other.core, c.core) << std::hex << at << " + " << offset;
    EXPECT_EQ(other.unit, c.unit) << std::hex << at << " + " << offset;
    EXPECT_EQ(other.bytes_left, c.bytes_left - offset) << std::hex << at << " + " << offset;
    if (c.kind != NRTP_ADDR_CONST) {
      EXPECT_EQ(other.local, c.local + offset) << std::hex << at << " + " << offset;
    }
  }
};

ARCH_CASE(ArchSweep, RegionsAreWholeToTheirLastByte) {
  for (const std::uint64_t at : places()) {
    nrtp_addr_class c;
    ASSERT_TRUE(classify(at, &c)) << std::hex << at;
    ASSERT_GT(c.bytes_left, 0u) << std::hex << at;
    ASSERT_LE(c.bytes_left - 1, UINT64_MAX - at) << std::hex << at;
    expect_same(at, c, c.bytes_left - 1);
    expect_same(at, c, c.bytes_left / 2);
    nrtp_addr_class behind;
    if (at + c.bytes_left == 0 || !classify(at + c.bytes_left, &behind)) continue;
    const bool same = behind.kind == c.kind && behind.core == c.core && behind.unit == c.unit &&
                      behind.local == c.local + c.bytes_left;
    EXPECT_FALSE(same) << std::hex << at << ": the region goes on behind its end";
  }
}

ARCH_CASE(ArchSweep, AnyAddressGetsAnAnswerThatFits) {
  constexpr int kProbes = 50'000;
  std::mt19937_64 random(11);
  const std::vector<std::uint64_t> known = places();
  for (int i = 0; i < kProbes && !HasFailure(); ++i) {
    // Near something, or anywhere.
    const std::uint64_t near = known[random() % known.size()] + random() % 0x200000 - 0x100000;
    const std::uint64_t at = i % 4 == 0 ? random() >> random() % 24 : near;
    nrtp_addr_class c, again;
    if (!classify(at, &c)) continue;
    ASSERT_LE(c.kind, static_cast<std::uint32_t>(NRTP_ADDR_HOST)) << std::hex << at;
    ASSERT_GT(c.bytes_left, 0u) << std::hex << at;
    ASSERT_TRUE(classify(at, &again));
    EXPECT_EQ(again.local, c.local);
    expect_same(at, c, random() % c.bytes_left);
  }
}

ARCH_CASE(ArchSweep, AnyOffsetOfBar0AgreesWithTheRegions) {
  constexpr int kProbes = 50'000;
  std::mt19937_64 random(12);
  std::uint32_t n = 0;
  const nrtp_csr_region* regions = address().csr_regions(product(), &n);
  ASSERT_GT(n, 0u);
  const std::uint64_t end = regions[n - 1].bar0 + regions[n - 1].bytes;
  for (int i = 0; i < kProbes && !HasFailure(); ++i) {
    const std::uint64_t at = i % 8 == 0 ? random() : random() % (end + 0x10000);
    std::uint64_t expected = UINT64_MAX;
    for (std::uint32_t r = 0; r < n; ++r)
      if (at >= regions[r].bar0 && at - regions[r].bar0 < regions[r].bytes)
        expected = regions[r].device + (at - regions[r].bar0);
    EXPECT_EQ(address().bar0_to_device(product(), at), expected) << std::hex << at;
  }
}

ARCH_CASE(ArchSweep, AnyArgumentsGiveAnAddressOrNone) {
  constexpr int kProbes = 20'000;
  std::mt19937_64 random(13);
  const auto any = [&random](std::uint32_t limit) {
    return random() % 2 == 0 ? static_cast<std::uint32_t>(random() % (limit + 2))
                             : static_cast<std::uint32_t>(random());
  };
  for (int i = 0; i < kProbes && !HasFailure(); ++i) {
    const std::uint32_t core = any(geometry().tpbs), engine = any(geometry().dma_total);
    const std::uint32_t queue = any(geometry().dma_queues_per_engine);
    const std::uint64_t results[] = {
        address().event_addr(product(), core, any(geometry().events)),
        address().sem_addr(product(), core, any(geometry().semaphores), any(4)),
        address().nx_device(product(), core, any(geometry().engines)),
        address().tpb_csr_device(product(), core),
        dma().udma_device(product(), engine),
        dma().bcast_device(product(), core)};
    for (const std::uint64_t at : results) {
      nrtp_addr_class c;
      if (at == UINT64_MAX) continue;
      EXPECT_TRUE(classify(at, &c)) << std::hex << at;
    }
    dma().queue_reg(queue, any(2), any(8));
    dma().core_engine(product(), core, any(geometry().dma_per_core));
    nrtp_dma_slot slot{};
    const int ring = dma().runtime_ring(product(), core, any(8), &slot);
    EXPECT_TRUE(ring == NRTP_OK || ring == NRTP_INVALID) << ring;
    address().local_to_device(product(), core, random() >> random() % 60);
    address().hbm_to_bar4(product(), random(), random());
  }
}

}  // namespace
}  // namespace opennrt::conform
