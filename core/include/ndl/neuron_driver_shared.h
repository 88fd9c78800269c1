/* SPDX-License-Identifier: Apache-2.0
 *
 * Types and numbers shared with the kernel driver, and the map of a counter
 * slab. Sizes and offsets of the slab are in bytes; the macros with an address
 * give the counters of the device or of a physical core,
 * NDS_EXT_NEURONCORE_NC_DATA those of the cores from NDS_MAX_NEURONCORE_COUNT
 * on.
 */
#ifndef NDL_NEURON_DRIVER_SHARED_H
#define NDL_NEURON_DRIVER_SHARED_H

#include <linux/types.h>
#include <stddef.h>
#include <stdint.h>

#include "ndl/neuron_driver_shared_tensor_batch_op.h"

#ifdef __cplusplus
extern "C" {
#endif

#define NEURON_NC_MAP_DEVICE 0xFFFFFFFFu
#define NEURON_DMA_H2T_DEFAULT_QID (-1)
#define NEURON_MAX_PROCESS_PER_DEVICE 16
#define APP_INFO_PID_NC_LOCK_INFO 1
#define APP_INFO_PID_MEM_USAGE 2
#define APP_INFO_ALL 15
#define APP_INFO_MAX_MODELS_PER_DEVICE 4
#define NDS_INVALID_ID (-1)
#define NEURON_NC_MAP_MAX_ENTRIES 128
#define NDS_ND_COUNTER_RESERVED 18
#define NDS_NC_COUNTER_RESERVED 0
#define NDS_MAX_NEURONCORE_COUNT 4
#define NDS_EXT_MAX_NEURONCORE_COUNT 12
#define NDS_EXT_NC_COUNTER_ADDED_RESERVED 54
#define NDS_TOTAL_NC_COUNTER_COUNT 95
#define NDS_HEADER_START 0
#define NDS_HEADER_SIZE 8
#define NDS_ND_COUNTERS_START 8
#define NDS_ND_COUNTERS_SIZE 248
#define NDS_ND_COUNTERS(base_addr) ((uint64_t*)((uint8_t*)(base_addr) + NDS_ND_COUNTERS_START))
#define NDS_NEURONCORE_COUNTERS_COUNT 31
#define NDS_NEURONCORE_COUNTERS_START 256
#define NDS_NEURONCORE_COUNTERS_SIZE 992
#define NDS_NEURONCORE_COUNTERS(base_addr, nc_index)                    \
  ((uint64_t*)((uint8_t*)(base_addr) + NDS_NEURONCORE_COUNTERS_START) + \
   (nc_index) * NDS_NEURONCORE_COUNTERS_COUNT)
#define NDS_EXT_NC_COUNTER_COUNT_OLD 65
#define NDS_TOTAL_NC_COUNTER_COUNT_OLD 96
#define NDS_EXT_NEURONCORE_COUNTERS_SIZE_OLD 2080
#define NDS_EXT_NEURONCORE_NC_DATA_SIZE_OLD 9216
#define NDS_EXT_SECTION_SIZE_OLD 11296
#define NDS_EXT_OFFSET_OLD 44588
#define NDS_EXT_ALIGNMENT 64
#define NDS_ALIGN(v) (((v) + NDS_EXT_ALIGNMENT - 1) & ~(NDS_EXT_ALIGNMENT - 1))
#define NDS_EXT_OFFSET 55936
#define NDS_EXT_NEURONCORE_COUNTERS_COUNT 64
#define NDS_EXT_NEURONCORE_COUNTERS_START 55936
#define NDS_EXT_NEURONCORE_COUNTERS_SIZE 2048
#define NDS_EXT_NEURONCORE_COUNTERS(base_addr, nc_index)                    \
  ((uint64_t*)((uint8_t*)(base_addr) + NDS_EXT_NEURONCORE_COUNTERS_START) + \
   (nc_index) * NDS_EXT_NEURONCORE_COUNTERS_COUNT)
#define NDS_EXT_NEURONCORE_NC_DATA_PADDING 1
#define NDS_EXT_NEURONCORE_NC_DATA_COUNT 96
#define NDS_EXT_NEURONCORE_NC_DATA_START 57984
#define NDS_EXT_NEURONCORE_NC_DATA_SIZE 9216
#define NDS_EXT_NEURONCORE_NC_DATA(base_addr, nc_index)                    \
  ((uint64_t*)((uint8_t*)(base_addr) + NDS_EXT_NEURONCORE_NC_DATA_START) + \
   ((nc_index) - NDS_MAX_NEURONCORE_COUNT) * NDS_EXT_NEURONCORE_NC_DATA_COUNT)

/* Bits of the feature word. */
enum neuron_driver_feature_flag {
  NEURON_DRIVER_FEATURE_DMABUF = 1,
  NEURON_DRIVER_FEATURE_ASYNC_DMA = 2,
  NEURON_DRIVER_FEATURE_BATCH_DMAQ_INIT = 4,
  NEURON_DRIVER_FEATURE_BIG_CORE_MAPS = 8,
  NEURON_DRIVER_FEATURE_MEM_ALLOC_TYPE = 16,
  NEURON_DRIVER_FEATURE_HBM_SCRUB = 32,
  NEURON_DRIVER_FEATURE_MEM_ALLOC64 = 64,
  NEURON_DRIVER_FEATURE_CONTIGUOUS_SCRATCHPAD = 128,
  NEURON_DRIVER_FEATURE_ZEROCOPY = 256
};

enum { NEURON_POD_TYPE_NONE = 0, NEURON_POD_TYPE_P2P = 1, NEURON_POD_TYPE_SWITCH = 2 };

enum {
  NEURON_POD_E_STATE_NOT_STARTED = 0,
  NEURON_POD_E_STATE_IN_PROGRESS = 1,
  NEURON_POD_E_STATE_ULTRASERVER = 2,
  NEURON_POD_E_STATE_FAILED = 3,
  NEURON_POD_E_STATE_SINGLE_NODE = 4
};

enum neuron_pod_ctrl_req {
  NEURON_NPE_POD_CTRL_REQ_POD = 0,
  NEURON_NPE_POD_CTRL_REQ_SINGLE_NODE = 1,
  NEURON_NPE_POD_CTRL_REQ_KILL = 2,
  NEURON_NPE_POD_CTRL_SET_MODE = 3
};

enum neuron_ultraserver_mode {
  NEURON_ULTRASERVER_MODE_UNSET = 0,
  NEURON_ULTRASERVER_MODE_X4 = 1,
  NEURON_ULTRASERVER_MODE_X2H = 2,
  NEURON_ULTRASERVER_MODE_X2V = 3,
  NEURON_ULTRASERVER_MODE_X1 = 4
};

enum neuron_metrics_mode {
  NEURON_METRICS_MODE_PERIODIC_ENABLE = 0,
  NEURON_METRICS_MODE_PERIODIC_DISABLE = 1
};

enum neuron_dma_queue_type {
  NEURON_DMA_QUEUE_TYPE_TX = 0,
  NEURON_DMA_QUEUE_TYPE_RX = 1,
  NEURON_DMA_QUEUE_TYPE_COMPLETION = 2
};

/* State of the initialisation of a core. */
enum neuron_cinit_state {
  NEURON_CINIT_STATE_STARTED = 1,
  NEURON_CINIT_STATE_COMPLETED = 2,
  NEURON_CINIT_STATE_INVALID = 3
};

enum neuron_dma_h2t_ctx_handle_type {
  NEURON_DMA_H2T_CTX_HANDLE_NONE = -1,
  NEURON_DMA_H2T_CTX_HANDLE_SYNC = 0,
  NEURON_DMA_H2T_CTX_HANDLE_ASYNC1 = 1,
  NEURON_DMA_H2T_CTX_HANDLE_ASYNC2 = 2,
  NEURON_DMA_H2T_CTX_HANDLE_CNT = 3
};

enum NQ_DEVICE_TYPE {
  NQ_DEVICE_TYPE_NEURON_CORE = 0,
  NQ_DEVICE_TYPE_TOPSP = 1,
  NQ_DEVICE_TYPE_MAX = 2
};

/* Kind of a notification queue. */
enum NQ_TYPE {
  NQ_TYPE_TRACE = 0,
  NQ_TYPE_NOTIFY = 1,
  NQ_TYPE_EVENT = 2,
  NQ_TYPE_ERROR = 3,
  NQ_TYPE_TRACE_DMA = 4,
  NQ_TYPE_THROTTLE = 5,
  NQ_TYPE_MAX = 6
};

enum neuron_dm_block_type {
  NEURON_DM_BLOCK_INVALID = -1,
  NEURON_DM_BLOCK_TPB = 0,
  NEURON_DM_BLOCK_TOPSP = 1,
  NEURON_DM_BLOCK_HBM = 2
};

enum neuron_dm_resource_type {
  NEURON_DM_RESOURCE_SEMAPHORE = 0,
  NEURON_DM_RESOURCE_ALL = 1,
  NEURON_DM_RESOURCE_SBUF = 2,
  NEURON_DM_RESOURCE_DMEM = 3
};

enum neuron_ioctl_nc_mapping_type { NEURON_IOCTL_NC_MAPPING_TYPE_V0 = 0 };

/* What memory is used for. */
typedef enum {
  NEURON_MEMALLOC_TYPE_UNKNOWN_HOST = 0,
  NEURON_MEMALLOC_TYPE_CODE_HOST = 1,
  NEURON_MEMALLOC_TYPE_TENSORS_HOST = 2,
  NEURON_MEMALLOC_TYPE_CONSTANTS_HOST = 3,
  NEURON_MEMALLOC_TYPE_MISC_HOST = 4,
  NEURON_MEMALLOC_TYPE_NCDEV_HOST = 5,
  NEURON_MEMALLOC_TYPE_NOTIFICATION_HOST = 6,
  NEURON_MEMALLOC_TYPE_UNKNOWN_DEVICE = 7,
  NEURON_MEMALLOC_TYPE_CODE_DEVICE = 8,
  NEURON_MEMALLOC_TYPE_TENSORS_DEVICE = 9,
  NEURON_MEMALLOC_TYPE_CONSTANTS_DEVICE = 10,
  NEURON_MEMALLOC_TYPE_SCRATCHPAD_DEVICE = 11,
  NEURON_MEMALLOC_TYPE_MISC_DEVICE = 12,
  NEURON_MEMALLOC_TYPE_NCDEV_DEVICE = 13,
  NEURON_MEMALLOC_TYPE_COLLECTIVES_DEVICE = 14,
  NEURON_MEMALLOC_TYPE_SCRATCHPAD_NONSHARED_DEVICE = 15,
  NEURON_MEMALLOC_TYPE_NOTIFICATION_DEVICE = 16,
  NEURON_MEMALLOC_TYPE_DMA_RINGS_HOST = 17,
  NEURON_MEMALLOC_TYPE_DMA_RINGS_DEVICE = 18,
  NEURON_MEMALLOC_TYPE_CONTIGUOUS_SCRATCHPAD_DEVICE = 19,
  NEURON_MEMALLOC_TYPE_MAX = 20
} mem_alloc_category_t;

enum {
  NDS_ND_COUNTER_RUNTIME_VERSION = 0,
  NDS_ND_COUNTER_FRAMEWORK_VERSION = 1,
  NDS_ND_COUNTER_FAL_VERSION = 2,
  NDS_ND_COUNTER_FEATURE_BITMAP = 3,
  NDS_ND_COUNTER_MIN_NEFF_VERSION = 4,
  NDS_ND_COUNTER_MAX_NEFF_VERSION = 5,
  NDS_ND_COUNTER_MEM_USAGE_CODE_HOST = 6,
  NDS_ND_COUNTER_MEM_USAGE_TENSORS_HOST = 7,
  NDS_ND_COUNTER_MEM_USAGE_CONSTANTS_HOST = 8,
  NDS_ND_COUNTER_MEM_USAGE_SCRATCHPAD_HOST = 9,
  NDS_ND_COUNTER_MEM_USAGE_MISC_HOST = 10,
  NDS_ND_COUNTER_DYNAMIC_SYSFS_METRIC_BITMAP = 11,
  NDS_ND_COUNTER_DEVICE_CLUSTER_ID = 12,
  NDS_ND_COUNTER_COUNT = 31
};

enum {
  NDS_NC_COUNTER_TIME_IN_USE = 0,
  NDS_NC_COUNTER_INFER_COMPLETED = 1,
  NDS_NC_COUNTER_INFER_COMPLETED_WITH_ERR = 2,
  NDS_NC_COUNTER_INFER_COMPLETED_WITH_NUM_ERR = 3,
  NDS_NC_COUNTER_INFER_TIMED_OUT = 4,
  NDS_NC_COUNTER_INFER_INCORRECT_INPUT = 5,
  NDS_NC_COUNTER_INFER_FAILED_TO_QUEUE = 6,
  NDS_NC_COUNTER_ERR_GENERIC = 7,
  NDS_NC_COUNTER_ERR_NUMERICAL = 8,
  NDS_NC_COUNTER_ERR_MODEL = 9,
  NDS_NC_COUNTER_ERR_TRANSIENT = 10,
  NDS_NC_COUNTER_ERR_HW = 11,
  NDS_NC_COUNTER_ERR_RT = 12,
  NDS_NC_COUNTER_LATENCY_DEVICE = 13,
  NDS_NC_COUNTER_LATENCY_TOTAL = 14,
  NDS_NC_COUNTER_NC_TIME = 15,
  NDS_NC_COUNTER_GENERIC_FAIL = 16,
  NDS_NC_COUNTER_ERR_RESOURCE = 17,
  NDS_NC_COUNTER_ERR_RESOURCE_NC = 18,
  NDS_NC_COUNTER_ERR_INVALID = 19,
  NDS_NC_COUNTER_ERR_UNSUPPORTED_NEFF_VERSION = 20,
  NDS_NC_COUNTER_CC_TIME = 21,
  NDS_NC_COUNTER_MEM_USAGE_CODE_DEVICE = 22,
  NDS_NC_COUNTER_MEM_USAGE_TENSORS_DEVICE = 23,
  NDS_NC_COUNTER_MEM_USAGE_CONSTANTS_DEVICE = 24,
  NDS_NC_COUNTER_MEM_USAGE_SCRATCHPAD_DEVICE = 25,
  NDS_NC_COUNTER_MEM_USAGE_MISC_DEVICE = 26,
  NDS_NC_COUNTER_MODEL_LOAD_COUNT = 27,
  NDS_NC_COUNTER_INFERENCE_COUNT = 28,
  NDS_NC_COUNTER_MAC_COUNT = 29,
  NDS_NC_COUNTER_OOB = 30,
  NDS_NC_COUNTER_COUNT = 31
};

enum {
  NDS_EXT_NC_COUNTER_HW_ERR_COLLECTIVES = 31,
  NDS_EXT_NC_COUNTER_HW_ERR_HBM_UE = 32,
  NDS_EXT_NC_COUNTER_HW_ERR_NC_UE = 33,
  NDS_EXT_NC_COUNTER_HW_ERR_DMA_ABORT = 34,
  NDS_EXT_NC_COUNTER_ERR_SW_NQ_OVERFLOW = 35,
  NDS_EXT_NC_COUNTER_ERR_SW_SEMAPHORE_ERROR = 36,
  NDS_EXT_NC_COUNTER_ERR_SW_EVENT_ERROR = 37,
  NDS_EXT_NC_COUNTER_ERR_SW_PSUM_COLLISION = 38,
  NDS_EXT_NC_COUNTER_ERR_SW_SEQUENCER_FATAL = 39,
  NDS_EXT_NC_COUNTER_HW_ERR_REPAIRABLE_HBM_UE = 40,
  NDS_EXT_NC_COUNTER_LAST = 41,
  NDS_EXT_NC_COUNTER_COUNT = 64
};

struct neuron_dma_eng_state {
  __u32 revision_id;
  __u32 max_queues;
  __u32 num_queues;
  __u32 tx_state;
  __u32 rx_state;
};

struct neuron_dma_queue_state {
  __u32 hw_status;
  __u32 sw_status;
  __u64 base_addr;
  __u32 length;
  __u32 head_pointer;
  __u32 tail_pointer;
  __u64 completion_base_addr;
  __u32 completion_head;
};

/* Names content, e.g. of shared weights. */
struct neuron_uuid {
  __u8 value[32];
};

/* A process that uses the device. */
struct neuron_app_info {
  __s32 pid;
  __u8 nc_lock_map; /* cores it holds */
  struct neuron_uuid uuid_data[4];
  size_t host_mem_size;
  size_t device_mem_size;
};

typedef union nmetric_version {
  struct {
    __u64 build_num : 32;
    __u64 minor_ver : 8;
    __u64 major_ver : 8;
    __u64 reserved : 16;
  };
  __u64 all;
} nmetric_version_t;

/* A piece of device memory in use. */
struct neuron_ioctl_mem_chunk_info {
  __u64 pa; /* device address */
  __u64 size;
  __u32 mem_type; /* mem_alloc_category_t */
};

/* Device and core on it. */
struct neuron_ioctl_nc_map_entry {
  __u32 device_id;
  __u32 device_nc_idx;
};

/* Logical core number to physical core. */
struct neuron_ioctl_nc_map {
  __u32 num_entries;
  struct neuron_ioctl_nc_map_entry mappings[];
};

/* Ranges of one memory handle to copy. */
typedef struct neuron_memcpy_batch {
  __u64 mem_handle;
  __u64 mem_handle_offset;
  const nrt_tensor_batch_op_t* ops_ptr;
  __u32 num_ops;
  __u16 bar4_wr_threshold;
  __u16 flags;
  void* context; /* caller's */
} neuron_memcpy_batch_t;

/* Begins a counter slab. */
typedef struct nds_header {
  char signature[4]; /* "nds" */
  int version;       /* 100000 */
} nds_header_t;

#ifdef __cplusplus
}
#endif

#endif /* NDL_NEURON_DRIVER_SHARED_H */
