/* SPDX-License-Identifier: Apache-2.0
 *
 * Where things are. classify() is the exact inverse of the other functions: the
 * software device decodes addresses with nothing else. */
#include "aurora.h"

/* Parts of the synchronisation block: events, then one window per operation on
 * semaphores, by enum nrtp_sem_op. */
#define EVENTS 0x0u
static const uint32_t kSemaphores[4] = {0x400, 0x800, 0xC00, 0x1000};

uint64_t aurora_local_to_device(const nrtp_product* product, uint32_t core, uint64_t local) {
  if (!aurora_has_core(product, core) || local >= AURORA_TILE_BYTES) return AURORA_NONE;
  return AURORA_TILE + core * AURORA_TILE_STRIDE + local;
}

static uint64_t local_to_bar0(const nrtp_product* product, uint32_t core, uint64_t local) {
  if (!aurora_has_core(product, core) || local >= AURORA_TILE_BYTES) return AURORA_NONE;
  return AURORA_TILE_BAR0 + core * AURORA_TILE_BYTES + local;
}

static uint64_t no_topsp(const nrtp_product* product, uint32_t id) {
  (void)product, (void)id;
  return AURORA_NONE;
}

static uint64_t event_addr(const nrtp_product* product, uint32_t core, uint32_t event) {
  if (event >= AURORA_EVENTS) return AURORA_NONE;
  return aurora_local_to_device(product, core, AURORA_SYNC_LOCAL + EVENTS + 4 * event);
}

static uint64_t sem_addr(const nrtp_product* product, uint32_t core, uint32_t sem, uint32_t op) {
  if (sem >= AURORA_SEMAPHORES || op > NRTP_SEM_DEC) return AURORA_NONE;
  return aurora_local_to_device(product, core, AURORA_SYNC_LOCAL + kSemaphores[op] + 4 * sem);
}

static uint64_t hbm_to_bar4(const nrtp_product* product, uint64_t pa, uint64_t bytes) {
  const uint64_t channel = pa / AURORA_HBM_STRIDE, offset = pa % AURORA_HBM_STRIDE;
  if (product == NULL || channel >= AURORA_HBM || offset > product->hbm_channel_bytes ||
      bytes > product->hbm_channel_bytes - offset)
    return AURORA_NONE;
  return pa; /* BAR 4 shows the channels where they are */
}

static uint32_t default_hbm(const nrtp_product* product, uint32_t core) {
  return aurora_has_core(product, core) ? core : UINT32_MAX;
}

static int cores_of_hbm(const nrtp_product* product, uint32_t hbm, uint32_t* out,
                        uint32_t* inout_n) {
  if (product == NULL || inout_n == NULL || hbm >= AURORA_HBM) return NRTP_INVALID;
  const uint32_t capacity = *inout_n;
  *inout_n = hbm < product->cores ? 1 : 0; /* the channel of a core that is fused off */
  if (*inout_n == 0) return NRTP_OK;
  if (capacity == 0) return NRTP_RESOURCE;
  if (out == NULL) return NRTP_INVALID;
  out[0] = hbm;
  return NRTP_OK;
}

static void put(nrtp_addr_class* out, uint32_t kind, uint32_t core, uint32_t unit, uint64_t local,
                uint64_t left) {
  out->kind = kind;
  out->core = core;
  out->unit = unit;
  out->queue = 0;
  out->dir = 0;
  out->reg = 0;
  out->local = local;
  out->bytes_left = left;
}

