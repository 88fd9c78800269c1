// SPDX-License-Identifier: Apache-2.0
//
// Imaginary silicon, arch 256: four cores per device, logical cores of one or
// two physical ones. It has the mandatory members and none of them computes.
#include "opennrt/arch.h"

namespace {

uint64_t none3(const nrtp_product*, uint32_t, uint64_t) { return UINT64_MAX; }
uint64_t none2(const nrtp_product*, uint32_t, uint32_t) { return UINT64_MAX; }
uint64_t none1(const nrtp_product*, uint32_t) { return UINT64_MAX; }
uint64_t sem(const nrtp_product*, uint32_t, uint32_t, uint32_t) { return UINT64_MAX; }
uint64_t none_of(const nrtp_product*, uint64_t) { return UINT64_MAX; }
uint64_t none_of_range(const nrtp_product*, uint64_t, uint64_t) { return UINT64_MAX; }
uint32_t zero1(const nrtp_product*, uint32_t) { return 0; }
uint32_t zero2(const nrtp_product*, uint32_t, uint32_t) { return 0; }
int cores_of_hbm(const nrtp_product*, uint32_t, uint32_t*, uint32_t*) { return NRTP_INVALID; }
int coretype(const nrtp_product*, uint32_t, uint32_t*, uint32_t*, uint32_t*) {
  return NRTP_INVALID;
}
[[maybe_unused]] int classify(const nrtp_product*, uint64_t, nrtp_addr_class*) {
  return NRTP_INVALID;
}
const nrtp_csr_region* regions(const nrtp_product*, uint32_t* n) {
  *n = 0;
  return nullptr;
}
uint64_t queue_reg(uint32_t, uint32_t, uint32_t) { return UINT64_MAX; }
int ring(const nrtp_product*, uint32_t, uint32_t, nrtp_dma_slot*) { return NRTP_INVALID; }
int alloc_class(const nrtp_product*, uint32_t, uint32_t, nrtp_dma_slot*, uint32_t*) {
  return NRTP_INVALID;
}
int step(uint32_t, const nrtp_ib_env*, nrtp_ibuf*) { return NRTP_OK; }
int attach(const nrtp_host*, const nrtp_host_dev*, void**) { return NRTP_OK; }
void detach(void*) {}

template <typename T, typename F>
T make(F fill) {
  T t{};
  t.size = sizeof t;
  fill(t);
  return t;
}

const nrtp_arch_geometry kGeometry = make<nrtp_arch_geometry>([](auto& g) {
  g.tpbs = 4;
  g.engines = 5;
  g.lnc_mask = 3;
  g.lnc_default = 2;
  g.semaphores = 256;
  g.events = 256;
  g.hw_revision_max = 0xEF;
  g.emulator_revision_max = 0xF9;
});
const nrtp_arch_address kAddress = make<nrtp_arch_address>([](auto& a) {
  a.local_to_device = none3;
  a.local_to_bar0 = none3;
  a.topsp_device = none1;
  a.topsp_bar0 = none1;
  a.event_addr = none2;
  a.sem_addr = sem;
  a.hbm_to_bar4 = none_of_range;
  a.default_hbm = zero1;
  a.cores_of_hbm = cores_of_hbm;
#if !defined(NO_CLASSIFY)
  a.classify = classify;
#endif
  a.bar0_to_device = none_of;
  a.csr_regions = regions;
  a.coretype = coretype;
  a.nx_device = none2;
  a.nx_bar0 = none2;
  a.tpb_csr_device = none1;
  a.misc_ram_device = none1;
  a.notific_bar0 = none1;
});
const nrtp_arch_dma kDma = make<nrtp_arch_dma>([](auto& d) {
  d.udma_bar0 = none1;
  d.udma_device = none1;
  d.sdma_misc_bar0 = none1;
  d.notific_bar0 = none1;
  d.queue_reg = queue_reg;
  d.bcast_device = none1;
  d.core_engine = zero2;
  d.host_engine = zero1;
  d.host_queue = zero1;
  d.is_host_engine = zero1;
  d.runtime_ring = ring;
  d.alloc_class = alloc_class;
});
const nrtp_arch_sync kSync = make<nrtp_arch_sync>([](auto&) {});
const nrtp_arch_caps kCaps = make<nrtp_arch_caps>([](auto&) {});
const nrtp_arch_ib kIb = make<nrtp_arch_ib>([](auto& i) { i.step = step; });
const nrtp_arch_tables kTables = make<nrtp_arch_tables>([](auto&) {});
const char* const kTargets[] = {"double", nullptr};
const nrtp_product kProducts[] = {{"double.small", "Double", 0, 0, 1, 4, 1 << 20, 7, 1, 0, 0},
                                  {"double.large", "Double", 0, 0, 4, 4, 1 << 20, 7, 6, 0, 0}};

nrtp_arch_plugin make_table() {
  nrtp_arch_plugin t{};
  t.head = NRTP_HEAD_INIT(nrtp_arch_plugin, ARCH, "1.0");
  t.arch_type = 256;
  t.name = "double";
  t.geometry = &kGeometry;
  t.address = &kAddress;
  t.dma = &kDma;
  t.sync = &kSync;
  t.caps = &kCaps;
  t.ib = &kIb;
  t.tables = &kTables;
  t.neff_targets = kTargets;
  t.products = kProducts;
  t.n_products = 2;
  t.product_stride = sizeof kProducts[0];
  t.attach = attach;
  t.detach = detach;
  return t;
}
const nrtp_arch_plugin kTable = make_table();

}  // namespace

extern "C" NRTP_EXPORT const nrtp_arch_plugin* nrtp_arch_query(uint32_t host_major, uint32_t) {
  return host_major == NRTP_ARCH_ABI_MAJOR ? &kTable : nullptr;
}
