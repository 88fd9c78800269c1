/* SPDX-License-Identifier: Apache-2.0
 *
 * Facts of the made-up silicon "aurora", shared by the files of its plugin.
 * Replace them with those of yours; every address is a device address unless
 * its name says BAR0 or LOCAL (inside a core's tile). */
#ifndef AURORA_H
#define AURORA_H

#include <opennrt/arch.h>

enum {
  AURORA_ARCH_TYPE = 0x1A0, /* private: 0x100 and above */
  AURORA_CORES = 3,
  AURORA_ENGINES = 4, /* PE, ACT, POOL, DVE: there is no SP */
  AURORA_HBM = 3,
  AURORA_SEMAPHORES = 192,
  AURORA_EVENTS = 128,
  AURORA_PARTITIONS = 64,
  AURORA_DMA_PER_CORE = 12,
  AURORA_HOST_ENGINE = AURORA_CORES * AURORA_DMA_PER_CORE, /* one, for the driver's copies */
  AURORA_DMA_ENGINES = AURORA_HOST_ENGINE + 1,
  AURORA_QUEUES = 10,       /* of a DMA engine */
  AURORA_MODEL_QUEUES = 8,  /* 0 to 7 belong to programs */
  AURORA_RUNTIME_QUEUE = 8, /* instruction fetch and rings of the runtime; 9: collectives */
  AURORA_OP_AXPY = 0xF3     /* the instruction of its own, see semantics.c */
};

#define AURORA_NONE UINT64_MAX

/* Memory. */
#define AURORA_HBM_BYTES 0x180000000ull /* 6 GiB per channel */
#define AURORA_HBM_STRIDE 0x800000000ull
#define AURORA_HOST_WINDOW 0x200000000000ull

/* A core's tile. */
#define AURORA_TILE 0x4000000000ull
#define AURORA_TILE_STRIDE 0x10000000ull
#define AURORA_TILE_BYTES 0x4000000ull
#define AURORA_TILE_BAR0 0x40000000ull
#define AURORA_SBUF_STRIDE 0x80000ull /* partition to partition */
#define AURORA_SBUF_BYTES 0x28000ull  /* of a partition: 160 KiB */
#define AURORA_SBUF_WINDOW (AURORA_PARTITIONS * AURORA_SBUF_STRIDE)
#define AURORA_PSUM_LOCAL AURORA_SBUF_WINDOW
#define AURORA_PSUM_STRIDE 0x8000ull
#define AURORA_PSUM_BYTES 0x2000ull
#define AURORA_PSUM_WINDOW (AURORA_PARTITIONS * AURORA_PSUM_STRIDE)
#define AURORA_SYNC_LOCAL 0x3000000ull
#define AURORA_SYNC_BYTES 0x2000ull
#define AURORA_ENGINE_LOCAL 0x3100000ull /* sequencer of engine 0 */
#define AURORA_ENGINE_STRIDE 0x100000ull
#define AURORA_ENGINE_BYTES 0x80000ull
#define AURORA_NX 0x40000ull /* NX registers in a sequencer */
#define AURORA_DVE_TABLES_LOCAL 0x3700000ull
#define AURORA_DVE_TABLES_BYTES 0x8000ull

/* Register space, one to one at the start of BAR 0. */
#define AURORA_REGISTERS 0x5000000000ull
#define AURORA_UDMA_STRIDE 0x40000ull /* DMA engine to DMA engine */
#define AURORA_UDMA_BYTES 0x20000ull  /* transmit half, receive half */
#define AURORA_UDMA_HALF 0x10000ull
#define AURORA_UDMA_PAGE 0x1000ull /* queue q: page q + 1 of a half */
#define AURORA_MISC 0x20000ull     /* behind the rings of a DMA engine */
#define AURORA_MISC_BYTES 0x4000ull
#define AURORA_BROADCAST 0x1000000ull /* writes all DMA engines of a core */
#define AURORA_CORE_BLOCK 0x2000000ull
#define AURORA_CORE_STRIDE 0x10000ull
#define AURORA_CSR_BYTES 0x1000ull
#define AURORA_NOTIFIC 0x1000ull /* in the core's block */
#define AURORA_NOTIFIC_BYTES 0x1000ull
#define AURORA_MISC_RAM 0x2100000ull
#define AURORA_MISC_RAM_BYTES 0x10000ull
#define AURORA_CONSTANTS 0x5800000000ull /* reads 0, the word behind it 1 */

/* NX registers. */
#define AURORA_NX_START_CTRL 0x8u
#define AURORA_NX_START_LO 0x100u
#define AURORA_NX_START_HI 0x104u
#define AURORA_NX_QUEUES 0x20u

/* True when this product has the core. */
static inline int aurora_has_core(const nrtp_product* product, uint32_t core) {
  return product != NULL && core < AURORA_CORES && core < product->cores;
}

extern const nrtp_arch_address aurora_address;
extern const nrtp_arch_dma aurora_dma;
extern const nrtp_arch_ib aurora_ib;
extern const nrtp_arch_semantics aurora_semantics;

uint64_t aurora_local_to_device(const nrtp_product* product, uint32_t core, uint64_t local);

/* AXPY: in `lanes` partitions, out[i] = scale * x[i] + y[i] for `count` floats.
 * Little-endian fields behind the 12 bytes that all records begin with. */
typedef struct aurora_axpy {
  uint32_t lanes, count;
  uint32_t x, y, out; /* SBUF addresses of the first partition */
  float scale;
} aurora_axpy;

/* NULL, or what is wrong with the record. */
const char* aurora_read_axpy(const uint8_t record[64], aurora_axpy* out);

#endif
