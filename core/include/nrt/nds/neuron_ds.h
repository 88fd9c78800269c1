/* SPDX-License-Identifier: Apache-2.0
 *
 * Data store: counters and records that a process shows to monitoring tools, one
 * slab per device and process. Types are as published; none of the functions is
 * exported. 0 or a negative errno unless said otherwise; NULL for no record.
 */
#ifndef NRT_NDS_NEURON_DS_H
#define NRT_NDS_NEURON_DS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "ndl/ndl.h"

#ifdef __cplusplus
extern "C" {
#endif

#define OBJECT_TYPE_MODEL_NODE_INFO 0
#define OBJECT_TYPE_PROCESS_INFO 1
#define OBJECT_TYPE_PROCESS_INFO_EXT 2
#define MODEL_MEM_USAGE_LOCATION_COUNT 2

/* A counter slab that is open. */
typedef struct nds_instance nds_instance_t;
/* A record of a slab. */
typedef void* nds_obj_handle_t;

enum {
  NDS_DMA_MEM_USAGE_SLOT_CODE = 0,
  NDS_DMA_MEM_USAGE_SLOT_TENSORS = 1,
  NDS_DMA_MEM_USAGE_SLOT_CONSTANTS = 2,
  NDS_DMA_MEM_USAGE_SLOT_SCRATCHPAD = 3,
  NDS_DMA_MEM_USAGE_SLOT_MISC = 4,
  NDS_DMA_MEM_USAGE_SLOT_COUNT = 12
};

typedef enum feature_bitmap_bit_index {
  BIT_INDEX_TEST_FEATURE = 0,
  BIT_INDEX_MULTICORE_FEATURE = 1,
  BIT_INDEX_COUNT = 2
} feature_bitmap_bit_index_t;

typedef struct nds_mem_usage_info {
  size_t total_size;
  uint32_t chunk_count;
} nds_mem_usage_info_t;

/* A loaded model on one core. */
typedef struct nds_model_node_info {
  uint32_t model_id;
  uint32_t model_node_id;
  char name[256];
  char uuid[16];
  uint8_t nc_index;
  uint8_t sg_index;
} nds_model_node_info_t;

/* Memory of a model: host, then device; by use. */
typedef struct nds_model_node_mem_usage_info {
  nds_mem_usage_info_t model_mem_usage[2][NDS_DMA_MEM_USAGE_SLOT_COUNT];
} nds_model_node_mem_usage_info_t;

typedef struct nds_version_info {
  uint8_t major;
  uint8_t minor;
  uint32_t build;
} nds_version_info_t;

/* The process that owns the slab. */
typedef struct nds_process_info {
  int8_t framework_type;
  char tag[32];
  nds_version_info_t framework_version;
  nds_version_info_t fal_version;
  nds_version_info_t runtime_version;
} nds_process_info_t;

/* Its tag in full length. */
typedef struct nds_process_info_ext {
  char tag[256];
} nds_process_info_ext_t;

/* The slab of a process on a device; pid 0 is this process. */
int nds_open(ndl_device_t* device, pid_t pid, nds_instance_t** inst);
int nds_close(nds_instance_t* inst);

/* Counters of a physical core. 0 or -EINVAL. */
int nds_increment_nc_counter(nds_instance_t* inst, int pnc_index, uint32_t counter_index,
                             uint64_t increment);
int nds_decrement_nc_counter(nds_instance_t* inst, int pnc_index, uint32_t counter_index,
                             uint64_t decrement);
int nds_get_nc_counter(nds_instance_t* inst, int pnc_index, uint32_t counter_index,
                       uint64_t* value);
int nds_set_nc_counter(nds_instance_t* inst, int pnc_index, uint32_t counter_index,
                       uint64_t* value);

/* Counters of the device. */
int nds_increment_nd_counter(nds_instance_t* inst, uint32_t counter_index, uint64_t increment);
int nds_decrement_nd_counter(nds_instance_t* inst, uint32_t counter_index, uint64_t decrement);
int nds_or_nd_counter(nds_instance_t* inst, uint32_t counter_index, uint64_t bit_index);
int nds_get_nd_counter(nds_instance_t* inst, uint32_t counter_index, uint64_t* value);
int nds_set_nd_counter(nds_instance_t* inst, uint32_t counter_index, uint64_t* value);

/* Records. A new one is visible to readers after nds_obj_commit. The array of
 * nds_read_all_model_nodes is the caller's to free(). */
nds_obj_handle_t nds_obj_new(nds_instance_t* inst, int type);
int nds_obj_commit(nds_obj_handle_t obj);
int nds_obj_delete(nds_obj_handle_t obj);
nds_model_node_info_t* nds_obj_handle_to_model_node_info(nds_obj_handle_t obj);
nds_model_node_mem_usage_info_t* nds_obj_handle_to_model_node_mem_usage(nds_obj_handle_t obj);
nds_process_info_t* nds_obj_handle_to_process_info(nds_obj_handle_t obj);
nds_process_info_ext_t* nds_obj_handle_to_process_info_ext(nds_obj_handle_t obj);
int nds_read_all_model_nodes(nds_instance_t* inst, nds_obj_handle_t** models, size_t* count);
nds_obj_handle_t nds_read_process_info(nds_instance_t* inst);
nds_obj_handle_t nds_read_process_info_ext(nds_instance_t* inst);

#ifdef __cplusplus
}
#endif

#endif /* NRT_NDS_NEURON_DS_H */
