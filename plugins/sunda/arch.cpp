// SPDX-License-Identifier: Apache-2.0
//
// The table of the sunda plugin: geometry, ids, capabilities and products.
#include "opennrt/arch.h"

#include <array>

#include "arch-common/sync_block.h"
#include "layout.h"

namespace opennrt::sunda {
namespace {

constexpr std::array<nrtp_hbm_channel, kHbmChannels> kHbm = {{
    {0, kHbmChannelBytes, 0},
    {kHbmChannelStride, kHbmChannelBytes, kHbmChannelBytes},
}};

constexpr std::uint8_t kAbsent = 0xFF;

// Entries 0 to 2, 6 to 8 and 11 to 13 as device images use them; 5 and 14 ours.
constinit const nrtp_arch_sync kSync = {
    .size = sizeof(nrtp_arch_sync),
    .id = {0,       1, 2, kAbsent, kAbsent, 10,      0,       3,       4,       kAbsent,
           kAbsent, 6, 7, 8,       9,       kAbsent, kAbsent, kAbsent, kAbsent, 3},
    .dge_mailbox_coretype = 2,
};

constexpr nrtp_arch_caps make_caps() {
  nrtp_arch_caps caps{};
  caps.size = sizeof caps;
  caps.flag[NRTP_CAP_DMA_INDIRECT1D_BOUND_CHECK] = 1;
  caps.tpb_mem_relbase = kTpbDevice;
  return caps;
}
constinit const nrtp_arch_caps kCaps = make_caps();

constexpr std::uint32_t kAmazon = 0x1D0F;
constexpr std::uint32_t kTrn1Device = 0x7164;
constexpr std::uint32_t kInf2Device = 0x7264;

// Values of NRT_INSTANCE_* and NRT_INSTANCE_SIZE_*; the plugin builds without
// the runtime's headers.
enum Family : std::uint32_t { kTrn1 = 2, kTrn1n = 3, kInf2 = 4 };
enum Size : std::uint32_t { kXl1 = 0, kXl2 = 1, kXl8 = 4, kXl24 = 5, kXl32 = 6, kXl48 = 7 };

constexpr nrtp_product trn1(const char* name, std::uint32_t devices, Family family, Size size) {
  return {name,   "Trainium1", kAmazon, kTrn1Device,          devices, kCores, kHbmChannelBytes,
          family, size,        2,       devices > 1 ? 1u : 0u};
}
// The driver names this generation with suffix 3 although the arch is 2.
constexpr nrtp_product inf2(const char* name, std::uint32_t devices, Size size) {
  return {name,  "Inferentia2", kAmazon, kInf2Device,          devices, kCores, kHbmChannelBytes,
          kInf2, size,          3,       devices > 1 ? 1u : 0u};
}

constexpr std::array<nrtp_product, 7> kProducts = {{
    trn1("trn1.2xlarge", 1, kTrn1, kXl2),
    trn1("trn1.32xlarge", 16, kTrn1, kXl32),
    trn1("trn1n.32xlarge", 16, kTrn1n, kXl32),
    inf2("inf2.xlarge", 1, kXl1),
    inf2("inf2.8xlarge", 1, kXl8),
    inf2("inf2.24xlarge", 6, kXl24),
    inf2("inf2.48xlarge", 12, kXl48),
}};

constexpr std::array<const char*, 3> kTargets = {"sunda", "v2", nullptr};

}  // namespace

constinit const nrtp_arch_geometry kGeometry = {
    .size = sizeof(nrtp_arch_geometry),
    .dies = 1,
    .sengs = 2,
    .tpb_per_seng = 1,
    .tpbs = kCores,
    .tpb_per_hbm = 1,
    .topsps = kTopsps,
    .engines = kEngines,
    .q7_per_core = 8,
    .n_hbm = kHbmChannels,
    .hbm = kHbm.data(),
    .hbm_reserved_low = 0x1000000,
    .sbuf_partitions = 128,
    .psum_partitions = 128,
    .sbuf_partition_stride = 0x40000,
    .sbuf_partition_bytes = 0x30000,
    .sbuf_window_bytes = kSbufWindow,
    .psum_partition_stride = 0x8000,  // inferred: 128 of them fill the window
    .psum_partition_bytes = 0x4000,
    .psum_bank_bytes = 0x800,
    .psum_local_base = kPsumLocal,
    .psum_window_bytes = kPsumWindow,
    .psum_banks = 8,
    .semaphores = arch_common::kSemaphores,
    .events = arch_common::kEvents,
    .nq_hw_queues = 10,
    .nq_entry_bytes = 16,
    .error_queue = 2,
    .status_queue_first = 4,
    .lnc_mask = 1,
    .lnc_default = 1,
    .dma_per_core = kDmaPerCore,
    .dma_total = kDmaTotal,
    .dma_queues_per_engine = 16,
    .host_window_base = kHostWindow,
    .emulator_revision = 0xF0,
    .hw_revision_max = 0xEF,
    .emulator_revision_max = 0xF9,
};

namespace {

constinit const nrtp_arch_plugin kPlugin = {
    .head = {.size = sizeof(nrtp_arch_plugin),
             .magic = NRTP_MAGIC,
             .kind = NRTP_KIND_ARCH,
             .abi_major = NRTP_ARCH_ABI_MAJOR,
             .abi_minor = NRTP_ARCH_ABI_MINOR,
             .host_minor_min = 0,
             .build = "san=" OPENNRT_BUILD_SAN ";version=" OPENNRT_VERSION,
             .host_features_required = 0},
    .arch_type = 2,
    .plugin_version = 1,
    .name = "sunda",
    .geometry = &kGeometry,
    .address = &kAddress,
    .dma = &kDma,
    .sync = &kSync,
    .caps = &kCaps,
    .ib = &kIb,
    .tables = &kTables,
    .hal = &kHal,
    .fabric = &kFabric,
    .timing = &kTiming,
    .semantics = nullptr,
    .neff_targets = kTargets.data(),
    .products = kProducts.data(),
    .n_products = kProducts.size(),
    .product_stride = sizeof(nrtp_product),
    .attach = attach,
    .detach = detach,
};

}  // namespace
}  // namespace opennrt::sunda

extern "C" NRTP_EXPORT const nrtp_arch_plugin* nrtp_arch_query(std::uint32_t host_major,
                                                               std::uint32_t) {
  return host_major == NRTP_ARCH_ABI_MAJOR ? &opennrt::sunda::kPlugin : nullptr;
}
