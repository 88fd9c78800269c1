/* SPDX-License-Identifier: Apache-2.0
 *
 * Arch plugin: everything that differs between silicon families, as data and
 * pure functions. It owns no memory, touches no kernel object and decides no
 * policy; regions order, rings, requests and completion belong to the core.
 *
 * Address functions take the product first, since sizes may differ between
 * products of one arch; they return UINT64_MAX for an out-of-range argument.
 * Fallible functions return an nrtp_status. Data groups, address functions and
 * `ib`/`dma` functions that take no ctx need no attach: the software device
 * uses them without one.
 */
#ifndef OPENNRT_ARCH_H
#define OPENNRT_ARCH_H

#include "plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

#define NRTP_ARCH_ABI_MAJOR 1u
#define NRTP_ARCH_ABI_MINOR 1u
#define NRTP_ARCH_QUERY_SYMBOL "nrtp_arch_query"

#define NRTP_MAX_ENGINES 16

/* Instruction engines of one core, in the order used everywhere. */
enum nrtp_engine {
  NRTP_ENGINE_PE = 0,
  NRTP_ENGINE_ACT = 1,
  NRTP_ENGINE_POOL = 2,
  NRTP_ENGINE_DVE = 3,
  NRTP_ENGINE_SP = 4
};

/* One product (instance type) of an arch. Frozen for the major. */
typedef struct nrtp_product {
  const char* name;    /* "trn1.2xlarge" */
  const char* silicon; /* "Trainium1" */
  uint32_t pci_vendor, pci_device;
  uint32_t devices;           /* per instance */
  uint32_t cores;             /* usable per device; the rest is fused off */
  uint64_t hbm_channel_bytes; /* per channel */
  uint32_t instance_family;   /* NRT_INSTANCE_* */
  uint32_t instance_size;     /* NRT_INSTANCE_SIZE_* */
  uint32_t device_kind;       /* suffix of the sysfs device generation text */
  uint32_t topology;          /* 0 none, 1 the arch's full board */
} nrtp_product;

typedef struct nrtp_hbm_channel {
  uint64_t base;  /* device address */
  uint64_t bytes; /* of the largest product; the product's size wins */
  uint64_t bar4;  /* offset inside BAR 4 */
} nrtp_hbm_channel;

typedef struct nrtp_arch_geometry {
  uint32_t size;
  uint32_t dies, sengs, tpb_per_seng;
  uint32_t tpbs; /* cores per device */
  uint32_t tpb_per_hbm, topsps;
  /* Instruction engines per core, <= NRTP_MAX_ENGINES, the first ones of nrtp_engine.
   * NEFFs name five; engines beyond them are left stopped. */
  uint32_t engines;
  uint32_t q7_per_core;
  uint32_t n_hbm;
  const nrtp_hbm_channel* hbm;
  uint64_t hbm_reserved_low; /* firmware carve-out at the start of each channel */
  uint32_t sbuf_partitions;
  uint32_t psum_partitions;
  uint64_t sbuf_partition_stride, sbuf_partition_bytes, sbuf_window_bytes;
  uint64_t psum_partition_stride, psum_partition_bytes, psum_bank_bytes;
  uint64_t psum_local_base, psum_window_bytes;
  uint32_t psum_banks;
  uint32_t semaphores, events; /* per core, <= 256: records have 8 bits for them */
  uint32_t nq_hw_queues, nq_entry_bytes;
  uint32_t error_queue;           /* hardware notification queue of errors */
  uint32_t status_queue_first;    /* + engine = queue of START/END records */
  uint32_t lnc_mask, lnc_default; /* bit n-1 set: n physical cores per logical core */
  uint32_t dma_per_core, dma_total, dma_queues_per_engine;
  uint64_t host_window_base;  /* device view of host memory = host address | this */
  uint32_t emulator_revision; /* PCI revision byte reported by a software device */
  uint32_t hw_revision_max, emulator_revision_max; /* platform ranges of the revision byte */
} nrtp_arch_geometry;

