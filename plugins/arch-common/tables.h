// SPDX-License-Identifier: Apache-2.0
//
// Builds the groups of an arch table from a plugin's ArchFacts. The facts are a
// template argument, since the table's functions carry no context.
#pragma once

#include "arch-common/address.h"
#include "arch-common/device.h"
#include "arch-common/dma.h"
#include "arch-common/steps.h"
#include "arch-common/sync_ids.h"
#include "arch-common/validate.h"
#include "arch-common/windows.h"

namespace opennrt::arch_common {

using Product = const nrtp_product*;
using U32 = std::uint32_t;
using U64 = std::uint64_t;

template <const ArchFacts& F>
constexpr nrtp_arch_address make_address() {
  static_assert(windows_are_disjoint<F>());
  nrtp_arch_address t{};
  t.size = sizeof t;
  t.local_to_device = [](Product p, U32 core, U64 local) {
    return local_to_device(F, p, core, local);
  };
  t.local_to_bar0 = [](Product p, U32 core, U64 local) { return local_to_bar0(F, p, core, local); };
  t.topsp_device = [](Product p, U32 id) {
    return p != nullptr && id < F.topsps.size() ? F.topsps[id].device : kNone;
  };
  t.topsp_bar0 = [](Product p, U32 id) {
    return p != nullptr && id < F.topsps.size() ? F.topsps[id].bar0 : kNone;
  };
  t.event_addr = [](Product p, U32 core, U32 event) { return event_addr(F, p, core, event); };
  t.sem_addr = [](Product p, U32 core, U32 sem, U32 op) { return sem_addr(F, p, core, sem, op); };
  t.hbm_to_bar4 = [](Product p, U64 pa, U64 bytes) { return hbm_to_bar4(F, p, pa, bytes); };
  t.default_hbm = [](Product p, U32 core) {
    return valid_core(F, p, core) ? F.cores[core].hbm : UINT32_MAX;
  };
  t.cores_of_hbm = [](Product p, U32 hbm, U32* out, U32* inout_n) {
    return cores_of_hbm(F, p, hbm, out, inout_n);
  };
  t.classify = [](Product p, U64 pa, nrtp_addr_class* out) {
    return classify(F, {kBlocks<F>.block.data(), kBlocks<F>.count}, p, pa, out);
  };
  t.bar0_to_device = [](Product p, U64 bar0) { return bar0_to_device(kCsrRegions<F>, p, bar0); };
  t.csr_regions = [](Product p, U32* out_n) -> const nrtp_csr_region* {
    if (out_n == nullptr) return nullptr;
    *out_n = p != nullptr ? static_cast<U32>(kCsrRegions<F>.size()) : 0;
    return p != nullptr ? kCsrRegions<F>.data() : nullptr;
  };
  t.coretype = [](Product p, U32 engine, U32* nx, U32* q7, U32* topsp) {
    return coretype(F, p, engine, nx, q7, topsp);
  };
  t.nx_device = [](Product p, U32 core, U32 engine) {
    return local_to_device(F, p, core, nx_local(F, engine));
  };
  t.nx_bar0 = [](Product p, U32 core, U32 engine) {
    return local_to_bar0(F, p, core, nx_local(F, engine));
  };
  t.tpb_csr_device = [](Product p, U32 core) {
    return valid_core(F, p, core) ? F.cores[core].csr : kNone;
  };
  t.misc_ram_device = [](Product p, U32 core) {
    return valid_core(F, p, core) ? F.cores[core].misc_ram : kNone;
  };
  t.notific_bar0 = [](Product p, U32 core) {
    return valid_core(F, p, core) ? register_to_bar0(F, F.cores[core].notific) : kNone;
  };
  return t;
}

template <const ArchFacts& F>
constexpr nrtp_arch_dma make_dma() {
  constexpr U64 kNotificInMisc = 0x1000;
  nrtp_arch_dma t{};
  t.size = sizeof t;
  t.max_tx_per_packet = F.max_tx_per_packet;
  t.max_rx_per_packet = F.max_rx_per_packet;
  t.flags = F.dma_flags;
  t.udma_bar0 = [](Product p, U32 engine) { return udma_bar0(F, p, engine); };
  t.udma_device = [](Product p, U32 engine) { return udma_device(F, p, engine); };
  t.sdma_misc_bar0 = [](Product p, U32 engine) { return sdma_misc_bar0(F, p, engine); };
  t.notific_bar0 = [](Product p, U32 engine) {
    const U64 misc = sdma_misc_bar0(F, p, engine);
    return misc != kNone ? misc + kNotificInMisc : kNone;
  };
  t.queue_reg = udma_queue_reg;
  t.bcast_device = [](Product p, U32 core) {
    return valid_core(F, p, core) ? F.cores[core].broadcast : kNone;
  };
  t.core_engine = [](Product p, U32 core, U32 index) { return core_engine(F, p, core, index); };
  t.host_engine = [](Product p, U32 core) {
    return valid_core(F, p, core) ? F.cores[core].host_engine : UINT32_MAX;
  };
  t.host_queue = [](Product p, U32 core) {
    return valid_core(F, p, core) ? F.cores[core].host_queue : UINT32_MAX;
  };
  t.is_host_engine = [](Product p, U32 engine) { return is_host_engine(F, p, engine); };
  t.runtime_ring = [](Product p, U32 core, U32 which, nrtp_dma_slot* out) {
    return runtime_ring(F, p, core, which, out);
  };
  t.alloc_class = [](Product p, U32 ring_class, U32 core, nrtp_dma_slot* out, U32* inout_n) {
    return alloc_class(F, p, ring_class, core, out, inout_n);
  };
  t.bcast_exclude_shift = 16;
  t.sw_ctrl_reset = 0x100;
  t.ring_length_written = 0xFFFFF0;
  t.queue_page_bytes = kUdmaQueuePage;
  t.engine_stride = F.dma_stride;
  t.dir_stride = kUdmaS2mOffset;
  t.event_const_addr = F.event_const.data();
  return t;
}

template <const ArchFacts& F>
constexpr nrtp_arch_ib make_ib() {
  constexpr U32 kBlockAlign = 0x8000;
  nrtp_arch_ib t{};
  t.size = sizeof t;
  t.form_default = F.form_default;
  t.form_mask = F.form_mask;
  t.isa = F.arch_type;  // each family brought its own
  t.nx_start_ctrl = F.nx_start_ctrl;
  t.nx_start_addr_lo = F.nx_start_addr_lo;
  t.nx_start_addr_hi = F.nx_start_addr_hi;
  for (U32 engine = 0; engine < kEngines; ++engine) t.block_align[engine] = kBlockAlign;
  t.step = [](U32 which, const nrtp_ib_env* env, nrtp_ibuf* out) {
    return append_step(F, which, env, out);
  };
  t.validate_inst = [](U32 engine, const std::uint8_t in[64], nrtp_diag* out) {
    return validate_inst(F, engine, in, out);
  };
  t.validate_image = [](U32 engine, const std::uint8_t* image, U64 bytes, nrtp_diag* out) {
    return validate_image(F, engine, image, bytes, out);
  };
  return t;
}

template <const ArchFacts& F>
constexpr nrtp_arch_hal make_hal() {
  nrtp_arch_hal t{};
  t.size = sizeof t;
  t.fetch_start = [](void* ctx, U32 core, U32 engine, U64 program_pa) {
    return fetch_start(F, ctx, core, engine, program_pa);
  };
  return t;
}

template <const ArchFacts& F>
constexpr nrtp_arch_caps make_caps() {
  nrtp_arch_caps t{};
  t.size = sizeof t;
  for (std::size_t i = 0; i < F.caps.size(); ++i) t.flag[i] = F.caps[i];
  t.tpb_mem_relbase = F.cores[0].tile;
  return t;
}

template <const ArchFacts& F>
struct Groups {
  static constexpr nrtp_arch_address address = make_address<F>();
  static constexpr nrtp_arch_dma dma = make_dma<F>();
  static constexpr nrtp_arch_ib ib = make_ib<F>();
  static constexpr nrtp_arch_hal hal = make_hal<F>();
  static constexpr nrtp_arch_caps caps = make_caps<F>();
  static constexpr nrtp_arch_sync sync = make_sync(F.nx_coretype[NRTP_ENGINE_POOL]);
};

// What a plugin adds to the groups made of its facts.
struct OwnParts {
  const nrtp_arch_tables* tables;
  const nrtp_arch_fabric* fabric;
  const nrtp_arch_timing* timing;
  const nrtp_arch_driver* driver;
  const char* const* neff_targets;  // ends with nullptr
  std::span<const nrtp_product> products;
};

template <const ArchFacts& F>
constexpr nrtp_arch_plugin make_plugin(const OwnParts& own) {
  nrtp_arch_plugin t{};
  t.head = NRTP_HEAD_INIT(nrtp_arch_plugin, ARCH, OPENNRT_VERSION);
  t.arch_type = F.arch_type;
  t.plugin_version = 1;
  t.name = F.name;
  t.geometry = F.geometry;
  t.address = &Groups<F>::address;
  t.dma = &Groups<F>::dma;
  t.sync = &Groups<F>::sync;
  t.caps = &Groups<F>::caps;
  t.ib = &Groups<F>::ib;
  t.hal = &Groups<F>::hal;
  t.tables = own.tables;
  t.fabric = own.fabric;
  t.timing = own.timing;
  t.driver = own.driver;
  t.neff_targets = own.neff_targets;
  t.products = own.products.data();
  t.n_products = static_cast<U32>(own.products.size());
  t.product_stride = sizeof(nrtp_product);
  t.attach = attach;
  t.detach = detach;
  return t;
}

}  // namespace opennrt::arch_common
