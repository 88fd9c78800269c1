/* SPDX-License-Identifier: Apache-2.0
 *
 * Model metadata, and calls whose form may change. Guarded like the functions of
 * nrt.h unless said otherwise.
 */
#ifndef NRT_NRT_EXPERIMENTAL_H
#define NRT_NRT_EXPERIMENTAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nrt/nrt.h"

#ifdef __cplusplus
extern "C" {
#endif

#define NRT_TENSOR_NAME_MAX 256

typedef enum nrt_tensor_usage NRT_ENUM_BASE {
  NRT_TENSOR_USAGE_INPUT = 0,
  NRT_TENSOR_USAGE_OUTPUT = 1
} nrt_tensor_usage_t;

typedef struct nrt_tensor_info {
  char name[NRT_TENSOR_NAME_MAX]; /* NUL-terminated; the key for tensor sets */
  nrt_tensor_usage_t usage;
  size_t size; /* bytes */
  nrt_dtype_t dtype;
  uint32_t* shape; /* ndim sizes, outermost first; NULL when ndim is 0 */
  uint32_t ndim;
} nrt_tensor_info_t;

typedef struct nrt_tensor_info_array {
  uint64_t tensor_count;
  /* tensor_count entries: the inputs, then the outputs */
  nrt_tensor_info_t tensor_array[];
} nrt_tensor_info_array_t;

typedef struct nrt_model_info {
  uint32_t vnc; /* logical core the model was loaded on */
} nrt_model_info_t;

typedef struct nrt_ucode_img {
  uint8_t* bin;
  size_t size;
} nrt_ucode_img;

/* Code and data of the POOL engine. */
typedef struct nrt_ucode_info {
  nrt_ucode_img iram;
  nrt_ucode_img dram;
} nrt_ucode_info;

/* Called after an execution: model_id of the model, logical core, number of the
 * execution on that core, result. */
typedef void (*NRT_ASYNC_EXEC_STATUS_CALLBACK)(void* params, uint32_t model_id, uint32_t vnc,
                                               uint64_t job_id, NRT_STATUS status);

/* Inputs and outputs of a loaded model. Freed with nrt_free_model_tensor_info.
 * NRT_INVALID_HANDLE: not a loaded model. */
NRT_STATUS nrt_get_model_tensor_info(nrt_model_t* model, nrt_tensor_info_array_t** tensor_info);
/* NULL is accepted. */
NRT_STATUS nrt_free_model_tensor_info(nrt_tensor_info_array_t* tensor_info);
/* Writes min(info_size_in, sizeof *info) bytes and their number. */
NRT_STATUS nrt_get_model_info(const nrt_model_t* model, nrt_model_info_t* info, size_t info_size_in,
                              size_t* info_size_out);

/* Deprecated: always 1. NRT_INVALID: NULL. Callable in every state. */
NRT_STATUS nrt_get_model_instance_count(nrt_model_t* model, uint32_t* instance_count);

/* Process-wide trace of all visible cores; trace_mem: with memory events. */
NRT_STATUS nrt_trace_start(bool trace_mem);
/* Ends it and writes it to filename. NRT_FAILURE: the file cannot be written. */
NRT_STATUS nrt_trace_stop(const char* filename);

/* Network plugin of the collectives library. NULL when there is none: *err is
 * not 0 then and err_msg tells why. Callable in every state. */
void* nrt_get_libnccl_net(int* err, char* err_msg, size_t err_msg_size);
/* Microcode of the POOL engines for the next nrt_init; the buffers stay the
 * caller's and are kept until that returns. NRT_INVALID: NULL or no bytes.
 * NRT_FAILURE: only possible before nrt_init. */
NRT_STATUS nrt_set_pool_eng_ucode(const nrt_ucode_info* ucode_info);
/* Copies to an address of nrt_tensor_get_va or nrt_get_hbm_mmap_va; the device
 * sees the data after return. Always succeeds. Callable in every state. */
NRT_STATUS nrt_memcpy_to_device(void* dest, const void* src, size_t size);

/* Callback of the implicit asynchronous mode (variable
 * NEURON_RT_ASYNC_EXEC_MAX_INFLIGHT_REQUESTS). Executions are synchronous: the
 * callback runs in the thread of nrt_execute, before it returns. One per
 * process, NULL removes it. Callable in every state. */
NRT_STATUS nrt_register_async_exec_callback(NRT_ASYNC_EXEC_STATUS_CALLBACK callback, void* params);
/* Waits until the queue of a logical core is empty. NRT_INVALID: no such core. */
NRT_STATUS nrt_async_drain_queued_execs(int32_t vnc);

/* Waits for all ranks. Statuses of nrt_build_global_comm; once it failed on a
 * core it fails there until nrt_close. */
NRT_STATUS nrt_barrier(int32_t vnc, uint32_t g_device_id, uint32_t g_device_count);
/* output: rank_input_size bytes of every rank, by rank. Builds the global
 * communicator if needed; statuses of nrt_build_global_comm. */
NRT_STATUS nrt_all_gather(int32_t vnc, uint32_t g_device_id, uint32_t g_device_count,
                          uint32_t rank_input_size, void* input, void* output);

#ifdef __cplusplus
}
#endif

#endif /* NRT_NRT_EXPERIMENTAL_H */