enum nrtp_addr_kind {
  NRTP_ADDR_HBM = 0,         /* unit = channel, local = offset in the channel */
  NRTP_ADDR_SBUF = 1,        /* local = offset in the SBUF window */
  NRTP_ADDR_PSUM = 2,        /* local = offset in the PSUM window */
  NRTP_ADDR_SYNC = 3,        /* events and semaphores; local = offset in the 0x2000 block */
  NRTP_ADDR_ENGINE = 4,      /* unit = engine, local = offset from the sequencer base */
  NRTP_ADDR_TABLE = 5,       /* ACT and DVE table memories; unit = engine, local = tile-local */
  NRTP_ADDR_TPB_CSR = 6,     /* local = offset */
  NRTP_ADDR_NOTIFIC = 7,     /* local = offset in the core's notification block */
  NRTP_ADDR_SDMA_MISC = 8,   /* unit = DMA engine, local = offset */
  NRTP_ADDR_MISC_RAM = 9,    /* local = offset */
  NRTP_ADDR_UDMA = 10,       /* unit = DMA engine, dir, queue (0xFF unit registers), reg */
  NRTP_ADDR_UDMA_BCAST = 11, /* as UDMA, for all DMA engines of `core`; unit = 0xFF */
  NRTP_ADDR_CONST = 12,      /* local = the value read, 0 or 1 */
  NRTP_ADDR_TOPSP = 13,      /* unit = id, local = offset */
  NRTP_ADDR_HOST = 14        /* local = host address without the window bit */
};

typedef struct nrtp_addr_class {
  uint32_t size;
  uint32_t kind; /* enum nrtp_addr_kind */
  uint32_t core, unit, queue;
  uint32_t dir; /* 0 m2s (TX), 1 s2m (RX) */
  uint32_t reg; /* offset inside the queue page, or inside the unit */
  uint32_t reserved;
  uint64_t local;
  uint64_t bytes_left; /* bytes from this address to the end of its region */
} nrtp_addr_class;

typedef struct nrtp_csr_region {
  uint64_t bar0, device, bytes;
  const char* name;
} nrtp_csr_region;

enum nrtp_sem_op { NRTP_SEM_READ = 0, NRTP_SEM_SET = 1, NRTP_SEM_INC = 2, NRTP_SEM_DEC = 3 };

/* Every member is mandatory: a plugin without one is refused. */
typedef struct nrtp_arch_address {
  uint32_t size, reserved;
  uint64_t (*local_to_device)(const nrtp_product*, uint32_t core, uint64_t local);
  uint64_t (*local_to_bar0)(const nrtp_product*, uint32_t core, uint64_t local);
  uint64_t (*topsp_device)(const nrtp_product*, uint32_t id);
  uint64_t (*topsp_bar0)(const nrtp_product*, uint32_t id);
  uint64_t (*event_addr)(const nrtp_product*, uint32_t core, uint32_t event);
  uint64_t (*sem_addr)(const nrtp_product*, uint32_t core, uint32_t sem, uint32_t op);
  uint64_t (*hbm_to_bar4)(const nrtp_product*, uint64_t device_pa, uint64_t bytes);
  uint32_t (*default_hbm)(const nrtp_product*, uint32_t core);
  /* inout_n: capacity in, count out. */
  int (*cores_of_hbm)(const nrtp_product*, uint32_t hbm, uint32_t* out, uint32_t* inout_n);
  /* Exact inverse of all other functions; covers every address a plugin or the
   * core may put into an image or a ring. NRTP_INVALID: decodes to nothing. */
  int (*classify)(const nrtp_product*, uint64_t device_pa, nrtp_addr_class* out);
  /* Device address of a BAR 0 offset, UINT64_MAX if it has none. */
  uint64_t (*bar0_to_device)(const nrtp_product*, uint64_t bar0);
  /* Non-overlapping, sorted by BAR 0 offset. */
  const nrtp_csr_region* (*csr_regions)(const nrtp_product*, uint32_t* out_n);
  int (*coretype)(const nrtp_product*, uint32_t engine, uint32_t* out_nx, uint32_t* out_q7,
                  uint32_t* out_topsp);
  uint64_t (*nx_device)(const nrtp_product*, uint32_t core, uint32_t engine);
  uint64_t (*nx_bar0)(const nrtp_product*, uint32_t core, uint32_t engine);
  uint64_t (*tpb_csr_device)(const nrtp_product*, uint32_t core);
  uint64_t (*misc_ram_device)(const nrtp_product*, uint32_t core);
  uint64_t (*notific_bar0)(const nrtp_product*, uint32_t core); /* core's notification block */
} nrtp_arch_address;

