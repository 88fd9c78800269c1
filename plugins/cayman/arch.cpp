// SPDX-License-Identifier: Apache-2.0
//
// The table of the cayman plugin: the groups built from its facts, ids,
// capabilities and products.
#include <array>

#include "arch-common/sync_ids.h"
#include "arch-common/tables.h"
#include "cayman/table.h"
#include "facts.h"

namespace opennrt::cayman {
namespace {

constexpr std::uint32_t kForms = NRTP_FORM_BIT_2_27 | NRTP_FORM_BIT_2_30;

constinit const nrtp_arch_address kAddress = arch_common::make_address<kFacts>();
constinit const nrtp_arch_dma kDma =
    arch_common::make_dma<kFacts>({.max_tx_per_packet = 65,
                                   .max_rx_per_packet = 60,
                                   .flags = NRTP_DMA_STRONG_ORDER_WRITE | NRTP_DMA_CCE_REPLICATION |
                                            NRTP_DMA_TRANSPOSE_FLUSH | NRTP_DMA_PACK_4K});
constinit const nrtp_arch_ib kIb = arch_common::make_ib<kFacts, kForms>(NRTP_FORM_2_30);
constinit const nrtp_arch_hal kHal = arch_common::make_hal<kFacts>();
constinit const nrtp_arch_sync kSync = arch_common::make_sync(9);

constexpr nrtp_arch_caps make_caps() {
  nrtp_arch_caps caps{};
  caps.size = sizeof caps;
  caps.flag[NRTP_CAP_POOL_ULIB_CONFIG] = 1;
  caps.tpb_mem_relbase = kFacts.cores[0].tile;
  return caps;
}
constinit const nrtp_arch_caps kCaps = make_caps();

// Values of NRT_INSTANCE_* and NRT_INSTANCE_SIZE_*; the plugin builds without
// the runtime's headers.
enum Family : std::uint32_t { kTrn2 = 5, kTrn2u = 9 };
enum Size : std::uint32_t { kXl48 = 7, kXl3 = 8, kUnknownSize = 9 };

constexpr nrtp_product trn2(const char* name, std::uint32_t devices, Family family, Size size) {
  return {name,
          "Trainium2",
          0x1D0F,
          0x7364,
          devices,
          split::kCores,
          kHbmBytes,
          family,
          size,
          3,
          devices == 16 ? 1u : 0u};
}

constexpr std::array<nrtp_product, 4> kProducts = {{
    trn2("trn2.3xlarge", 1, kTrn2, kXl3),
    trn2("trn2.48xlarge", 16, kTrn2, kXl48),
    trn2("trn2u.48xlarge", 16, kTrn2u, kXl48),
    trn2("trn2-ultraserver", 64, kTrn2u, kUnknownSize),
}};

constexpr std::array<const char*, 3> kTargets = {"cayman", "v3", nullptr};

constexpr nrtp_arch_plugin make_plugin() {
  auto p = arch_common::make_plugin<kFacts>("san=" OPENNRT_BUILD_SAN ";version=" OPENNRT_VERSION);
  p.address = &kAddress;
  p.dma = &kDma;
  p.sync = &kSync;
  p.caps = &kCaps;
  p.ib = &kIb;
  p.tables = &kTables;
  p.hal = &kHal;
  p.fabric = &kFabric;
  p.timing = &kTiming;
  p.neff_targets = kTargets.data();
  p.products = kProducts.data();
  p.n_products = kProducts.size();
  return p;
}
constinit const nrtp_arch_plugin kPlugin = make_plugin();

}  // namespace

const nrtp_arch_plugin& plugin() { return kPlugin; }

}  // namespace opennrt::cayman