/* An offset in a core's tile. */
static int classify_tile(uint32_t core, uint64_t local, nrtp_addr_class* out) {
  static const struct {
    uint64_t begin, bytes;
    uint32_t kind, unit;
    uint32_t keep_local; /* class local = address in the tile */
  } kBlocks[] = {
      {0, AURORA_SBUF_WINDOW, NRTP_ADDR_SBUF, 0, 0},
      {AURORA_PSUM_LOCAL, AURORA_PSUM_WINDOW, NRTP_ADDR_PSUM, 0, 0},
      {AURORA_SYNC_LOCAL, AURORA_SYNC_BYTES, NRTP_ADDR_SYNC, 0, 0},
      {AURORA_DVE_TABLES_LOCAL, AURORA_DVE_TABLES_BYTES, NRTP_ADDR_TABLE, NRTP_ENGINE_DVE, 1},
  };
  for (size_t i = 0; i < sizeof kBlocks / sizeof kBlocks[0]; ++i) {
    if (local < kBlocks[i].begin || local - kBlocks[i].begin >= kBlocks[i].bytes) continue;
    const uint64_t offset = local - kBlocks[i].begin;
    put(out, kBlocks[i].kind, core, kBlocks[i].unit, kBlocks[i].keep_local ? local : offset,
        kBlocks[i].bytes - offset);
    return NRTP_OK;
  }
  if (local < AURORA_ENGINE_LOCAL) return NRTP_INVALID;
  const uint64_t engine = (local - AURORA_ENGINE_LOCAL) / AURORA_ENGINE_STRIDE;
  const uint64_t offset = (local - AURORA_ENGINE_LOCAL) % AURORA_ENGINE_STRIDE;
  if (engine >= AURORA_ENGINES || offset >= AURORA_ENGINE_BYTES) return NRTP_INVALID;
  put(out, NRTP_ADDR_ENGINE, core, (uint32_t)engine, offset, AURORA_ENGINE_BYTES - offset);
  return NRTP_OK;
}

/* An offset in the window of a DMA engine, or in a broadcast window. */
static void put_udma(nrtp_addr_class* out, uint32_t kind, uint32_t core, uint32_t unit,
                     uint64_t offset) {
  put(out, kind, core, unit, offset, AURORA_UDMA_BYTES - offset);
  out->dir = offset >= AURORA_UDMA_HALF ? 1 : 0;
  const uint64_t page = offset % AURORA_UDMA_HALF / AURORA_UDMA_PAGE;
  const int is_queue = page >= 1 && page <= AURORA_QUEUES;
  out->queue = is_queue ? (uint32_t)(page - 1) : 0xFF;
  out->reg = (uint32_t)(is_queue ? offset % AURORA_UDMA_PAGE : offset % AURORA_UDMA_HALF);
}

/* An offset in register space. */
static int classify_registers(const nrtp_product* product, uint64_t offset, nrtp_addr_class* out) {
  if (offset < AURORA_DMA_ENGINES * AURORA_UDMA_STRIDE) {
    const uint32_t engine = (uint32_t)(offset / AURORA_UDMA_STRIDE);
    const uint32_t core = engine / AURORA_DMA_PER_CORE;
    const uint64_t at = offset % AURORA_UDMA_STRIDE;
    if (engine != AURORA_HOST_ENGINE && !aurora_has_core(product, core)) return NRTP_INVALID;
    const uint32_t owner = engine == AURORA_HOST_ENGINE ? 0 : core;
    if (at < AURORA_UDMA_BYTES) {
      put_udma(out, NRTP_ADDR_UDMA, owner, engine, at);
      return NRTP_OK;
    }
    if (at < AURORA_MISC || at - AURORA_MISC >= AURORA_MISC_BYTES) return NRTP_INVALID;
    put(out, NRTP_ADDR_SDMA_MISC, owner, engine, at - AURORA_MISC,
        AURORA_MISC_BYTES - (at - AURORA_MISC));
    return NRTP_OK;
  }
  if (offset >= AURORA_MISC_RAM && offset - AURORA_MISC_RAM < AURORA_MISC_RAM_BYTES) {
    const uint64_t at = offset - AURORA_MISC_RAM;
    put(out, NRTP_ADDR_MISC_RAM, 0, 0, at, AURORA_MISC_RAM_BYTES - at);
    return NRTP_OK;
  }
  if (offset >= AURORA_CORE_BLOCK) {
    const uint64_t core = (offset - AURORA_CORE_BLOCK) / AURORA_CORE_STRIDE;
    const uint64_t at = (offset - AURORA_CORE_BLOCK) % AURORA_CORE_STRIDE;
    if (core >= AURORA_CORES || !aurora_has_core(product, (uint32_t)core)) return NRTP_INVALID;
    if (at < AURORA_CSR_BYTES) {
      put(out, NRTP_ADDR_TPB_CSR, (uint32_t)core, 0, at, AURORA_CSR_BYTES - at);
      return NRTP_OK;
    }
    if (at - AURORA_NOTIFIC >= AURORA_NOTIFIC_BYTES) return NRTP_INVALID;
    put(out, NRTP_ADDR_NOTIFIC, (uint32_t)core, 0, at - AURORA_NOTIFIC,
        AURORA_NOTIFIC_BYTES - (at - AURORA_NOTIFIC));
    return NRTP_OK;
  }
  if (offset < AURORA_BROADCAST) return NRTP_INVALID;
  const uint64_t core = (offset - AURORA_BROADCAST) / AURORA_UDMA_STRIDE;
  const uint64_t at = (offset - AURORA_BROADCAST) % AURORA_UDMA_STRIDE;
  if (core >= AURORA_CORES || !aurora_has_core(product, (uint32_t)core) || at >= AURORA_UDMA_BYTES)
    return NRTP_INVALID;
  put_udma(out, NRTP_ADDR_UDMA_BCAST, (uint32_t)core, 0xFF, at);
  return NRTP_OK;
}