typedef struct nrtp_dma_slot {
  uint32_t engine; /* global id on the device */
  uint32_t queue;
} nrtp_dma_slot;

enum nrtp_queue_reg {
  NRTP_QREG_BASE_LO = 0,
  NRTP_QREG_BASE_HI = 1,
  NRTP_QREG_LENGTH = 2,
  NRTP_QREG_HEAD = 3,
  NRTP_QREG_TAIL = 4,
  NRTP_QREG_TAIL_INC = 5,
  NRTP_QREG_DATA_TAIL_INC = 6,
  NRTP_QREG_SW_CTRL = 7
};

enum nrtp_dma_flags {
  NRTP_DMA_STRONG_ORDER_WRITE = 1,
  NRTP_DMA_NOTIFICATION_MASK = 2,
  NRTP_DMA_CCE_REPLICATION = 4,
  NRTP_DMA_TRANSPOSE_FLUSH = 8,
  NRTP_DMA_EMBEDDED_SEM = 16,
  NRTP_DMA_DATA_TAIL_INC = 32,
  NRTP_DMA_CC_PROPS = 64,
  NRTP_DMA_PACK_4K = 128 /* descriptors are packed into packets of at most 4096 bytes */
};

enum nrtp_runtime_ring {
  NRTP_RING_EXEC = 0,
  NRTP_RING_ACT_TABLES = 1,
  NRTP_RING_DVE_TABLES = 2,
  NRTP_RING_FETCH = 3 /* + engine */
};

/* A compute-while-copy operation, one packet. Frozen for the major. */
typedef struct nrtp_dma_run {
  uint64_t pa;
  uint64_t bytes;
} nrtp_dma_run;
typedef struct nrtp_dma_source {
  const nrtp_dma_run* runs;
  uint32_t n_runs;
  float scale;
} nrtp_dma_source;
typedef struct nrtp_dma_op {
  uint32_t size;
  uint32_t op;                   /* 0 copy 1 cast 2 add 3 min 4 max 5 fma 6 transpose */
  uint32_t src_dtype, dst_dtype; /* ISA codes */
  const nrtp_dma_source* sources;
  uint32_t n_sources;
  uint32_t has_constant;
  float constant;
  uint32_t n_dst;
  const nrtp_dma_run* dst;
  uint32_t element_bytes;
  uint32_t shape[4]; /* transpose: source sizes, innermost first */
  uint8_t perm[4];   /* perm[k] = source dimension of output dimension k */
} nrtp_dma_op;

