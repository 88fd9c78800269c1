/* SPDX-License-Identifier: Apache-2.0
 *
 * DMA engines, their queues, and which of them the runtime and programs use. */
#include "aurora.h"

static int has_engine(const nrtp_product* product, uint32_t engine) {
  if (product == NULL) return 0;
  return engine == AURORA_HOST_ENGINE || aurora_has_core(product, engine / AURORA_DMA_PER_CORE);
}

static uint64_t udma_bar0(const nrtp_product* product, uint32_t engine) {
  if (engine >= AURORA_DMA_ENGINES || !has_engine(product, engine)) return AURORA_NONE;
  return engine * AURORA_UDMA_STRIDE;
}
static uint64_t udma_device(const nrtp_product* product, uint32_t engine) {
  const uint64_t bar0 = udma_bar0(product, engine);
  return bar0 == AURORA_NONE ? bar0 : AURORA_REGISTERS + bar0;
}
static uint64_t sdma_misc_bar0(const nrtp_product* product, uint32_t engine) {
  const uint64_t bar0 = udma_bar0(product, engine);
  return bar0 == AURORA_NONE ? bar0 : bar0 + AURORA_MISC;
}
static uint64_t notific_bar0(const nrtp_product* product, uint32_t engine) {
  const uint64_t misc = sdma_misc_bar0(product, engine);
  return misc == AURORA_NONE ? misc : misc + 0x1000;
}

static uint64_t queue_reg(uint32_t queue, uint32_t dir, uint32_t reg) {
  /* By enum nrtp_queue_reg; there is no second doorbell, and the last register's
   * place depends on the direction. */
  static const uint64_t kOffsets[] = {0x28, 0x2C, 0x30, 0x34, 0x3C, 0x38, AURORA_NONE};
  static const uint64_t kSwCtrl[2] = {0xB0, 0x64};
  if (queue >= AURORA_QUEUES || dir > 1 || reg > NRTP_QREG_SW_CTRL) return AURORA_NONE;
  const uint64_t offset = reg == NRTP_QREG_SW_CTRL ? kSwCtrl[dir] : kOffsets[reg];
  if (offset == AURORA_NONE) return offset;
  return dir * AURORA_UDMA_HALF + (queue + 1) * AURORA_UDMA_PAGE + offset;
}

static uint64_t bcast_device(const nrtp_product* product, uint32_t core) {
  if (!aurora_has_core(product, core)) return AURORA_NONE;
  return AURORA_REGISTERS + AURORA_BROADCAST + core * AURORA_UDMA_STRIDE;
}

static uint32_t core_engine(const nrtp_product* product, uint32_t core, uint32_t index) {
  if (!aurora_has_core(product, core) || index >= AURORA_DMA_PER_CORE) return UINT32_MAX;
  return core * AURORA_DMA_PER_CORE + index;
}
static uint32_t host_engine(const nrtp_product* product, uint32_t core) {
  return aurora_has_core(product, core) ? (uint32_t)AURORA_HOST_ENGINE : UINT32_MAX;
}
static uint32_t host_queue(const nrtp_product* product, uint32_t core) {
  return aurora_has_core(product, core) ? core : UINT32_MAX;
}
static uint32_t is_host_engine(const nrtp_product* product, uint32_t engine) {
  return product != NULL && engine == AURORA_HOST_ENGINE;
}

/* Each ring has a DMA engine of its core to itself: instruction fetch 0 to 3,
 * then requests and tables. */
static int runtime_ring(const nrtp_product* product, uint32_t core, uint32_t which,
                        nrtp_dma_slot* out) {
  static const uint32_t kIndex[] = {4, 5, 6}; /* requests, ACT tables, DVE tables */
  if (!aurora_has_core(product, core) || out == NULL || which >= NRTP_RING_FETCH + AURORA_ENGINES)
    return NRTP_INVALID;
  const uint32_t index = which < NRTP_RING_FETCH ? kIndex[which] : which - NRTP_RING_FETCH;
  out->engine = core_engine(product, core, index);
  out->queue = AURORA_RUNTIME_QUEUE;
  return NRTP_OK;
}

static int alloc_class(const nrtp_product* product, uint32_t ring_class, uint32_t core,
                       nrtp_dma_slot* out, uint32_t* inout_n) {
  const uint32_t kClasses = 18; /* ring types of NEFFs */
  if (!aurora_has_core(product, core) || ring_class >= kClasses || inout_n == NULL)
    return NRTP_INVALID;
  const uint32_t capacity = *inout_n;
  if (capacity != 0 && out == NULL) return NRTP_INVALID;
  *inout_n = AURORA_MODEL_QUEUES;
  if (capacity < AURORA_MODEL_QUEUES) return NRTP_RESOURCE;
  for (uint32_t queue = 0; queue < AURORA_MODEL_QUEUES; ++queue) {
    out[queue].engine = core_engine(product, core, 0);
    out[queue].queue = queue;
  }
  return NRTP_OK;
}

static const uint64_t kConstants[2] = {AURORA_CONSTANTS, AURORA_CONSTANTS + 4};

const nrtp_arch_dma aurora_dma = {
    .size = sizeof(nrtp_arch_dma),
    .max_tx_per_packet = 64,
    .max_rx_per_packet = 48,
    .flags = NRTP_DMA_STRONG_ORDER_WRITE,
    .udma_bar0 = udma_bar0,
    .udma_device = udma_device,
    .sdma_misc_bar0 = sdma_misc_bar0,
    .notific_bar0 = notific_bar0,
    .queue_reg = queue_reg,
    .bcast_device = bcast_device,
    .core_engine = core_engine,
    .host_engine = host_engine,
    .host_queue = host_queue,
    .is_host_engine = is_host_engine,
    .runtime_ring = runtime_ring,
    .alloc_class = alloc_class,
    .bcast_exclude_shift = 16,
    .sw_ctrl_reset = 0x100,
    .ring_length_written = 0xFFFFF0,
    .queue_page_bytes = AURORA_UDMA_PAGE,
    .engine_stride = AURORA_UDMA_STRIDE,
    .dir_stride = AURORA_UDMA_HALF,
    .event_const_addr = kConstants,
};
