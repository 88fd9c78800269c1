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

#include "nrt/nrt_status.h"

#ifdef __cplusplus
extern "C" {
#endif

#define NRT_MAJOR_VERSION 2
#define NRT_MINOR_VERSION 0

typedef struct nrt_model nrt_model_t;
typedef struct nrt_tensor nrt_tensor_t;
typedef void nrt_tensor_set_t;

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

typedef struct nrt_instance_info {
  uint32_t family; /* NRT_INSTANCE_* */
  uint32_t size;   /* NRT_INSTANCE_SIZE_* */
  char arch_name[16];
  char device_revision[8];
} nrt_instance_info_t;

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

/* --- models --- */

/* Loads a compiled model. neff_bytes may be freed after return. vnc: logical
 * core, or -1 for the one with the fewest models. vnc_count: -1 or 1.
 * NRT_INVALID: broken file or argument, or built for another silicon;
 * NRT_UNSUPPORTED_NEFF_VERSION: newer or Inferentia1 file;
 * NRT_LOAD_NOT_ENOUGH_NC: needs more cores; NRT_RESOURCE: out of memory. */
NRT_STATUS nrt_load(const void* neff_bytes, size_t size, int32_t vnc, int32_t vnc_count,
                    nrt_model_t** model);
/* Waits for running executions of the model, then frees it.
 * NRT_INVALID_HANDLE: not a loaded model. */
NRT_STATUS nrt_unload(nrt_model_t* model);

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
/* Sets bytes to the low 8 bits of value. */
NRT_STATUS nrt_tensor_memset(nrt_tensor_t* tensor, uint64_t offset, int value, size_t size);
/* NRT_INVALID when both are device tensors of different HBM channels. */
NRT_STATUS nrt_tensor_copy(const nrt_tensor_t* src, size_t src_offset, nrt_tensor_t* dst,
                           size_t dst_offset, size_t size);
/* Bytes of the view; 0 for NULL. Callable in every state. */
size_t nrt_tensor_get_size(const nrt_tensor_t* tensor);
/* CPU address of the first byte; NULL without storage or when not initialised. */
void* nrt_tensor_get_va(const nrt_tensor_t* tensor);

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

#ifdef __cplusplus
}
#endif

#endif /* NRT_NRT_H */