/* Functions are mandatory, but for the two encoders at the end. */
typedef struct nrtp_arch_dma {
  uint32_t size;
  uint32_t max_tx_per_packet, max_rx_per_packet;
  uint32_t flags; /* enum nrtp_dma_flags */
  uint64_t (*udma_bar0)(const nrtp_product*, uint32_t engine);
  uint64_t (*udma_device)(const nrtp_product*, uint32_t engine);
  uint64_t (*sdma_misc_bar0)(const nrtp_product*, uint32_t engine);
  uint64_t (*notific_bar0)(const nrtp_product*, uint32_t engine);
  /* Offset from a DMA engine's window; UINT64_MAX = this arch lacks it. */
  uint64_t (*queue_reg)(uint32_t queue, uint32_t dir, uint32_t reg);
  uint64_t (*bcast_device)(const nrtp_product*, uint32_t core);
  uint32_t (*core_engine)(const nrtp_product*, uint32_t core, uint32_t index);
  uint32_t (*host_engine)(const nrtp_product*, uint32_t core);
  uint32_t (*host_queue)(const nrtp_product*, uint32_t core);
  uint32_t (*is_host_engine)(const nrtp_product*, uint32_t engine);
  int (*runtime_ring)(const nrtp_product*, uint32_t core, uint32_t which, nrtp_dma_slot* out);
  /* Hardware queues that a NEFF ring class may use, in order, one entry for each, on an
   * engine of the core: a queue set has the same queue on all of them. Never a queue of
   * a runtime ring. inout_n: capacity in, count out; NRTP_RESOURCE: too small. */
  int (*alloc_class)(const nrtp_product*, uint32_t ring_class, uint32_t core, nrtp_dma_slot* out,
                     uint32_t* inout_n);
  uint32_t bcast_exclude_shift;
  uint32_t sw_ctrl_reset;
  uint32_t ring_length_written;
  uint32_t queue_page_bytes;        /* distance of one queue's registers to the next queue's */
  uint64_t engine_stride;           /* distance between the windows of neighbouring core engines */
  uint64_t dir_stride;              /* distance of the s2m registers from the m2s registers */
  const uint64_t* event_const_addr; /* [2]: addresses that read 0 and 1 */
  int (*encode_embedded_sem)(uint8_t desc[16], uint32_t core, uint32_t sem, uint32_t strong_order);
  /* One packet; inout_n: capacity in, used out. NULL = the core's encoding. */
  int (*encode_compute_op)(const nrtp_dma_op* op, uint8_t (*tx)[16], uint32_t* inout_tx,
                           uint8_t (*rx)[16], uint32_t* inout_rx);
} nrtp_arch_dma;

/* Indexes of nrtp_arch_sync.id; entries 0..2 are semaphores, 19 the count of
 * reserved semaphores, the others events. 0xFF = absent. */
enum nrtp_sync_entry {
  NRTP_SYNC_INFERENCE_START = 0,
  NRTP_SYNC_CORE_BARRIER = 1,
  NRTP_SYNC_SYNC_BARRIER = 2,
  NRTP_SYNC_PINNED_QUEUES_START = 3,
  NRTP_SYNC_PINNED_QUEUES_LAST = 4,
  NRTP_SYNC_TOPSP_STOP_SIGNAL = 5,
  NRTP_SYNC_INF_INIT_START = 6,
  NRTP_SYNC_INF_INIT_LAST = 7,
  NRTP_SYNC_IOQ_CODE_SWITCH = 8,
  NRTP_SYNC_RANGE_CHECK_START = 9,
  NRTP_SYNC_RANGE_CHECK_LAST = 10,
  NRTP_SYNC_ACT_TABLES_LOAD = 11,
  NRTP_SYNC_DVE_TABLES_LOAD = 12,
  NRTP_SYNC_REQUEST_LOAD = 13,
  NRTP_SYNC_COLLECTIVES_CTX_LOAD = 14,
  NRTP_SYNC_TOPSP_ACK_FIRST = 15,
  NRTP_SYNC_TOPSP_ACK_LAST = 16,
  NRTP_SYNC_DEBUG_TENSOR_READ_START = 17,
  NRTP_SYNC_DEBUG_TENSOR_READ_LAST = 18,
  NRTP_SYNC_RESERVED_SEMAPHORES = 19,
  NRTP_SYNC_ENTRIES = 20
};

typedef struct nrtp_arch_sync {
  uint32_t size;
  uint8_t id[NRTP_SYNC_ENTRIES];
  uint32_t dge_mailbox_coretype;
} nrtp_arch_sync;

enum nrtp_cap {
  NRTP_CAP_HW_DGE = 0,
  NRTP_CAP_SW_DGE_NOTIF = 1,
  NRTP_CAP_XT_FEATURE_FLAGS = 2,
  NRTP_CAP_EVT_ACCEL_CARVEOUT = 3,
  NRTP_CAP_LEGACY_RELAXED_ORDERING = 4,
  NRTP_CAP_FP8_CONV_CONFIG = 5,
  NRTP_CAP_BG_TRANSPOSE = 6,
  NRTP_CAP_DMA_INDIRECT1D_BOUND_CHECK = 7,
  NRTP_CAP_POOL_ULIB_CONFIG = 8,
  NRTP_CAP_ARGS_TABLE_SWAP_ALL_ENGINES = 9,
  NRTP_CAP_SBUF_RESERVATION_REQUIRED = 10,
  NRTP_CAPS = 16
};

