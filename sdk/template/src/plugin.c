/* SPDX-License-Identifier: Apache-2.0
 *
 * The plugin's table and its only exported function. */
#include "aurora.h"

/* --- memory and counts */

static const nrtp_hbm_channel kHbm[AURORA_HBM] = {
    {0 * AURORA_HBM_STRIDE, AURORA_HBM_BYTES, 0 * AURORA_HBM_STRIDE},
    {1 * AURORA_HBM_STRIDE, AURORA_HBM_BYTES, 1 * AURORA_HBM_STRIDE},
    {2 * AURORA_HBM_STRIDE, AURORA_HBM_BYTES, 2 * AURORA_HBM_STRIDE},
};

static const nrtp_arch_geometry kGeometry = {
    .size = sizeof(nrtp_arch_geometry),
    .dies = 1,
    .sengs = AURORA_CORES,
    .tpb_per_seng = 1,
    .tpbs = AURORA_CORES,
    .tpb_per_hbm = 1,
    .topsps = 0,
    .engines = AURORA_ENGINES,
    .q7_per_core = 4,
    .n_hbm = AURORA_HBM,
    .hbm = kHbm,
    .hbm_reserved_low = 0x800000,
    .sbuf_partitions = AURORA_PARTITIONS,
    .psum_partitions = AURORA_PARTITIONS,
    .sbuf_partition_stride = AURORA_SBUF_STRIDE,
    .sbuf_partition_bytes = AURORA_SBUF_BYTES,
    .sbuf_window_bytes = AURORA_SBUF_WINDOW,
    .psum_partition_stride = AURORA_PSUM_STRIDE,
    .psum_partition_bytes = AURORA_PSUM_BYTES,
    .psum_bank_bytes = 0x800,
    .psum_local_base = AURORA_PSUM_LOCAL,
    .psum_window_bytes = AURORA_PSUM_WINDOW,
    .psum_banks = 4,
    .semaphores = AURORA_SEMAPHORES,
    .events = AURORA_EVENTS,
    .nq_hw_queues = 8,
    .nq_entry_bytes = 16,
    .error_queue = 1,
    .status_queue_first = 2,
    .lnc_mask = 1,
    .lnc_default = 1,
    .dma_per_core = AURORA_DMA_PER_CORE,
    .dma_total = AURORA_DMA_ENGINES,
    .dma_queues_per_engine = AURORA_QUEUES,
    .host_window_base = AURORA_HOST_WINDOW,
    .emulator_revision = 0xF0,
    .hw_revision_max = 0xEF,
    .emulator_revision_max = 0xF9,
};

/* Semaphores 0 to 2 and events below 9 belong to the runtime. PE releases the
 * three other engines by the events 0 to 2. */
static const nrtp_arch_sync kSync = {
    .size = sizeof(nrtp_arch_sync),
    .id =
        {
            [NRTP_SYNC_INFERENCE_START] = 0,
            [NRTP_SYNC_CORE_BARRIER] = 1,
            [NRTP_SYNC_SYNC_BARRIER] = 2,
            [NRTP_SYNC_PINNED_QUEUES_START] = 0xFF,
            [NRTP_SYNC_PINNED_QUEUES_LAST] = 0xFF,
            [NRTP_SYNC_TOPSP_STOP_SIGNAL] = 0xFF,
            [NRTP_SYNC_INF_INIT_START] = 0,
            [NRTP_SYNC_INF_INIT_LAST] = 2,
            [NRTP_SYNC_IOQ_CODE_SWITCH] = 3,
            [NRTP_SYNC_RANGE_CHECK_START] = 0xFF,
            [NRTP_SYNC_RANGE_CHECK_LAST] = 0xFF,
            [NRTP_SYNC_ACT_TABLES_LOAD] = 4,
            [NRTP_SYNC_DVE_TABLES_LOAD] = 5,
            [NRTP_SYNC_REQUEST_LOAD] = 6,
            [NRTP_SYNC_COLLECTIVES_CTX_LOAD] = 0xFF,
            [NRTP_SYNC_TOPSP_ACK_FIRST] = 0xFF,
            [NRTP_SYNC_TOPSP_ACK_LAST] = 0xFF,
            [NRTP_SYNC_DEBUG_TENSOR_READ_START] = 0xFF,
            [NRTP_SYNC_DEBUG_TENSOR_READ_LAST] = 0xFF,
            [NRTP_SYNC_RESERVED_SEMAPHORES] = 3,
        },
    .dge_mailbox_coretype = 34,
};

