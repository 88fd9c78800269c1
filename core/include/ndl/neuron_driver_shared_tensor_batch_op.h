/* SPDX-License-Identifier: Apache-2.0
 *
 * Range of a batched copy. Shared with the kernel driver.
 */
#ifndef NDL_NEURON_DRIVER_SHARED_TENSOR_BATCH_OP_H
#define NDL_NEURON_DRIVER_SHARED_TENSOR_BATCH_OP_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef uint64_t nrt_tensor_batch_offset_t;
typedef uint64_t nrt_tensor_batch_size_t;

/* One range of a tensor and the host memory it is copied from or to. */
typedef struct nrt_tensor_batch_op {
  nrt_tensor_batch_offset_t offset;
  nrt_tensor_batch_size_t size;
  void* buffer;
} nrt_tensor_batch_op_t;

#ifdef __cplusplus
}
#endif

#endif /* NDL_NEURON_DRIVER_SHARED_TENSOR_BATCH_OP_H */