typedef struct nrtp_arch_caps {
  uint32_t size;
  uint8_t flag[NRTP_CAPS]; /* enum nrtp_cap */
  uint64_t tpb_mem_relbase;
} nrtp_arch_caps;

/* Growable run of 64-byte records: append at p + len, NRTP_RESOURCE when the
 * capacity is too small. Frozen for the major. */
typedef struct nrtp_ibuf {
  uint8_t* p;
  uint64_t cap, len;
} nrtp_ibuf;

typedef struct nrtp_diag {
  uint32_t size, slot, opcode;
  char msg[128];
} nrtp_diag;

/* Forms of the device images (runtime releases whose records are followed). */
enum nrtp_ib_form { NRTP_FORM_2_25 = 225, NRTP_FORM_2_27 = 227, NRTP_FORM_2_30 = 230 };
/* Whose record layouts an arch uses. Values are the arch types that introduced them. */
enum nrtp_isa { NRTP_ISA_SUNDA = 2, NRTP_ISA_CAYMAN = 3, NRTP_ISA_MARIANA = 4 };
enum nrtp_ib_form_bit { NRTP_FORM_BIT_2_25 = 1, NRTP_FORM_BIT_2_27 = 2, NRTP_FORM_BIT_2_30 = 4 };

typedef struct nrtp_ib_env {
  uint32_t size;
  uint32_t form; /* enum nrtp_ib_form */
  const nrtp_product* product;
  uint32_t core; /* index on the device */
  uint32_t engine;
  uint32_t lnc_rank, lnc_size;
  uint64_t request_pa;
  uint32_t hw_dge_queues[NRTP_MAX_ENGINES]; /* mask of hardware queues of the engine's own sets */
  uint32_t sw_dge_queues;
  uint32_t dge_scratch_offset, dge_scratch_bytes; /* per partition; 0 = none */
  uint32_t ulib_bytes;                            /* 0 = no POOL library */
  uint64_t ulib_pa;
  uint32_t sem_first, sem_last; /* SEM_RESET: this engine's share, inclusive */
  uint32_t stochastic_rounding, fp8_valid;
  uint8_t fp8_cfg[16];
} nrtp_ib_env;

enum nrtp_ib_step {
  NRTP_STEP_NX_SETUP = 0,
  NRTP_STEP_ROUND_MODE = 1,
  NRTP_STEP_LIBRARY_LOAD = 2,
  NRTP_STEP_NX_CLEAR = 3,
  NRTP_STEP_LIBRARY_CLEAR = 4,
  NRTP_STEP_BOUND_CHECK = 5,
  NRTP_STEP_SEM_RESET = 6,
  NRTP_STEP_MODEL_CONFIG = 7
};

typedef struct nrtp_arch_ib {
  uint32_t size;
  uint32_t form_default;  /* enum nrtp_ib_form */
  uint32_t form_mask;     /* enum nrtp_ib_form_bit */
  uint32_t nx_start_ctrl; /* offsets in the NX block */
  uint32_t nx_start_addr_lo, nx_start_addr_hi;
  uint32_t block_align[NRTP_MAX_ENGINES]; /* power of two, >= 0x8000 */
  /* Appends the records of one step; no output = the arch does not need it. */
  int (*step)(uint32_t step, const nrtp_ib_env* env, nrtp_ibuf* out);
  /* NULL or NRTP_INVALID: the core's rule. */
  int (*lower_pseudo)(const uint8_t in[64], const nrtp_ib_env* env, nrtp_ibuf* out);
  int (*validate_inst)(uint32_t engine, const uint8_t in[64], nrtp_diag* out);
  int (*validate_image)(uint32_t engine, const uint8_t* image, uint64_t bytes, nrtp_diag* out);
  /* Since 1.1: enum nrtp_isa. 0 or absent: arch_type where it is one, else the newest. */
  uint32_t isa, reserved;
} nrtp_arch_ib;