static int classify(const nrtp_product* product, uint64_t pa, nrtp_addr_class* out) {
  if (product == NULL || out == NULL || out->size < sizeof *out) return NRTP_INVALID;
  if (pa >= AURORA_HOST_WINDOW && pa < 2 * AURORA_HOST_WINDOW) {
    put(out, NRTP_ADDR_HOST, 0, 0, pa - AURORA_HOST_WINDOW, 2 * AURORA_HOST_WINDOW - pa);
    return NRTP_OK;
  }
  if (pa >= AURORA_CONSTANTS && pa < AURORA_CONSTANTS + 8) {
    put(out, NRTP_ADDR_CONST, 0, 0, (pa - AURORA_CONSTANTS) / 4, 4 - pa % 4);
    return NRTP_OK;
  }
  if (pa >= AURORA_REGISTERS && pa - AURORA_REGISTERS < AURORA_TILE_BAR0)
    return classify_registers(product, pa - AURORA_REGISTERS, out);
  if (pa >= AURORA_TILE) {
    const uint64_t core = (pa - AURORA_TILE) / AURORA_TILE_STRIDE;
    const uint64_t local = (pa - AURORA_TILE) % AURORA_TILE_STRIDE;
    if (core >= AURORA_CORES || !aurora_has_core(product, (uint32_t)core) ||
        local >= AURORA_TILE_BYTES)
      return NRTP_INVALID;
    return classify_tile((uint32_t)core, local, out);
  }
  const uint64_t channel = pa / AURORA_HBM_STRIDE, offset = pa % AURORA_HBM_STRIDE;
  if (channel >= AURORA_HBM || offset >= product->hbm_channel_bytes) return NRTP_INVALID;
  put(out, NRTP_ADDR_HBM, 0, (uint32_t)channel, offset, product->hbm_channel_bytes - offset);
  return NRTP_OK;
}

/* Register windows of BAR 0, by offset. */
static const nrtp_csr_region kRegions[] = {
    {0, AURORA_REGISTERS, AURORA_DMA_ENGINES* AURORA_UDMA_STRIDE, "dma"},
    {AURORA_BROADCAST, AURORA_REGISTERS + AURORA_BROADCAST, AURORA_CORES* AURORA_UDMA_STRIDE,
     "broadcast"},
    {AURORA_CORE_BLOCK, AURORA_REGISTERS + AURORA_CORE_BLOCK, AURORA_CORES* AURORA_CORE_STRIDE,
     "cores"},
    {AURORA_MISC_RAM, AURORA_REGISTERS + AURORA_MISC_RAM, AURORA_MISC_RAM_BYTES, "misc_ram"},
    {AURORA_TILE_BAR0, AURORA_TILE, AURORA_TILE_BYTES, "tile0"},
    {AURORA_TILE_BAR0 + AURORA_TILE_BYTES, AURORA_TILE + AURORA_TILE_STRIDE, AURORA_TILE_BYTES,
     "tile1"},
    {AURORA_TILE_BAR0 + 2 * AURORA_TILE_BYTES, AURORA_TILE + 2 * AURORA_TILE_STRIDE,
     AURORA_TILE_BYTES, "tile2"},
};
enum { kRegionCount = sizeof kRegions / sizeof kRegions[0] };