static const nrtp_arch_caps kCaps = {
    .size = sizeof(nrtp_arch_caps),
    .tpb_mem_relbase = AURORA_TILE,
};

/* --- tables that the runtime loads into the engines */

static const nrtp_table_slot kDveSlots[] = {
    {"opcode", AURORA_DVE_TABLES_LOCAL, 0x600},
    {"param_ram", AURORA_DVE_TABLES_LOCAL + 0x1000, 0x400},
};
enum { kDveTables = sizeof kDveSlots / sizeof kDveSlots[0] };

/* Of programs that bring none. */
static const uint8_t kOpcodeTable[0x600];
static const nrtp_blob kDefaults[] = {{"opcode", kOpcodeTable, sizeof kOpcodeTable}};
static const nrtp_blob* default_dve(uint32_t* out_n) {
  *out_n = 1;
  return kDefaults;
}

static const nrtp_arch_tables kTables = {
    .size = sizeof(nrtp_arch_tables),
    .dve = kDveSlots,
    .n_dve = kDveTables,
    .dve_kick = kDveTables + 1, /* and the event */
    .n_act = 0,                 /* no activation tables: programs that bring some are refused */
    .default_dve = default_dve,
};

/* --- figures of the cycle model */

static const nrtp_timing_kv kFigures[] = {
    {"clock_ghz.pe", 2.0},
    {"clock_ghz.dve", 1.0},
    {"clock_ghz.act", 1.0},
    {"clock_ghz.pool", 1.0},
    {"lanes.pe_rows", 64},
    {"lanes.pe_cols", 64},
    {"lanes.dve", 64},
    {"lanes.act", 64},
    {"lanes.pool", 64},
    {"hbm_gb_per_s", 400},
    {"dma_engine_bytes_per_ns", 12},
    {"dma_start_latency_ns", 900},
};
static const nrtp_arch_timing kTiming = {
    .size = sizeof(nrtp_arch_timing),
    .n = sizeof kFigures / sizeof kFigures[0],
    .kv = kFigures,
};

/* --- products */

static const char* const kTargets[] = {"aurora", NULL};

/* PCI ids of a made-up vendor; instance family and size 0: none of the published. */
static const nrtp_product kProducts[] = {
    {"aurora.large", "Aurora1", 0x1AF4, 0xA001, 1, AURORA_CORES, AURORA_HBM_BYTES, 0, 0, 5, 0},
    /* one core is fused off */
    {"aurora.small", "Aurora1", 0x1AF4, 0xA002, 1, AURORA_CORES - 1, AURORA_HBM_BYTES, 0, 0, 5, 0},
};

/* --- one device. A backend that programs registers keeps what it needs here. */

typedef struct device {
  const nrtp_host* host;
  const nrtp_host_dev* dev;
} device;

static int attach(const nrtp_host* host, const nrtp_host_dev* dev, void** ctx) {
  if (host == NULL || dev == NULL || ctx == NULL || dev->product == NULL) return NRTP_INVALID;
  device* self = host->alloc(host->self, sizeof *self, _Alignof(device));
  if (self == NULL) return NRTP_RESOURCE;
  self->host = host;
  self->dev = dev;
  *ctx = self;
  return NRTP_OK;
}

static void detach(void* ctx) {
  if (ctx == NULL) return;
  const nrtp_host* host = ((device*)ctx)->host;
  host->release(host->self, ctx);
}

/* Members that are not named are NULL: the runtime's own way (hal), or aurora does
 * not have it (fabric: no collectives). */
static const nrtp_arch_plugin kPlugin = {
    .head = NRTP_HEAD_INIT(nrtp_arch_plugin, ARCH, AURORA_VERSION),
    .arch_type = AURORA_ARCH_TYPE,
    .plugin_version = 1,
    .name = "aurora",
    .geometry = &kGeometry,
    .address = &aurora_address,
    .dma = &aurora_dma,
    .sync = &kSync,
    .caps = &kCaps,
    .ib = &aurora_ib,
    .tables = &kTables,
    .timing = &kTiming,
    .semantics = &aurora_semantics,
    .neff_targets = kTargets,
    .products = kProducts,
    .n_products = sizeof kProducts / sizeof kProducts[0],
    .product_stride = sizeof(nrtp_product),
    .attach = attach,
    .detach = detach,
};

NRTP_EXPORT const nrtp_arch_plugin* nrtp_arch_query(uint32_t host_major, uint32_t host_minor) {
  (void)host_minor; /* 1.0 and later: members are only appended */
  return host_major == NRTP_ARCH_ABI_MAJOR ? &kPlugin : NULL;
}