/* Frozen for the major. */
typedef struct nrtp_table_slot {
  const char* name;
  uint64_t local; /* tile-local destination */
  uint64_t bytes; /* 0 = absent on this arch */
} nrtp_table_slot;
typedef struct nrtp_blob {
  const char* name;
  const void* data;
  uint64_t bytes;
} nrtp_blob;
typedef struct nrtp_staged {
  uint8_t digest[32];
  uint64_t tx_ring, rx_ring;
  uint32_t descs, n_buffers;
  const uint64_t* buffers;
} nrtp_staged;

struct nrtp_host_dev;

typedef struct nrtp_arch_tables {
  uint32_t size, reserved;
  const nrtp_table_slot* dve; /* load order */
  uint32_t n_dve, dve_kick;   /* kick: descriptors including the event write */
  const nrtp_table_slot* act;
  uint32_t n_act, act_kick;
  int (*stage_dve)(void* ctx, const struct nrtp_host_dev* dev, uint32_t core, const nrtp_blob* neff,
                   uint32_t n, nrtp_staged* out); /* NULL = the core's procedure */
  int (*stage_act)(void* ctx, const struct nrtp_host_dev* dev, uint32_t core, const nrtp_blob* neff,
                   uint32_t n, nrtp_staged* out);
  /* Tables of a program that brings none; NULL: a NEFF without tables is refused. */
  const nrtp_blob* (*default_dve)(uint32_t* out_n);
} nrtp_arch_tables;

typedef struct nrtp_core_cfg {
  uint32_t size, lnc_rank, lnc_size, stochastic_rounding, seed;
} nrtp_core_cfg;

/* NULL member = success without action, except fetch_start, nq_config and
 * nq_enable, whose defaults are core code over the data. */
typedef struct nrtp_arch_hal {
  uint32_t size, reserved;
  int (*core_init)(void* ctx, uint32_t core, const nrtp_core_cfg* cfg);
  int (*core_fini)(void* ctx, uint32_t core);
  int (*topsp_init)(void* ctx, uint32_t id, const nrtp_core_cfg* cfg);
  int (*notific_init)(void* ctx, uint32_t core);
  int (*intc_init)(void* ctx, uint32_t core);
  int (*nq_config)(void* ctx, uint32_t core, uint32_t queue, uint64_t base, uint64_t bytes);
  int (*nq_enable)(void* ctx, uint32_t core, uint32_t queue, uint32_t on);
  /* Gets a program running on a stopped engine. */
  int (*fetch_start)(void* ctx, uint32_t core, uint32_t engine, uint64_t program_pa);
  int (*read_pc)(void* ctx, uint32_t core, uint32_t engine, uint64_t* out_pc);
  int (*seed)(void* ctx, uint32_t core, uint32_t seed);
  int (*read_overflow)(void* ctx, uint32_t core, uint32_t* out);
  int (*reset_dma_engine)(void* ctx, uint32_t engine);
} nrtp_arch_hal;

typedef struct nrtp_fabric_port {
  uint32_t size, port, link, reserved;
  uint64_t window;
} nrtp_fabric_port;

/* family_flags of the members below. */
enum nrtp_fabric_family { NRTP_FABRIC_SWITCH_V1 = 1 /* behind NeuronSwitch-v1 */ };

typedef struct nrtp_arch_fabric {
  uint32_t size;
  uint32_t max_links_per_pod_port, inter_rdh_folds;
  uint32_t n_queue_ids;
  const uint8_t* queue_id;
  const int32_t* inter_rdh_dma;
  uint32_t n_inter_rdh_dma;
  uint32_t (*max_devices)(uint32_t family_flags);
  uint32_t (*mesh_max_folds)(uint32_t family_flags);
  int (*p2p_port)(uint32_t src_dev, uint32_t dst_dev, nrtp_fabric_port* out);
  int (*mesh_engine)(uint32_t core, uint32_t peer, uint32_t fold, uint32_t* out_engine);
  int (*barrier_sem)(uint32_t core, uint32_t peer, uint32_t* out_sem);
  uint64_t (*remote_hbm)(uint32_t dev, uint64_t pa);
} nrtp_arch_fabric;