static const nrtp_csr_region* csr_regions(const nrtp_product* product, uint32_t* out_n) {
  if (out_n == NULL) return NULL;
  *out_n = product != NULL ? kRegionCount : 0;
  return product != NULL ? kRegions : NULL;
}

static uint64_t bar0_to_device(const nrtp_product* product, uint64_t bar0) {
  if (product == NULL) return AURORA_NONE;
  for (size_t i = 0; i < kRegionCount; ++i)
    if (bar0 >= kRegions[i].bar0 && bar0 - kRegions[i].bar0 < kRegions[i].bytes)
      return kRegions[i].device + (bar0 - kRegions[i].bar0);
  return AURORA_NONE;
}

/* Numbers of the cores' microcode images: none is published for aurora. */
static int coretype(const nrtp_product* product, uint32_t engine, uint32_t* nx, uint32_t* q7,
                    uint32_t* topsp) {
  if (product == NULL || engine >= AURORA_ENGINES || nx == NULL || q7 == NULL || topsp == NULL)
    return NRTP_INVALID;
  *nx = 32 + engine;
  *q7 = 36;
  *topsp = 37;
  return NRTP_OK;
}

static uint64_t nx_local(uint32_t engine) {
  if (engine >= AURORA_ENGINES) return AURORA_NONE;
  return AURORA_ENGINE_LOCAL + engine * AURORA_ENGINE_STRIDE + AURORA_NX;
}
static uint64_t nx_device(const nrtp_product* product, uint32_t core, uint32_t engine) {
  return aurora_local_to_device(product, core, nx_local(engine));
}
static uint64_t nx_bar0(const nrtp_product* product, uint32_t core, uint32_t engine) {
  return local_to_bar0(product, core, nx_local(engine));
}
static uint64_t tpb_csr_device(const nrtp_product* product, uint32_t core) {
  if (!aurora_has_core(product, core)) return AURORA_NONE;
  return AURORA_REGISTERS + AURORA_CORE_BLOCK + core * AURORA_CORE_STRIDE;
}
static uint64_t misc_ram_device(const nrtp_product* product, uint32_t core) {
  return aurora_has_core(product, core) ? AURORA_REGISTERS + AURORA_MISC_RAM : AURORA_NONE;
}
static uint64_t notific_bar0(const nrtp_product* product, uint32_t core) {
  if (!aurora_has_core(product, core)) return AURORA_NONE;
  return AURORA_CORE_BLOCK + core * AURORA_CORE_STRIDE + AURORA_NOTIFIC;
}

const nrtp_arch_address aurora_address = {
    .size = sizeof(nrtp_arch_address),
    .local_to_device = aurora_local_to_device,
    .local_to_bar0 = local_to_bar0,
    .topsp_device = no_topsp,
    .topsp_bar0 = no_topsp,
    .event_addr = event_addr,
    .sem_addr = sem_addr,
    .hbm_to_bar4 = hbm_to_bar4,
    .default_hbm = default_hbm,
    .cores_of_hbm = cores_of_hbm,
    .classify = classify,
    .bar0_to_device = bar0_to_device,
    .csr_regions = csr_regions,
    .coretype = coretype,
    .nx_device = nx_device,
    .nx_bar0 = nx_bar0,
    .tpb_csr_device = tpb_csr_device,
    .misc_ram_device = misc_ram_device,
    .notific_bar0 = notific_bar0,
};
