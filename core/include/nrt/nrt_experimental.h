/* SPDX-License-Identifier: Apache-2.0
 *
 * Model metadata.
 */
#ifndef NRT_NRT_EXPERIMENTAL_H
#define NRT_NRT_EXPERIMENTAL_H

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

/* Inputs and outputs of a loaded model. Freed with nrt_free_model_tensor_info.
 * NRT_INVALID_HANDLE: not a loaded model. */
NRT_STATUS nrt_get_model_tensor_info(nrt_model_t* model, nrt_tensor_info_array_t** tensor_info);
/* NULL is accepted. */
NRT_STATUS nrt_free_model_tensor_info(nrt_tensor_info_array_t* tensor_info);
/* Writes min(info_size_in, sizeof *info) bytes and their number. */
NRT_STATUS nrt_get_model_info(const nrt_model_t* model, nrt_model_info_t* info, size_t info_size_in,
                              size_t* info_size_out);

#ifdef __cplusplus
}
#endif

#endif /* NRT_NRT_EXPERIMENTAL_H */