typedef struct nrtp_timing_kv {
  const char* key;
  double value;
} nrtp_timing_kv;
typedef struct nrtp_arch_timing {
  uint32_t size, n;
  const nrtp_timing_kv* kv;
} nrtp_arch_timing;

/* What an instruction of one's own sees of the core that executes it; valid until
 * execute() returns. All functions return an nrtp_status and touch nothing unless it
 * is NRTP_OK. */
typedef struct nrtp_engine_view {
  uint32_t size;
  uint32_t core, engine, reserved;
  const nrtp_product* product;
  void* self; /* first argument of the functions below */
  /* SBUF and PSUM by the address that records hold (tile-local). The range must lie in
   * the bytes that one partition really has; NRTP_INVALID otherwise. */
  int (*read_local)(void* self, uint64_t local, void* out, uint64_t bytes);
  int (*write_local)(void* self, uint64_t local, const void* in, uint64_t bytes);
  /* Any device address, with the effects of the access. NRTP_INVALID: nothing there. */
  int (*read_device)(void* self, uint64_t address, void* out, uint64_t bytes);
  int (*write_device)(void* self, uint64_t address, const void* in, uint64_t bytes);
  /* General registers of the engine, 0 to 63. */
  int (*read_register)(void* self, uint32_t number, uint32_t* out);
  int (*write_register)(void* self, uint32_t number, uint32_t value);
  /* Why execute() is about to fail: one line, shown with the place of the record. */
  void (*explain)(void* self, const char* message);
} nrtp_engine_view;

/* Instructions that the software device does not know, or is to execute otherwise than
 * it would. It takes the wait and the update in the header and goes on to the next record;
 * everything between is execute()'s. Both functions are called from any thread, at
 * once for several cores. */
typedef struct nrtp_arch_semantics {
  uint32_t size, reserved;
  uint32_t (*claims)(uint32_t engine, uint8_t opcode); /* 1 = executed here */
  /* Not NRTP_OK: the engine stops with an error. */
  int (*execute)(uint32_t engine, const uint8_t in[64], const nrtp_engine_view* view);
} nrtp_arch_semantics;

/* --- What the kernel driver of an arch shows and allows beside the table above. Read by
 * the software device only, whose driver then behaves as the real one. Since 1.1. */

enum nrtp_driver_flags {
  NRTP_DRIVER_NO_ZERO_COPY = 1,    /* refuses zero copies */
  NRTP_DRIVER_CORE_MAP = 2,        /* answers which logical core is which physical one */
  NRTP_DRIVER_POWER_PROFILES = 4,  /* answers requests for power profiles */
  NRTP_DRIVER_SINGLE_NODE_POD = 8, /* pod requests answer "single node" */
  NRTP_DRIVER_MAP_HBM = 16         /* HBM channels can be mapped, and written by engine writes */
};

enum nrtp_driver_block { NRTP_DRIVER_TPB = 0, NRTP_DRIVER_TOPSP = 1, NRTP_DRIVER_HBM = 2 };
enum nrtp_driver_resource {
  NRTP_DRIVER_SEMAPHORES = 0,
  NRTP_DRIVER_ALL = 1,
  NRTP_DRIVER_SBUF = 2,
  NRTP_DRIVER_DMEM = 3
};

/* A window that mmap and its query know. Frozen for the major. */
typedef struct nrtp_driver_map {
  uint32_t block; /* enum nrtp_driver_block */
  uint32_t id;
  uint32_t resource; /* enum nrtp_driver_resource */
  uint32_t reserved;
  uint64_t device, bytes;
  uint64_t bar; /* offset in BAR 0, in BAR 4 for HBM */
} nrtp_driver_map;

