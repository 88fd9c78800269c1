/* SPDX-License-Identifier: Apache-2.0
 *
 * Runtime API: lifecycle, models, tensors, execution. Usable alone from C11
 * and C++17. "vnc" is the process-local index of a logical core, 0 = first
 * visible one. Unless said otherwise a function may be called from any thread,
 * returns NRT_UNINITIALIZED before nrt_init, NRT_CLOSED while nrt_close runs
 * and NRT_FAILURE in a forked child, in this order before any argument check.
 */
#ifndef NRT_NRT_H
#define NRT_NRT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ndl/neuron_driver_shared_tensor_batch_op.h"
#include "nrt/nrt_status.h"

#ifdef __cplusplus
extern "C" {
#endif

#define NRT_MAJOR_VERSION 2
#define NRT_MINOR_VERSION 0

typedef struct nrt_model nrt_model_t;
typedef struct nrt_tensor nrt_tensor_t;
typedef void nrt_tensor_set_t;
/* A prepared collective (nrt_async.h). */
typedef struct nrt_cc_context nrt_cc_context_t;

typedef enum NRT_ENUM_BASE {
  NRT_TENSOR_PLACEMENT_DEVICE = 0, /* memory of the logical core's HBM */
  NRT_TENSOR_PLACEMENT_HOST = 1,   /* DMA-able host memory, at most 4 MiB; deprecated */
  NRT_TENSOR_PLACEMENT_VIRTUAL = 2 /* ordinary heap memory */
} nrt_tensor_placement_t;

typedef enum NRT_ENUM_BASE {
  NRT_FRAMEWORK_TYPE_INVALID = 0,
  NRT_FRAMEWORK_TYPE_NO_FW = 1,
  NRT_FRAMEWORK_TYPE_TENSORFLOW = 2,
  NRT_FRAMEWORK_TYPE_PYTORCH = 3,
  NRT_FRAMEWORK_TYPE_MXNET = 4,
  NRT_FRAMEWORK_TYPE_PRECHECK = 5
} nrt_framework_type_t;

enum {
  NRT_INSTANCE_UNKNOWN = 0,
  NRT_INSTANCE_INF1 = 1,
  NRT_INSTANCE_TRN1 = 2,
  NRT_INSTANCE_TRN1N = 3,
  NRT_INSTANCE_INF2 = 4,
  NRT_INSTANCE_TRN2 = 5,
  NRT_INSTANCE_TRN2N = 6,
  NRT_INSTANCE_INF2E = 7,
  NRT_INSTANCE_TRN2P = 8,
  NRT_INSTANCE_TRN2U = 9,
  NRT_INSTANCE_TRN2E = 10,
  NRT_INSTANCE_TRN2EU = 11,
  NRT_INSTANCE_TRN2AC = 12,
  NRT_INSTANCE_TRN2UAC = 13,
  NRT_INSTANCE_TRN3 = 14,
  NRT_INSTANCE_TRN3PDS98 = 15
};

enum {
  NRT_INSTANCE_SIZE_1XL = 0,
  NRT_INSTANCE_SIZE_2XL = 1,
  NRT_INSTANCE_SIZE_4XL = 2,
  NRT_INSTANCE_SIZE_6XL = 3,
  NRT_INSTANCE_SIZE_8XL = 4,
  NRT_INSTANCE_SIZE_24XL = 5,
  NRT_INSTANCE_SIZE_32XL = 6,
  NRT_INSTANCE_SIZE_48XL = 7,
  NRT_INSTANCE_SIZE_3XL = 8,
  NRT_INSTANCE_SIZE_UNKNOWN = 9,
  NRT_INSTANCE_SIZE_NUM = 9
};

typedef enum nrt_op_type NRT_ENUM_BASE {
  NRT_OP_ADD = 0,
  NRT_OP_FMA = 1,
  NRT_OP_MAX = 2,
  NRT_OP_MIN = 3,
  NRT_OP_INVALID = 15
} nrt_op_type_t;

/* Element types; the values are the hardware's codes. */
typedef enum nrt_dtype NRT_ENUM_BASE {
  NRT_DTYPE_UNKNOWN = 0,
  NRT_DTYPE_INVALID = 0,
  NRT_DTYPE_FP8_E3 = 13,
  NRT_DTYPE_FP8_E4 = 14,
  NRT_DTYPE_FP8_E5 = 15,
  NRT_DTYPE_FLOAT16 = 7,
  NRT_DTYPE_BFLOAT16 = 6,
  NRT_DTYPE_FLOAT32 = 10,
  NRT_DTYPE_FP32R = 11,
  NRT_DTYPE_UINT8 = 3,
  NRT_DTYPE_UINT16 = 5,
  NRT_DTYPE_UINT32 = 9,
  NRT_DTYPE_UINT64 = 1,
  NRT_DTYPE_INT8 = 2,
  NRT_DTYPE_INT16 = 4,
  NRT_DTYPE_INT32 = 8,
  NRT_DTYPE_INT64 = 12
} nrt_dtype_t;

typedef enum nrt_cc_op_type NRT_ENUM_BASE {
  NRT_CC_ALLGATHER = 0,
  NRT_CC_ALLREDUCE = 1,
  NRT_CC_REDUCESCATTER = 2
} nrt_cc_op_type_t;

typedef struct nrt_instance_info {
  uint32_t family; /* NRT_INSTANCE_* */
  uint32_t size;   /* NRT_INSTANCE_SIZE_* */
  char arch_name[16];
  char device_revision[8];
} nrt_instance_info_t;

/* Ranges of one tensor. */
typedef struct nrt_tensor_batch {
  const nrt_tensor_t* tensor;
  const nrt_tensor_batch_op_t* ops;
  uint32_t num_ops;
} nrt_tensor_batch_t;

typedef struct nrt_tensor_device_allocation_info {
  uint64_t physical_address; /* of byte 0 of the tensor */
  size_t size;               /* bytes allocated */
  int hbm_index;             /* on its device */
} nrt_tensor_device_allocation_info_t;

/* May grow at the end. */
typedef struct nrt_vnc_memory_stats {
  size_t bytes_used;
  size_t bytes_limit;
} nrt_vnc_memory_stats_t;

/* A group of ranks; belongs to the caller. */
typedef struct nrt_cc_comm {
  uint32_t* replica_group; /* rank_n global ranks */
  uint32_t rank;           /* position of this one in the group */
  uint32_t rank_n;
  uint32_t ctx_device_id; /* global rank and number of ranks */
  uint32_t ctx_device_count;
  uint32_t vnc;
} nrt_cc_comm_t;

typedef struct nrt_tensor_list {
  nrt_tensor_t** tensors;
  size_t num_tensors;
} nrt_tensor_list_t;

/* --- lifecycle --- */

/* Opens the devices and prepares every reserved core. Calls are serialised; a
 * call while initialised succeeds and changes nothing. The version strings are
 * informational, NULL counts as empty.
 * NRT_INVALID: no device, bad configuration, incompatible driver, no usable
 * plugin. NRT_FAILURE: cores taken by another process. NRT_TIMEOUT: a core did
 * not answer its self-test request. A failed call leaves the library as it was
 * before. */
NRT_STATUS nrt_init(nrt_framework_type_t framework, const char* fw_version,
                    const char* fal_version);

/* Waits for running executions, unloads all models and closes the devices. Does
 * nothing unless initialised. nrt_init may be called again afterwards. */
void nrt_close(void);

/* --- queries; the first five are callable in every state --- */

/* Logical cores of the machine, whatever is visible to this process. */
NRT_STATUS nrt_get_total_nc_count(uint32_t* vnc_count);
NRT_STATUS nrt_get_total_vnc_count(uint32_t* vnc_count);
/* Logical cores of this process: after nrt_init the reserved ones, before it
 * what NEURON_RT_VISIBLE_CORES or NEURON_RT_NUM_CORES ask for. */
NRT_STATUS nrt_get_visible_nc_count(uint32_t* vnc_count);
NRT_STATUS nrt_get_visible_vnc_count(uint32_t* vnc_count);
/* Writes min(instance_info_len, sizeof *info) bytes. */
NRT_STATUS nrt_get_instance_info(nrt_instance_info_t* info, size_t instance_info_len);

/* Number of a device on the host, from its number in this container.
 * NRT_INVALID: NULL or no such device. */
NRT_STATUS nrt_host_device_id_get(int neuron_dev, uint32_t* host_device_id);
/* Routing ids by host device number. *count: capacity of the table, then its
 * entries. NRT_INVALID: NULL, or the table is too small. */
NRT_STATUS nrt_host_device_id_rid_map_get(uint32_t* count, uint32_t* host_did_to_rid_map);
/* CPU address of a device's HBM, where all of it is mapped. NRT_INVALID: NULL,
 * no such device, or it is not mapped as a whole; NRT_INVALID_HANDLE: no such HBM. */
NRT_STATUS nrt_get_hbm_mmap_va(int device_id, int hbm_idx, void** addr, size_t* size);
/* Memory of a logical core. Writes min(stats_size_in, sizeof *stats) bytes and
 * their number. */
NRT_STATUS nrt_get_vnc_memory_stats(uint32_t vnc, nrt_vnc_memory_stats_t* stats,
                                    size_t stats_size_in, size_t* stats_size_out);
/* PCI address "dddd:bb:ss.f" of the network card next to the device that owns
 * va. *len: bytes of efa_bdf, then the length of the text. NRT_RESOURCE: the
 * buffer is too small; NRT_FAILURE: no card, or no address of a device. */
NRT_STATUS nrt_get_attached_efa_bdf(const void* va, char* efa_bdf, size_t* len);

/* --- models --- */

/* Loads a compiled model. neff_bytes may be freed after return. vnc: logical
 * core, or -1 for the one with the fewest models. vnc_count: -1 or 1. An
 * initialised runtime sets *model to NULL when it fails. NRT_INVALID: broken file or
 * argument, or built for another silicon; NRT_UNSUPPORTED_NEFF_VERSION: newer or Inferentia1
 * file; NRT_LOAD_NOT_ENOUGH_NC: needs more cores; NRT_RESOURCE: out of memory. */
NRT_STATUS nrt_load(const void* neff_bytes, size_t size, int32_t vnc, int32_t vnc_count,
                    nrt_model_t** model);
/* nrt_load for a model with collectives: this process is rank ctx_device_id of
 * ctx_device_count. Blocks until all ranks are there. NRT_INVALID also for a
 * rank that is not below the count. */
NRT_STATUS nrt_load_collectives(const void* neff_bytes, size_t size, int32_t vnc, int32_t vnc_count,
                                uint32_t ctx_device_id, uint32_t ctx_device_count,
                                nrt_model_t** model);
/* Waits for running executions of the model, then frees it.
 * NRT_INVALID_HANDLE: not a loaded model. */
NRT_STATUS nrt_unload(nrt_model_t* model);
/* Deprecated: always 1. NRT_INVALID: NULL. Callable in every state. */
NRT_STATUS nrt_get_model_nc_count(const nrt_model_t* model, uint32_t* vnc_count);
NRT_STATUS nrt_get_model_vnc_count(const nrt_model_t* model, uint32_t* vnc_count);

/* --- tensors: bytes without type or shape --- */

/* vnc: logical core whose memory is used; may be -1 for VIRTUAL. name: NULL
 * becomes "_unknown_". NRT_RESOURCE: no space. Contents are undefined. */
NRT_STATUS nrt_tensor_allocate(nrt_tensor_placement_t tensor_placement, int vnc, size_t size,
                               const char* name, nrt_tensor_t** tensor);
/* A tensor without storage, for nrt_tensor_attach_buffer. */
NRT_STATUS nrt_tensor_allocate_empty(const char* name, nrt_tensor_t** tensor);
/* Replaces the storage by the caller's buffer, which must outlive the tensor
 * and its slices and is never freed by the library. */
NRT_STATUS nrt_tensor_attach_buffer(nrt_tensor_t* tensor, void* buffer, size_t size);
/* A view of [offset, offset + size) of tensor_source, sharing its storage. */
NRT_STATUS nrt_tensor_allocate_slice(const nrt_tensor_t* tensor_source, size_t offset, size_t size,
                                     const char* name, nrt_tensor_t** tensor_slice);
/* Drops the view, its storage with the last view, and sets *tensor to NULL.
 * Waits for calls of other threads that use the tensor. */
void nrt_tensor_free(nrt_tensor_t** tensor);
/* Waits until no execution writes the tensor, then copies out. */
NRT_STATUS nrt_tensor_read(const nrt_tensor_t* tensor, void* buf, size_t offset, size_t size);
/* Waits until no execution uses the tensor, then copies in. */
NRT_STATUS nrt_tensor_write(nrt_tensor_t* tensor, const void* buf, size_t offset, size_t size);
/* Many ranges of many tensors. Everything is checked before anything moves.
 * unsafe: does not wait for executions that use the tensors. NRT_INVALID: NULL,
 * a range outside its tensor. */
NRT_STATUS nrt_tensor_read_batch(const nrt_tensor_batch_t* batches, uint64_t num_batches,
                                 bool unsafe);
NRT_STATUS nrt_tensor_write_batch(const nrt_tensor_batch_t* batches, uint64_t num_batches,
                                  bool unsafe);
/* Sets bytes to the low 8 bits of value. */
NRT_STATUS nrt_tensor_memset(nrt_tensor_t* tensor, uint64_t offset, int value, size_t size);
/* NRT_INVALID when both are device tensors of different HBM channels. */
NRT_STATUS nrt_tensor_copy(const nrt_tensor_t* src, size_t src_offset, nrt_tensor_t* dst,
                           size_t dst_offset, size_t size);
/* Bytes of the view; 0 for NULL. Callable in every state. */
size_t nrt_tensor_get_size(const nrt_tensor_t* tensor);
/* CPU address of the first byte; NULL without storage or when not initialised. */
void* nrt_tensor_get_va(const nrt_tensor_t* tensor);
/* Where a device tensor is. NRT_INVALID: NULL or a host tensor. */
NRT_STATUS nrt_tensor_get_device_allocation_info(const nrt_tensor_t* tensor,
                                                 nrt_tensor_device_allocation_info_t* alloc_info);
/* Waits until the tensor has been finished by expected_completion_count
 * executions; a slice counts for itself. timeout: microseconds, negative for
 * ever. NRT_INVALID: NULL; NRT_TIMEOUT: too late. Callable in every state. */
NRT_STATUS nrt_tensor_check_output_completion(const nrt_tensor_t* output_tensor, int64_t timeout,
                                              uint64_t expected_completion_count);
/* Begins to count anew. Callable in every state. */
NRT_STATUS nrt_tensor_reset_output_completion(nrt_tensor_t* output_tensor);
/* dma-buf of the device memory that begins at va; the caller closes *fd.
 * NRT_INVALID: no start of device memory, or the driver has no dma-bufs;
 * NRT_RESOURCE: out of descriptors or memory. */
NRT_STATUS nrt_get_dmabuf_fd(uint64_t va, uint64_t size, int* fd);

/* --- tensor sets: name -> borrowed tensor --- */

NRT_STATUS nrt_allocate_tensor_set(nrt_tensor_set_t** result);
void nrt_destroy_tensor_set(nrt_tensor_set_t** tensor_set);
/* Inserts or replaces. The name is copied, the tensor must outlive its use. Not
 * while another thread uses the set: threads may share a set to read it only. */
NRT_STATUS nrt_add_tensor_to_tensor_set(nrt_tensor_set_t* tensor_set, const char* tensor_name,
                                        nrt_tensor_t* tensor);
/* NRT_FAILURE when the set has no such name. */
NRT_STATUS nrt_get_tensor_from_tensor_set(nrt_tensor_set_t* tensor_set, const char* tensor_name,
                                          nrt_tensor_t** tensor);

/* --- execution --- */

/* Runs the model once and waits. The input set holds exactly the model's
 * inputs; the output set at least its outputs. Host tensors are copied to and
 * from the device. NRT_INVALID: NULL or wrong number of inputs;
 * NRT_EXEC_BAD_INPUT: tensor missing, too small or on another core;
 * NRT_TIMEOUT: no completion within NEURON_RT_EXEC_TIMEOUT seconds. */
NRT_STATUS nrt_execute(nrt_model_t* model, const nrt_tensor_set_t* input_set,
                       nrt_tensor_set_t* output_set);
/* repeat_count executions in a row, stopping at the first failure; below 2 as
 * nrt_execute. */
NRT_STATUS nrt_execute_repeat(nrt_model_t* model, const nrt_tensor_set_t* input_set,
                              nrt_tensor_set_t* output_set, int repeat_count);

/* --- collectives: g_device_count ranks, this one is g_device_id --- */

/* Global communicator of a logical core for models with collectives. Blocks
 * until all ranks are there; the same call again changes nothing. NRT_INVALID:
 * no such core, a rank that is not below the count, or another communicator is
 * there. NRT_FAILURE: the ranks do not meet. */
NRT_STATUS nrt_build_global_comm(int32_t vnc, uint32_t g_device_id, uint32_t g_device_count);
/* The same for collectives that the host drives. */
NRT_STATUS nrt_cc_global_comm_init(uint32_t vnc, uint32_t g_device_id, uint32_t g_device_count);
/* Switches collectives driven by the host on and names their stream; before
 * models are loaded. Callable in every state. */
NRT_STATUS nrt_cc_create_stream(uint32_t stream_id);

/* --- later additions --- */

/* Logical core of a tensor, -1 for host memory. */
NRT_STATUS nrt_tensor_get_lnc_index(const nrt_tensor_t* tensor, int* lnc_idx);
/* nrt_get_dmabuf_fd for any address inside device memory; *offset: its position
 * in the dma-buf. */
NRT_STATUS nrt_get_dmabuf_fd_v2(uint64_t va, uint64_t size, int* fd, uint64_t* offset);

#ifdef __cplusplus
}
#endif

#endif /* NRT_NRT_H */
