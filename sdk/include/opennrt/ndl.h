/* SPDX-License-Identifier: Apache-2.0
 *
 * Driver layer (NDL): the single kernel boundary. An NDL plugin turns these
 * operations into requests of the Neuron kernel driver, through a system port.
 *
 * Every member returns 0 or -errno unless its comment says otherwise; positive
 * driver results are normalised. All members are thread-safe, except open and
 * close of the same device. After fork every member returns -EACCES in the
 * child. Descriptors never leave the plugin.
 *
 *   dev    opaque device handle from device.open; the device *index* in the
 *          calls that work without an open device (marked "index")
 *   mem    opaque memory handle of the plugin; 0 = none
 *   nq     opaque notification queue handle
 *
 * Source of the facts: aws-neuron-driver 2.24.7.0 to 2.27.4.0 and the public
 * ndl.h of the AWS Neuron SDK.
 */
#ifndef OPENNRT_NDL_H
#define OPENNRT_NDL_H

#include "plugin.h"
#include "port.h"

#ifdef __cplusplus
extern "C" {
#endif

#define NRTP_NDL_ABI_MAJOR 1u
#define NRTP_NDL_ABI_MINOR 0u
#define NRTP_NDL_QUERY_SYMBOL "nrtp_ndl_query"

/* Feature bits of the driver (probe.feature_supported takes the bit number). */
enum nrtp_ndl_feature {
  NRTP_FEATURE_DMABUF = 0,
  NRTP_FEATURE_ASYNC_DMA = 1,
  NRTP_FEATURE_BATCH_DMAQ_INIT = 2,
  NRTP_FEATURE_BIG_CORE_MAPS = 3,
  NRTP_FEATURE_MEM_ALLOC_TYPE = 4,
  NRTP_FEATURE_HBM_SCRUB = 5,
  NRTP_FEATURE_MEM_ALLOC64 = 6,
  NRTP_FEATURE_CONTIGUOUS_SCRATCHPAD = 7,
  NRTP_FEATURE_ZEROCOPY = 8
};

/* Driver memory categories. */
enum nrtp_mem_type {
  NRTP_MEM_UNKNOWN_HOST = 0,
  NRTP_MEM_CODE_HOST = 1,
  NRTP_MEM_TENSORS_HOST = 2,
  NRTP_MEM_CONSTANTS_HOST = 3,
  NRTP_MEM_MISC_HOST = 4,
  NRTP_MEM_NCDEV_HOST = 5,
  NRTP_MEM_NOTIFICATION_HOST = 6,
  NRTP_MEM_UNKNOWN_DEVICE = 7,
  NRTP_MEM_CODE_DEVICE = 8,
  NRTP_MEM_TENSORS_DEVICE = 9,
  NRTP_MEM_CONSTANTS_DEVICE = 10,
  NRTP_MEM_SCRATCHPAD_DEVICE = 11,
  NRTP_MEM_MISC_DEVICE = 12,
  NRTP_MEM_NCDEV_DEVICE = 13,
  NRTP_MEM_COLLECTIVES_DEVICE = 14,
  NRTP_MEM_SCRATCHPAD_NONSHARED_DEVICE = 15,
  NRTP_MEM_NOTIFICATION_DEVICE = 16,
  NRTP_MEM_DMA_RINGS_HOST = 17,
  NRTP_MEM_DMA_RINGS_DEVICE = 18,
  NRTP_MEM_CONTIGUOUS_SCRATCHPAD_DEVICE = 19
};

typedef struct nrtp_ndl_version {
  uint32_t major, minor, patch, maintenance;
  char text[64]; /* e.g. "2.27.4.0" */
} nrtp_ndl_version;

typedef struct nrtp_ndl_bdf {
  uint32_t domain, bus, slot, function;
} nrtp_ndl_bdf;

/* Facts of an open device. */
typedef struct nrtp_ndl_device_info {
  uint32_t arch, revision;
  uint32_t n_connected;
  uint32_t connected[8];
  uint64_t bar_address[2], bar_size[2];
} nrtp_ndl_device_info;

typedef struct nrtp_ndl_queue {
  uint32_t engine, queue;
  uint32_t tx_descs, rx_descs;
  uint64_t tx_mem, rx_mem; /* memory handles; 0 = memory attached later */
} nrtp_ndl_queue;

typedef struct nrtp_ndl_queue_state {
  uint32_t hw_status, sw_status;
  uint64_t base;
  uint32_t length, head, tail;
} nrtp_ndl_queue_state;

/* Memory errors that the driver has counted since it was loaded. The HBM counters
 * do not overlap. */
typedef struct nrtp_ndl_memory_errors {
  uint64_t sram_uncorrected, hbm_uncorrected, hbm_repairable;
} nrtp_ndl_memory_errors;

/* One range of a batched copy. */
typedef struct nrtp_copy_op {
  uint64_t offset; /* relative to the batch's mem_offset */
  uint64_t bytes;
  void* buffer;
} nrtp_copy_op;

typedef struct nrtp_copy_batch {
  uint64_t mem;
  uint64_t mem_offset;
  const nrtp_copy_op* ops;
  uint32_t n_ops;
  uint32_t bar4_threshold; /* bytes; 0 = never through BAR4 */
} nrtp_copy_batch;

/* Shared host buffer of one core for staged copies. The plugin maps it; its
 * user serialises access with its own lock. */
typedef struct nrtp_ndl_copy_buf {
  uint64_t mem;
  void* va;
  uint64_t bytes;
} nrtp_ndl_copy_buf;

typedef struct nrtp_uuid {
  uint8_t bytes[32];
} nrtp_uuid;

typedef struct nrtp_ndl_probe {
  uint32_t size, reserved;
  /* Reads version, compatibility window and feature word; refuses what this
   * plugin cannot drive and logs one line with the reason. -EOPNOTSUPP: a driver
   * that lacks newer requests, which another plugin may drive; -EPROTONOSUPPORT:
   * one that no plugin of this version can. */
  int (*probe)(void* ctx);
  int (*get_version)(void* ctx, nrtp_ndl_version* out);
  int (*get_compatible_version)(void* ctx, uint32_t* out_min, uint32_t* out_max);
  int (*feature_supported)(void* ctx, uint32_t bit, uint32_t* out);
  int (*register_soft_incompat)(void* ctx, void (*callback)(const char* message));
  /* Instance type text of the machine, e.g. "trn1.2xlarge"; -ENOENT if unknown. */
  int (*product_name)(void* ctx, char* buf, size_t n);
} nrtp_ndl_probe;

typedef struct nrtp_ndl_device {
  uint32_t size, reserved;
  int (*available)(void* ctx, int32_t* out_indexes, uint32_t n); /* number of devices or -errno */
  int (*open)(void* ctx, uint32_t index, uint64_t* out_dev, nrtp_ndl_device_info* out_info);
  int (*close)(void* ctx, uint64_t dev);
  int (*board_info)(void* ctx, uint32_t* out_arch, uint32_t* out_revision);
  int (*bdf)(void* ctx, uint32_t index, nrtp_ndl_bdf* out);
  int (*bdf_ext)(void* ctx, uint32_t index, nrtp_ndl_bdf* out);
  int (*host_device_id)(void* ctx, uint64_t dev, uint32_t* out);
  int (*rid_map)(void* ctx, uint32_t* inout_count, uint32_t* out_map);
  int (*nc_map)(void* ctx, uint32_t max_entries, uint32_t* out_count, uint32_t* out_pairs);
  int (*apps_info)(void* ctx, uint64_t dev, void* out, uint32_t capacity, uint32_t flags);
  void (*close_all)(void* ctx); /* cached descriptors */
} nrtp_ndl_device;

typedef struct nrtp_ndl_reg {
  uint32_t size, reserved;
  /* bar0: offsets inside BAR 0, need not be consecutive. */
  int (*read)(void* ctx, uint64_t dev, const uint64_t* bar0, uint32_t n, uint32_t* out);
  int (*write)(void* ctx, uint64_t dev, const uint64_t* bar0, uint32_t n, const uint32_t* values);
  int (*hw_counters)(void* ctx, uint64_t dev, const uint64_t* addresses, uint32_t n, uint32_t* out);
  int (*map_region)(void* ctx, uint64_t dev, uint32_t block, uint32_t block_id, uint32_t resource,
                    void** out_va, uint64_t* out_bytes);
  int (*hbm_va)(void* ctx, uint64_t dev, uint32_t hbm, void** out_va, uint64_t* out_bytes);
} nrtp_ndl_reg;

typedef struct nrtp_ndl_mem {
  uint32_t size, reserved;
  int (*alloc)(void* ctx, uint64_t dev, uint64_t bytes, uint64_t align, uint32_t host_memory,
               uint32_t channel, uint32_t region, uint32_t core, uint32_t mem_type,
               uint64_t* out_mem);
  int (*alloc_contig)(void* ctx, uint64_t dev, uint64_t bytes, uint32_t channel, uint32_t core,
                      uint64_t* out_mem);
  int (*free)(void* ctx, uint64_t mem);
  int (*get_pa)(void* ctx, uint64_t mem, uint64_t* out_pa);
  int (*map)(void* ctx, uint64_t mem, void** out_va); /* idempotent; unmapped by free */
  int (*map_contig)(void* ctx, uint64_t mem, uint64_t bytes, void** out_va);
  int (*unmap)(void* ctx, uint64_t mem);
  int (*mc_info)(void* ctx, uint64_t dev, uint64_t pa, uint64_t* out_mmap_offset,
                 uint64_t* out_bytes, uint64_t* out_driver_handle);
  int (*copy_buf)(void* ctx, uint64_t dev, uint32_t core, nrtp_ndl_copy_buf* out);
  int (*dmabuf_fd)(void* ctx, uint64_t va, uint64_t bytes, int* out_fd);
  int (*va_placement)(void* ctx, const void* va, int32_t* out_device, int32_t* out_hbm);
  int (*dump)(void* ctx, uint64_t dev, uint32_t hbm, void* out, uint32_t* inout_count);
} nrtp_ndl_mem;

typedef struct nrtp_ndl_copy {
  uint32_t size, reserved;
  int (*in)(void* ctx, uint64_t mem, uint64_t offset, const void* buffer, uint64_t bytes);
  int (*out)(void* ctx, uint64_t mem, uint64_t offset, void* buffer, uint64_t bytes);
  int (*zc_in)(void* ctx, uint64_t mem, uint64_t offset, const void* buffer, uint64_t bytes,
               int32_t queue, uint32_t bar4_threshold);
  int (*zc_out)(void* ctx, uint64_t mem, uint64_t offset, void* buffer, uint64_t bytes,
                int32_t queue);
  /* direction: 0 to device, 1 from device. -EINVAL where the driver has none. */
  int (*batch)(void* ctx, uint64_t dev, const nrtp_copy_batch* batches, uint32_t n,
               uint32_t direction, int32_t queue);
  int (*copy)(void* ctx, uint64_t src, uint64_t dst, uint64_t src_offset, uint64_t dst_offset,
              uint64_t bytes);
  /* inout_wait: -1 starts a chain; the value returned is passed to the next
   * copy_async or to copy_wait. Two transfers per core may be in flight. */
  int (*copy_async)(void* ctx, uint64_t src, uint64_t dst, uint64_t src_offset, uint64_t dst_offset,
                    uint64_t bytes, uint64_t prefetch_va, int32_t* inout_wait);
  int (*copy_wait)(void* ctx, uint64_t mem, int32_t wait);
  int (*set)(void* ctx, uint64_t mem, uint64_t offset, uint8_t value, uint64_t bytes);
  int (*program_engine)(void* ctx, uint64_t dev, uint32_t core, uint64_t device_address,
                        const void* buffer, uint64_t offset, uint64_t bytes);
} nrtp_ndl_copy;

typedef struct nrtp_ndl_dma {
  uint32_t size, reserved;
  int (*eng_set_state)(void* ctx, uint64_t dev, uint32_t engine, uint32_t state);
  int (*eng_get_state)(void* ctx, uint64_t dev, uint32_t engine, void* out, uint32_t bytes);
  int (*queue_init)(void* ctx, uint64_t dev, const nrtp_ndl_queue* queue);
  int (*queue_init_batch)(void* ctx, uint64_t dev, const nrtp_ndl_queue* queues, uint32_t n);
  int (*queue_release)(void* ctx, uint64_t dev, uint32_t engine, uint32_t queue);
  int (*queue_start)(void* ctx, uint64_t dev, uint32_t engine, uint32_t queue, uint32_t tx_count,
                     uint32_t rx_count);
  int (*queue_ack)(void* ctx, uint64_t dev, uint32_t engine, uint32_t queue, uint32_t count);
  int (*queue_state)(void* ctx, uint64_t dev, uint32_t engine, uint32_t queue,
                     nrtp_ndl_queue_state* out_tx, nrtp_ndl_queue_state* out_rx);
  /* descs: n descriptors of 16 bytes; queue_type 0 TX, 1 RX; offset in bytes. */
  int (*desc_write)(void* ctx, uint64_t mem, const void* descs, uint64_t offset, uint32_t n,
                    uint32_t queue_type);
  int (*desc_read)(void* ctx, uint64_t dev, uint32_t engine, uint32_t queue, uint32_t queue_type,
                   uint32_t first, uint32_t n, void* out);
  int (*h2t_alloc)(void* ctx, uint64_t dev, uint32_t core, uint32_t copy_count,
                   uint32_t service_count, uint32_t* out_copy, uint32_t* out_service,
                   uint32_t* out_default);
  int (*h2t_free)(void* ctx, uint64_t dev, uint32_t core, uint32_t bitmap);
  int (*compl_queues)(void* ctx, uint64_t dev, void* inout, uint32_t bytes);
} nrtp_ndl_dma;

typedef struct nrtp_ndl_sync {
  uint32_t size, reserved;
  int (*sem_inc)(void* ctx, uint64_t dev, uint32_t core, uint32_t index, uint32_t value);
  int (*sem_dec)(void* ctx, uint64_t dev, uint32_t core, uint32_t index, uint32_t value);
  int (*sem_read)(void* ctx, uint64_t dev, uint32_t core, uint32_t index, uint32_t* out);
  int (*sem_write)(void* ctx, uint64_t dev, uint32_t core, uint32_t index, uint32_t value);
  int (*event_get)(void* ctx, uint64_t dev, uint32_t core, uint32_t index, uint32_t* out);
  int (*event_set)(void* ctx, uint64_t dev, uint32_t core, uint32_t index, uint32_t value);
} nrtp_ndl_sync;

typedef struct nrtp_ndl_nq_config {
  uint32_t size;
  uint32_t device_type;  /* 0 NeuronCore, 1 TOPSP */
  uint32_t device_id;    /* core or TOPSP index */
  uint32_t nq_type;      /* 0 trace, 1 notify, 2 event, 3 error, 4 trace DMA, 5 throttle */
  uint32_t engine_index; /* the hardware queue programmed */
  uint32_t bytes;        /* power of two */
  uint32_t host_memory, channel, region;
  uint32_t force_alloc; /* allocate anew even if the queue has memory */
} nrtp_ndl_nq_config;

typedef struct nrtp_ndl_nq {
  uint32_t size, reserved;
  int (*init)(void* ctx, uint64_t dev, const nrtp_ndl_nq_config* config, uint64_t* out_nq);
  int (*handle)(void* ctx, uint64_t nq, uint64_t* out_mem);
  int (*bytes)(void* ctx, uint64_t nq, uint32_t* out);
  int (*map)(void* ctx, uint64_t nq, void** out_va);
  int (*destroy)(void* ctx, uint64_t nq);
} nrtp_ndl_nq;

typedef struct nrtp_ndl_life {
  uint32_t size, reserved;
  int (*reset)(void* ctx, uint64_t dev, uint32_t core_mask, uint32_t* out_request);
  /* *out_ready: 1 = the cores are ready. Blocks until the driver answers. */
  int (*ready)(void* ctx, uint64_t dev, uint32_t request, uint32_t* out_ready);
  int (*nc_state)(void* ctx, uint64_t dev, uint32_t core, uint32_t state, uint32_t* out_state);
  int (*started_count)(void* ctx, uint64_t dev, uint32_t core, uint64_t* out);
  int (*scrub_start)(void* ctx, uint64_t dev, uint32_t core, uint32_t hbm, uint32_t axi_port,
                     uint32_t value);
  int (*scrub_wait)(void* ctx, uint64_t dev, uint32_t core, uint32_t hbm);
} nrtp_ndl_life;

typedef struct nrtp_ndl_share {
  uint32_t size, reserved;
  int (*nds_open)(void* ctx, uint64_t dev, int32_t pid, void** out_va, uint64_t* out_bytes);
  int (*nds_close)(void* ctx, uint64_t dev, int32_t pid, void* va, uint64_t bytes);
  int (*reader_enter)(void* ctx, uint64_t dev, uint32_t core, const nrtp_uuid* uuid);
  int (*reader_exit)(void* ctx, uint64_t dev, uint32_t core, const nrtp_uuid* uuid);
  int (*writer_enter)(void* ctx, uint64_t dev, uint32_t core, const nrtp_uuid* uuid);
  int (*writer_downgrade)(void* ctx, uint64_t dev, uint32_t core, const nrtp_uuid* uuid);
  /* Core reservation over all devices: marks `count` consecutive free cores in
   * [start, end]; bitmap of 512 bits. -EBUSY: out_max = longest free run. */
  int (*range_mark)(void* ctx, uint32_t count, uint32_t start, uint32_t end, uint32_t* out_max,
                    uint64_t out_bitmap[8]);
  int (*range_unmark)(void* ctx, const uint64_t bitmap[8]);
} nrtp_ndl_share;

typedef struct nrtp_ndl_pod {
  uint32_t size, reserved;
  int (*info)(void* ctx, uint32_t* out_type, uint32_t* out_size);
  int (*election_state)(void* ctx, uint32_t* out_state);
  int (*mapping_info)(void* ctx, int32_t* out_node_id);
  int (*status)(void* ctx, uint8_t* out_pod_id, uint32_t* out_state, uint32_t* out_type,
                uint32_t* out_size, int32_t* out_node_id, uint32_t* out_mode, uint32_t* out_modes);
  int (*ctrl)(void* ctx, uint32_t ctrl, uint32_t mode, uint32_t timeout, uint32_t* out_state);
} nrtp_ndl_pod;

typedef struct nrtp_ndl_misc {
  uint32_t size, reserved;
  int (*printk)(void* ctx, const char* text, uint32_t bytes, uint32_t action);
  int (*dump_nc_pid)(void* ctx, uint32_t core, uint32_t filter_owner, uint32_t limit);
  int (*profile_set)(void* ctx, uint64_t dev, uint32_t profile);
  int (*profile_get)(void* ctx, uint64_t dev, uint32_t* out);
  int (*profile_list)(void* ctx, uint64_t dev, uint8_t* out_bitmap, uint32_t bytes);
  int (*throttling)(void* ctx, uint64_t dev, uint32_t enable);
  int (*metrics)(void* ctx, uint64_t dev, uint32_t mode);
  uint64_t (*now_us)(void* ctx);
  void (*sleep_us)(void* ctx, uint32_t us); /* the port's; never with a lock held */
  /* The port's; -EINVAL where it has none. */
  int64_t (*control)(void* ctx, const char* request, char* reply, size_t n);
  /* -ENOENT where the driver has no such counters. */
  int (*memory_errors)(void* ctx, uint64_t dev, nrtp_ndl_memory_errors* out);
} nrtp_ndl_misc;

/* Mandatory members: all of probe and sync; device.available, open, close,
 * board_info, close_all; reg.read, write; mem.alloc, free, get_pa, map, unmap;
 * copy.in, out, copy_async, copy_wait; dma.queue_init, queue_start; nq.init,
 * map; life.reset, ready; share.range_mark, range_unmark; misc.now_us,
 * sleep_us. The absence of one refuses the plugin; any other null or missing
 * member is replaced at load by one that returns -EINVAL. */
typedef struct nrtp_ndl_ops {
  nrtp_head head;
  const char* name;                /* "ndl-kernel" */
  uint32_t window_min, window_max; /* driver compatibility ids accepted */
  int (*attach)(const nrtp_host* host, const nrtp_sys_port* port, void* port_ctx, void** ctx);
  void (*detach)(void* ctx);
  uint64_t (*caps)(void* ctx); /* feature word, valid after probe.probe */
  const nrtp_ndl_probe* probe;
  const nrtp_ndl_device* device;
  const nrtp_ndl_reg* reg;
  const nrtp_ndl_mem* mem;
  const nrtp_ndl_copy* copy;
  const nrtp_ndl_dma* dma;
  const nrtp_ndl_sync* sync;
  const nrtp_ndl_nq* nq;
  const nrtp_ndl_life* life;
  const nrtp_ndl_share* share;
  const nrtp_ndl_pod* pod;
  const nrtp_ndl_misc* misc;
} nrtp_ndl_ops;

typedef const nrtp_ndl_ops* (*nrtp_ndl_query_fn)(uint32_t host_major, uint32_t host_minor);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* OPENNRT_NDL_H */