/* Frozen for the major. */
typedef struct nrtp_device_window {
  uint64_t device, bytes;
} nrtp_device_window;

typedef struct nrtp_arch_driver {
  uint32_t size;
  uint32_t flags;                  /* enum nrtp_driver_flags */
  uint32_t compat_min, compat_max; /* interface versions the driver accepts */
  uint64_t bar0_bytes;
  uint64_t host_window_mask; /* bits that tell host memory in a device address */
  uint64_t topsp_notific_bar0, topsp_notific_stride; /* stride 0: not known */
  /* DMA engines (index in the core) whose instruction queue outlives its owner. */
  uint32_t fetch_engine_mask;
  /* DMA engines that clear HBM channel h: h * scrub_stride + each of the list. */
  uint32_t scrub_stride, n_scrub_engines, n_maps, n_windows, reserved;
  const uint32_t* scrub_engines;
  const nrtp_driver_map* maps;
  const nrtp_device_window* windows; /* targets of engine writes */
  /* Devices next to `device` on a board of `devices`; NULL: none. inout_n: capacity in,
   * count out. */
  int (*neighbours)(const nrtp_product*, uint32_t devices, uint32_t device, uint32_t* out,
                    uint32_t* inout_n);
  uint32_t (*routing_id)(const nrtp_product*, uint32_t devices, uint32_t device); /* NULL: device */
} nrtp_arch_driver;

enum nrtp_platform {
  NRTP_PLATFORM_SILICON = 0,
  NRTP_PLATFORM_EMULATOR = 1,
  NRTP_PLATFORM_QEMU = 2
};

/* Services per device for attach and hal. `dev` is the first argument. */
typedef struct nrtp_host_dev {
  uint32_t size, device_index;
  uint32_t platform; /* enum nrtp_platform */
  uint32_t reserved;
  const nrtp_product* product;
  void* dev;
  int (*reg_read32)(void* dev, uint64_t bar0, uint32_t* out, uint32_t n);
  int (*reg_write32)(void* dev, uint64_t bar0, const uint32_t* values, uint32_t n);
  int (*dmem_alloc)(void* dev, uint32_t core, uint64_t bytes, uint64_t align, uint32_t location,
                    uint32_t usage, uint64_t* out_handle);
  int (*dmem_free)(void* dev, uint64_t handle);
  int (*dmem_pa)(void* dev, uint64_t handle, uint64_t* out_pa);
  int (*dmem_copyin)(void* dev, uint64_t handle, uint64_t offset, const void* src, uint64_t bytes);
} nrtp_host_dev;

/* Mandatory: geometry, address, dma, sync, caps, ib, tables, neff_targets,
 * products, attach, detach. */
typedef struct nrtp_arch_plugin {
  nrtp_head head;
  uint32_t arch_type; /* 2, 3, 4, or a private value >= 0x100 */
  uint32_t plugin_version;
  const char* name; /* "sunda" */
  const nrtp_arch_geometry* geometry;
  const nrtp_arch_address* address;
  const nrtp_arch_dma* dma;
  const nrtp_arch_sync* sync;
  const nrtp_arch_caps* caps;
  const nrtp_arch_ib* ib;
  const nrtp_arch_tables* tables;
  const nrtp_arch_hal* hal;
  const nrtp_arch_fabric* fabric;       /* NULL: no collectives */
  const nrtp_arch_timing* timing;       /* may be NULL */
  const nrtp_arch_semantics* semantics; /* may be NULL */
  const char* const* neff_targets;      /* NULL-terminated: target names a NEFF may carry */
  const nrtp_product* products;
  uint32_t n_products, product_stride;
  int (*attach)(const nrtp_host* host, const nrtp_host_dev* dev, void** ctx); /* once per device */
  void (*detach)(void* ctx);
  /* Since 1.1. NULL or absent: what follows from the address functions. */
  const nrtp_arch_driver* driver;
} nrtp_arch_plugin;

typedef const nrtp_arch_plugin* (*nrtp_arch_query_fn)(uint32_t host_major, uint32_t host_minor);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* OPENNRT_ARCH_H */
